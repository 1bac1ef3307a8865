"""Where does each example of an epoch begin, and where do its two parts end? All at once, from offsets alone.

For every sentence the end of the example that would begin there is looked up in the token offsets; then one walk along
these ends finds the sentences at which examples do begin. So nothing is replayed to reach an example, and who asks, in
which order and on how many machines changes nothing. No example crosses a shard. Shapes: E examples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from litebert.data import contiguous, pairs
from litebert.data.draft import Draft, Draws
from litebert.data.elsewhere import elsewhere
from litebert.data.layout import FRAMES
from litebert.data.recipe import Recipe
from litebert.data.shards import Shards
from litebert.errors import UserError

_MOST = int(np.iinfo(np.int16).max)  # words of a row are numbered in two bytes


@dataclass(frozen=True, eq=False)
class Plan:
    """Every example of one epoch as two stretches of tokens. Tokens are counted through all shards."""

    shards: Shards
    recipe: Recipe
    seed: int
    epoch: int  # among the recipe's copies, if it has copies
    begins: NDArray[np.int64]  # [E] the first token, ascending: the example's number, the address of all its draws
    firsts: NDArray[np.int32]  # [E] tokens in the part that begins there, before truncation
    seconds: NDArray[np.int32]  # [E] tokens in the second part; 0 where rows have one segment
    others: NDArray[np.int64]  # [E] where the second part begins if it is from elsewhere; -1: where the first one ends
    order: NDArray[np.int8]  # [E] the label of the pair, or NO_ORDER
    changes: NDArray[np.int64]  # where documents begin, if a row may hold several; else empty
    left_out: int  # what gives no example: documents of one word (sop), chunks of one sentence (sop-drop)

    @property
    def count(self) -> int:
        """Examples in the epoch."""
        return len(self.begins)

    @property
    def pair(self) -> bool:
        """Whether rows have two segments."""
        return self.recipe.packing not in contiguous.CONTIGUOUS

    @property
    def specials(self) -> int:
        """Special tokens that frame a row."""
        return FRAMES[self.recipe.layout].specials(self.pair)

    @property
    def room(self) -> int:
        """Tokens of text that a row has room for."""
        return self.recipe.length - self.specials

    @property
    def truncated(self) -> int:
        """Tokens cut from the epoch's rows: chunks are whole sentences and overshoot."""
        return int(np.maximum(self.firsts.astype(np.int64) + self.seconds - self.room, 0).sum())


def plan(shards: Shards, recipe: Recipe, seed: int, epoch: int) -> Plan:
    """Where the examples of an epoch begin and end; with n copies, epochs e and e + n are the same."""
    if recipe.length > _MOST:
        raise UserError(f"length {recipe.length} is more than a row can have: choose {_MOST} or less")
    epoch = epoch % recipe.copies if recipe.copies else epoch
    drafts = [_draft(shards, number, recipe, seed, epoch) for number in range(len(shards.shards))]
    counts = np.array([len(draft.begins) for draft in drafts], dtype=np.int64)
    if not counts.sum():
        raise UserError(_too_little(shards, recipe))
    begins, firsts, seconds, order, lonely, own = map(np.concatenate, list(zip(*drafts, strict=True))[:6])
    begins += np.repeat(shards.token_bases[:-1], counts)
    lonely += np.repeat(np.cumsum(counts) - counts, [len(draft.lonely) for draft in drafts])
    own += np.repeat(shards.document_bases[:-1], [len(draft.lonely) for draft in drafts])
    others = np.full(len(begins), -1, dtype=np.int64)
    others[lonely], seconds[lonely] = elsewhere(shards, begins[lonely], own, seconds[lonely], seed, epoch)
    return Plan(
        shards, recipe, seed, epoch, begins, firsts.astype(np.int32), seconds.astype(np.int32), others, order,
        _changes(shards, recipe), sum(draft.left_out for draft in drafts),
    )  # fmt: skip


def lengths(made: Plan, which: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.int32]:
    """Tokens of the rows of these examples (of all), special ones included, without laying them out."""
    total = made.firsts[which].astype(np.int64) + made.seconds[which]
    first, end = crossings(made, which)
    size: NDArray[np.int64] = np.minimum(total, made.room) + made.specials + end - first
    return size.astype(np.int32)


def crossings(made: Plan, which: NDArray[np.int64] | slice) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """[R] from and up to which of the plan's `changes` a document begins inside these rows."""
    begins = made.begins[which]
    first = np.searchsorted(made.changes, begins, side="right")
    return first, np.searchsorted(made.changes, begins + made.firsts[which], side="left")


def _draft(shards: Shards, number: int, recipe: Recipe, seed: int, epoch: int) -> Draft:
    pair = recipe.packing not in contiguous.CONTIGUOUS
    room = recipe.length - FRAMES[recipe.layout].specials(pair)
    base = int(shards.token_bases[number]), int(shards.document_bases[number])
    draws, shard = Draws(recipe, room, seed, epoch, *base), shards.shards[number]
    if recipe.packing in pairs.SWAPPED:
        return pairs.swapping(shard, draws)
    if pair:
        return pairs.following(shard, draws)
    return contiguous.single(shard, draws) if recipe.packing == "single" else contiguous.sentences(shard, draws)


def _changes(shards: Shards, recipe: Recipe) -> NDArray[np.int64]:
    if recipe.packing != "full-sentences":
        return np.empty(0, dtype=np.int64)
    bases = shards.token_bases[:-1]
    return np.concatenate([s.sentences[s.documents[:-1]] + base for s, base in zip(shards.shards, bases, strict=True)])


def _too_little(shards: Shards, recipe: Recipe) -> str:
    here = f"{shards.sentences} sentences in {shards.documents} documents"
    if not shards.sentences:
        need = "at least one sentence: build with more text"
    elif recipe.packing == "sop-drop":
        need = "two sentences in a document: add text or choose packing=sop"
    else:
        need = "two words in a document: add text or choose packing=single"
    return f"too little text: split {shards.split} has {here}, {recipe.packing} needs {need}"
