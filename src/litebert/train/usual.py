"""What is usual for a number that is measured again and again, and what is far from it?

Two kinds of number: one that the run makes, whose history is part of its state, and the pace, which a clock makes and
no checkpoint remembers.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

OUTLIER, SPREADS = 20.0, 6.0  # far out is more than so many times the usual, and so many standard deviations
_SETTLED = 20
_LEAST = 1e-30  # has a logarithm
_STEP = 0.5  # of the logarithm: what is strange may become usual so fast
_KEPT = 50  # stretches whose pace is remembered


class Usual:
    """Running mean and spread of the logarithm of a number; a single one that lies far out hardly moves them."""

    def __init__(self, history: int, patience: int, noted: Sequence[float] | None = None) -> None:
        self._history, self._patience = history, patience  # numbers that are remembered, and that are waited for
        count, self._mean, self._variance = noted or (0, 0.0, 0.0)
        self._count = int(count)

    @property
    def value(self) -> float:
        """The usual number."""
        return math.exp(self._mean)

    def notes(self) -> list[float]:
        """What to begin from when the run goes on."""
        return [self._count, self._mean, self._variance]

    def add(self, number: float) -> float:
        """How many times the usual it is, if that is far out; else 1, as while too little is known."""
        seen = math.log(max(number, _LEAST))
        distance, spread = seen - self._mean, math.sqrt(self._variance)
        known = self._count >= self._patience
        if known:  # what is far out is taken in a bit at a time
            most = max(3 * spread, _STEP)
            seen = self._mean + min(max(distance, -most), most)
        self._count += 1
        weight = 1 / min(self._count, self._history)
        step = seen - self._mean
        self._mean += weight * step
        self._variance = (1 - weight) * (self._variance + weight * step * step)
        far = known and abs(distance) > max(math.log(OUTLIER), SPREADS * spread)
        return math.exp(distance) if far else 1.0


class Smooth(NamedTuple):
    """The mean of the last numbers, about so many as it takes to settle."""

    seen: int = 0
    mean: float = 0.0

    @property
    def settled(self) -> bool:
        """Whether it is something to compare with."""
        return self.seen >= _SETTLED

    def with_one(self, number: float) -> Smooth:
        """With one number more."""
        seen = self.seen + 1
        return Smooth(seen, self.mean + (number - self.mean) / min(seen, _SETTLED))


class Sample(NamedTuple):
    """Some numbers, as far as their mean and its error need them."""

    count: int = 0  # type: ignore[assignment]  # hides tuple.count, which nobody asks
    total: float = 0.0
    squares: float = 0.0

    def with_one(self, number: float) -> Sample:
        """With one number more."""
        return Sample(self.count + 1, self.total + number, self.squares + number * number)

    def above(self, expected: float, deviations: float) -> bool:
        """Whether the mean lies so many standard errors above what was expected, or more."""
        mean = self.total / self.count
        variance = max(0.0, self.squares / self.count - mean * mean)
        return mean - expected > deviations * math.sqrt(variance / self.count)


class Slow(NamedTuple):
    """A stretch that took much longer than is usual."""

    pace: float
    usual: float
    seconds: float


class Pace:
    """Medians of tokens a second over stretches of some steps and some seconds."""

    def __init__(self, share: float, steps: int = 20, seconds: float = 10.0) -> None:
        self._share, self._steps, self._seconds = share, steps, seconds  # slow is below this share of the usual
        self.forget()

    def forget(self) -> None:
        """Begin anew: what is usual is about to change."""
        self._rates: list[float] = []
        self._medians: list[float] = []
        self._began: float | None = None
        self._slow = False

    def add(self, rate: float, now: float) -> Slow | None:
        """Once for every time that it falls: the stretch that ended now, if it is slow."""
        if self._began is None:
            self._began, self._rates = now, []
        self._rates.append(rate)
        took = now - self._began
        if len(self._rates) < self._steps or took < self._seconds:
            return None
        pace, self._rates, self._began = statistics.median(self._rates), [], now
        if not self._medians:
            self._medians = [pace]
            return None
        usual = statistics.median(self._medians)
        before, self._slow = self._slow, pace < self._share * usual
        if self._slow:
            return None if before else Slow(pace, usual, took)
        self._medians = [*self._medians, pace][-_KEPT:]
        return None
