"""What is the rate now? A function of the progress made: steps, tokens, or seconds of a time budget.

Nothing here remembers anything: the rate at a progress is the same whenever it is asked for, so a resumed run needs no
replay, and "train for 55 minutes" is a total of 3300 seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple, Self

from pydantic import model_validator

from litebert.config import ConfigError
from litebert.optim.rule import Value

Kind = Literal[
    "google",  # polynomial, counted from step 0: the rate drops where the warm-up ends (BERT, ALBERT)
    "electra",  # the same times the warm-up: no drop, and a peak just below `peak`
    "linear",  # down to `end`, counted from the warm-up's end: continuous
    "polynomial",  # the same with a power
    "xlnet",  # linear down to a thousandth
    "cosine",
    "constant",
]
Unit = Literal["steps", "tokens", "seconds"]
_POWERED = ("google", "electra", "polynomial")


class Progress(NamedTuple):
    """How far training has come; all three are part of a saved state."""

    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0


class Schedule(Value):
    """The rate as a function of progress."""

    kind: Kind = "linear"
    peak: float = 1e-3
    warmup: float = 0.0  # below 1 a share of the total, from 1 on a number of `unit`
    total: float = 0.0  # where the decay ends, in `unit`; a constant rate may go on without one (0)
    unit: Unit = "steps"
    power: float = 1.0  # of google's, electra's and the polynomial decay
    end: float | None = None  # the last rate as a share of the peak; None = what the kind is known for

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        for problem in _problems(self):
            raise ConfigError(problem)
        return self

    @property
    def warm(self) -> float:
        """Where the warm-up ends, in `unit`."""
        return self.warmup * self.total if self.warmup < 1 else self.warmup

    @property
    def last(self) -> float:
        """The last rate as a share of the peak."""
        if self.end is not None:
            return self.end
        return {"xlnet": 0.001, "constant": 1.0}.get(self.kind, 0.0)

    def value(self, done: float) -> float:
        """The rate after so many of `unit`."""
        risen = done / self.warm if done < self.warm else 1.0
        if self.kind == "electra":  # google-research/electra optimization.py
            return self.peak * risen * self._fallen(done / self.total)
        if done < self.warm or not self.total:
            return self.peak * risen
        start = 0.0 if self.kind == "google" else self.warm  # google-research/bert optimization.py:32-56
        return self.peak * self._fallen((done - start) / (self.total - start))

    def at(self, progress: Progress) -> float:
        """The rate at a progress, whatever it is counted in."""
        return self.value(getattr(progress, self.unit))

    def share(self, progress: Progress) -> float:
        """How much of the total is done, at most 1; 0 where there is no total."""
        return min(1.0, getattr(progress, self.unit) / self.total) if self.total else 0.0

    def _fallen(self, share: float) -> float:
        left = max(0.0, 1.0 - share)
        if self.kind == "cosine":
            left = 0.5 + 0.5 * math.cos(math.pi * (1.0 - left))
        elif self.kind in _POWERED:
            left = left**self.power
        return self.last + (1.0 - self.last) * left


class Stopwatch:
    """Seconds trained: what the clock passed while this process ran, on top of what earlier processes trained."""

    def __init__(self, clock: Callable[[], float], trained: float = 0.0) -> None:
        self._clock, self._mark, self._trained = clock, clock(), trained

    def read(self) -> float:
        """Seconds trained until now; a clock that was set back takes nothing away."""
        now = self._clock()
        self._trained, self._mark = self._trained + max(0.0, now - self._mark), now
        return self._trained


def lamb_rule(batch: int) -> Schedule:
    """The schedule of LAMB's authors for a batch of so many sequences, without tuning.

    rate 5e-3·√(batch / 32768), always 3125 steps of warm-up, 512 million sequences in all. The row of 4096 is what
    ALBERT was trained with; the other rows are recalled from the paper (arXiv 1904.00962), not checked against it.
    """
    if batch < 1:
        raise ConfigError(f"batch {batch} is too small: choose 1 sequence or more")
    return Schedule(kind="google", peak=5e-3 * math.sqrt(batch / 32768), warmup=3125, total=512_000_000 / batch)


def _problems(s: Schedule) -> Iterable[str]:
    for name in ("peak", "power"):
        if not 0.0 < getattr(s, name) < math.inf:
            yield f"{name} {getattr(s, name)} is not a positive number: choose for example 1e-3 as peak and 1 as power"
    for name in ("warmup", "total"):
        if not 0.0 <= getattr(s, name) < math.inf:
            yield f"{name} {getattr(s, name)} is not a number of {s.unit}: choose 0 or more"
    if s.end is not None and not 0.0 <= s.end <= 1.0:
        yield f"end {s.end} is not a share of the peak: choose 0.0 to 1.0"
    if s.power != 1.0 and s.kind not in _POWERED:
        yield f"power {s.power} has no effect with kind {s.kind!r}: set it to 1, or kind=polynomial"
    if s.end is not None and s.kind == "constant":
        yield f"end {s.end} has no effect with kind 'constant': leave it out, or set kind=linear"
    if not s.total and s.kind != "constant":
        yield f"total 0 with kind {s.kind!r}: a decay needs an end, set total to a number of {s.unit}"
    if not s.total and 0.0 < s.warmup < 1.0:
        yield f"warmup {s.warmup} is a share of a total that is 0: set total, or warmup to a number of {s.unit}"
    if s.total and s.warm >= s.total:
        yield f"warmup {s.warm:g} does not end before total {s.total:g} {s.unit}: choose less, or a share such as 0.1"
