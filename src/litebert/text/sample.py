"""From which part of a corpus is a tokenizer made? From a sample of bounded size, drawn evenly from all of it.

Texts are cut into chunks, every chunk draws a lot by its own address, and as many as fit are kept, the lowest lots
first. So memory does not grow with the corpus, and the same seed gives the same sample.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from litebert import rng
from litebert.errors import UserError
from litebert.text import corpus, decode, sentences
from litebert.text.items import Mark, Problem, Reading
from litebert.text.sources import Source
from litebert.text.tally import Tally

SIZE = 64 << 20  # bytes: the unigram trainer takes some 20 bytes of memory for each
CHUNK = 4096  # bytes, at most


class Sample(NamedTuple):
    """Chunks of a corpus in its order, and what was met on reading it."""

    chunks: list[bytes]
    size: int  # bytes of the chunks
    read: int  # bytes of the corpus's text
    documents: int  # of the corpus
    problems: Tally
    one_per_line: bool = False  # its lines are sentences

    def sentences(self) -> Iterator[str]:
        """Every sentence of every chunk."""
        for chunk in self.chunks:
            yield from sentences.split(chunk.decode(), self.one_per_line)


def draw(
    found: Sequence[Source], reading: Reading | None = None, *, size: int = SIZE, seed: int = 0,
    one_per_line: bool = False, watch: Callable[[Mark, int], None] | None = None,
) -> Sample:  # fmt: skip
    """A sample of at most `size` bytes; `watch` is told the place in the corpus and the bytes of text before it."""
    if size < CHUNK:
        raise UserError(f"a sample of {size} bytes holds no chunk of text: choose {CHUNK} or more, {SIZE} is usual")
    kept: list[tuple[int, int, int, bytes]] = []  # a heap: -lot, number of the document, number of the chunk
    held = read = documents = number = 0
    problems = Tally()
    for item, mark in corpus.read(found, reading or Reading()):
        if isinstance(item, Problem):
            problems.add(item)
            continue
        documents += item.part == 0
        number += 1
        for place, chunk in enumerate(_chunks(item.text.encode())):
            read += len(chunk)
            lot = rng.key(seed, "tokenizer sample", number, place)
            heapq.heappush(kept, (-lot, number, place, chunk))
            held += len(chunk)
            while held > size:
                held -= len(heapq.heappop(kept)[3])
        if watch is not None:
            watch(mark, read)
    if not kept:
        raise UserError(f"the corpus holds no text ({documents} documents): look at its files")
    chunks = [chunk for *_, chunk in sorted(kept, key=lambda each: each[1:3])]
    return Sample(chunks, held, read, documents, problems, one_per_line)


def of_texts(texts: Sequence[str]) -> Sample:
    """A sample that is all of some texts."""
    chunks = [chunk for text in texts for chunk in _chunks(text.encode())]
    size = sum(map(len, chunks))
    return Sample(chunks, size, size, len(texts), Tally())


def _chunks(data: bytes) -> Iterator[bytes]:
    rest = memoryview(data)
    while len(rest) > CHUNK:
        size = decode.cut(rest, CHUNK)
        yield bytes(rest[:size])
        rest = rest[size:]
    yield bytes(rest)
