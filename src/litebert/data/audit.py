"""What will the model be fed? A sample of it, counted, beside what the recipe promises."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.data import (
    audit_expected,
    audit_masks,
    audit_rates,
    audit_rows,
    masking,
    modes,
    packing,
    segments,
    stream,
)
from litebert.data.epochs import Epoch
from litebert.data.measure import Measure, share, spread
from litebert.data.reading import KINDS, kinds
from litebert.data.recipe import Recipe
from litebert.data.rows import Rows
from litebert.data.shards import Shards
from litebert.data.vocabulary import Vocabulary

ROWS = 20_000
_TOGETHER = 512  # rows that are counted at once
_BY_HAND = 2048  # rows of which the rule is followed span by span
_MODES = 4000  # batches whose mode is drawn


class Audit(NamedTuple):
    """What was found."""

    measures: list[Measure]
    rows: int
    tokens: int  # real ones
    seconds: float  # to lay them out and to mask them

    @property
    def off(self) -> list[Measure]:
        """What is not as it should be."""
        return [measure for measure in self.measures if measure.ok is False]


class _Sums:
    """Counts of all portions together."""

    def __init__(self) -> None:
        self.all: dict[str, Any] = {}

    def add(self, counts: Mapping[str, NDArray[Any]]) -> None:
        for name, value in counts.items():
            self.all[name] = self.all.get(name, 0.0) + value


def audit(
    shards: Shards, recipe: Recipe, vocabulary: Vocabulary, *, texts: Sequence[str] = (), rows: int = ROWS,
    seed: int = 0,
) -> Audit:  # fmt: skip
    """Count `rows` rows of the first epoch, those that are read first; `texts` is what every piece spells [V]."""
    epoch = Epoch(0, packing.plan(shards, recipe, seed, 0), seed)
    text = stream.sample(shards) if recipe.replacements == "text" else None
    odds = audit_masks.replacements(recipe, vocabulary, np.zeros(0, np.int64) if text is None else text)
    classes = kinds(vocabulary, texts)
    laid, masked, by_hand = _Sums(), _Sums(), _Sums()
    seen: list[NDArray[Any]] = []
    again: list[tuple[float, float]] = []
    seconds = 0.0
    for number, which in enumerate(_portions(epoch, min(rows, epoch.count))):
        began = time.perf_counter()
        given = segments.rows(epoch.plan, which, vocabulary)
        mode = modes.mode(seed, 0, number) if recipe.task == "mixture" else "bidirectional"
        batch = masking.corrupt(given, recipe, vocabulary, seed, 0, text=text, mode=mode)
        seconds += time.perf_counter() - began
        asked = audit_rates.hidden(batch)
        laid.add(audit_rows.count(given, batch, epoch.plan, which, vocabulary))
        masked.add(audit_masks.count(given, batch, recipe, vocabulary, odds))
        masked.add(audit_rates.count(given, asked, classes))
        seen.append(np.stack([batch.examples, _digests(given)]))
        if number < _BY_HAND // _TOGETHER:
            expected = audit_expected.by_hand(given, recipe, seed, number)
            by_hand.add({"spans": expected.spans, **audit_rates.count(given, expected.hidden, classes)})
            later = masking.corrupt(given, recipe, vocabulary, seed, recipe.copies or 1, text=text, mode=mode)
            again.append((float((asked & audit_rates.hidden(later)).sum()), float(asked.sum())))
    found = [
        *audit_rows.judge(laid.all, epoch.plan, vocabulary),
        *_twice(np.concatenate(seen, axis=1)),
        *audit_masks.judge(masked.all, recipe, vocabulary, odds),
        *_next_epoch(again, masked.all, recipe),
        *audit_rates.judge(masked.all, by_hand.all, KINDS, recipe),
        *(_modes(seed) if recipe.task == "mixture" else []),
    ]
    tokens = int(masked.all["real"].item())
    found.append(Measure("speed", "tokens per second", tokens / seconds))
    groups = list(dict.fromkeys(measure.group for measure in found))
    found.sort(key=lambda measure: groups.index(measure.group))
    return Audit(found, int(masked.all["rows"].item()), tokens, seconds)


def _portions(epoch: Epoch, rows: int) -> Iterator[NDArray[np.int64]]:
    for start in range(0, rows, _TOGETHER):
        yield epoch.order(start, min(start + _TOGETHER, rows))


def _digests(rows: Rows) -> NDArray[np.int64]:
    """[R] a number that two rows share only if they are equal, but for one chance in 2^64."""
    return np.array([hash(row.tobytes()) for row in rows.ids], dtype=np.int64)


def _twice(seen: NDArray[np.int64]) -> list[Measure]:
    rows = seen.shape[1]
    examples, texts = (rows - len(np.unique(part)) for part in seen)
    return [
        Measure("rows", "examples read twice in an epoch", examples, 0),
        Measure("rows", "rows equal to an earlier one", share(texts, rows)),  # a text may say the same thing twice
    ]


def _next_epoch(again: Sequence[tuple[float, float]], masked: Mapping[str, Any], recipe: Recipe) -> list[Measure]:
    both, first = np.sum(again, axis=0)
    if recipe.copies:
        name = f"asked for again {recipe.copies} epochs later"
        return [Measure("masks", name, share(both, first), 1.0)]
    wanted = share(masked["asked"].item(), masked["may"].item())
    return [Measure("masks", "asked for again in the next epoch", share(both, first), wanted,
                    0.02 + 4.5 * spread(wanted, first / 2))]  # fmt: skip


def _modes(seed: int) -> list[Measure]:
    drawn = [modes.mode(seed, 0, batch) for batch in range(_MODES)]
    return [
        Measure("modes", name, drawn.count(name) / _MODES, wanted, 4.5 * spread(wanted, _MODES))
        for name, wanted in modes.SHARES.items()
    ]
