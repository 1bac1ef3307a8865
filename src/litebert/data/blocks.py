"""How is a stream of documents cut into pieces of work? By size; where a block ends leaves no trace in what is built.

A piece is a document, or a part of one that the corpus hands on in several parts.
Shapes: P pieces of a block, S sentences that have tokens, N tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.data.shards import Ids
from litebert.text.items import Document, Mark, Problem

SIZE = 1 << 20  # characters: enough that sending a block costs nothing beside encoding it, little enough to have many


class Piece(NamedTuple):
    """What of a document is sent to a worker."""

    text: str
    source: str
    place: int
    first: bool  # the document's first part, which decides for all of it


class Block(NamedTuple):
    """Consecutive pieces, and what the reader knows about them."""

    pieces: list[Piece]
    marks: list[Mark]  # [P] where reading goes on after each piece
    unfinished: list[bool]  # [P] the next piece is of the same document
    problems: list[tuple[int, Problem]]  # with the number of pieces of this block that stand before it


class Encodings(NamedTuple):
    """The pieces of a block, encoded."""

    ids: Ids  # [N]
    begins: NDArray[np.bool_]  # [N] the token begins a word
    lengths: NDArray[np.int64]  # [S] tokens, at least 1
    sentences: NDArray[np.int64]  # [P] sentences that have tokens
    empty: NDArray[np.int64]  # [P] sentences that have none
    tokens: NDArray[np.int64]  # [P]
    sizes: NDArray[np.int64]  # [P] bytes of text
    held: NDArray[np.bool_]  # [P] for the held-out split; of a document's further parts it says nothing


def blocks(items: Iterable[tuple[Document | Problem, Mark]], size: int = SIZE) -> Iterator[Block]:
    """Blocks of at least `size` characters; the last one may be smaller, or hold nothing but problems."""
    block, filled = Block([], [], [], []), 0
    for item, mark in items:
        if isinstance(item, Problem):
            block.problems.append((len(block.pieces), item))
            continue
        if block.pieces:
            block.unfinished.append(item.part > 0)
        if filled >= size:
            late = [(0, problem) for place, problem in block.problems if place == len(block.pieces)]
            yield block._replace(problems=block.problems[: len(block.problems) - len(late)])
            block, filled = Block([], [], [], late), 0
        block.pieces.append(Piece(item.text, item.source, item.place, item.part == 0))
        block.marks.append(mark)
        filled += len(item.text) + 1
    block.unfinished.extend([False] * bool(block.pieces))
    if block.pieces or block.problems:
        yield block
