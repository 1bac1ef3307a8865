"""How is running text cut into rows of one segment? RoBERTa's whole sentences, and SpanBERT's plain lengths.

Shapes: E examples; S sentences, D documents of the shard.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from litebert.data.draft import Draft, Draws, walk
from litebert.data.recipe import Packing
from litebert.data.rows import NO_ORDER
from litebert.data.shards import Shard

CONTIGUOUS: tuple[Packing, ...] = ("full-sentences", "doc-sentences", "single")

Numbers = NDArray[np.int64]


def sentences(shard: Shard, draws: Draws) -> Draft:
    """As many whole sentences as fit (Liu et al. 2019, 4.2); one that is longer than a row is cut into rows.

    Across documents each change costs one more separator. What remains of a long sentence begins the next row.
    """
    tokens, documents = shard.sentences, shard.documents
    count, sizes = len(tokens) - 1, np.diff(documents)
    number = np.repeat(np.arange(len(sizes)), sizes)  # [S] the document of each sentence
    # The tokens up to a sentence's end and the separators before that sentence: what a row must have room for.
    filled = tokens.copy()
    filled[1:] += number
    whole = (np.diff(tokens) - 1) // draws.room  # [S] rows that a sentence fills alone, before its last
    lasts = tokens[:-1] + whole * draws.room  # [S] where the row begins that goes on with the next sentence
    targets = draws.targets(len(sizes))[number]
    ends = np.searchsorted(filled, lasts + number + targets, side="right") - 1
    ends = np.maximum(ends, np.arange(1, count + 1))  # a short target never cuts a sentence
    if draws.recipe.packing == "doc-sentences":
        ends = np.minimum(ends, np.repeat(documents[1:], sizes))
    begins = walk(ends)
    repeats = whole[begins] + 1
    row = _counted(repeats)
    firsts = np.repeat(tokens[begins], repeats) + row * draws.room
    stops = np.repeat(tokens[ends[begins]], repeats)
    split = row < np.repeat(whole[begins], repeats)
    return _draft(firsts, np.where(split, draws.room, stops - firsts))


def single(shard: Shard, draws: Draws) -> Draft:
    """The tokens of each document, a row's length at a time, cut anywhere (Joshi et al. 2019, 3)."""
    documents = shard.sentences[shard.documents]  # [D + 1] in tokens
    targets = draws.targets(len(documents) - 1)
    repeats = -(-np.diff(documents) // targets)
    firsts = np.repeat(documents[:-1], repeats) + _counted(repeats) * np.repeat(targets, repeats)
    left = np.repeat(documents[1:], repeats) - firsts
    return _draft(firsts, np.minimum(left, np.repeat(targets, repeats)))


def _counted(repeats: Numbers) -> Numbers:
    """0, 1, … up to each of these numbers, one run after the other."""
    return np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)


def _draft(begins: Numbers, sizes: Numbers) -> Draft:
    none = np.empty(0, dtype=np.int64)
    return Draft(begins, sizes, np.zeros_like(sizes), np.full(len(begins), NO_ORDER, dtype=np.int8), none, none, 0)
