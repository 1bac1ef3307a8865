"""Rows as a packer would lay them out, without any text: random tokens, words of several pieces, padding."""

import numpy as np

from litebert.data.rows import Rows

SEP, CLS = 3, 2


def rows(count, length, *, pieces=1.4, full=True, layout="bert", size=30_000, seed=0, width=0):
    """`count` rows of two segments and up to `length` tokens, exactly so many if `full`, in words of so many pieces."""
    draw = np.random.default_rng(seed)
    width = width or length
    ids, segments, words = (np.zeros((count, width), dtype=t) for t in (np.int32, np.uint8, np.int16))
    words[:] = -1
    sizes, source = np.zeros((2, count), dtype=np.int32)
    for row in range(count):
        sizes[row] = length if full else draw.integers(5, length + 1)
        room = sizes[row] - 3
        first = int(draw.integers(1, room))
        text = draw.integers(5, size, room)
        starts = draw.random(room) < 1 / pieces
        starts[[0, first]] = True
        counted = np.cumsum(starts) - 1
        front = [] if layout == "xlnet" else [CLS]
        back = [SEP, CLS] if layout == "xlnet" else [SEP]
        source[row] = len(front) + first + 1
        ids[row, : sizes[row]] = [*front, *text[:first], SEP, *text[first:], *back]
        none = [-1]
        words[row, : sizes[row]] = [*none * len(front), *counted[:first], -1, *counted[first:], *none * len(back)]
        segments[row, source[row] : sizes[row]] = 1
        if layout == "xlnet":
            segments[row, sizes[row] - 1] = 2
    order = draw.integers(0, 2, count).astype(np.int8)
    return Rows(ids, segments, words, sizes, source, order, draw.permutation(10 * count)[:count].astype(np.int64))


def picked(some, which):
    """These rows of them, in this order."""
    return Rows(*(field[which] for field in some))


def padded(some, width):
    """The same rows in a wider batch."""
    more = ((0, 0), (0, width - some.ids.shape[1]))
    ids, segments = np.pad(some.ids, more), np.pad(some.segments, more)
    return some._replace(ids=ids, segments=segments, words=np.pad(some.words, more, constant_values=-1))
