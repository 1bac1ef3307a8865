"""How does a long task show that it moves? A bar on a terminal, plain lines elsewhere, on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from litebert.cli import console

_EVERY = 10.0  # seconds between plain lines


class Meter:
    """Share done, rates and time left; `with Meter("encoding") as meter: meter(0.3, {"tokens": 10**6})`."""

    def __init__(self, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._what, self._clock = what, clock
        self._first: tuple[float, float, dict[str, float]] | None = None  # time, share and amounts at the beginning
        self._told = clock()
        error = Console(stderr=True)
        text = TextColumn("{task.fields[told]}")
        self._bar = Progress(
            TextColumn(what), BarColumn(), text, console=error, transient=True, disable=not error.is_terminal
        )
        self._task = self._bar.add_task(what, total=1.0, told="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def __call__(self, share: float | None, amounts: Mapping[str, float]) -> None:
        """Tell how far it is; amounts by their unit, of which the rate is told. The first call is where it began.

        share: None where nobody knows how much there is.
        """
        now = self._clock()
        if self._first is None:
            self._first = now, share or 0.0, dict(amounts)
        began, before, had = self._first
        told = _told(now - began, share, before, {unit: amounts[unit] - had.get(unit, 0) for unit in amounts})
        if not self._bar.disable:
            self._bar.update(self._task, completed=share, told=told)
        elif now - self._told >= _EVERY:
            self._told = now
            typer.echo(f"{self._what}: {told}", err=True)

    def aside(self, line: str) -> None:
        """A line that stays, above the bar."""
        if self._bar.disable:
            typer.echo(line, err=True)
        else:
            self._bar.console.print(line, markup=False, highlight=False)


def _told(seconds: float, share: float | None, before: float, grown: Mapping[str, float]) -> str:
    parts = [] if share is None else [f"{share:.0%}"]
    if seconds > 0:
        parts += [f"{console.short(amount / seconds, unit)}/s" for unit, amount in grown.items()]
    if share is not None and share > before and seconds > 0:
        left = int(seconds * (1 - share) / (share - before))
        parts.append(f"{left // 3600}:{left // 60 % 60:02d}:{left % 60:02d} left")
    return " · ".join(parts)
