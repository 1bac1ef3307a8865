"""Does the bench of kills count what happened, and does it see a run that comes to another end?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cli.running import litebert, refused
from litebert.bench import elastic, kills, trial
from litebert.train import checkpoint, record
from litebert.train.pretrain import CHECKPOINTS


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is compared: a run's last checkpoint, its model and its log."""
    folder = tmp_path_factory.mktemp("run") / "run"
    last = checkpoint.path_of(folder / CHECKPOINTS, 4)
    last.mkdir(parents=True)
    for name in ("model", "optimizer"):
        (last / f"{name}.safetensors").write_text(name)
    state = {"progress": [4, 900, 1.5], "position": [0, 0, 48], "notes": {}}
    (last / "state.json").write_text(json.dumps(state))
    (folder / "model.safetensors").write_text("model")
    log = record.Record(folder)
    log.write({"event": "start", "step": 0, "world": 1})
    for step in range(1, 5):
        clocks = {"seconds": 0.1 * step, "tokens_per_s": 9.0}
        log.write({"event": "step", "step": step, "tokens": 50 * step, "loss": 1 / step, **clocks})
    log.write({"event": "warning", "kind": "throughput", "step": 4, "text": "slow"})
    log.close()
    return folder


def changed(run: Path, folder: Path, name: str, before: str, after: str) -> dict[str, Any]:
    """What a copy comes to in which something is otherwise."""
    shutil.copytree(run, folder)
    text = (folder / name).read_text()
    assert before in text
    (folder / name).write_text(text.replace(before, after))
    return trial.outcome(folder)


STATE = f"{CHECKPOINTS}/step-000000004/state.json"


@pytest.mark.parametrize(
    ("name", "before", "after", "what"),
    [
        (f"{CHECKPOINTS}/step-000000004/model.safetensors", "model", "modem", "model.safetensors"),
        (f"{CHECKPOINTS}/step-000000004/optimizer.safetensors", "opti", "0pti", "optimizer.safetensors"),
        (STATE, "900", "901", "state"), (STATE, "48", "60", "state"),
        ("model.safetensors", "model", "modem", "folder"),
        ("log.jsonl", "0.25", "0.26", "log"), ("log.jsonl", '"step": 3', '"step": 2', "log"),
    ],
)  # fmt: skip
def test_what_a_run_came_to_is_all_but_clocks(
    name: str, before: str, after: str, what: str, run: Path, tmp_path: Path
) -> None:
    expected, found = trial.outcome(run), changed(run, tmp_path / "run", name, before, after)
    assert [key for key in expected if expected[key] != found[key]] == [what]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (STATE, "1.5", "2.5"), ("log.jsonl", "0.1,", "0.7,"), ("log.jsonl", "9.0", "8.0"),
        ("log.jsonl", '"world": 1', '"world": 2'), ("log.jsonl", "slow", "slower"),
    ],
)  # fmt: skip
def test_clocks_do_not_count(name: str, before: str, after: str, run: Path, tmp_path: Path) -> None:
    assert changed(run, tmp_path / "run", name, before, after) == trial.outcome(run)


def test_a_run_that_comes_to_another_end_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = iter([{"a": 1}, {"a": 1}, *({"a": n} for n in range(2, 99))])
    monkeypatch.setattr(trial, "outcome", lambda folder: next(ends))
    told: list[str] = []
    found = kills.measure(3, totals=("8 steps",), watch=told.append)
    assert (found["kills"], found["survived"], found["same"]) == (3, 0, False)
    assert all("NOT the same" in line for line in told)


KILLED = {"kills": 2, "survived": 2, "runs": 1, "resumed": 2, "in_saves": 1, "damaged": 0, "seconds": 1.0}


@pytest.mark.parametrize("same", [True, False])
def test_the_verb_shows_it_and_fails_where_it_differs(same: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"kills": 2, "survived": 2 if same else 1, "same": same, "schedules": {"40 steps": KILLED}}
    monkeypatch.setattr(kills, "measure", lambda count, **more: found)
    done = litebert("bench", "kills", "--kills", 2)
    assert done.code == (0 if same else 1)
    assert f"{2 if same else 1}/2 kills led to the same end" in done.out
    assert ("NOT the same" in done.out) is not same
    assert done.value == {"bench": "kills", **found}


@pytest.mark.parametrize("same", [True, False])
def test_so_does_that_of_changing_processes(same: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"difference": 1e-7 if same else 1e-3, "text": True, "begun": [[1, 0], [2, 12]]}
    asked: dict[str, Any] = {}

    def measure(sizes: list[int], **more: Any) -> dict[str, Any]:
        asked.update(more, sizes=sizes)
        return {"sizes": sizes, "same": same, "elastic": one}

    monkeypatch.setattr(elastic, "measure", measure)
    done = litebert("bench", "elastic", "--sizes", "1, 2", "--lost", 0)
    assert (asked["sizes"], asked["lost"]) == ([1, 2], 0)
    assert done.code == (0 if same else 1)
    assert "1 from step 0, 2 from step 12" in done.out
    assert done.value["elastic"] == one


def test_a_difference_counts_and_so_does_other_text(run: Path, tmp_path: Path) -> None:
    expected = elastic.steps_of(run)
    assert elastic._compared(expected, run) == {"difference": 0.0, "text": True, "begun": [[1, 0]]}
    for number, step in enumerate(expected):
        step |= {"tokens": 100 + number, "loss": 1 / (number + 1) * (1.5 if number == 2 else 1.0)}
    found = elastic._compared(expected, run)
    assert found["difference"] == pytest.approx(1 / 3)
    assert not found["text"]


def test_wrong_calls_are_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert refused("bench", "kills", "--folder", tmp_path) == f"{tmp_path} is not empty: name a new folder"
    why = "sizes 'two' are not numbers of processes: write for example 1,2,4,1"
    assert refused("bench", "elastic", "--sizes", "two") == why
