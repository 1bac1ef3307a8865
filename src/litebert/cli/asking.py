"""How is a long run asked to end? Ctrl-C and SIGTERM are heard and kept; a second Ctrl-C does not wait."""

from __future__ import annotations

import contextlib
import os
import signal
from types import FrameType, TracebackType
from typing import Any, Self

_HEARD = b"litebert: the step is finished and saved, then the run ends (Ctrl-C again: at once)\n"


class Asking:
    """Within, both signals are remembered: `with Asking() as asked: train(asked_to_stop=asked)`."""

    def __init__(self) -> None:
        self._asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def __call__(self) -> bool:
        """Whether somebody asked."""
        return self._asked

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._asked = True
        # Not through Python's buffer: this may have interrupted the very thread that writes into it.
        with contextlib.suppress(OSError):  # a terminal that was closed hears nothing
            os.write(2, _HEARD)
