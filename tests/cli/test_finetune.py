"""`litebert finetune`, `litebert tasks`: is it shown what will be learnt and what came of it, and may it be stopped?"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli.running import litebert, refused
from litebert.cli.tasks import _MEANINGS
from litebert.cli.watching import Watching
from litebert.tasks.benchmarks import BENCHMARKS
from litebert.tasks.settings import Tuning
from litebert.tasks.trained import TASK
from tasks.tuned import SETTINGS, everything, place, table, tuned

HEARD = "litebert: the step is finished and saved, then the run ends (Ctrl-C again: at once)\n"


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Model and data."""
    return place(tmp_path_factory.mktemp("where"))


@pytest.fixture(autouse=True)
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here depends on the machine's power."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


def command(where: Path, out: Path, *more: object, task: str = "classify") -> list[object]:
    """The verb and its arguments."""
    settings = [part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")]
    given = ["--model", where / "model", "--data", where / "data", "--out", out, "--device", "cpu"]
    return ["finetune", task, *given, *settings, *more]


def at(seed: int, step: int, act: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do something while a step's event is shown."""
    shown = Watching.__call__

    def see(watching: Watching, event: Mapping[str, Any]) -> None:
        shown(watching, event)
        if (event["event"], event.get("seed"), event.get("step")) == ("step", seed, step):
            act()

    monkeypatch.setattr(Watching, "__call__", see)


def test_it_shows_what_is_learnt_and_what_came_of_it(where: Path, tmp_path: Path) -> None:
    done = litebert(*command(where, tmp_path / "run", "--seeds", 3))
    assert done.code == 0, done.err
    for part in (
        "45 examples to learn from, 20 to judge by (accuracy decides; f1, matthews beside it)", "boat", "48.9%",
        "[CLS]", "tokens)", "→ none", "train.csv:2", "heads.classify", "parameters learn", "padding", "about",
        "median", "deviation", "best at step", "95 %, bootstrap over 20", "the model is ",
    ):  # fmt: skip
        assert part in done.out, f"{part!r} is not in {done.out}"
    assert done.out.endswith(f"the report is {tmp_path / 'run' / 'report.html'}\n")
    assert (tmp_path / "run" / "report.html").stat().st_size > 1000
    assert [line for line in done.err.splitlines() if line.startswith("seed 2, step 12: accuracy ")]


def test_a_dry_run_writes_nothing(where: Path, tmp_path: Path) -> None:
    done = litebert(*command(where, tmp_path / "run", "--dry-run"))
    assert done.code == 0, done.err
    assert "estimate" in done.out
    values = litebert(*command(where, tmp_path / "run", "--dry-run", "--json", "--set", "freeze=1")).value
    assert (values["train"], values["dev"], values["steps"]) == (45, 20, 12)
    assert values["labels"] == {"none": 23, "boat": 22}
    assert values["frozen"] > 0
    assert "so changes in all of them" in values["remarks"][0]
    assert not (tmp_path / "run").exists()


def test_a_head_alone_is_looked_at_and_trained(where: Path, tmp_path: Path) -> None:
    given = [*command(where, tmp_path / "run"), "--set", "mode=features", "--set", "layers=last"]
    values = litebert(*given, "--dry-run", "--json").value
    assert values["learns"] == 2 * 16 + 2
    done = litebert(*given)
    assert done.code == 0, done.err
    assert "34 parameters learn" in done.out
    assert "the model is " in done.out


def test_the_command_and_the_call_leave_the_same(where: Path, tmp_path: Path) -> None:
    done = litebert(*command(where, tmp_path / "by-command", "--json", "--no-report"))
    outcome = tuned(where, tmp_path / "by-call")
    assert done.value["seeds"][0]["scores"] == outcome.scores[0].scores
    assert everything(tmp_path / "by-command") == everything(tmp_path / "by-call")
    assert done.out.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_end_it_saves_and_the_same_command_goes_on(
    number: signal.Signals, where: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:  # fmt: skip
    given = command(where, tmp_path / "run", "--seeds", 2, "--no-report")
    with monkeypatch.context() as patched:
        at(1, 4, lambda: signal.raise_signal(number), patched)
        done = litebert(*given)
    assert done.code == 0
    assert done.out.endswith("stopped and saved: go on with the same command\n")
    assert capfd.readouterr().err == HEARD
    again = litebert(*given)
    assert "seed 1: going on from step 5" in again.err
    litebert(*command(where, tmp_path / "whole", "--seeds", 2, "--no-report"))
    assert everything(tmp_path / "run") == everything(tmp_path / "whole")


def test_a_second_ctrl_c_does_not_wait(where: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def twice() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    at(0, 2, twice, monkeypatch)
    done = litebert(*command(where, tmp_path / "run"))
    assert done.code == 128 + signal.SIGINT
    assert "ended at once: the same command goes on from the last checkpoint" in done.err


def test_a_sweep_ends_with_a_table_the_best_first(where: Path, tmp_path: Path) -> None:
    more = ["--sweep", "rate=1e-9,5e-3", "--sweep", "batch=8,16", "--seeds", 2]
    done = litebert(*command(where, tmp_path / "run", *more))
    assert done.code == 0, done.err
    assert "median accuracy" in done.out
    assert "its score on them flatters it" in done.out
    assert (tmp_path / "run" / "report.html").is_file()
    values = litebert(*command(where, tmp_path / "run", *more, "--json", "--no-report")).value
    medians = [one["median"]["accuracy"] for one in values["points"]]
    assert len(medians) == 4
    assert medians == sorted(medians, reverse=True)


def test_columns_are_named(where: Path, tmp_path: Path) -> None:
    text = table(tmp_path / "a.csv", 30).read_text().replace("text,label", "what is said;of what").replace(",", ";")
    (tmp_path / "mine.csv").write_text(text)
    more = ["--data", tmp_path / "mine.csv", "--text", "what is said", "--label", "of what", "--delimiter", ";"]
    done = litebert(*command(where, tmp_path / "run", *more, "--dry-run"))
    assert done.code == 0, done.err
    assert "note: 4 of 30 examples are held out" in done.out
    said = refused(*command(where, tmp_path / "run", *more[:-2]))
    assert "has no column 'what is said'" in said
    assert "did you mean" in said or "semicolons" in said


def test_rows_that_are_no_examples_are_counted_and_told(where: Path, tmp_path: Path) -> None:
    path = table(tmp_path / "mine.csv", 30)
    path.write_text(path.read_text() + ",boat\nthe sea,\n,none\n")
    given = command(where, tmp_path / "run", "--data", path, "--dry-run")
    assert "mine.csv:32: column 'text' is empty" in refused(*given)
    done = litebert(*given, "--bad", "skip")
    assert f"3 rows are left out: 2 × column 'text' is empty ({path}:32); 1 × column 'label' is empty" in done.out


def test_begun_from_another_fine_tuning(where: Path, tmp_path: Path) -> None:
    tuned(where, tmp_path / "first", steps=2)
    given = [one for one in command(where, tmp_path / "second", "--set", "steps=2") if one not in ("--model",)]
    given.remove(where / "model")
    done = litebert(*given, "--from", tmp_path / "first", "--no-report")
    assert done.code == 0, done.err
    assert f"from the weights of {tmp_path / 'first'}" in done.out
    assert (tmp_path / "second" / TASK).is_file()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        pytest.param(["--from", "x"], "--model and --from both name the model", id="two models"),
        pytest.param(["--device", "tpu"], "device 'tpu' is unknown", id="a device nobody has"),
        pytest.param(["--bad", "mend"], "--bad 'mend' is unknown: choose refuse", id="what to do with bad rows"),
        pytest.param(["--columns", "text"], "is not of the form name=column", id="no column"),
        pytest.param(["--set", "rate=fast"], "rate", id="a word for a number"),
        pytest.param(["--sweep", "rate"], "is not of the form name=value,value", id="a sweep of nothing"),
        pytest.param(["--data", "nowhere"], "nowhere does not exist", id="no data"),
        pytest.param(["--dev", "nowhere.csv"], "nowhere.csv does not exist", id="no development file"),
    ],
)
def test_a_wrong_call_is_one_line(more: list[object], says: str, where: Path, tmp_path: Path) -> None:
    assert says in refused(*command(where, tmp_path / "run", *more))
    assert not (tmp_path / "run").exists()


def test_without_a_model_it_asks_for_one(tmp_path: Path) -> None:
    assert refused("finetune", "sst-2", "--data", tmp_path).startswith("which model? name its folder with --model")


def test_an_unknown_task_is_answered_with_the_nearest(where: Path, tmp_path: Path) -> None:
    assert "did you mean 'sst-2'?" in refused(*command(where, tmp_path, task="sst2"))


def test_tasks_lists_all_kinds_and_benchmarks() -> None:
    done = litebert("tasks")
    assert done.code == 0
    for name in (*BENCHMARKS, "classify", "regress", "tag", "span", "choice"):
        assert f" {name} " in done.out, name


@pytest.mark.parametrize("name", ["sst-2", "squad-1.1", "tag", "choice"])
def test_a_task_is_shown_with_its_settings_for_both_sizes(name: str) -> None:
    done, values = litebert("tasks", name), litebert("tasks", name, "--json").value
    assert "models up to 512 wide" in done.out
    assert all(f" {setting} " in done.out for setting in Tuning.model_fields)
    assert set(values["settings"]) == {"up to 512 wide", "wider"}
    assert refused("tasks", "sst2").startswith("unknown task 'sst2'")


def test_every_setting_is_explained() -> None:
    assert set(_MEANINGS) == set(Tuning.model_fields)


def test_plain_lines_come_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    clock = iter(range(0, 1000, 4)).__next__
    watching = Watching(("accuracy",), 2, False, clock=lambda: float(clock()))
    watching({"event": "start", "seed": 0, "step": 0, "total": 20})
    for step in range(1, 5):
        watching(
            {"event": "step", "seed": 0, "step": step, "loss": 1.0, "rate": 0.1, "norm": 1.0, "tokens_per_s": 10.0}
        )
    watching({"event": "evaluation", "seed": 0, "step": 4, "accuracy": 0.5, "loss": 0.1})
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == "seed 0, step 4: accuracy 0.5000"
    assert 1 <= len(lines) - 1 < 4
    assert lines[0].startswith("seed 0, step ")
    assert "of 20: loss 1.000 · 10 tokens/s · 0:0" in lines[0]
