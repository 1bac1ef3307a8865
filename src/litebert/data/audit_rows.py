"""Is every row laid out as its layout says, and every pair what its label says? Held against the text in the shards.

Shapes: R rows, T tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litebert.data import modes, packing
from litebert.data.layout import FRAMES
from litebert.data.measure import Measure, share, spread
from litebert.data.packing import Plan
from litebert.data.pairs import SWAPPED
from litebert.data.permutation import CONSECUTIVE
from litebert.data.rows import NO_ORDER, Batch, Rows
from litebert.data.shards import Shards
from litebert.data.vocabulary import Vocabulary

Counts = dict[str, NDArray[np.float64]]


def count(rows: Rows, batch: Batch, plan: Plan, which: NDArray[np.int64], vocabulary: Vocabulary) -> Counts:
    """The counts of the examples `which`; those of all are their sums."""
    found: dict[str, Any] = {
        "rows": len(which), "slots": rows.ids.size, "real": batch.mask.sum(),
        "malformed": (~_formed(rows, plan, vocabulary)).sum(),
        "mislabelled tokens": _segments_off(rows, batch, plan).sum(),
        "misplaced starts": _misplaced(rows, vocabulary).sum(),
        "words": (np.diff(rows.words, axis=1) > 0).sum(),
        "no order": (rows.order == NO_ORDER).sum() if plan.pair else 0,
    }  # fmt: skip
    if plan.pair:
        told = batch.order if batch.mode == "bidirectional" else rows.order
        asked = told != NO_ORDER
        found |= {"with order": asked.sum(), "label 1": (told == 1).sum(), **_wanted(plan, which, asked)}
        found["untrue labels"] = sum(
            not _true(rows, int(label), plan, int(example), row)
            for row, (example, label) in enumerate(zip(which, told, strict=True))
        )
        found["unasked order"] = (batch.order != NO_ORDER).sum() if batch.mode != "bidirectional" else 0
    return {name: np.atleast_1d(np.asarray(value, dtype=np.float64)) for name, value in found.items()}


def judge(counts: Mapping[str, Any], plan: Plan, vocabulary: Vocabulary) -> list[Measure]:
    """Rows and pairs beside what the plan says."""
    sums = {name: float(value.sum()) for name, value in counts.items()}
    lengths, bare = packing.lengths(plan) / plan.recipe.length, _bare(plan.shards, vocabulary)
    found = [
        Measure("rows", "malformed", sums["malformed"], 0),
        Measure("rows", "tokens in the wrong segment", sums["mislabelled tokens"], 0),
        Measure("rows", "words that begin where no word begins", share(sums["misplaced starts"], sums["words"]),
                bare / 2, bare / 2 + 0.002),
        Measure("rows", "real tokens, of all slots", share(sums["real"], sums["slots"]), float(lengths.mean()),
                4.5 * float(lengths.std()) * sums["rows"] ** -0.5),
        Measure("rows", "text cut from rows", share(plan.truncated, float(plan.firsts.sum() + plan.seconds.sum()))),
        Measure("rows", "documents or chunks left out", plan.left_out),
    ]  # fmt: skip
    if not plan.pair:
        return found
    ordered = sums["with order"]
    wanted = share(sums["expected 1"], ordered)
    allowed = 4.5 * spread(0.5, ordered) + 0.25 * plan.recipe.short * (plan.recipe.packing not in SWAPPED)
    return [
        *found,
        Measure("pairs", "label 1, of those with an order", share(sums["label 1"], ordered), wanted, allowed),
        Measure("pairs", "labels that the text belies", sums["untrue labels"], 0),
        Measure("pairs", "order asked where a mode hides it", sums["unasked order"], 0),
        Measure("pairs", "without an order", share(sums["no order"], sums["rows"])),
        Measure("pairs", "chunks of one sentence", share(sums["lonely"], sums["rows"])),
    ]


def _formed(rows: Rows, plan: Plan, vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """[R] whether special tokens and padding stand exactly where the layout puts them."""
    frame, height, width = FRAMES[plan.recipe.layout], *rows.ids.shape
    ids, every = {"cls": vocabulary.cls, "sep": vocabulary.sep}, np.arange(height)
    length = rows.lengths.astype(np.int64)
    wanted = np.full((height, width), -1, dtype=np.int64)  # -1: text
    wanted[np.arange(width) >= length[:, None]] = vocabulary.pad
    for column, name in enumerate(frame.before):
        wanted[:, column] = ids[name]
    for back, name in enumerate(reversed(frame.after), 1):
        wanted[every, length - back] = ids[name]
    for column, name in enumerate(frame.between if plan.pair else ()):
        wanted[every, rows.source - 1 + column] = ids[name]
    text, found = wanted < 0, rows.ids
    structure = vocabulary.special[found] & (found != vocabulary.unk)
    if plan.recipe.packing == "full-sentences":  # a separator at each change of the document
        structure &= found != vocabulary.sep
    good: NDArray[np.bool_] = np.where(text, ~structure, found == wanted).all(axis=1)
    inner = text & (found == vocabulary.sep)
    good &= ((rows.words >= 0) == (text & ~inner)).all(axis=1)
    good &= (length <= plan.recipe.length) & (length >= plan.specials + 1 + plan.pair)
    if plan.pair:
        second = length - len(frame.after) - (rows.source + len(frame.between) - 1)
        good &= (rows.source > len(frame.before) + 1) & (second > 0)
    return good


def _segments_off(rows: Rows, batch: Batch, plan: Plan) -> NDArray[np.bool_]:
    """[R, T] where the batch's mask or segment is not what the layout and the mode say."""
    frame, columns = FRAMES[plan.recipe.layout], np.arange(rows.ids.shape[1])
    real = columns < rows.lengths[:, None]
    first, second = modes.SEGMENTS[batch.mode]
    second = second if plan.pair and frame.typed else first
    wanted = np.where(columns < rows.source[:, None], first, second)
    if frame.typed and frame.after[-1] == "cls" and batch.mode == "bidirectional":
        wanted[columns == rows.lengths[:, None] - 1] = 2
    off: NDArray[np.bool_] = (batch.segments != wanted * real) | (batch.mask != real)
    return off


