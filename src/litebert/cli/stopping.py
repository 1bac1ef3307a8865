"""What happens at Ctrl-C and SIGTERM? The work stops, one line says how to go on, and the exit code says why."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

import typer


@contextlib.contextmanager
def stoppable(message: str) -> Iterator[None]:
    """Within, both signals stop the work as Ctrl-C does; the message is told and the exit code is 128 + the signal."""
    by: list[int] = [signal.SIGINT]

    def stop(number: int, frame: FrameType | None) -> None:
        by[0] = number
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"litebert: stopped: {message}", err=True)
        raise typer.Exit(128 + by[0]) from None
    finally:
        signal.signal(signal.SIGTERM, before)
