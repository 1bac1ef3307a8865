"""Which tokens go when two segments together are too long? Those of the longer one, from either end.

The published rule drops one token at a time, from the longer segment and of two equal ones from the second, from its
front or its back by the toss of a coin (google-research/albert:create_pretraining_data.py, truncate_seq_pair). How
many each segment loses follows from the lengths alone, and of those the front's share is binomial: so whole batches are
cut at once, in the same distribution. Shapes: R rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.rng import bits

_WORD = 64  # tosses in one random word
_TOGETHER = 1024  # as many tosses are made for all rows at once; who needs more gets them alone


class Kept(NamedTuple):
    """What is left of a segment."""

    skipped: NDArray[np.int64]  # [R] tokens gone from its front
    length: NDArray[np.int64]  # [R] tokens that stay


def truncated(
    first: NDArray[np.int64], second: NDArray[np.int64], room: int, examples: NDArray[np.int64], seed: int, epoch: int
) -> tuple[Kept, Kept]:
    """Two segments of these lengths, cut to `room` tokens together."""
    lost = losses(first, second, room)
    halves = zip(("front of the first", "front of the second"), lost, (first, second), strict=True)
    one, two = (Kept(heads(less, examples, seed, name, epoch), size - less) for name, less, size in halves)
    return one, two


def losses(
    first: NDArray[np.int64], second: NDArray[np.int64], room: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many tokens each of two segments loses."""
    over = np.maximum(first + second - room, 0)
    lead = first - second
    alone = np.minimum(over, np.abs(lead))  # lost by the longer one until they are equal
    rest = over - alone  # lost in turns, the second begins
    return np.where(lead > 0, alone, 0) + rest // 2, np.where(lead < 0, alone, 0) + rest - rest // 2


def heads(
    tosses: NDArray[np.int64], examples: NDArray[np.int64], seed: int, purpose: str, epoch: int
) -> NDArray[np.int64]:
    """[R] how many of so many tosses of a fair coin fall on one side; each row has a coin of its own."""
    counted = np.zeros(len(tosses), dtype=np.int64)
    many = tosses > _TOGETHER
    few = np.where(many, 0, tosses)
    if few.any():
        counted += _ones(bits(examples, _words(int(few.max())), seed, purpose, epoch), few)
    for row in np.flatnonzero(many):
        alone = slice(row, row + 1)
        drawn = bits(examples[alone], _words(int(tosses[row])), seed, purpose, epoch)
        counted[alone] = _ones(drawn, tosses[alone])
    return counted


def _words(tosses: int) -> int:
    return -(-tosses // _WORD)


def _ones(words: NDArray[np.uint64], tosses: NDArray[np.int64]) -> NDArray[np.int64]:
    """[R] bits set among the first `tosses` of each row's words [R, W]."""
    used = np.clip(tosses[:, None] - _WORD * np.arange(words.shape[1]), 0, _WORD)  # [R, W]
    shifted = words >> np.minimum(_WORD - used, _WORD - 1).astype(np.uint64)
    ones: NDArray[np.int64] = np.where(used > 0, np.bitwise_count(shifted), 0).sum(axis=1, dtype=np.int64)
    return ones
