"""Is a run that is killed at random moments, in its saves too, and gone on with, the run that nobody killed?"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from litebert.bench import kills, trial
from litebert.bench.begun import Trials, ask, last_words
from litebert.bench.trial import Place
from litebert.train import record
from litebert.train.pretrain import CHECKPOINTS

KILLS = 20


def test_killed_20_times_it_comes_to_the_same_20_times() -> None:
    found = kills.measure(KILLS, seed=4, totals=("30 steps", "15000 tokens"))
    assert f"{found['survived']}/{found['kills']}" == f"{KILLS}/{KILLS}"
    assert found["same"]
    each = found["schedules"].values()
    assert sum(one["damaged"] for one in each) == 0
    assert sum(one["resumed"] for one in each) >= KILLS // 4, "the kills came before the first checkpoints"


@pytest.fixture
def trials(place: Place, tmp_path: Path) -> Trials:
    """Runs of sixty steps, in processes of their own."""
    return Trials(place, place.recipe("60 steps"), tmp_path / "runs")


def until(run: Path, step: int) -> None:
    """Wait until a run has made a step."""
    end = time.monotonic() + 60
    while not any(event["step"] >= step for event in record.read(run)):
        assert time.monotonic() < end, last_words(run)
        time.sleep(0.005)


def test_a_kill_in_the_middle_of_a_save_costs_that_save(trials: Trials) -> None:
    trials.end(whole := trials.folder("whole"), trials.start(whole))
    run, end, torn = trials.folder("torn"), time.monotonic() + 60, False
    process = trials.start(run)
    while not torn and time.monotonic() < end:
        torn = any((run / CHECKPOINTS).glob(".writing-*/*.safetensors"))
    process.kill()
    process.join()
    assert torn
    trials.end(run, trials.start(run))
    assert trial.outcome(run) == trial.outcome(whole)
    assert not list((run / CHECKPOINTS).glob(".*"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_end_it_saves_and_the_same_command_goes_on(number: signal.Signals, trials: Trials) -> None:
    run = trials.folder("asked")
    process = trials.start(run)
    until(run, 3)
    os.kill(process.pid or 0, number)
    trials.end(run, process)  # exit code 0
    heard = "litebert: the step is finished and saved, then the run ends (Ctrl-C again: at once)"
    assert heard in run.with_suffix(".out").read_text()
    steps = [event["step"] for event in record.read(run)]
    assert 3 <= steps[-1] < 60
    assert (run / CHECKPOINTS / f"step-{steps[-1]:09d}").is_dir()
    trials.end(run, trials.start(run))
    begun = [(event["event"], event["step"]) for event in record.read(run) if event["event"] in ("start", "resume")]
    assert begun == [("start", 0), ("resume", steps[-1])]


def test_a_second_process_does_not_train_in_the_same_folder(trials: Trials) -> None:
    run = trials.folder("twice")
    process = trials.start(run)
    until(run, 2)
    second = trials.start(run)
    second.join()
    assert second.exitcode == 2
    assert "another process trains in" in run.with_suffix(".out").read_text()
    ask(process)
    trials.end(run, process)
