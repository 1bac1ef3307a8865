"""`litebert pretrain`: is a wrong call refused in a line before anything is written?"""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.running import refused
from litebert.train.claim import unmixed

CALL = ("--recipe", "albert-demo", "--for", "2 steps", "--out")


def test_a_folder_of_other_files_takes_no_run(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("The boats are out.")
    said = refused("pretrain", tmp_path / "shards", *CALL, tmp_path)
    assert said == f"{tmp_path} holds other files (letters.txt) and no run: name another folder with --out"
    assert [path.name for path in tmp_path.iterdir()] == ["letters.txt"]


@pytest.mark.parametrize("own", ["recipe.toml", "log.jsonl", "checkpoints", ".recipe.toml.123"])
def test_a_run_goes_on_in_a_folder_that_it_began(own: str, tmp_path: Path) -> None:
    unmixed(tmp_path / "new")
    unmixed(tmp_path)
    (tmp_path / own).mkdir()
    if not own.startswith("."):
        (tmp_path / "notes.txt").touch()
    unmixed(tmp_path)


def test_documents_are_no_shards(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The boats are out.")
    said = refused("pretrain", tmp_path, *CALL, tmp_path / "run")
    assert said == f"{tmp_path} is no shard set (no manifest.json): make one with `litebert data build`"
    assert not (tmp_path / "run").exists()


def test_a_device_is_one_that_is_known(tmp_path: Path) -> None:
    said = refused("pretrain", tmp_path / "shards", *CALL, tmp_path / "run", "--device", "gpu")
    assert said == "device 'gpu' is unknown: choose auto, cpu or cuda"
