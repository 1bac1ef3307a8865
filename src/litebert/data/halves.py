"""Where is the word boundary nearest the middle of a text? There a document of one sentence is cut in two.

`starts` are the packed bits of a shard: does a token begin a word? Shapes: K texts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_STEPS = 32  # tokens from the middle that are tried one by one: words are seldom longer
_AT_ONCE = 1 << 20  # tokens that are looked at together: bounds the memory, whatever the corpus

Numbers = NDArray[np.int64]


def halves(starts: NDArray[np.uint8], begins: Numbers, ends: Numbers) -> Numbers:
    """[K] tokens in the first half of each text [begin, end), 0 of a single word; of two equally near, the earlier."""
    found = np.zeros_like(begins)
    low, high = (begins + ends) // 2, (begins + ends + 1) // 2
    left = np.flatnonzero(ends - begins > 1)  # the first token is no place to cut at
    for step in range(_STEPS):
        if not len(left):
            return found
        before, after = low[left] - step, high[left] + step
        is_before, is_after = _bit(starts, before), _bit(starts, after)
        place = np.where(is_before, before, after) - begins[left]
        found[left] = np.where(is_before | is_after, place, 0)
        left = left[~(is_before | is_after) & (before - 1 > begins[left])]  # both ends are reached at once
    inner = ends[left] - begins[left] - 1
    steps = np.cumsum(inner) // _AT_ONCE
    for block in np.split(left, np.flatnonzero(np.diff(steps)) + 1):
        found[block] = _nearest(starts, begins[block], ends[block])
    return found


def _bit(starts: NDArray[np.uint8], at: Numbers) -> NDArray[np.bool_]:
    bits: NDArray[np.uint8] = (starts[at >> 3] >> (at & 7).astype(np.uint8)) & 1
    return bits.astype(np.bool_)


def _nearest(starts: NDArray[np.uint8], begins: Numbers, ends: Numbers) -> Numbers:
    """The same, where words are long: all tokens of the texts at once."""
    size = ends - begins
    inner = size - 1  # [K], all above 0
    firsts = np.cumsum(inner) - inner  # [K] where each text lies in the flat arrays
    offset = np.arange(int(inner.sum())) - np.repeat(firsts - 1, inner)  # 1, 2, … within each text
    never = int(size.max(initial=0)) + 1  # farther from the middle than any place
    distance = np.abs(2 * offset - np.repeat(size, inner))
    distance[~_bit(starts, offset + np.repeat(begins, inner))] = never
    # One number holds distance and place, so that the least of them is the nearest, and of two the earlier.
    best = np.minimum.reduceat(distance * never + offset, firsts) if len(firsts) else firsts
    return np.where(best // never < never, best % never, 0)
