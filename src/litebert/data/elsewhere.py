"""Which sentences of another document stand second? Up to ten draws for a document that is another, then a start.

Shapes: K examples whose second part comes from elsewhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from litebert.data.shards import Shards
from litebert.rng import uniform

_TRIES = 10  # google-research/bert:create_pretraining_data.py; then it may be the same document

Numbers = NDArray[np.int64]


def elsewhere(
    shards: Shards, examples: Numbers, own: Numbers, wanted: Numbers, seed: int, epoch: int
) -> tuple[Numbers, Numbers]:
    """[K] first tokens and lengths of parts of `wanted` tokens, each from a random place of a random document.

    Whole sentences are taken until there are enough tokens or the document ends, one at least. Documents (`own` too)
    and tokens are counted through all shards.
    """
    documents = _others(shards.documents, examples, own, seed, epoch)
    place = uniform(examples, 1, seed, "other sentence", epoch)[:, 0]
    order = np.argsort(documents)  # looked up in the order of the text: neighbours share what was just read
    bounds = np.searchsorted(documents[order], shards.document_bases)
    begins, sizes = np.empty_like(examples), np.empty_like(examples)
    for holder in np.flatnonzero(np.diff(bounds)):
        these, shard = order[bounds[holder] : bounds[holder + 1]], shards.shards[holder]
        tokens = shard.sentences
        document = documents[these] - shards.document_bases[holder]
        first, limit = shard.documents[document], shard.documents[document + 1]
        start = first + (place[these] * (limit - first)).astype(np.int64)
        stop = np.clip(np.searchsorted(tokens, tokens[start] + wanted[these]), start + 1, limit)
        begins[these] = tokens[start] + shards.token_bases[holder]
        sizes[these] = tokens[stop] - tokens[start]
    return begins, sizes


def _others(documents: int, examples: Numbers, own: Numbers, seed: int, epoch: int) -> Numbers:
    """[K] a random document for each, drawn again while it is the example's own."""
    drawn, same = own.copy(), np.arange(len(own))
    for attempt in range(_TRIES):
        chance = uniform(examples[same], 1, seed, "other document", epoch, attempt)[:, 0]
        drawn[same] = (chance * documents).astype(np.int64)
        same = same[drawn[same] == own[same]]
        if not len(same):
            break
    return drawn
