"""Does one process at a time write into a run folder, and is what a killed one left half-written taken away?"""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from litebert.errors import UserError
from litebert.train.claim import claimed, writable
from train import held


def test_a_second_one_is_refused_while_the_first_is_there(tmp_path: Path) -> None:
    with claimed(tmp_path / "a" / "run"):
        with (
            pytest.raises(UserError, match=r"another process trains in .*run: wait for its end, stop it, or name anot"),
            claimed(tmp_path / "a" / "run"),
        ):
            pass
        with claimed(tmp_path / "a" / "other"):
            pass
    with claimed(tmp_path / "a" / "run"):
        pass


def test_a_killed_one_holds_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=held.hold, args=(tmp_path / "run", theirs))
    process.start()
    assert ours.recv() == "held"
    with pytest.raises(UserError, match="another process trains in"), claimed(tmp_path / "run"):
        pass
    process.kill()
    process.join()
    with claimed(tmp_path / "run"):
        pass


def test_what_was_left_half_written_is_taken_away_and_nothing_else(tmp_path: Path) -> None:
    run = tmp_path / "run[1]"
    run.mkdir()
    mine = [".log.jsonl.77", ".recipe.toml.123"]
    theirs = [".hidden", "notes.1", "log.jsonl", ".log.jsonl.bak"]
    for name in mine + theirs:
        (run / name).write_text("x")
    for name in (".run[1].99", ".run1.99", ".run[1].x", "run[1].99"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_text("x")
    with claimed(run):
        assert sorted(path.name for path in run.iterdir()) == sorted(theirs)
        assert {path.name for path in tmp_path.iterdir()} == {"run[1]", ".run1.99", ".run[1].x", "run[1].99"}


def test_where_nothing_can_be_written_it_is_said_and_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(
        UserError, match=r"file/run cannot be a run folder, as .*file is not a folder: name another one"
    ):
        writable(tmp_path / "file" / "run")
    monkeypatch.setattr("os.access", lambda path, mode: path != tmp_path)  # root may write anywhere
    with pytest.raises(UserError, match=rf"as {tmp_path} is not yours to write: name another one with --out"):
        writable(tmp_path / "a" / "b")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
