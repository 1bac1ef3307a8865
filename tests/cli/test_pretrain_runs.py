"""`litebert pretrain`: does a run show what it will do and what it did, stop when it is asked to, and go on?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli.running import Done, litebert, refused
from litebert.bench import trial
from litebert.bench.trial import Place
from litebert.cli.live import Live
from litebert.data.build import build
from litebert.data.options import Options
from litebert.text.tokenizer import load
from litebert.train import distributed, loop, record
from litebert.train.distributed import World

HEARD = "litebert: the step is finished and saved, then the run ends (Ctrl-C again: at once)\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Text, tokenizer and shards."""
    return trial.made(tmp_path_factory.mktemp("place") / "made-up")


@pytest.fixture(autouse=True)
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here depends on the machine's power."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


def command(place: Place, out: Path, *more: object, total: str = "10 steps") -> list[object]:
    """The verb and its arguments."""
    return ["pretrain", place.shards, "--recipe", place.recipe(total), "--out", out, *more]


def at_step(step: int, act: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do something while a step's event is shown."""
    shown = Live.__call__

    def see(live: Live, event: Mapping[str, Any]) -> None:
        shown(live, event)
        if event["event"] == "step" and event["step"] == step:
            act()

    monkeypatch.setattr(Live, "__call__", see)


def sent(*numbers: int) -> Any:
    """Signals to this process, heard one after another."""

    def send() -> None:
        for number in numbers:
            signal.raise_signal(number)

    return send


def test_it_shows_what_it_will_do_and_what_it_did_and_writes_a_report(place: Place, tmp_path: Path) -> None:
    done = litebert(*command(place, tmp_path / "run"))
    assert done.code == 0, done.err
    for part in ("2 layers × 32 wide", "objectives mlm + sop; new weights, seed 0", "embedding", "decay", "[MASK]",
                 "tokens/s", "a checkpoint", "unigram floor", "held out"):  # fmt: skip
        assert part in done.out, part
    assert done.out.endswith(f"the report is {tmp_path / 'run' / 'report.html'}\n")
    assert "10 steps, " in done.out.partition("held out")[0].splitlines()[-2]
    page = (tmp_path / "run" / "report.html").read_text()
    assert "<svg" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    told = done.err.splitlines()
    assert told[0].startswith("step 0 held-out: loss 5.")
    assert told[-1].startswith("step 10 held-out: loss ")


def test_json_is_one_object_and_nothing_else(place: Place, tmp_path: Path) -> None:
    done = litebert(*command(place, tmp_path / "run", "--json", "--no-report"))
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    value = done.value
    assert (value["steps"], value["stopped"], value["report"]) == (10, False, "")
    last = [event for event in record.read(tmp_path / "run") if event["event"] == "evaluation"][-1]
    assert value["held_out"]["loss"] == last["loss"]
    assert value["held_out"]["losses"] == {"mlm": last["mlm"], "sop": last["sop"]}


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["a person", "a program"])
def test_a_dry_run_writes_nothing(more: list[str], place: Place, tmp_path: Path) -> None:
    done = litebert(*command(place, tmp_path / "run", "--dry-run", *more))
    assert (done.code, done.err) == (0, "")
    assert not (tmp_path / "run").exists()
    if more:
        assert {"tokens_per_s", "seconds", "memory", "checkpoint", "floor"} <= set(done.value)
        assert done.value["steps"] == 10
    else:
        assert done.out.splitlines()[-1].lstrip().startswith("unigram floor")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_end_it_saves_says_so_and_goes_on_by_the_same_command(
    number: int, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    given = command(place, tmp_path / "run")
    before = signal.getsignal(number)
    with monkeypatch.context() as patch:
        at_step(3, sent(number), patch)
        done = litebert(*given)
    assert done.code == 0
    assert done.out.endswith("stopped and saved: go on with the same command\n")
    assert capfd.readouterr().err == HEARD
    assert signal.getsignal(number) == before
    assert not (tmp_path / "run" / "report.html").exists()
    again = litebert(*given)
    assert again.code == 0
    assert f"going on from step 4 in {tmp_path / 'run'}" in again.err
    assert "that are left" in again.out
    litebert(*command(place, tmp_path / "whole"))
    assert trial.outcome(tmp_path / "run") == trial.outcome(tmp_path / "whole")


def test_a_second_ctrl_c_does_not_wait(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    given = command(place, tmp_path / "run", "--json", "--no-report")
    with monkeypatch.context() as patch:
        at_step(3, sent(signal.SIGINT, signal.SIGINT), patch)
        done = litebert(*given)
    assert (done.code, done.out) == (130, "")
    assert done.err == "litebert: ended at once: the same command goes on from the last checkpoint\n"
    assert capfd.readouterr().err == HEARD
    assert litebert(*given).value["steps"] == 10
    begun = [(e["event"], e["step"]) for e in record.read(tmp_path / "run") if e["event"] in ("start", "resume")]
    assert begun == [("start", 0), ("resume", 2)]  # step 3 was made and not saved
    litebert(*command(place, tmp_path / "whole", "--json", "--no-report"))
    assert trial.outcome(tmp_path / "run") == trial.outcome(tmp_path / "whole")


def test_a_second_sigterm_changes_nothing(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_step(3, sent(signal.SIGTERM, signal.SIGTERM), monkeypatch)
    value = litebert(*command(place, tmp_path / "run", "--json", "--no-report")).value
    assert (value["stopped"], value["steps"]) == (True, 4)


def test_a_run_that_comes_apart_ends_with_1_and_one_line(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = loop._result
    calls = iter(range(1000))

    def spoilt(losses: Mapping[str, float], *more: Any) -> loop.Result:
        found = real(losses, *more)
        return found._replace(loss=float("nan")) if next(calls) == 7 else found

    monkeypatch.setattr(loop, "_result", spoilt)
    done = litebert(*command(place, tmp_path / "run", "--json", "--no-report"))
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith("litebert: step ")
    assert "the loss is not a finite number; lower schedule.peak (now 0.005) to" in done.err
    found = json.loads((tmp_path / "run" / "diverged.json").read_text())
    assert f"step-{found['step'] - 1:09d} is kept" in done.err
    assert found["batch"].startswith("examples ")


def test_begun_anew_by_torchrun_it_goes_on_though_it_was_to_restart(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = command(place, tmp_path / "run", "--restart", "--json", "--no-report")
    with monkeypatch.context() as patch:
        at_step(3, sent(signal.SIGTERM), patch)
        assert litebert(*given).value["steps"] == 4
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "1")
    assert litebert(*given).value["steps"] == 10
    assert [e["event"] for e in record.read(tmp_path / "run") if e["event"] in ("start", "resume")] == [
        "start",
        "resume",
    ]


def wrong(place: Place, out: Path, *more: object, **named: Any) -> str:
    """Why a call is refused; nothing is written."""
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    why = refused(*command(place, out, *more, **named))
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert out.exists() == bool(before)
    return why


def test_another_run_s_folder_is_refused_by_what_differs(place: Place, tmp_path: Path) -> None:
    litebert(*command(place, tmp_path / "run", "--json", "--no-report", total="3 steps"))
    why = wrong(place, tmp_path / "run", "--set", "schedule.peak=0.1", total="3 steps")
    assert (
        "step-000000003 was trained with schedule.peak 0.005, not 0.1: go on with the values it was begun with" in why
    )
    assert "name another run folder, or begin anew with --restart" in why
    assert "was trained with schedule.total 3.0, not 10.0" in wrong(place, tmp_path / "run")
    other = Place(tmp_path / "other")
    other.root.mkdir()
    build([place.text], load(place.tokenizer), other.shards, Options(held_out=0.2), workers=1)
    assert "was trained on other shards" in wrong(other, tmp_path / "run", total="3 steps")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--for", "a while"], "total 'a while' is not an amount: write for example '55 minutes' or '125000 steps'"),
        (["--for", "1e steps"], "total '1e steps' is not a number of steps: write for example '55 minutes'"),
        (["--recipe", "albert-lapto"], "unknown recipe 'albert-lapto': did you mean 'albert-laptop'?"),
        (["--recipe", "nowhere.toml"], "nowhere.toml does not exist: name a TOML file, or one of albert-base-v1"),
        (["--set", "model.layer=3"], "unknown field 'layer'"),
        (["--set", "training.batch=0"], "batch 0 and tokens 0: give one of them, set the other to 0"),
        (["--set", "data.length=4096", "--set", "model.positions=absolute"], "length 4096 exceeds max_positions 512"),
        (["--from", "nowhere"], "nowhere"),
        (["--set", "model.heads=3"], "hidden 32 is not divisible by heads 3"),
    ],
)  # fmt: skip
def test_a_wrong_call_is_one_line(more: list[str], says: str, place: Place, tmp_path: Path) -> None:
    assert says in wrong(place, tmp_path / "run", *more)


def test_a_batch_that_the_processes_cannot_share_is_refused(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distributed, "join", lambda environment, device: World(0, 5))
    assert "batch 12 is not divisible by 5 ranks: choose 10 or 15" in wrong(place, tmp_path / "run", "--json")


def test_a_folder_that_cannot_be_written_is_refused(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    why = f"{tmp_path / 'file'} is not a folder: name another one with --out"
    assert wrong(place, tmp_path / "file" / "run").endswith(why)
    real = os.access  # by which root may write anywhere
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path and real(path, mode))
    why = f"{tmp_path / 'run'} cannot be a run folder, as {tmp_path} is not yours to write: name another one with --out"
    assert wrong(place, tmp_path / "run") == why


def test_without_held_out_text_it_trains_and_shows_what_it_has(place: Place, tmp_path: Path) -> None:
    bare = Place(tmp_path / "bare")
    bare.root.mkdir()
    build([place.text], load(place.tokenizer), bare.shards, Options(held_out=0.0), workers=1)
    done: Done = litebert(*command(bare, tmp_path / "run", total="3 steps"))
    assert done.code == 0, done.err
    assert "held-out" not in done.err
    assert "3 steps, " in done.out
    assert "the report is" in done.out


def test_the_recipes_are_listed() -> None:
    done = litebert("pretrain", "--recipes")
    assert done.code == 0
    assert "albert-laptop" in done.out


def test_python_runs_it_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "litebert", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("litebert ")
