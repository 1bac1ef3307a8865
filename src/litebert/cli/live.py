"""What does a run show while it runs? A table that is redrawn on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import typer
from rich import live
from rich.console import Console
from rich.table import Table

from litebert.cli import console
from litebert.optim.schedule import Progress
from litebert.train import work

if TYPE_CHECKING:
    from litebert.train.prepared import Prepared

_EVERY = 10.0  # seconds between plain lines
_SMOOTH = 0.95  # of what is shown, the share that stays from one step to the next


class Live:
    """Takes the events of a run as they happen."""

    def __init__(
        self, prepared: Prepared, folder: Path, quiet: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._prepared, self._folder, self._quiet, self._clock = prepared, folder, quiet, clock
        self._smooth: dict[str, float] = {}
        self._held: Mapping[str, Any] = {}
        self._step: Mapping[str, Any] = {}
        self._began: tuple[float, float] | None = None  # clock and share of the run at the first step
        self._told = clock()
        self._peak = 0.0
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
        """An event of the run's log."""
        if self._quiet:
            return
        match event["event"]:
            case "step":
                self._take(event)
            case "evaluation":
                self._held = event
                self._line(f"step {event['step']:,} held-out: {_told(event)}")
            case "warning":
                self._line(f"warning: {event['text']}")
            case "resume":
                self._line(f"going on from step {event['step']:,} in {self._folder}")

    def _take(self, event: Mapping[str, Any]) -> None:
        now, share = self._clock(), self._share(event)
        if self._began is None:
            self._began = now, share
        self._step = event
        for name, value in event.items():
            if isinstance(value, float):
                self._smooth[name] = _SMOOTH * self._smooth.get(name, value) + (1 - _SMOOTH) * value
        if self._drawn:
            self._table.update(self._draw(share))
        elif now - self._told >= _EVERY:
            self._told = now
            rate = console.short(self._smooth["tokens_per_s"], "tokens/s")
            typer.echo(f"step {event['step']:,} · {share:.0%}: {_told(self._smooth)} · {rate}{self._left(share)}",
                       err=True)  # fmt: skip

    def _share(self, event: Mapping[str, Any]) -> float:
        progress = Progress(event["step"], event["tokens"], event["seconds"])
        return self._prepared.run.schedule.share(progress)

    def _left(self, share: float) -> str:
        assert self._began is not None
        began, before = self._began
        if share <= before:
            return ""
        left = int((self._clock() - began) * (1 - share) / (share - before))
        return f" · {left // 3600}:{left // 60 % 60:02d}:{left % 60:02d} left"

    def _draw(self, share: float) -> Table:
        smooth, step = self._smooth, self._step
        rows = [
            ("step", f"{step['step']:,}  ({share:.1%}{self._left(share)})"),
            ("tokens", console.short(step["tokens"])),
            ("training", _told(smooth)),
            ("held-out", _told(self._held) if self._held else "not yet"),
            ("unigram floor", f"{self._prepared.entropy:.3f}"),
            ("rate", f"{step['rate']:.3g}"),
            ("gradient", f"{smooth['norm']:.3g}"),
            ("speed", f"{console.short(smooth['tokens_per_s'], 'tokens/s')}, {self._of_peak():.0%} of the peak"),
        ]
        return console.table(("", console.literal(self._folder)), rows)

    def _of_peak(self) -> float:
        """What this process's share of the arithmetic is of the best product that its device makes."""
        prepared = self._prepared
        if not self._peak:
            self._peak = work.peak(prepared.trainer.precision)
        each = work.per_token(prepared.run.model, prepared.run.data) * self._smooth["tokens_per_s"]
        return each / prepared.trainer.world.size / self._peak

    def _line(self, text: str) -> None:
        if self._drawn:
            self._console.print(text, markup=False, highlight=False)
        else:
            typer.echo(text, err=True)


def _told(event: Mapping[str, Any]) -> str:
    parts = [f"loss {event['loss']:.3f}"]
    for name in ("mlm", "sop", "nsp"):
        if name in event:
            parts.append(f"{name} {event[name]:.3f} ({event[f'{name}_accuracy']:.1%})")
    return " · ".join(parts)
