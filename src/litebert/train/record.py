"""Where does a run write down what happened? `log.jsonl`: one line an event, and nothing twice after a resume."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litebert import files

NAME = "log.jsonl"
CLOCK = ("time", "seconds", "tokens_per_s", "share_of_peak")  # what differs between two runs that are the same


class Record:
    """The log of a run. Going on from step k forgets what was written of later steps: they will be run again."""

    def __init__(self, folder: Path, resumed: int = 0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / NAME
        self.kept = [line for line in _lines(self.path) if line.get("step", 0) <= resumed] if resumed else []
        with files.whole(self.path) as temporary:
            temporary.write_text("".join(json.dumps(line) + "\n" for line in self.kept), encoding="utf-8")
        self._file = self.path.open("ab", buffering=0)

    def write(self, event: Mapping[str, Any]) -> None:
        """One event, with the system at once: a killed run keeps its log."""
        left = (json.dumps(event) + "\n").encode()
        while left:  # a disk that fills up takes a part
            left = left[self._file.write(left) :]

    def sync(self) -> None:
        """All events are on the disk: the log never lacks what a checkpoint knows, after a power cut neither."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """No more events."""
        self._file.close()


def read(folder: Path) -> list[dict[str, Any]]:
    """Every event of a run's log, oldest first; a line that a crash cut off is left out."""
    return list(_lines(folder / NAME))


def timeless(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event without what a clock had a part in: equal in two runs that are the same."""
    return {name: value for name, value in event.items() if name not in CLOCK}


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue  # the one line that was being written when the run was killed
        if isinstance(event, dict):
            found.append(event)
    return found
