"""How is learning watched without being slowed? A clock that stands still while somebody looks, and a line a look."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from litebert.train import work

Point = dict[str, Any]  # step, tokens, seconds, and what was scored; None stands for what is no number
_SLACK = 1e-9


class Clock:
    """Seconds, less those in which it was held."""

    def __init__(self, device: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._device, self._clock, self._held = device, clock, 0.0

    def read(self) -> float:
        """Now."""
        return self._clock() - self._held

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Within, no time passes; what the device was given before still counts."""
        work.settle(self._device)
        began = self._clock()
        try:
            yield
        finally:
            work.settle(self._device)
            self._held += self._clock() - began


class Curve:
    """The looks at one learner: so many over its run, evenly, the first before it begins; each is a line of a file."""

    def __init__(
        self, path: Path, moments: int, look: Callable[[], Mapping[str, float]], clock: Clock,
        tell: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.points: list[Point] = []
        self._path, self._moments, self._look, self._clock, self._tell = path, moments, look, clock, tell
        path.write_text("", encoding="utf-8")

    def due(self, share: float) -> bool:
        """Whether it is time to look again, this share of the run being done; the end is the caller's own look."""
        return share < 1 and int(share * self._moments + _SLACK) >= len(self.points)

    def look(self, step: int, tokens: int, seconds: float) -> Point:
        """Score the learner while the clock is held."""
        with self._clock.held():
            scores = {name: value if math.isfinite(value) else None for name, value in self._look().items()}
            point: Point = {"step": step, "tokens": tokens, "seconds": round(seconds, 3), **scores}
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(point) + "\n")
        self.points.append(point)
        self._tell(told(point))
        return point


def told(point: Point) -> str:
    """A look as a line."""
    losses = (f"{kind} masks {_shown(point[f'{kind}_loss'])}" for kind in ("recipe", "single"))
    return f"{point['seconds'] / 60:.1f} minutes, {point['tokens'] / 1e6:.1f} M tokens: {', '.join(losses)}"


def read(path: Path) -> list[Point]:
    """All looks of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []


def reached(points: Sequence[Point], goal: float, by: str, kind: str = "single") -> float | None:
    """Where (by seconds or tokens) the loss first was no higher than a goal, between two looks on a straight line."""
    before: Point | None = None
    for point in points:
        loss = point[f"{kind}_loss"]
        if loss is None:
            continue
        if loss <= goal:
            if before is None:
                return float(point[by])
            share = (before[f"{kind}_loss"] - goal) / (before[f"{kind}_loss"] - loss)
            return float(before[by] + share * (point[by] - before[by]))
        before = point
    return None


def say(value: Mapping[str, Any]) -> None:
    """One JSON line to whoever started this process."""
    sys.stdout.write("\n" + json.dumps(value) + "\n")
    sys.stdout.flush()


def _shown(loss: float | None) -> str:
    return "no number" if loss is None else f"{loss:.3f}"