def _misplaced(rows: Rows, vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """[R, T - 1] where a word begins, within a segment, at a piece that begins none."""
    begins = (rows.words[:, 1:] > rows.words[:, :-1]) & (rows.words[:, :-1] >= 0)
    found: NDArray[np.bool_] = begins & ~vocabulary.starts[rows.ids[:, 1:]]
    return found


def _bare(shards: Shards, vocabulary: Vocabulary) -> float:
    """The share of words that begin only because a sentence does: byte-level pieces write no space there."""
    shard = shards.shards[0].arrays
    first = shard.ids[shard.sentences[:-1]]
    return share(float((~vocabulary.starts[first]).sum()), float(np.bitwise_count(shard.starts).sum()))


def _wanted(plan: Plan, which: NDArray[np.int64], asked: NDArray[np.bool_]) -> dict[str, Any]:
    """How many of these labels should be 1: half of them; where one sentence stands alone, all or none."""
    if plan.recipe.packing in SWAPPED:
        lonely = plan.others[which] >= 0 if plan.recipe.packing == "sop-google" else plan.order[which] == NO_ORDER
    else:
        lonely = _alone(plan, which)
    always = 0.0 if plan.recipe.layout == "xlnet" else 1.0
    return {"lonely": lonely.sum(), "expected 1": np.where(lonely, always, 0.5)[asked].sum()}


def _alone(plan: Plan, which: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a chunk is one sentence: its document ends there, or it fills a row by itself."""
    found = np.zeros(len(which), dtype=bool)
    begins = plan.begins[which]
    holders = np.searchsorted(plan.shards.token_bases, begins, side="right") - 1
    for holder in np.unique(holders):
        mine, shard = holders == holder, plan.shards.shards[holder]
        sentence = np.searchsorted(shard.sentences, begins[mine] - plan.shards.token_bases[holder])
        last = np.isin(sentence + 1, shard.documents)
        full = shard.sentences[sentence + 1] - shard.sentences[sentence] >= plan.room
        found[mine] = last | (full & (plan.recipe.packing != "sentence-pair"))
    return found


def _true(rows: Rows, label: int, plan: Plan, example: int, row: int) -> bool:
    """Whether the two segments of a row stand in the shards where its label says; they may have lost their ends."""
    frame, swapping = FRAMES[plan.recipe.layout], plan.recipe.packing in SWAPPED
    split, length = int(rows.source[row]), int(rows.lengths[row])
    one = _text(rows.ids[row, len(frame.before) : split - 1])
    two = _text(rows.ids[row, split - 1 + len(frame.between) : length - len(frame.after)])
    begin, first, second = int(plan.begins[example]), int(plan.firsts[example]), int(plan.seconds[example])
    other = int(plan.others[example])
    front = _text(_stretch(plan.shards, begin, first))
    behind = _text(_stretch(plan.shards, begin + first if other < 0 else other, second))
    if other < 0 and not _one_document(plan.shards, begin, first + second):
        return False
    apart = CONSECUTIVE ^ 1 if plan.recipe.layout == "xlnet" else 1  # the label of what does not follow
    if other >= 0:
        return label == apart and one in front and two in behind
    if label == apart:
        return swapping and one in behind and two in front
    return one in front and two in behind


def _text(ids: NDArray[Any]) -> str:
    """Ids as characters, so that one stretch can be sought in another."""
    return "".join(map(chr, ids.tolist()))


def _stretch(shards: Shards, begin: int, count: int) -> NDArray[Any]:
    holder = int(np.searchsorted(shards.token_bases, begin, side="right")) - 1
    offset = begin - int(shards.token_bases[holder])
    return shards.shards[holder].ids[offset : offset + count]


def _one_document(shards: Shards, begin: int, count: int) -> bool:
    holder = int(np.searchsorted(shards.token_bases, begin, side="right")) - 1
    shard, offset = shards.shards[holder], begin - int(shards.token_bases[holder])
    at = np.searchsorted(shard.sentences[shard.documents], [offset, offset + count - 1], side="right")
    return bool(at[0] == at[1])
