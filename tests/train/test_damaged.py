"""Does a run whose checkpoints were damaged go on from the newest whole one, name the others, and lose no more?"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litebert.bench import trial
from litebert.bench.trial import Place
from litebert.errors import UserError
from litebert.train import checkpoint
from litebert.train.pretrain import CHECKPOINTS, events
from train.whole import checkpoints, kinds, run_of, trained

pytestmark = pytest.mark.usefixtures("quick")

FLIPS = 1000
SAVES = ("training.saves=8", "training.evaluations=0")


@pytest.fixture(scope="module")
def stopped(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was stopped after six of eight steps, with checkpoints of the last two."""
    folder = tmp_path_factory.mktemp("stopped") / "run"
    trained(place, run_of(place, "8 steps", *SAVES), folder, stop=6)
    assert checkpoints(folder) == [5, 6]
    return folder


@pytest.fixture(scope="module")
def unbroken(place: Place, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the run comes to."""
    folder = tmp_path_factory.mktemp("unbroken") / "run"
    trained(place, run_of(place, "8 steps", *SAVES), folder)
    return trial.outcome(folder)


def flip(file: Path, bit: int) -> None:
    """Turn one bit of a file."""
    with file.open("r+b") as opened:
        opened.seek(bit // 8)
        byte = opened.read(1)[0]
        opened.seek(bit // 8)
        opened.write(bytes([byte ^ 1 << bit % 8]))


def of_step(folder: Path, step: int) -> Path:
    """A checkpoint of a run."""
    return checkpoint.path_of(folder / CHECKPOINTS, step)


def test_any_flipped_bit_is_found_named_and_the_older_checkpoint_taken(stopped: Path) -> None:
    root = stopped / CHECKPOINTS
    files = sorted(of_step(stopped, 6).iterdir())
    assert len(files) == 5
    draw, found = np.random.default_rng(1), 0
    for number in range(FLIPS):
        file = files[number % len(files)]  # every file as often, however small
        bit, told = int(draw.integers(8 * file.stat().st_size)), list[str]()
        flip(file, bit)
        newest = checkpoint.newest(root, told.append)
        flip(file, bit)
        assert newest is not None
        found += newest.path == of_step(stopped, 5) and len(told) == 1 and "step-000000006" in told[0]
    assert f"{found}/{FLIPS}" == f"{FLIPS}/{FLIPS}"
    assert checkpoint.newest(root, pytest.fail) is not None


@pytest.mark.parametrize(
    "name", ["model.safetensors", "optimizer.safetensors", "state.json", "litebert.json", "manifest.json"]
)
def test_the_run_goes_on_to_the_same_end(
    name: str, place: Place, stopped: Path, unbroken: dict[str, Any], tmp_path: Path
) -> None:
    run, told = tmp_path / "run", list[Mapping[str, Any]]()
    shutil.copytree(stopped, run)
    flip(of_step(run, 6) / name, 301)
    trained(place, run_of(place, "8 steps", *SAVES), run, tell=told.append)
    assert (told[0]["event"], told[0]["kind"]) == ("warning", "checkpoint")
    assert "step-000000006" in told[0]["text"]
    assert kinds(told, "resume") == [("resume", 5)]
    assert trial.outcome(run) == unbroken


def test_one_that_cannot_be_read_is_passed_over(
    place: Place, stopped: Path, unbroken: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, told, real = tmp_path / "run", list[Mapping[str, Any]](), Path.open
    shutil.copytree(stopped, run)

    def bad_sector(path: Path, *given: Any, **more: Any) -> Any:
        if path == of_step(run, 6) / "optimizer.safetensors":
            raise OSError(5, os.strerror(5), str(path))
        return real(path, *given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", bad_sector)
        trained(place, run_of(place, "8 steps", *SAVES), run, tell=told.append, stop=6)
    assert "Input/output error" in told[0]["text"]
    trained(place, run_of(place, "8 steps", *SAVES), run)
    assert trial.outcome(run) == unbroken


def test_a_damaged_later_one_does_not_count_as_kept(place: Place, tmp_path: Path) -> None:
    saves = ["training.keep=1", "training.saves=4", "training.evaluations=0"]
    run = run_of(place, "8 steps", *saves)
    trained(place, run, tmp_path, stop=4)
    shutil.copytree(of_step(tmp_path, 4), tmp_path / "aside")
    trained(place, run, tmp_path, stop=6)
    os.truncate(of_step(tmp_path, 6) / "model.safetensors", 100)
    shutil.move(tmp_path / "aside", of_step(tmp_path, 4))
    trained(place, run, tmp_path, stop=5)
    assert checkpoints(tmp_path) == [5, 6]
    told: list[Mapping[str, Any]] = []
    trained(place, run, tmp_path, tell=told.append)
    assert kinds(told, "resume") == [("resume", 5)]
    assert checkpoints(tmp_path) == [8]


def test_one_that_was_being_replaced_is_found_again(stopped: Path, tmp_path: Path) -> None:
    shutil.copytree(stopped, tmp_path / "run")
    root = tmp_path / "run" / CHECKPOINTS
    os.replace(of_step(tmp_path / "run", 6), root / ".writing-old-000000006")
    checkpoint.recover(root)
    assert checkpoints(tmp_path / "run") == [5, 6]
    shutil.copytree(of_step(tmp_path / "run", 5), root / ".writing-old-000000006")
    checkpoint.recover(root)
    found = checkpoint.newest(root, pytest.fail)
    assert found is not None
    assert found.state["progress"][0] == 6


def test_where_none_is_whole_nothing_is_begun_over_what_is_left(place: Place, stopped: Path, tmp_path: Path) -> None:
    shutil.copytree(stopped, tmp_path / "run")
    for step in (5, 6):
        flip(of_step(tmp_path / "run", step) / "state.json", 8)
    log = (tmp_path / "run" / "log.jsonl").read_bytes()
    with pytest.raises(UserError, match="holds checkpoints and none is valid: copy one back, or begin anew with --res"):
        trained(place, run_of(place, "8 steps", *SAVES), tmp_path / "run")
    assert (tmp_path / "run" / "log.jsonl").read_bytes() == log
    trained(place, run_of(place, "8 steps", *SAVES), tmp_path / "run", restart=True, stop=1)
    assert kinds(list(events(tmp_path / "run")), "start") == [("start", 0)]
