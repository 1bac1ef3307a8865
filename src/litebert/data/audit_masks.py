"""What was hidden, what stands there now, and can all of it be asked? Counted over rows and the batch made of them.

Counts of parts are added up, then judged: nothing here knows how a masker works. Shapes: R rows, T tokens, P
predictions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litebert.data.audit_expected import LONGEST
from litebert.data.measure import Measure, share, spread
from litebert.data.recipe import Recipe
from litebert.data.rows import Batch, Rows
from litebert.data.units import budgets
from litebert.data.vocabulary import Vocabulary

Counts = dict[str, NDArray[np.float64]]
_BINS = 32  # of the vocabulary, in which random replacements should be equally many


def count(rows: Rows, batch: Batch, recipe: Recipe, vocabulary: Vocabulary, odds: NDArray[np.float64]) -> Counts:
    """The counts of some rows; those of all are their sums. `odds` [V]: the chance of each piece where one is drawn."""
    row, slot = np.nonzero(batch.weights)
    place, target = batch.asked[row, slot], batch.targets[row, slot]
    there = (place >= 0) & (place < rows.ids.shape[1])
    column = np.where(there, place, 0)
    shown, word = batch.ids[row, column], np.where(there, rows.words[row, column], -1)
    budget = budgets(recipe, rows.lengths)
    number = np.bincount(row, minlength=len(rows.ids))
    may = rows.words >= 0
    found: dict[str, Any] = {
        "rows": len(rows.ids), "real": rows.lengths.sum(), "may": may.sum(), "budget": budget.sum(), "asked": len(row),
        "beyond the budget": (number > budget).sum(), "special": (word < 0).sum(),
        "not restored": _not_restored(rows, batch, row, column, target).sum(),
        "out of order": _out_of_order(batch, row, slot, place).sum(),
        "without replacement": _distinct(may.sum(axis=1), budget).sum(),
    }  # fmt: skip
    if recipe.unit == "word":
        found["cut words"] = _cut_words(rows, row, column, recipe.exact)
    masked, kept = shown == vocabulary.mask, shown == target
    random = shown[~masked & ~kept]
    found |= {"masked": masked.sum(), "kept": kept.sum(), "random": len(random)}
    found |= {"special replacements": vocabulary.special[random].sum(), "bins": _bins(random, vocabulary),
              "luck": odds[target].sum()}  # fmt: skip
    found |= _of_spans(batch, row, slot, word, masked, recipe)
    return {name: np.atleast_1d(np.asarray(value, dtype=np.float64)) for name, value in found.items()}


def replacements(recipe: Recipe, vocabulary: Vocabulary, text: NDArray[np.integer]) -> NDArray[np.float64]:
    """How probable every piece is as a random replacement [V]; `text` is what those of kind "text" are drawn from."""
    if recipe.replacements == "text":
        return np.bincount(text, minlength=vocabulary.size) / max(1, len(text))
    pool = np.ones(vocabulary.size, dtype=bool) if recipe.replacements == "vocabulary" else ~vocabulary.special
    odds: NDArray[np.float64] = pool / pool.sum()
    return odds


def judge(
    counts: Mapping[str, Any], recipe: Recipe, vocabulary: Vocabulary, odds: NDArray[np.float64]
) -> list[Measure]:
    """Masks and replacements beside what the recipe says."""
    sums = {name: float(value.sum()) for name, value in counts.items()}
    wanted, asked = sums["budget"], sums["asked"]
    if recipe.repeats:
        wanted = sums["without replacement"]
    slack = 0.002 if recipe.unit == "token" or recipe.exact else 0.02  # a last word may be too long for what is left
    if recipe.repeats:
        slack = 4.5 * wanted**-0.5
    found = [
        Measure("masks", "predicted, of all tokens", share(asked, sums["real"]), share(wanted, sums["real"]),
                slack * share(wanted, sums["real"])),
        Measure("masks", "of the budget", share(asked, wanted), 1.0, slack),
        Measure("masks", "rows beyond the budget", sums["beyond the budget"], 0),
        Measure("masks", "special tokens asked for", sums["special"], 0),
        Measure("masks", "rows that targets do not restore", sums["not restored"], 0),
        Measure("masks", "rows with places twice or out of order", sums["out of order"], 0),
    ]  # fmt: skip
    if "cut words" in sums:
        found.append(Measure("masks", "words cut by a span", sums["cut words"], 0))
    found += _replaced(counts, sums, recipe, vocabulary, odds)
    return found


def _replaced(
    counts: Mapping[str, Any], sums: Mapping[str, float], recipe: Recipe, vocabulary: Vocabulary,
    odds: NDArray[np.float64],
) -> list[Measure]:  # fmt: skip
    asked = sums["asked"]
    same, mask = share(sums["luck"], asked), float(odds[vocabulary.mask])  # a random id that does not look random
    random = recipe.random * (1 - same - mask)
    wanted = {"masked": recipe.masked + recipe.random * mask, "random": random}
    wanted["kept"] = 1 - sum(wanted.values())
    draws = asked**2 / sums["span squares"] if recipe.decide == "span" and asked else asked  # independent ones
    found = [
        Measure("replaced", name, share(sums[name], asked), odds_, 4.5 * spread(odds_, draws))
        for name, odds_ in wanted.items()
    ]
    if recipe.decide == "span":
        found.append(Measure("replaced", "spans hidden in part only", sums["mixed spans"], 0))
    replaced = sums["random"]
    if replaced:
        special = float(odds[vocabulary.special].sum()) - mask
        found.append(Measure("replaced", "special, of random ids", share(sums["special replacements"], replaced),
                             special, 4.5 * spread(special, replaced)))  # fmt: skip
    if replaced > 5 * _BINS and recipe.replacements != "text":
        even = counts["bins"].sum() / _BINS
        chi = float(((counts["bins"] - even) ** 2).sum() / max(even, 1) / (_BINS - 1))
        found.append(Measure("replaced", "unevenness of random ids, χ² / df", chi, 1.0, 5 * (2 / (_BINS - 1)) ** 0.5))
    return found


def _not_restored(
    rows: Rows, batch: Batch, row: NDArray[Any], column: NDArray[Any], target: NDArray[Any]
) -> NDArray[np.bool_]:
    restored = batch.ids.copy()
    restored[row, column] = target
    bad: NDArray[np.bool_] = (restored != rows.ids).any(axis=1)
    return bad


def _out_of_order(batch: Batch, row: NDArray[Any], slot: NDArray[Any], place: NDArray[Any]) -> NDArray[np.bool_]:
    """[R] rows whose places do not ascend, or whose used slots are not the first ones."""
    later = row[1:] == row[:-1]
    bad = np.zeros(len(batch.ids), dtype=bool)
    bad[row[1:][later & ((np.diff(place) <= 0) | (np.diff(slot) != 1))]] = True
    bad[row[(slot > 0) & np.append(True, ~later)]] = True
    return bad


def _cut_words(rows: Rows, row: NDArray[Any], column: NDArray[Any], one_allowed: bool) -> int:
    """Words of which some pieces are asked for and others not; one in a row may be, where budgets are met exactly."""
    words = rows.words.astype(np.int64)
    most = int(words.max(initial=0)) + 1
    key = np.arange(len(words))[:, None] * most + words
    sizes = np.bincount(key[words >= 0], minlength=len(words) * most).reshape(-1, most)
    inside = words[row, column] >= 0
    asked = np.bincount(key[row, column][inside], minlength=len(words) * most).reshape(-1, most)
    cut = ((asked > 0) & (asked < sizes)).sum(axis=1)
    return int(np.maximum(cut - one_allowed, 0).sum())


def _distinct(pool: NDArray[np.integer], draws: NDArray[np.integer]) -> NDArray[np.float64]:
    """How many different ones so many draws with replacement find on average."""
    size = np.maximum(pool, 1)
    found: NDArray[np.float64] = pool * (1 - (1 - 1 / size) ** draws)
    return found


def _bins(random: NDArray[np.integer], vocabulary: Vocabulary) -> NDArray[np.intp]:
    rank = np.cumsum(~vocabulary.special) - 1  # among the pieces of text
    text = random[~vocabulary.special[random]]
    return np.bincount(rank[text] * _BINS // (rank[-1] + 1), minlength=_BINS)


def _of_spans(
    batch: Batch, row: NDArray[Any], slot: NDArray[Any], word: NDArray[Any], masked: NDArray[np.bool_], recipe: Recipe
) -> dict[str, Any]:
    """Lengths of the spans in units [64], the sum of their squares in tokens, and those of which a part is masked."""
    if not len(row):
        return {"spans": np.zeros(LONGEST), "span squares": 0, "mixed spans": 0}
    span = batch.spans[row, slot].astype(np.int64)
    first = np.append(True, (row[1:] != row[:-1]) | (span[1:] != span[:-1]))
    unit = first | np.append(True, word[1:] != word[:-1]) if recipe.unit == "word" else np.ones(len(row), dtype=bool)
    begins = np.flatnonzero(first)
    tokens, units = np.diff(np.append(begins, len(row))), np.add.reduceat(unit.astype(np.int64), begins)
    hidden = np.add.reduceat(masked.astype(np.int64), begins)
    return {
        "spans": np.bincount(np.minimum(units, LONGEST), minlength=LONGEST + 1)[1:],
        "span squares": (tokens**2).sum(), "mixed spans": ((hidden > 0) & (hidden < tokens)).sum(),
    }  # fmt: skip
