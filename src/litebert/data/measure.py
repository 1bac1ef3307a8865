"""What is one line of an audit? A number that was found, the one that was to be expected, and how far it may be off."""

from __future__ import annotations

from typing import NamedTuple


class Measure(NamedTuple):
    """Found and expected; without an expectation it is told and not judged."""

    group: str
    name: str
    found: float
    expected: float | None = None
    allowed: float = 0.0

    @property
    def ok(self) -> bool | None:
        """Whether it is as expected; None where nothing is."""
        return None if self.expected is None else bool(abs(self.found - self.expected) <= self.allowed + 1e-12)


def share(part: float, whole: float) -> float:
    """A part of a whole; of nothing it is nothing."""
    return float(part / whole) if whole else 0.0


def spread(probability: float, draws: float) -> float:
    """The standard error of a share that is found in so many draws."""
    return float((max(probability * (1 - probability), 0.0) / max(draws, 1.0)) ** 0.5)
