"""What does a fine-tuning show while it runs? A table of the seeds, redrawn on a terminal; elsewhere plain lines."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import typer
from rich import live
from rich.console import Console
from rich.table import Table

from litebert.cli import console
from litebert.cli.tuning import decided
from litebert.lab import told as words

_EVERY = 10.0  # seconds between plain lines
_SMOOTH = 0.95  # of what is shown, the share that stays from one step to the next


class Watching:
    """Takes the events of a fine-tuning as they happen, those of all seeds and of all points of a sweep."""

    def __init__(
        self, measures: Sequence[str], seeds: int, quiet: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._measures, self._seeds, self._quiet, self._clock = measures, seeds, quiet, clock
        self._smooth: dict[str, float] = {}
        self._step: Mapping[str, Any] = {}
        self._judged: Mapping[str, Any] = {}
        self._ended: list[Mapping[str, Any]] = []
        self._total, self._began, self._told, self._point = 0, (clock(), 0), clock(), ""
        self._console = Console(stderr=True)
        self._table = live.Live(console=self._console, refresh_per_second=4, transient=True)
        self._drawn = not quiet and self._console.is_terminal

    def __enter__(self) -> Self:
        if self._drawn:
            self._table.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            self._table.stop()

    def __call__(self, event: Mapping[str, Any]) -> None:
        """An event of a seed's log, or of the whole."""
        if self._quiet:
            return
        match event["event"]:
            case "point":
                self._point, self._ended = event["folder"], []
                self._line(self._point)
            case "features":
                how = f"computed in {words.duration(event['seconds'])}" if event["computed"] else "there from before"
                self._line(f"hidden states: {event['vectors']:,} vectors of {event['width']:,} numbers, {how}")
            case "start" | "resume":
                self._smooth, self._step, self._judged = {}, {}, {}
                self._total, self._began = event["total"], (self._clock(), event["step"])
                if event["event"] == "resume":
                    self._line(f"seed {event['seed']}: going on from step {event['step']:,}")
            case "step":
                self._take(event)
            case "evaluation":
                self._judged = event
                self._line(f"seed {event['seed']}, step {event['step']:,}: {decided(event, self._measures)}")
            case "warning":
                said = f"seed {event['seed']}: " if "seed" in event else ""
                self._line(f"warning: {said}{event['text']}")
            case "end":
                self._ended.append(event)

    def _take(self, event: Mapping[str, Any]) -> None:
        self._step, now = event, self._clock()
        for name in ("loss", "norm", "tokens_per_s"):
            value = event[name]
            self._smooth[name] = _SMOOTH * self._smooth.get(name, value) + (1 - _SMOOTH) * value
        if self._drawn:
            self._table.update(self._draw())
        elif now - self._told >= _EVERY:
            self._told = now
            rate = console.short(self._smooth["tokens_per_s"], "tokens/s")
            typer.echo(f"seed {event['seed']}, step {event['step']:,} of {self._total:,}: loss "
                       f"{self._smooth['loss']:.3f} · {rate}{self._left()}", err=True)  # fmt: skip

    def _left(self) -> str:
        """What is left of this seed."""
        at, before = self._began
        done = self._step["step"] - before
        if done < 1:
            return ""
        left = int((self._clock() - at) * (self._total - self._step["step"]) / done)
        return f" · {left // 3600}:{left // 60 % 60:02d}:{left % 60:02d} left"

    def _draw(self) -> Table:
        smooth, step = self._smooth, self._step
        number = len(self._ended) + 1
        rows = [(f"seed {one['seed']}", f"{decided(one, self._measures)} {one['collapsed']}") for one in self._ended]
        rows += [
            (f"seed {step['seed']}", f"{number} of {max(number, self._seeds)}"),
            ("step", f"{step['step']:,} of {self._total:,}{self._left()}"),
            ("loss", f"{smooth['loss']:.3f}"),
            ("judged", f"{decided(self._judged, self._measures)}, step {self._judged['step']:,}" if self._judged
             else "not yet"),
            ("rate", f"{step['rate']:.3g}"),
            ("gradient", f"{smooth['norm']:.3g}"),
            ("speed", console.short(smooth["tokens_per_s"], "tokens/s")),
        ]  # fmt: skip
        return console.table(("", console.literal(self._point)), [(one, console.literal(two)) for one, two in rows])

    def _line(self, text: str) -> None:
        if self._drawn:
            self._console.print(text, markup=False, highlight=False)
        else:
            typer.echo(text, err=True)
