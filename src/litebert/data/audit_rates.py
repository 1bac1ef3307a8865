"""Is every kind of piece, every part of a row and every length of span hidden as often as the rule hides it?

Shapes: R rows, T tokens, K kinds of pieces.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litebert.data.measure import Measure, share, spread
from litebert.data.recipe import Recipe
from litebert.data.rows import Batch, Rows
from litebert.data.spans import shares

Counts = dict[str, NDArray[np.float64]]
PLACES = ("first third of a row", "middle third of a row", "last third of a row")
_SLACK = 0.005
_TOGETHER = 3  # tokens that are hidden together, about: so many fewer are independent


def hidden(batch: Batch) -> NDArray[np.bool_]:
    """[R, T] what is asked for."""
    found = np.zeros(batch.ids.shape, dtype=bool)
    row, slot = np.nonzero(batch.weights)
    place = batch.asked[row, slot]
    there = (place >= 0) & (place < batch.ids.shape[1])
    found[row[there], place[there]] = True
    return found


def count(rows: Rows, asked: NDArray[np.bool_], kinds: NDArray[np.uint8]) -> Counts:
    """What is asked for [R, T], and what might be, by kind [K] (`kinds` [V] is that of every piece) and by place."""
    most = int(kinds.max()) + 1
    thirds = 3 * np.arange(rows.ids.shape[1]) // np.maximum(rows.lengths[:, None], 1)
    may = rows.words >= 0
    found: dict[str, Any] = {}
    for name, where in (("asked", asked & may), ("there", may)):
        found[f"kinds {name}"] = np.bincount(kinds[rows.ids[where]], minlength=most)
        found[f"places {name}"] = np.bincount(thirds[where], minlength=3)[:3]
    return {name: value.astype(np.float64) for name, value in found.items()}


def judge(counts: Mapping[str, Any], by_hand: Mapping[str, Any], kinds: Sequence[str], recipe: Recipe) -> list[Measure]:
    """Rates and spans beside those of the rule that was followed by hand in some of the rows."""
    found = []
    for what, names in (("kinds", kinds), ("places", PLACES)):
        parts = (each[f"{what} {name}"] for each in (counts, by_hand) for name in ("asked", "there"))
        for name, asked, there, hand, hand_there in zip(names, *parts, strict=False):
            if hand_there:
                # Of a handful that may be hidden the rule may hide none: how far chance leads is told by both together.
                both = (asked + hand + 1) / (there + hand_there + 2)
                allowed = _allowed(both, there / _TOGETHER, hand_there / _TOGETHER)
                found.append(Measure("rates", name, share(asked, there), share(hand, hand_there), allowed))
    if recipe.spans == "one":
        return found
    spans, by_rule, drawn = counts["spans"], by_hand["spans"], shares(recipe.spans, recipe.longest)
    for units in range(1, min(recipe.longest, 3) + 1):
        name = f"of {units} {recipe.unit}{'s' * (units > 1)} (drawn {drawn[units - 1]:.3f})"
        wanted = share(by_rule[units - 1], by_rule.sum())
        allowed = _allowed(wanted, spans.sum(), by_rule.sum())
        found.append(Measure("spans", name, share(spans[units - 1], spans.sum()), wanted, allowed))
    return found


def _allowed(wanted: float, draws: float, by_hand: float) -> float:
    return _SLACK + 4.5 * math.hypot(spread(wanted, draws), spread(wanted, by_hand))
