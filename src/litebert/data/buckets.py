"""How are rows of like length put into batches of a bounded number of tokens? Within a window of an epoch's order.

A window of the order is sorted by length, cut into batches, and the batches are shuffled. A window is cut by itself,
so that finding any batch costs one window's work.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from litebert import rng
from litebert.data import order

BATCHES = 256  # full-length batches in a window: more sort finer and cost more at a seek


def widths(lengths: NDArray[np.int32], multiple: int, most: int) -> NDArray[np.int64]:
    """The row that holds so many tokens: rounded up to the multiple, at most the longest there is."""
    return np.minimum(-(-lengths.astype(np.int64) // multiple) * multiple, most)


def window(tokens: int, length: int, share: int) -> int:
    """Places of the order in a window, a multiple of `share`."""
    return BATCHES * max(share, tokens // length // share * share)


def cut(wide: NDArray[np.int64], tokens: int, share: int, seed: int, epoch: int, start: int) -> list[NDArray[np.int64]]:
    """Batches of the window that starts at a place, from the widths of its rows: the offsets of each one's rows.

    Every row is in one batch. A batch's rows are a multiple of `share`, except in one of a window that is none, and
    padded to the widest of them they are at most `tokens`, which must hold `share` rows of any width. They stand in the
    order's order.
    """
    by_width = np.argsort(wide, kind="stable")
    sorted_, batches, begin = wide[by_width], [], 0
    while begin < len(wide):
        # Padded tokens grow with every `share` of rows that joins, so the first too many are found by bisection.
        ends = np.arange(begin + share, begin + tokens // int(sorted_[begin]) + share, share)
        padded = (ends - begin) * sorted_[np.minimum(ends, len(wide)) - 1]
        rows = share * int(np.searchsorted(padded, tokens, side="right"))
        batches.append(np.sort(by_width[begin : begin + rows]))
        begin += rows
    shuffled = order.permute(np.arange(len(batches)), len(batches), rng.key(seed, "buckets", epoch), start)
    return [batches[place] for place in shuffled]
