"""Do the commands of the page on freezing say what the program understands, and does its comparison of layers run?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
import torch

from litebert.tasks import finetune, prepared, sources, sweep, trained
from litebert.tasks import layers as choice
from litebert.tasks.featured import Featured
from litebert.tasks.hidden import FOLDER
from litebert.tasks.settings import Layers, Tuning
from litebert.tasks.sources import Reading
from tasks.toy import saved_model

PAGE = Path(__file__).resolve().parents[2] / "docs" / "freezing.md"
TEXT = PAGE.read_text(encoding="utf-8").replace("\\\n", " ")
COMMANDS = [line.partition("#")[0].split() for line in TEXT.splitlines() if line.startswith("litebert finetune")]
SENTENCES = ("the boat sails south", "a cold wind", "the old boat is under water", "north and south")


def behind(command: list[str], flag: str) -> list[str]:
    """What stands behind each occurrence of a flag."""
    return [command[i + 1] for i, word in enumerate(command) if word == flag]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_of_the_page_is_understood(command: list[str]) -> None:
    sources.named(command[2])
    settings, tried = prepared.parsed(behind(command, "--set")), sweep.values(behind(command, "--sweep"))
    for one in [{}, *({name: value} for name, values in tried.items() for value in values)]:
        Tuning(**{**settings, **one})


def test_the_page_names_every_choice_of_layers() -> None:
    row = next(line for line in TEXT.splitlines() if line.startswith("| `layers` |"))
    assert tuple(re.findall(r"`([\w-]+)`", row)[1:]) == get_args(Layers)


def test_layers_are_compared_by_one_call_and_no_vectors_are_left(tmp_path: Path) -> None:
    saved_model(tmp_path / "model", layers=4)
    tagged = [[f"{word} {'B-X' if word == 'boat' else 'O'}" for word in one.split()] for one in SENTENCES]
    (tmp_path / "train.txt").write_text("\n\n".join(map("\n".join, tagged)) + "\n")
    model = finetune.begin(tmp_path / "model")
    base = {"mode": "features", "network": "bilstm", "length": 32, "steps": 2, "precision": "float32"}
    settings = prepared.tuning("conll-2003", model, base)
    found = sources.source("conll-2003", tmp_path / "train.txt", tmp_path / "train.txt", reading=Reading())
    made = prepared.prepare(model, found, settings, {}, torch.device("cpu"))
    swept = sweep.sweep(made, tmp_path / "layers", sweep.values(["layers=embedding,last,concat-last-4,weighted-all"]))
    assert {point.values["layers"] for point in swept.points} == {"embedding", "last", "concat-last-4", "weighted-all"}
    for point in swept.points:
        model_of = trained.load(point.outcome.folder).model
        assert isinstance(model_of, Featured)
        assert model_of.how.layers == point.values["layers"]
        assert len(model_of.mean) == 16 * choice.count(model_of.how.layers, 4)
        assert not (point.outcome.folder / FOLDER).exists()
    assert [point.median for point in swept.points] == sorted((point.median for point in swept.points), reverse=True)
