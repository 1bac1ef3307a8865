"""What text do the tests of the data read? Random documents of known form, the same every time."""

from __future__ import annotations

import numpy as np

from litebert.data.shards import Shards
from litebert.data.vocabulary import Vocabulary, plain

SIZE = 200  # pieces, of which the first five are special
_INNER = 140  # pieces from here on continue a word


def documents(count: int, seed: int = 0, most: int = 12) -> list[list[list[int]]]:
    """Documents of 1 to 9 sentences of 1 to `most` pieces."""
    draw = np.random.default_rng(seed)
    return [
        [draw.integers(5, SIZE, draw.integers(1, most + 1)).tolist() for _ in range(draw.integers(1, 10))]
        for _ in range(count)
    ]


def vocabulary() -> Vocabulary:
    """`plain`, but some pieces continue words."""
    made = plain(SIZE)
    return made._replace(starts=made.starts & (np.arange(SIZE) < _INNER))


def shards(count: int = 120, seed: int = 0, most: int = 12, per_shard: int = 40) -> Shards:
    """Documents whose words have several pieces; every sentence begins a word."""
    texts = documents(count, seed, most)
    starts = [[[i == 0 or piece < _INNER for i, piece in enumerate(s)] for s in document] for document in texts]
    return Shards.from_documents(texts, starts, vocabulary=SIZE, per_shard=per_shard)
