"""Addressed randomness: a draw is a function of (seed, purpose, address), and nothing consumes a global generator.

So resuming needs no replay, and the number of workers or ranks cannot change what is drawn. `generator` serves one
address; `uniform` and `bits` serve many rows at once, each row by its own address, whatever rows stand beside it.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

# Odd constants of SplitMix64 (Steele et al. 2014): the step of its counter, and its two multipliers.
_STEP, _FIRST, _SECOND = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_SHIFTS = tuple(np.uint64(s) for s in (30, 27, 31))


def key(seed: int, purpose: str, *address: int) -> int:
    """A 64-bit number that belongs to this address alone."""
    text = ":".join([str(seed), purpose, *map(str, address)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def generator(seed: int, purpose: str, *address: int) -> np.random.Generator:
    """A NumPy generator for one address: `generator(seed, "masks", epoch, index)`."""
    return np.random.Generator(np.random.Philox(key=key(seed, purpose, *address)))


def bits(rows: NDArray[np.integer], count: int, seed: int, purpose: str, *address: int) -> NDArray[np.uint64]:
    """[R, count] random words for the rows [R] under one address: SplitMix64, jumped to row and column."""
    with np.errstate(over="ignore"):
        row = mixed(rows.astype(np.uint64) * _STEP + np.uint64(key(seed, purpose, *address)))  # [R]
        return mixed(row[:, None] + np.arange(1, count + 1, dtype=np.uint64) * _STEP)


def uniform(rows: NDArray[np.integer], count: int, seed: int, purpose: str, *address: int) -> NDArray[np.float64]:
    """[R, count] numbers in [0, 1): `uniform(indexes, 128, seed, "masks", epoch)`."""
    return (bits(rows, count, seed, purpose, *address) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64’s finaliser of every word, in place: the array must be the caller’s own."""
    x ^= x >> _SHIFTS[0]
    x *= _FIRST
    x ^= x >> _SHIFTS[1]
    x *= _SECOND
    x ^= x >> _SHIFTS[2]
    return x
