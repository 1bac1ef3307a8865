"""In what order does an epoch read its examples? A keyed permutation: the place of any one is computed, none is kept.

A Feistel network over pairs (left, right) with left < a, right < c and a·c just above the count (Black and Rogaway
2002, "Ciphers with arbitrary finite domains", section 4): each round adds a hash of one half to the other. The few
numbers of the a·c that are beyond the count walk on until they are not.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from litebert import rng
from litebert.errors import UserError

ROUNDS = 8  # of half the state each; four make a random-looking permutation of large counts, small ones need more
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_MOST = 1 << 62  # halves stay below 2^31.5, so that a half times a 32-bit hash fits in 64 bits


def permute(index: NDArray[np.int64], count: int, seed: int, epoch: int) -> NDArray[np.int64]:
    """Which of the examples 0..count-1 stand at these places of an epoch's order: a bijection, O(1) a place."""
    return _walk(index, count, seed, epoch, back=False)


def inverse(example: NDArray[np.int64], count: int, seed: int, epoch: int) -> NDArray[np.int64]:
    """The places at which these examples stand in an epoch's order: `permute` undone."""
    return _walk(example, count, seed, epoch, back=True)


def _walk(given: NDArray[np.int64], count: int, seed: int, epoch: int, back: bool) -> NDArray[np.int64]:
    if not 1 <= count <= _MOST:
        raise UserError(f"{count} examples cannot be put in order: choose 1 to 2^62")
    if given.size and (given.min() < 0 or given.max() >= count):
        outside = given.min() if given.min() < 0 else given.max()
        raise UserError(f"place {outside} is outside an epoch of {count}: choose 0 to {count - 1}")
    left = math.isqrt(count - 1) + 1  # ceil of the root
    right = -(-count // left)
    keys = [np.uint64(rng.key(seed, "order", epoch, count, round_)) for round_ in range(ROUNDS)]
    values = np.array(given, dtype=np.uint64)  # a copy: the rounds work in place
    beyond = np.arange(values.size) if values.size else np.zeros(0, dtype=np.int64)
    flat = values.reshape(-1)
    while beyond.size:
        moved = _rounds(flat[beyond], np.uint64(left), np.uint64(right), keys, back)
        flat[beyond] = moved
        beyond = beyond[moved >= np.uint64(count)]
    return flat.reshape(given.shape).astype(np.int64)


def _rounds(
    values: NDArray[np.uint64], left: np.uint64, right: np.uint64, keys: list[np.uint64], back: bool
) -> NDArray[np.uint64]:
    """One pass through the network: even rounds move the left half by a hash of the right one, odd rounds the other."""
    upper = values // right
    halves, sizes = [upper, values - upper * right], (left, right)
    for round_ in reversed(range(ROUNDS)) if back else range(ROUNDS):
        moved, by = round_ % 2, 1 - round_ % 2
        size = sizes[moved]
        step = rng.mixed(halves[by] + keys[round_])
        step >>= _HALF
        step *= size
        step >>= _HALF  # a hash in 0..size-1
        halves[moved] = halves[moved] - step + size if back else halves[moved] + step
        halves[moved] -= size * (halves[moved] >= size)
    joined: NDArray[np.uint64] = halves[0] * right + halves[1]
    return joined
