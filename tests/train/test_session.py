"""What happens between two steps: is it saved when it should be, and does a run that comes apart say what did it?"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

import litebert
from litebert.bench.trial import Place
from litebert.errors import RunError
from litebert.train import checkpoint, record, session
from litebert.train.prepared import Prepared
from litebert.train.pretrain import CHECKPOINTS, events
from litebert.train.recipe import Run
from train.whole import checkpoints, kinds, run_of, trained

pytestmark = pytest.mark.usefixtures("quick")


def scaled(factor: float, at: int) -> Any:
    """Spoils the weights before a step."""

    def spoil(made: Prepared, step: int) -> None:
        if step == at:
            with torch.no_grad():
                for parameter in made.trainer.model.parameters():
                    parameter.mul_(factor)

    return spoil


def diverged(place: Place, run: Run, folder: Path, factor: float, at: int) -> tuple[str, dict[str, Any]]:
    """What is said, and what is written down."""
    with pytest.raises(RunError) as caught:
        trained(place, run, folder, before=scaled(factor, at))
    found: dict[str, Any] = json.loads((folder / session.DIVERGED).read_text())
    assert "\n" not in str(caught.value)
    return str(caught.value), found


@pytest.mark.parametrize("factor", [float("nan"), float("inf"), 1e30], ids=["nan", "inf", "too large to multiply"])
def test_a_loss_that_is_no_number_ends_the_run_with_the_batch_and_the_last_good_checkpoint(
    factor: float, place: Place, tmp_path: Path
) -> None:
    run = run_of(place, "20 steps", "training.saves=10", "training.evaluations=0")
    said, found = diverged(place, run, tmp_path, factor, at=8)
    assert said.startswith("step 8: the loss is not a finite number; lower schedule.peak (now 0.005) to ")
    good = checkpoint.path_of(tmp_path / CHECKPOINTS, 6)
    assert (
        f"begin anew with --restart; {good} is kept, --from trains on from it in another folder; the batch is" in said
    )
    log = list(events(tmp_path))
    assert {k: log[-1][k] for k in found} == found
    assert kinds(log, "diverged", "step")[-2:] == [("step", 7), ("diverged", 8)]
    assert (found["what"], found["checkpoint"]) == ("loss", str(good))
    kept = checkpoint.read(checkpoint.path_of(tmp_path / CHECKPOINTS, checkpoints(tmp_path)[-1]))
    assert all(bool(tensor.isfinite().all()) for group in kept.tensors.values() for tensor in group.values())


def test_the_batch_that_is_named_is_the_one_that_was_fed(place: Place, tmp_path: Path) -> None:
    run = run_of(place, "20 steps")
    _, found = diverged(place, run, tmp_path / "burst", float("nan"), at=5)
    trained(place, run, tmp_path / "whole", stop=4)
    kept = checkpoint.read(checkpoint.path_of(tmp_path / "whole" / CHECKPOINTS, 4))
    assert found["position"] == kept.state["position"]
    assert re.fullmatch(r"examples \d+(, \d+){5}", found["batch"])
    _, again = diverged(place, run, tmp_path / "again", float("nan"), at=5)
    assert again["batch"] == found["batch"]


def test_a_gradient_that_is_no_number_is_told_as_such(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoil(made: Prepared, step: int) -> None:
        if step == 3:
            monkeypatch.setattr(made.trainer.optimizer, "norm", lambda: torch.tensor(float("inf")))

    with pytest.raises(RunError, match="step 3: the gradient is not a finite number; lower"):
        trained(place, run_of(place, "20 steps"), tmp_path, before=spoil)


def test_before_the_first_checkpoint_none_is_promised(place: Place, tmp_path: Path) -> None:
    said, _ = diverged(place, run_of(place, "200 steps"), tmp_path, float("nan"), at=2)
    assert "--restart; no checkpoint was saved before it; the batch" in said


EXPLODES = ("training.saves=20", "training.evaluations=0", "training.keep=3")


def test_an_explosion_ends_the_run_with_the_step_it_began_at_and_a_checkpoint_from_before(
    place: Place, tmp_path: Path
) -> None:
    run = run_of(place, "100 steps", *EXPLODES)
    said, found = diverged(place, run, tmp_path, 40.0, at=28)
    assert "at step 37, for 10 steps far above" in said
    assert "begin anew with --restart; " in said
    assert "step-000000025 is kept" in said
    assert found["step"] == 28
    log = list(events(tmp_path))
    assert kinds(log, "diverged", "step")[-2:] == [("step", 37), ("diverged", 28)]
    assert [event["kind"] for event in log if event["event"] == "warning"][-1] == "explosion"
    fed = [event["tokens"] for event in log if event["event"] == "step" and event["step"] in (27, 28)]
    assert len(fed) == 2
    assert checkpoints(tmp_path) == [25, 30, 35]


def test_the_last_good_weights_are_trained_on_in_another_folder(place: Place, tmp_path: Path) -> None:
    run = run_of(place, "20 steps", "training.saves=10")
    _, found = diverged(place, run, tmp_path / "burst", float("nan"), at=8)
    calmer = run_of(place, "4 steps", f"start={found['checkpoint']}", "schedule.peak=1e-4")
    trained(place, calmer, tmp_path / "calm")
    losses = {name: [event["loss"] for event in events(tmp_path / name) if event["event"] == "evaluation"]
              for name in ("burst", "calm")}  # fmt: skip
    assert losses["calm"][0] == pytest.approx(losses["burst"][-1], rel=0.02)
    assert litebert.load(found["checkpoint"]).config.hidden == 32


def test_it_ends_there_again_by_the_same_command_and_not_when_begun_anew(place: Place, tmp_path: Path) -> None:
    run = run_of(place, "100 steps", *EXPLODES)
    diverged(place, run, tmp_path, 40.0, at=28)
    with pytest.raises(RunError, match="far above"):
        trained(place, run, tmp_path)
    assert not trained(place, run, tmp_path, restart=True, stop=30).progress.steps < 30
    assert not (tmp_path / session.DIVERGED).exists()


def test_it_is_saved_so_often_and_after_so_many_minutes_and_when_it_is_better(place: Place, tmp_path: Path) -> None:
    def saved(folder: Path, *changes: str, clock: Any = None) -> list[int]:
        steps: list[int] = []
        more = {"clock": clock} if clock else {}

        def look(made: Prepared, step: int) -> None:
            steps.extend(one for one in checkpoints(folder) if one not in steps)

        run = run_of(place, "12 steps", "training.keep=20", "training.evaluations=0", *changes)
        trained(place, run, folder, before=look, **more)
        return sorted({*steps, *checkpoints(folder)})

    assert saved(tmp_path / "a", "training.saves=4") == [3, 6, 9, 12]
    assert saved(tmp_path / "b", "training.saves=0") == [12]
    assert saved(tmp_path / "c", "training.saves=0", "training.save_minutes=0.08") == [5, 10, 12]  # a second a step
    found = saved(tmp_path / "d", "training.saves=0", "training.evaluations=4")
    losses = {event["step"]: event["loss"] for event in record.read(tmp_path / "d") if event["event"] == "evaluation"}
    better = [step for step in losses if step and losses[step] < min(losses[one] for one in losses if one < step)]
    assert found == sorted({*better, 12})
    assert len(found) > 1


def test_the_best_one_is_kept_beside_the_last(place: Place, tmp_path: Path) -> None:
    run = run_of(place, "30 steps", "training.saves=10", "training.keep=2", "training.evaluations=10")
    trained(place, run, tmp_path, before=scaled(40.0, at=20), stop=26)  # worse from there on
    log = [event for event in events(tmp_path) if event["event"] == "evaluation"]
    best = min(log, key=lambda event: event["loss"])["step"]
    assert 0 < best <= 18
    assert checkpoints(tmp_path) == [best, 24, 26]


def test_what_is_told_is_what_is_written_and_steps_say_what_they_came_to(place: Place, tmp_path: Path) -> None:
    told: list[Mapping[str, Any]] = []
    trained(place, run_of(place, "22 steps"), tmp_path, tell=told.append)
    assert told == record.read(tmp_path)
    steps = [event for event in told if event["event"] == "step"]
    assert all(event["loss"] == pytest.approx(event["mlm"] + event["sop"]) for event in steps)
    assert [event["step"] for event in steps if "trust" in event] == [1, 21]
    assert {"step", "tokens", "seconds", "loss", "rate", "norm", "tokens_per_s", "phase"} <= set(steps[0])
    start = told[0]
    assert (start["world"], start["device"], start["unit"], start["total"]) == (1, "cpu", "steps", 22.0)
    assert start["floor"] == pytest.approx(3.7, abs=0.5)


def test_no_thread_is_left(place: Place, tmp_path: Path) -> None:
    before = set(threading.enumerate())

    def dies(event: Mapping[str, Any]) -> None:
        if event["event"] == "step" and event["step"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        trained(place, run_of(place, "20 steps"), tmp_path, tell=dies)
    assert set(threading.enumerate()) == before
    assert caught.tb is not None  # as long as it is held, so is all that the run held
