"""How are examples laid out as rows of tokens? Any of them, in any order, each the same whatever stands beside it.

A row is made of pieces: stretches of tokens, and the places where they go; the pieces of a whole batch are copied at
once. Shapes: R rows, T tokens of a row, P pieces, N tokens in all pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.data.layout import FRAMES, Special
from litebert.data.packing import Plan, crossings, lengths
from litebert.data.pairs import SWAPPED
from litebert.data.rows import Rows
from litebert.data.shards import Shards
from litebert.data.truncation import truncated
from litebert.data.vocabulary import Vocabulary

Numbers = NDArray[np.int64]


class _Pieces(NamedTuple):
    """Stretches of text, and where they go; row after row."""

    row: Numbers  # [P]
    column: Numbers  # [P]
    source: Numbers  # [P] first token, counted through all shards
    length: Numbers  # [P]
    fresh: NDArray[np.bool_]  # [P] whether the first token begins a word even where it is the inside of one


def rows(made: Plan, which: NDArray[np.int64], vocabulary: Vocabulary, width: int = 0) -> Rows:
    """The examples `which` of a plan, 0 to count - 1, in rows of `width` (0: of the recipe's length)."""
    width = width or made.recipe.length
    _check(made, which)
    size = lengths(made, which)
    if size.max(initial=0) > width:
        raise ValueError(f"a row of {size.max()} tokens does not fit into width {width}: pass the longest of lengths()")
    frame, every = FRAMES[made.recipe.layout], np.arange(len(which))
    pieces, source = _two(made, which) if made.pair else _one(made, which, size)
    ids, words = _text(made.shards, pieces, (len(which), width), vocabulary.pad)
    columns = np.arange(width, dtype=np.int16)  # half the time of comparing in int64
    real = columns < size[:, None].astype(np.int16)
    segments = np.zeros((len(which), width), dtype=np.uint8)
    if made.pair and frame.typed:
        np.logical_and(real, columns >= source[:, None].astype(np.int16), out=segments, casting="unsafe")
    if frame.typed and frame.after[-1] == "cls":
        segments[every, size - 1] = 2
    np.copyto(words, -1, where=~real)
    for row, column, name in _specials(made, pieces, size):
        ids[row, column] = vocabulary.cls if name == "cls" else vocabulary.sep
        words[row, column] = -1
    return Rows(ids, segments, words, size, source.astype(np.int32), made.order[which], made.begins[which])


def _check(made: Plan, which: NDArray[np.int64]) -> None:
    if which.min(initial=0) < 0 or which.max(initial=0) >= made.count:
        raise IndexError(f"examples {which.min()} to {which.max()} are asked for: there are 0 to {made.count - 1}")


def _specials(made: Plan, pieces: _Pieces, size: NDArray[np.int32]) -> Iterator[tuple[Numbers, Any, Special]]:
    """Rows, their columns, and which special token stands there."""
    frame, every = FRAMES[made.recipe.layout], np.arange(len(size))
    for column, name in enumerate(frame.before):
        yield every, column, name
    inside = np.flatnonzero(pieces.column > len(frame.before))
    between: tuple[Special, ...] = frame.between if made.pair else ("sep",)  # documents of a row are parted by one
    for back, name in enumerate(reversed(between), 1):
        yield pieces.row[inside], pieces.column[inside] - back, name
    for back, name in enumerate(reversed(frame.after), 1):
        yield every, size - back, name


def _two(made: Plan, which: NDArray[np.int64]) -> tuple[_Pieces, Numbers]:
    """The two segments of each row, and [R] how long the first one is with the special tokens around it."""
    first, second = made.firsts[which].astype(np.int64), made.seconds[which].astype(np.int64)
    begin, other = made.begins[which], made.others[which]
    behind = np.where(other < 0, begin + first, other)
    if made.recipe.packing in SWAPPED:
        turned = (made.order[which] == 1) & (other < 0)
        first, second = np.where(turned, second, first), np.where(turned, first, second)
        begin, behind = np.where(turned, behind, begin), np.where(turned, begin, behind)
    one, two = truncated(first, second, made.room, made.begins[which], made.seed, made.epoch)
    frame, count = FRAMES[made.recipe.layout], len(which)
    source = len(frame.before) + one.length + 1
    # google-research/albert lets a second segment that begins within a word go on with the last word of the first.
    fresh = np.tile([True, made.recipe.packing != "sop-google"], count)
    pieces = _Pieces(
        np.repeat(np.arange(count), 2),
        _alternating(np.full(count, len(frame.before)), source + len(frame.between) - 1),
        _alternating(begin + one.skipped, behind + two.skipped),
        _alternating(one.length, two.length),
        fresh,
    )
    return pieces, source


def _one(made: Plan, which: NDArray[np.int64], size: NDArray[np.int32]) -> tuple[_Pieces, Numbers]:
    """The documents, or parts of them, of each row of one segment, and [R] how long that is."""
    begin = made.begins[which]
    first, end = crossings(made, which)
    counts = end - first + 1  # [R] pieces
    row = np.repeat(np.arange(len(which)), counts)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)  # [P] the piece's number in its row
    starts, stops = begin[row], (begin + made.firsts[which])[row]
    later = np.flatnonzero(nth)
    starts[later] = made.changes[first[row[later]] + nth[later] - 1]
    stops[later - 1] = starts[later]
    column = len(FRAMES[made.recipe.layout].before) + starts - begin[row] + nth
    return _Pieces(row, column, starts, stops - starts, np.full(len(row), True)), size.astype(np.int64)


def _alternating(one: Numbers, two: Numbers) -> Numbers:
    """[2 R] the first of one, the first of two, the second of one, …"""
    return np.stack([one, two], axis=1).reshape(-1)  # [R, 2] -> [2 R]


def _text(
    shards: Shards, pieces: _Pieces, shape: tuple[int, int], pad: int
) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
    """[R, T] the tokens of all pieces in their places, and the number of each one's word in its row."""
    ids, words = np.full(shape, pad, dtype=np.int32), np.zeros(shape, dtype=np.int16)
    holders = np.searchsorted(shards.token_bases, pieces.source, side="right") - 1
    order = np.argsort(holders, kind="stable")  # [P] shard by shard
    length = pieces.length[order]
    ends = np.cumsum(length)
    begins = ends - length
    flat = np.arange(int(length.sum()))  # [N]
    at = flat + np.repeat((pieces.source - shards.token_bases[holders])[order] - begins, length)
    place = flat + np.repeat((pieces.row * shape[1] + pieces.column)[order] - begins, length)
    text, starts = np.empty(len(flat), np.int32), np.empty(len(flat), np.uint8)
    present, firsts = np.unique(holders[order], return_index=True)
    bounds = [*begins[firsts].tolist(), len(flat)]
    for holder, low, high in zip(present.tolist(), bounds[:-1], bounds[1:], strict=True):
        arrays, here = shards.shards[holder].arrays, at[low:high]
        text[low:high] = arrays.ids[here]
        starts[low:high] = arrays.starts[here >> 3]
    starts >>= (at & 7).astype(np.uint8)
    starts &= 1
    starts[begins] |= pieces.fresh[order]
    ids.reshape(-1)[place] = text  # [R, T] as one line: a place is row times T plus column
    words.reshape(-1)[place] = starts
    np.cumsum(words, axis=1, out=words)
    words -= 1
    return ids, words
