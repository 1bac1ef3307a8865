"""How sure is a score? Percentile intervals: the measure of a thousand data sets drawn from the examples themselves.

Resample number r of a seed is always the same examples, whatever the measure and however many resamples are taken, so
two models' scores on the same examples may be compared resample by resample. Shapes: N examples, R resamples, K
numbers of an example.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from litebert import rng
from litebert.errors import UserError
from litebert.tasks.metrics import Counts, Values, cells

RESAMPLES, LEVEL = 1000, 0.95
AT_A_TIME = 1 << 19  # numbers drawn

Order = NDArray[np.int64]


class Interval(NamedTuple):
    """From where to where the measure of such examples lies in `LEVEL` of all cases."""

    low: float
    high: float


def resamples(size: int, count: int = RESAMPLES, seed: int = 0) -> Iterator[Order]:
    """[N] examples of each resample, drawn with putting back."""
    if size < 1 or count < 1:
        raise UserError(f"{count} resamples of {size} examples: an interval needs at least one of each")
    rows = max(1, AT_A_TIME // size)
    for first in range(0, count, rows):
        numbers = np.arange(first, min(first + rows, count))
        yield from (rng.uniform(numbers, size, seed, "bootstrap") * size).astype(np.int64)


def interval(values: ArrayLike, level: float = LEVEL) -> Interval:
    """The middle `level` of what a measure gave on all resamples, [R]."""
    if not 0.0 < level < 1.0:
        raise UserError(f"level {level} is not a share: choose one between 0 and 1, such as 0.95")
    outside = (1.0 - level) / 2
    low, high = np.quantile(finite(values, "measure"), [outside, 1.0 - outside])
    return Interval(float(low), float(high))


def of_mean(values: ArrayLike, count: int = RESAMPLES, seed: int = 0, level: float = LEVEL) -> Interval:
    """Of the mean of a number that each example has, [N]: accuracy, exact match, F1 of answers."""
    each = finite(values, "value")
    return of_sums(each[:, None], lambda sums: sums[:, 0] / len(each), count, seed, level)


def of_sums(
    values: ArrayLike, measure: Callable[[Values], Values], count: int = RESAMPLES, seed: int = 0, level: float = LEVEL
) -> Interval:
    """Of what follows from sums over the examples: values [N, K] add up to [R, K], from which `measure` makes [R]."""
    each = finite(values, "value")
    times = (np.bincount(order, minlength=len(each)) for order in resamples(len(each), count, seed))  # [N] each
    return interval(measure(np.stack([often @ each for often in times])), level)


def of_counts(
    gold: Sequence[Hashable],
    guessed: Sequence[Hashable],
    measures: Mapping[str, Callable[[Counts], Values]],
    labels: Sequence[Hashable] | None = None,
    count: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> dict[str, Interval]:
    """Of measures that tables of labels [R, C, C] give (`metrics.matthews_of`), all on the same resamples."""
    found: dict[str, list[Values]] = {name: [] for name in measures}
    where, names = cells(gold, guessed, labels)
    classes = len(names)
    drawn = resamples(len(where), count, seed)
    while orders := list(islice(drawn, max(1, AT_A_TIME // classes**2))):
        tables = np.stack([np.bincount(where[order], minlength=classes**2) for order in orders])
        for name, measure in measures.items():
            found[name].append(measure(tables.reshape(-1, classes, classes)))
    return {name: interval(np.concatenate(parts), level) for name, parts in found.items()}


def of_any(
    measure: Callable[[Order], Mapping[str, float]],
    size: int,
    count: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> dict[str, Interval]:
    """Of any measures of some of `size` examples, which are computed anew for every resample."""
    found = [measure(order) for order in resamples(size, count, seed)]
    return {name: interval([one[name] for one in found], level) for name in found[0]}


def finite(values: ArrayLike, what: str) -> Values:
    """Numbers, all of them finite, and at least one."""
    each = np.asarray(values, np.float64)
    if not each.size:
        raise UserError(f"0 {what}s: an interval needs at least one")
    for bad in np.argwhere(~np.isfinite(each)):
        raise UserError(f"{what} {bad[0] + 1} is {each[tuple(bad)]}: an interval needs finite numbers only")
    return each
