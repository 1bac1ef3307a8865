"""Does it get worse with longer texts? Examples by their real tokens, in a few groups with count and interval."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from litebert.lab import page, whiskers
from litebert.lab.figures import Side
from litebert.lab.judged import Judged, Scale
from litebert.lab.whiskers import Dot
from litebert.tasks import bootstrap

_ENDS = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096, 8192]
_MOST = 7  # groups that have room beside one another
_FEW, _SHARE = 10, 0.04  # a group has at least so many examples, and such a share of them all
_Z = 1.959964  # standard deviations that hold 95 %


class Group(NamedTuple):
    """Examples of similar lengths: `low` to `high` tokens, both included."""

    low: int
    high: int

    @property
    def name(self) -> str:
        """Its lengths."""
        return f"{self.low:,}–{self.high:,}" if self.low < self.high else f"{self.low:,}"


class Mean(NamedTuple):
    """The mean score of some examples, and where it would lie for others like them."""

    value: float
    low: float
    high: float
    examples: int


def by_length(judged: Sequence[Sequence[Judged]], names: Sequence[str], scale: Scale) -> str:
    """A figure and its numbers, for one run or for several side by side; '' where no lengths are known."""
    groups = grouped([one.tokens for run in judged for one in run if one.tokens is not None])
    if len(groups) < 2:
        return ""
    means = [[mean([one.score for one in run if one.tokens is not None and group.low <= one.tokens <= group.high])
              for group in groups] for run in judged]  # fmt: skip
    several = len(names) > 1
    rows = [[_dot(each, f"{name}: " if several else "", scale) for each in run]
            for name, run in zip(names, means, strict=True)]  # fmt: skip
    short = [f"≤ {group.high:,}" for group in groups]  # where both ends have no room
    drawn = whiskers.chart(short, rows, Side("real tokens"), label=f"{scale.title} by real tokens")
    columns = names if several else ("examples", scale.title, "95 %")
    cells = [[group.name, *(cell for run in means for cell in _cells(run[place], scale, several))]
             for place, group in enumerate(groups)]  # fmt: skip
    table = page.table(("real tokens", *columns), cells, range(1, 1 + len(columns)))
    title = scale.title[:1].upper() + scale.title[1:]
    if several:
        return page.figures([page.figure(title, scale.unit, drawn)]) + table
    return f'<div class="halves">{page.figure(title, scale.unit, drawn)}{table}</div>'


def grouped(tokens: Sequence[int]) -> list[Group]:
    """Groups of doubling lengths; the smallest is joined to its smaller neighbour until each is big enough."""
    if not tokens:
        return []
    ends = [end for end in _ENDS if min(tokens) <= end < max(tokens)] + [max(tokens)]
    counts = [0] * len(ends)
    for each in tokens:
        counts[bisect_left(ends, each)] += 1
    least = max(_FEW, _SHARE * len(tokens))
    while len(ends) > 1 and (min(counts) < least or len(ends) > _MOST):
        small = counts.index(min(counts))
        beside = [place for place in (small - 1, small + 1) if 0 <= place < len(counts)]
        lower = min(small, min(beside, key=lambda place: counts[place]))
        counts[lower : lower + 2] = [counts[lower] + counts[lower + 1]]
        del ends[lower]
    inside: list[list[int]] = [[] for _ in ends]
    for each in tokens:
        inside[bisect_left(ends, each)].append(each)
    return [Group(min(some), max(some)) for some in inside if some]


def mean(scores: Sequence[float]) -> Mean | None:
    """The mean and its interval: Wilson's for right and wrong, else by drawing the examples again."""
    if not scores:
        return None
    value = math.fsum(scores) / len(scores)
    if all(score in (0.0, 1.0) for score in scores):
        return Mean(value, *wilson(value, len(scores)), len(scores))
    return Mean(value, *bootstrap.of_mean(scores), len(scores))


def wilson(share: float, count: int) -> tuple[float, float]:
    """Where a share of so many lies in 95 % of cases (Wilson 1927): few that are all right are not sure to be right."""
    middle = share + _Z**2 / (2 * count)
    reach = _Z * math.sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    return max(0.0, (middle - reach) / (1 + _Z**2 / count)), min(1.0, (middle + reach) / (1 + _Z**2 / count))


def _dot(each: Mean | None, who: str, scale: Scale) -> Dot | None:
    if each is None:
        return None
    value, low, high = (scale.times * end for end in (each.value, each.low, each.high))
    told = f"{who}{scale.show(each.value)} of {each.examples:,} ({scale.show(each.low)} to {scale.show(each.high)})"
    return Dot(value, low, high, told)


def _cells(each: Mean | None, scale: Scale, several: bool) -> list[str]:
    if each is None:
        return ["—"] if several else [page.number(0, "0"), "—", "—"]
    ends = "–".join(page.number(end, scale.show(end).removesuffix(" %")) for end in (each.low, each.high))
    value, count = page.number(each.value, scale.show(each.value)), page.number(each.examples, f"{each.examples:,}")
    return [f"{value} <small>{ends}, of {count}</small>"] if several else [count, value, ends]
