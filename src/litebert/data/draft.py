"""What does one shard add to a plan? Its examples as stretches of its own tokens, and the walk that finds them.

Shapes: E examples of the shard; S sentences, D documents.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.data.recipe import Recipe
from litebert.rng import uniform

_SHORTEST = 2  # tokens that a short example aims at, at least


class Draft(NamedTuple):
    """A shard's examples, and what is still to be found for them elsewhere."""

    begins: NDArray[np.int64]  # [E] first token
    firsts: NDArray[np.int64]  # [E] tokens of the first part
    seconds: NDArray[np.int64]  # [E] tokens of the second part; of lonely ones those that it should have
    order: NDArray[np.int8]  # [E]
    lonely: NDArray[np.int64]  # the examples whose second part is to come from another document
    documents: NDArray[np.int64]  # [lonely] the document of the shard that each of those is from
    left_out: int


class Draws(NamedTuple):
    """What is asked of a shard, and what its draws are addressed by."""

    recipe: Recipe
    room: int  # tokens of text in a row
    seed: int
    epoch: int
    token: int  # the shard's first token, counted through all shards
    document: int  # its first document

    def at(self, tokens: NDArray[np.int64], count: int, purpose: str) -> NDArray[np.float64]:
        """[E, count] numbers in [0, 1) for what begins at these tokens of the shard."""
        return uniform(tokens + self.token, count, self.seed, purpose, self.epoch)

    def targets(self, documents: int) -> NDArray[np.int64]:
        """[D] how many tokens the examples of each document aim at: all that a row holds, or a random number."""
        full = np.full(documents, self.room, dtype=np.int64)
        if not self.recipe.short:
            return full
        drawn = uniform(np.arange(documents) + self.document, 2, self.seed, "short", self.epoch)
        short = _SHORTEST + (drawn[:, 1] * (self.room - _SHORTEST + 1)).astype(np.int64)
        return np.where(drawn[:, 0] < self.recipe.short, short, full)


def walk(following: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sentences at which examples begin, if after one that begins at s comes one that begins at following[s]."""
    view, end = np.ascontiguousarray(following).data, len(following)  # read twice as fast as through the array
    found: list[int] = []
    sentence = 0
    while sentence < end:
        found.append(sentence)
        sentence = view[sentence]
    return np.array(found, dtype=np.int64)
