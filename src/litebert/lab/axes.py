"""How does a number find its place on a drawing? Axes with round ticks, plain or by powers of ten, and short labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
_FEW, _SOME = 6.0, 1e3  # times from end to end, below which powers of ten, or their halves, are too few ticks

_LONG = 6  # characters that have room beside an axis


class Axis(NamedTuple):
    """A stretch of numbers, and where it is marked."""

    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool = False

    def place(self, value: float) -> float:
        """0 at the low end, 1 at the high one."""
        if self.log:
            low, high = math.log10(self.low), math.log10(self.high)
            return (math.log10(max(value, self.low)) - low) / (high - low)
        return (value - self.low) / (self.high - self.low)


class Binned(NamedTuple):
    """A long series in few points: the mean of each stretch, and how far it reached."""

    x: list[float]
    mean: list[float]
    low: list[float]
    high: list[float]


def axis(
    values: Iterable[float], count: int = 6, *, log: bool = False, zero: bool = False, tight: bool = False
) -> Axis:
    """An axis that holds all values; `zero` is on it too, and `tight` ends it at the values, not at round numbers."""
    found = [value for value in values if not log or value > 0]
    low, high = (min(found), max(found)) if found else (1.0, 2.0)
    low, high = (min(low, 0.0), max(high, 0.0)) if zero and not log else (low, high)
    if log:
        return _powers(low, high)
    if high - low < 1e-12 * max(1.0, abs(high)):
        low, high = (low - abs(low) / 10, high + abs(high) / 10) if high else (0.0, 1.0)
    step = _step((high - low) / count)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(number * step for number in range(first, last + 1))
    if not tight:
        return Axis(ticks[0], ticks[-1], ticks)
    return Axis(low, high, tuple(tick for tick in ticks if low - step * 1e-6 <= tick <= high + step * 1e-6))


def binned(x: Sequence[float], y: Sequence[float], most: int) -> Binned:
    """At most so many points, each for an equal stretch of x; a series that is short enough stays as it is."""
    if len(x) <= most:
        return Binned(list(x), list(y), list(y), list(y))
    width = (x[-1] - x[0]) / most or 1.0
    found = Binned([], [], [], [])
    held: list[tuple[float, float]] = []
    stretch = 0
    for here, value in zip(x, y, strict=True):
        now = min(most - 1, int((here - x[0]) / width))
        if now != stretch and held:
            _close(found, held)
            held = []
        stretch = now
        held.append((here, value))
    _close(found, held)
    return found


def plain(value: float) -> str:
    """A number in few characters: 12k, 0.0025, 1e-5."""
    size = abs(value)
    if size >= 1e9:
        return f"{value / 1e9:.3g}G"
    if size >= 1e6:
        return f"{value / 1e6:.3g}M"
    if size >= 1e4:
        return f"{value / 1e3:.3g}k"
    if size and size < 1e-4:
        mantissa, _, power = f"{value:.2e}".partition("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(power)}"
    return f"{value:.4g}"


def labels(made: Axis) -> list[str]:
    """Its ticks, shown alike: small numbers that would be long share a power of ten, 1.5e-4 beside 0.5e-4."""
    shown = [plain(tick) for tick in made.ticks]
    if made.log or not any(len(each) > _LONG or "e" in each for each in shown):
        return shown
    power = math.floor(math.log10(max(abs(tick) for tick in made.ticks)) + 1e-9)
    return [f"{tick / 10.0**power:.4g}e{power}" if abs(tick) > 10.0 ** (power - 6) else "0" for tick in made.ticks]


def _close(found: Binned, held: list[tuple[float, float]]) -> None:
    values = [value for _, value in held]
    found.x.append(sum(here for here, _ in held) / len(held))
    found.mean.append(sum(values) / len(values))
    found.low.append(min(values))
    found.high.append(max(values))


def _step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * each for each in _ROUND if power * each >= rough * (1 - 1e-9))


def _powers(low: float, high: float) -> Axis:
    low, high = low / 1.1, high * 1.1
    if high < _FEW * low:
        ticks = axis((low, high), tight=True).ticks
    else:
        every = (1.0, 2.0, 5.0) if high < _SOME * low else (1.0,)
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        ticks = tuple(10.0**power * each for power in range(first, last + 1) for each in every)
    return Axis(low, high, tuple(tick for tick in ticks if low <= tick <= high), log=True)
