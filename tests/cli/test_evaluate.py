"""Does `litebert evaluate` tell a person and a program the same, and write every answer?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.running import litebert, refused
from tasks.finished import folder
from tasks.test_judge import csv
from tasks.test_predict import sentences


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fine-tuning to three classes."""
    return folder("classify", tmp_path_factory.mktemp("evaluated") / "run")


@pytest.fixture(scope="module")
def data(run: Path) -> Path:
    """A table of a hundred texts."""
    labels = ("calm", "cold", "old")
    return csv(run.parent / "mine.csv", [(text, labels[i % 3]) for i, text in enumerate(sentences(100))])


def test_a_person_and_a_program_are_told_the_same(run: Path, data: Path, tmp_path: Path) -> None:
    call = ("evaluate", run, "--data", data, "--text", "review", "--columns", "label=stars")
    told = litebert(*call, "--json").value
    shown = litebert(*call, "--output", tmp_path / "out.jsonl").out
    assert told["examples"] == 100
    assert f"{told['scores']['accuracy']:.4f}" in shown
    low, high = told["intervals"]["accuracy"]
    assert f"{low:.4f} to {high:.4f}" in shown
    slip = told["slips"][0]
    assert f"{slip['times']} of {slip['of']} that are {slip['right']} are said to be {slip['said']}" in shown
    assert sum(group["examples"] for group in told["lengths"]) == 100
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    right = sum(line["prediction"] == line["label"] for line in lines)
    assert right / 100 == told["scores"]["accuracy"]


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (("--output", "out.csv"), "name it out.jsonl"),
        (("--columns", "review"), "name=column"),
        (("--part", "valid"), "choose train, dev, test"),
        (("--columns", "text=nope"), "no column 'nope'"),
        (("regress",), "fine-tuned to classify"),
        (("--device", "tpu"), "choose auto, cpu, cuda"),
    ],
)
def test_a_wrong_call_is_one_line(arguments: tuple[str, ...], wrong: str, run: Path, data: Path) -> None:
    assert wrong in refused("evaluate", run, *arguments, "--data", data)


def test_a_folder_that_is_no_fine_tuning_is_told(data: Path, tmp_path: Path) -> None:
    assert "name the folder of a fine-tuning" in refused("evaluate", tmp_path, "--data", data)


def test_answers_are_not_written_over_the_data(run: Path, tmp_path: Path) -> None:
    own = tmp_path / "mine.jsonl"
    own.write_text('{"text": "the old boat", "label": "old"}\n', encoding="utf-8")
    assert "--data reads" in refused("evaluate", run, "--data", own, "--output", own)
    assert own.read_text(encoding="utf-8") == '{"text": "the old boat", "label": "old"}\n'
