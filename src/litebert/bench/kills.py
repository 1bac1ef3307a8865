"""Is a run that is killed again and again the run that was never killed? `litebert pretrain`, by SIGKILL, to the bit.

A run is killed at a random moment and begun again by the same command; where it comes to its end before the next kill,
another one is begun in an empty folder. All of them must come to what the run came to that nobody killed.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from litebert import rng
from litebert.bench import trial
from litebert.bench.begun import Trials
from litebert.errors import RunError
from litebert.train import checkpoint, record
from litebert.train.pretrain import CHECKPOINTS

TOTALS = ("40 steps", "20000 tokens")


class Killed(NamedTuple):
    """What became of the runs of one kind."""

    kills: int
    survived: int  # kills of runs that came to the same in the end
    runs: int
    resumed: int  # beginnings that went on from a checkpoint
    in_saves: int  # kills while a checkpoint was being written
    damaged: int  # checkpoints that a kill left under their name and not whole
    seconds: float  # that an unbroken run takes


def measure(
    kills: int = 200, *, seed: int = 0, totals: Sequence[str] = TOTALS, folder: Path | None = None,
    watch: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:  # fmt: skip
    """Kill so many times, divided among runs by steps and by tokens; `folder` keeps the made-up text."""
    found: dict[str, Killed] = {}
    with tempfile.TemporaryDirectory() as temporary:
        place = trial.made(folder or Path(temporary))
        for number, total in enumerate(totals):
            share = kills // len(totals) + (number < kills % len(totals))
            trials = Trials(place, place.recipe(total), Path(temporary, f"runs {number}"))
            found[total] = _killed(trials, share, seed + number, watch)
    survived = sum(one.survived for one in found.values())
    return {
        "kills": kills, "survived": survived, "same": survived == kills and not any(f.damaged for f in found.values()),
        "schedules": {total: one._asdict() for total, one in found.items()},
    }  # fmt: skip


def _killed(trials: Trials, kills: int, seed: int, watch: Callable[[str], None]) -> Killed:
    seconds, expected = _unharmed(trials)
    draw, found = rng.generator(seed, "kills"), Killed(0, 0, 0, 0, 0, 0, round(seconds, 3))
    while found.kills < kills:
        run, before = trials.folder(f"killed-{found.runs + 1}"), found.kills
        process = trials.start(run)
        while found.kills < kills:
            process.join(draw.random() * seconds)
            if not process.is_alive():
                break
            process.kill()
            process.join()
            in_save = any((run / CHECKPOINTS).glob(".writing-*"))
            found = found._replace(
                kills=found.kills + 1, in_saves=found.in_saves + in_save, damaged=found.damaged + _damaged(run)
            )
            process = trials.start(run)
        trials.end(run, process)
        same, came = trial.outcome(run) == expected, found.kills - before
        resumed = found.resumed + sum(event["event"] == "resume" for event in record.read(run))
        found = found._replace(runs=found.runs + 1, survived=found.survived + came * same, resumed=resumed)
        watch(
            f"run {found.runs}: {'the same' if same else 'NOT the same'} after {came} kills, {found.kills} of {kills}"
        )
    return found


def _unharmed(trials: Trials) -> tuple[float, dict[str, Any]]:
    """How long a run takes that nobody kills, and what it comes to: twice, as the first one warms the disk."""
    found = []
    for name in ("first", "second"):
        began = time.monotonic()
        trials.end(run := trials.folder(name), trials.start(run))
        found.append((time.monotonic() - began, trial.outcome(run)))
    if found[0][1] != found[1][1]:
        raise RunError("two runs that nobody killed came to different ends: this machine does not compute alike twice")
    return found[1]


def _damaged(run: Path) -> int:
    told: list[str] = []
    checkpoint.newest(run / CHECKPOINTS, told.append)
    return len(told)
