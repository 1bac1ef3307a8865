"""Does a full or failing disk cost nothing but the save that it tore, and is it told in one line?"""

from __future__ import annotations

import errno
import multiprocessing
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli.running import litebert
from litebert.bench import trial
from litebert.bench.begun import Trials
from litebert.bench.trial import Place
from litebert.errors import RunError
from litebert.train import checkpoint
from litebert.train.pretrain import CHECKPOINTS, events
from litebert.train.recipe import Run
from train.failing import Disk, failing, limited
from train.whole import checkpoints, kinds, run_of, trained

pytestmark = pytest.mark.usefixtures("quick")


def given(place: Place) -> Run:
    """Five steps, with a checkpoint after each."""
    return run_of(place, "5 steps", "training.saves=5", "training.evaluations=0", "training.batch=4")


@pytest.fixture(scope="module")
def unbroken(place: Place, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the run comes to."""
    folder = tmp_path_factory.mktemp("unbroken") / "run"
    trained(place, given(place), folder)
    return trial.outcome(folder)


@pytest.fixture(scope="module")
def half(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run, stopped after three of its steps."""
    folder = tmp_path_factory.mktemp("half") / "run"
    trained(place, given(place), folder, stop=3)
    return folder


def asked(place: Place, half: Path, folder: Path) -> int:
    """How much is asked of the disk by the second half of the run."""
    shutil.copytree(half, folder)
    five = given(place)
    with failing(Disk()) as disk:
        trained(place, five, folder)
    return disk.asked


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=["ENOSPC", "EIO"])
def test_whatever_fails_only_the_torn_save_is_lost(
    number: int, place: Place, half: Path, unbroken: dict[str, Any], tmp_path: Path
) -> None:
    count, five = asked(place, half, tmp_path / "count"), given(place)
    assert count > 50
    said = set()
    for at in range(number % 2, count, 2):  # the ones for one error, the others for the other
        run = tmp_path / f"{at}"
        shutil.copytree(half, run)
        with failing(Disk(at, number)), pytest.raises(RunError) as caught:
            trained(place, five, run)
        assert os.strerror(number) in str(caught.value)
        assert "\n" not in str(caught.value)
        assert str(caught.value).endswith(": mend that, and the same command goes on")
        said.add(str(caught.value).partition("; ")[2].partition(":")[0])
        damaged: list[str] = []
        newest = checkpoint.newest(run / CHECKPOINTS, damaged.append)
        assert (damaged, newest is not None) == ([], True), at
        told: list[Mapping[str, Any]] = []
        trained(place, five, run, tell=told.append)
        assert newest is not None
        assert kinds(told, "resume") == [("resume", newest.state["progress"][0])]
        assert trial.outcome(run) == unbroken, at
        assert not [path for path in run.iterdir() if path.name.startswith(".")]
        shutil.rmtree(run)
    assert said == {"", *(f"the checkpoint of step {step} is kept" for step in (3, 4, 5))}


def test_a_disk_that_stays_full_is_told_as_it_is(place: Place, half: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(half, run)
    disk, five = Disk(asked(place, half, tmp_path / "count") // 2, fails=10_000), given(place)
    with (
        failing(disk),
        pytest.raises(RunError, match=r"No space left on device; the checkpoint of step 4 is kept: mend"),
    ):
        trained(place, five, run)
    assert checkpoints(run) == [3, 4]


def test_before_the_first_checkpoint_it_says_that_there_is_none(place: Place, tmp_path: Path) -> None:
    five = given(place)
    with (
        failing(Disk(22, fails=10_000)),
        pytest.raises(RunError, match="No space left on device; no checkpoint was sav"),
    ):
        trained(place, five, tmp_path)
    trained(place, given(place), tmp_path)
    assert kinds(list(events(tmp_path)), "start") == [("start", 0)]


def test_the_command_ends_with_1_and_one_line(place: Place, half: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    recipe = place.recipe("12 steps")
    command = ["pretrain", place.shards, "--recipe", recipe, "--out", run, "--no-report", "--json"]
    with failing(Disk(40, errno.EIO)):
        done = litebert(*command)
    assert (done.code, done.out) == (1, "")
    assert done.err.count("\n") == 1
    assert done.err.startswith(f"litebert: {run}")
    assert "Input/output error" in done.err
    assert "the same command goes on" in done.err
    assert litebert(*command).value["steps"] == 12


@pytest.mark.parametrize("most", [400, 30_000, 80_000], ids=["the recipe", "the weights", "the optimizer"])
def test_a_file_that_is_really_torn_is_not_taken_for_whole(most: int, place: Place, tmp_path: Path) -> None:
    trials = Trials(place, place.recipe("6 steps"), tmp_path)
    run = trials.folder("run")
    context = multiprocessing.get_context("forkserver")
    process = context.Process(target=limited, args=(trials.arguments(run), most, tmp_path / "said"))
    process.start()
    process.join()
    said = (tmp_path / "said").read_text()
    assert (process.exitcode, said.count("\n")) == (1, 1), said
    assert os.strerror(errno.EFBIG) in said
    assert checkpoints(run) == []
    trials.end(run, trials.start(run))
    trials.end(whole := trials.folder("whole"), trials.start(whole))
    assert trial.outcome(run) == trial.outcome(whole)
