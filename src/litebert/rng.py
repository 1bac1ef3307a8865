"""Addressed randomness: a draw is a function of (seed, purpose, address), and nothing consumes a global generator.

So resuming needs no replay, and the number of workers or ranks cannot change what is drawn.
"""

from __future__ import annotations

import hashlib

import numpy as np


def key(seed: int, purpose: str, *address: int) -> int:
    """A 64-bit number that belongs to this address alone."""
    text = ":".join([str(seed), purpose, *map(str, address)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def generator(seed: int, purpose: str, *address: int) -> np.random.Generator:
    """A NumPy generator for one address: `generator(seed, "masks", epoch, index)`."""
    return np.random.Generator(np.random.Philox(key=key(seed, purpose, *address)))
