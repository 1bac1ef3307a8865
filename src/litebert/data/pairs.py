"""Which sentences make a pair of segments? The rules of ALBERT, BERT and RoBERTa for one shard.

A chunk is whole sentences of a document until the target is reached; it is cut at a random sentence into two parts
(google-research/albert and google-research/bert:create_pretraining_data.py). The rules part over what else may stand
second. Shapes: E examples; S sentences, D documents of the shard.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from litebert.data.draft import Draft, Draws, walk
from litebert.data.halves import halves
from litebert.data.permutation import CONSECUTIVE
from litebert.data.recipe import Packing, Recipe
from litebert.data.rows import NO_ORDER
from litebert.data.shards import Shard

SWAPPED: tuple[Packing, ...] = ("sop", "sop-google", "sop-drop")  # label 1: what comes first stands second

Numbers = NDArray[np.int64]

_NONE = np.empty(0, dtype=np.int64)


def swapping(shard: Shard, draws: Draws) -> Draft:
    """Sentence order (Lan et al. 2019, 3.1): label 1 where the two parts of a chunk stand the other way round."""
    tokens, documents, packing = shard.sentences, shard.documents, draws.recipe.packing
    targets, limits = draws.targets(len(documents) - 1), _limits(documents)
    ends = _chunks(tokens, documents, targets, limits)
    if packing == "sop":
        ends = np.minimum(np.maximum(ends, np.arange(2, len(ends) + 2)), limits)
    begins = walk(ends)
    ends = ends[begins]
    lone = np.flatnonzero(ends - begins == 1)
    if packing == "sop":  # a last sentence that is left over is paired with the one before it
        begins[lone] -= documents[_documents(documents, begins[lone])] < begins[lone]
        lone = lone[ends[lone] - begins[lone] == 1]
    cuts, order = _cut(tokens[begins], ends - begins, draws)
    firsts, seconds = tokens[begins + cuts] - tokens[begins], tokens[ends] - tokens[begins + cuts]
    own = _documents(documents, begins[lone])
    if packing == "sop-google":  # another document's sentences, called swapped: the released generator's flaw
        order[lone] = 1
        seconds[lone] = targets[own] - firsts[lone]
        return Draft(tokens[begins], firsts, seconds, order, lone, own, 0)
    if packing == "sop":  # a document of one sentence: cut within it, and nothing asked about its order
        half = halves(shard.starts, tokens[begins[lone]], tokens[ends[lone]])
        firsts[lone], seconds[lone], order[lone] = half, firsts[lone] - half, NO_ORDER
        lone = lone[half == 0]
    kept = np.ones(len(begins), dtype=bool)
    kept[lone] = False
    return Draft(tokens[begins[kept]], firsts[kept], seconds[kept], order[kept], _NONE, _NONE, len(lone))


def following(shard: Shard, draws: Draws) -> Draft:
    """Next or not (Devlin et al. 2018, A.1): half of the second segments are another document's."""
    tokens, documents, recipe = shard.sentences, shard.documents, draws.recipe
    targets, limits = draws.targets(len(documents) - 1), _limits(documents)
    single = recipe.packing == "sentence-pair"
    every = np.arange(len(limits))
    ends = np.minimum(every + 2, limits) if single else _chunks(tokens, documents, targets, limits)
    cuts, random = _cut(tokens[:-1], ends - every, draws)
    random[ends - every == 1] = 1
    begins = walk(np.where(random, every + cuts, ends))  # sentences that another B displaced come next
    middles, ends, random = (every + cuts)[begins], ends[begins], random[begins]
    firsts, seconds = tokens[middles] - tokens[begins], tokens[ends] - tokens[middles]
    lonely = np.flatnonzero(random)
    own = _documents(documents, begins[lonely])
    seconds[lonely] = 0 if single else targets[own] - firsts[lonely]
    return Draft(tokens[begins], firsts, seconds, _label(random, recipe), lonely, own, 0)


def _label(random: NDArray[np.int8], recipe: Recipe) -> NDArray[np.int8]:
    """What a pair is called: XLNet's word for one from elsewhere is the reverse of BERT's."""
    return (random ^ CONSECUTIVE).astype(np.int8) if recipe.layout == "xlnet" else random


def _limits(documents: Numbers) -> Numbers:
    """[S] where the document of each sentence ends."""
    return np.repeat(documents[1:], np.diff(documents))


def _documents(documents: Numbers, sentences: Numbers) -> Numbers:
    """The document that each of these sentences is in."""
    return np.searchsorted(documents, sentences, side="right") - 1


def _chunks(tokens: Numbers, documents: Numbers, targets: Numbers, limits: Numbers) -> Numbers:
    """[S] where the chunk ends that begins at each sentence: its document's target is reached, or the document ends."""
    wanted = tokens[:-1] + np.repeat(targets, np.diff(documents))
    return np.minimum(np.searchsorted(tokens, wanted), limits)


def _cut(tokens: Numbers, sentences: Numbers, draws: Draws) -> tuple[Numbers, NDArray[np.int8]]:
    """After how many of its sentences each chunk is cut, 1 to n - 1 (1 of 1), and how its coin falls."""
    drawn = draws.at(tokens, 2, "pair")
    cuts = 1 + (drawn[:, 0] * (sentences - 1)).astype(np.int64)
    return cuts, (drawn[:, 1] < 0.5).astype(np.int8)
