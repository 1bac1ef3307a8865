"""Do 1, 2 and 4 processes in turn train the one run that one would train, and does a lost one come back? By torchrun.

A run is asked to end at steps of its way and gone on with by another number of processes. Another one loses a process
by SIGKILL half-way; torchrun begins all of them anew, and they go on.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from litebert.bench import trial
from litebert.bench.begun import Trials, ask, last_words
from litebert.errors import RunError
from litebert.train import record

SIZES = (1, 2, 4, 1)
CLOSE = 1e-6  # relative: sums over processes are rounded in another order
_PAUSE = 0.01  # seconds between two looks at a log
_PATIENCE = 300.0  # seconds


def measure(
    sizes: Sequence[int] = SIZES, *, steps: int = 40, lost: int = 2, folder: Path | None = None,
    watch: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:  # fmt: skip
    """The largest relative difference of any step's loss from that of one process, and whether the text was the same.

    lost: the processes of a run that loses one of them; 0 = no such run.
    """
    with tempfile.TemporaryDirectory() as temporary:
        place = trial.made(folder or Path(temporary))
        recipe = place.recipe(f"{steps} steps", batch=48, saves=steps, dropout=0.0)  # dropout is drawn by process
        trials = Trials(place, recipe, Path(temporary, "runs"))
        alone = trials.folder("alone")
        trials.end(alone, trials.start(alone))
        expected, found = steps_of(alone), {}
        found["elastic"] = _compared(expected, _in_turn(trials, sizes, steps))
        watch(f"{' → '.join(map(str, sizes))} processes: {found['elastic']}")
        if lost:
            found["lost"] = _compared(expected, _robbed(trials, lost, steps))
            watch(f"one of {lost} processes killed: {found['lost']}")
    close = all(one["text"] and one["difference"] <= CLOSE for one in found.values())
    return {"sizes": list(sizes), "steps": steps, "lost_of": lost, "same": close, **found}


def steps_of(run: Path) -> list[dict[str, Any]]:
    """The events of all steps of a run."""
    return [event for event in record.read(run) if event["event"] == "step"]


def _in_turn(trials: Trials, sizes: Sequence[int], steps: int) -> Path:
    run = trials.folder("in-turn")
    for number, size in enumerate(sizes):
        process = trials.torchrun(run, size) if size > 1 else trials.start(run)
        if number == len(sizes) - 1:
            _end(run, process)
            continue
        _until(run, process, steps * (number + 1) // len(sizes))
        ask(process)
        process.wait() if isinstance(process, subprocess.Popen) else process.join()
    return run


def _robbed(trials: Trials, count: int, steps: int) -> Path:
    run = trials.folder("robbed")
    process = trials.torchrun(run, count, restarts=1)
    _until(run, process, steps // 2)
    os.kill(_workers(process.pid)[-1], signal.SIGKILL)
    _end(run, process)
    return run


def _compared(expected: Sequence[Mapping[str, Any]], run: Path) -> dict[str, Any]:
    """What differs between a run's log and the expected steps."""
    found = steps_of(run)
    same = [(one["step"], one["tokens"]) for one in found] == [(one["step"], one["tokens"]) for one in expected]
    pairs = list(zip(expected, found, strict=False))
    beginnings = [event for event in record.read(run) if event["event"] in ("start", "resume")]
    return {
        "difference": max(abs(b["loss"] - a["loss"]) / abs(a["loss"]) for a, b in pairs), "text": same,
        "begun": [[event["world"], event["step"]] for event in beginnings],
    }  # fmt: skip


def _until(run: Path, process: subprocess.Popen[bytes] | BaseProcess, step: int) -> None:
    """Wait until a run has made a step."""
    end = time.monotonic() + _PATIENCE
    while not any(one["step"] >= step for one in steps_of(run)):
        over = process.poll() is not None if isinstance(process, subprocess.Popen) else not process.is_alive()
        if over or time.monotonic() > end:
            raise RunError(f"a run did not come to step {step}: {last_words(run)}")
        time.sleep(_PAUSE)


def _end(run: Path, process: subprocess.Popen[bytes] | BaseProcess) -> None:
    """Wait until a run has done what it was asked to."""
    process.wait(_PATIENCE) if isinstance(process, subprocess.Popen) else process.join(_PATIENCE)
    code = process.returncode if isinstance(process, subprocess.Popen) else process.exitcode
    if code != 0:
        raise RunError(f"a run that should have come to its end left with exit code {code}: {last_words(run)}")


def _workers(process: int) -> list[int]:
    """The processes that torchrun started, lowest number first."""
    listed = Path(f"/proc/{process}/task/{process}/children")
    if not listed.is_file():
        raise RunError("this system does not list a process's children: ask for --lost 0")
    return sorted(map(int, listed.read_text(encoding="utf-8").split()))
