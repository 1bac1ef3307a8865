"""Does a run that goes on have everything it had, and is another run's checkpoint refused by the value that differs?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from litebert.data.vocabulary import Vocabulary
from litebert.errors import UserError
from litebert.optim.schedule import Progress, Stopwatch
from litebert.train import checkpoint, feeding, loop, resuming
from litebert.train.checkpoint import Checkpoint
from litebert.train.prepared import Prepared
from litebert.train.recipe import Run
from litebert.train.resuming import State
from train.tiny import prepared, run_of

NOTES = {"told": {"plateau": 0.1 + 0.2}, "norm": [7, 1e-300, 0.1]}
STATE = State(Progress(7, 4321, 0.1 + 0.2), (1, 2, 3), best=1 / 3, best_step=5, notes=NOTES)


def trained(made: Prepared, state: State, count: int) -> State:
    """So many steps on."""
    words: Vocabulary = made.vocabulary
    feed = feeding.portions(made.run, made.shards, words, made.trainer.world, state.position, lambda: 0.0)
    for step in loop.steps(made.trainer, feed, state.progress, Stopwatch(lambda: 0.0), lambda: False):
        state = state._replace(progress=step.progress, position=step.position)
        if state.progress.steps % count == 0:
            break
    feed.close()  # type: ignore[attr-defined]  # a generator: its thread ends
    return state


def saved(made: Prepared, state: State, folder: Path, data: str = "text") -> Checkpoint:
    """Written to the disk and read back."""
    kept = resuming.kept(made.trainer.model, made.trainer.optimizer, state, made.run, data)
    return checkpoint.read(checkpoint.write(folder, state.progress.steps, *kept))


def restored(found: Checkpoint, made: Prepared, run: Run | None = None, data: str = "text") -> State:
    """Into another one."""
    return resuming.restore(found, made.trainer.model, made.trainer.optimizer, run or made.run, data)


def tensors(made: Prepared) -> dict[str, torch.Tensor]:
    """Weights and moments."""
    means, _ = made.trainer.optimizer.state_dict()
    return {**made.trainer.model.state_dict(), **means}


def equal(one: Prepared, other: Prepared) -> bool:
    """Bit by bit."""
    mine, theirs = tensors(one), tensors(other)
    return set(mine) == set(theirs) and all(torch.equal(mine[name], theirs[name]) for name in mine)


def test_the_state_comes_back_exactly(tmp_path: Path) -> None:
    made = prepared()
    assert restored(saved(made, STATE, tmp_path), prepared()) == STATE
    assert restored(saved(made, State(Progress(8)), tmp_path), prepared()) == State(Progress(8))


def test_weights_moments_and_counts_come_back_and_the_next_steps_are_the_same(tmp_path: Path) -> None:
    run = run_of("model.dropout=0.2")
    whole, other = prepared(run), prepared(run)
    half = trained(whole, State(), 6)
    found = saved(whole, half, tmp_path)
    with torch.no_grad():
        for parameter in other.trainer.model.parameters():
            parameter.add_(1.0)
    back = restored(found, other)
    assert back.progress == half.progress
    assert equal(whole, other)
    assert other.trainer.optimizer.counts == whole.trainer.optimizer.counts
    assert trained(whole, half, 5) == trained(other, back, 5)
    assert equal(whole, other)


@pytest.mark.parametrize(
    "change, name, before, now",
    [
        ("training.seed=3", "training.seed", 0, 3),
        ("training.batch=24", "training.batch", 12, 24),
        ("schedule.peak=0.1", "schedule.peak", 0.005, 0.1),
        ("schedule.total=21 steps", "schedule.total", 20.0, 21.0),
        ("model.layers=3", "model.layers", 2, 3),
        ("data.rate=0.3", "data.rate", 0.15, 0.3),
        ("optimizer.decay=0.1", "optimizer.decay", 0.01, 0.1),
        ("start=folder", "start", "", "folder"),
    ],
)
def test_another_run_s_checkpoint_is_refused_by_the_first_value_that_differs(
    tmp_path: Path, change: str, name: str, before: Any, now: Any
) -> None:
    made = prepared()
    found, weights = saved(made, STATE, tmp_path), {n: t.clone() for n, t in tensors(made).items()}
    with pytest.raises(UserError) as caught:
        restored(found, made, run_of(change))
    assert f"step-000000007 was trained with {name} {before!r}, not {now!r}: go on with the values" in str(caught.value)
    assert "--restart" in str(caught.value)
    assert all(torch.equal(tensors(made)[n], t) for n, t in weights.items())


def test_phases_are_a_value_too(tmp_path: Path) -> None:
    found = saved(prepared(), STATE, tmp_path)
    phases = [{"share": 0.5, "length": 24}, {"share": 0.5, "length": 48}]
    with pytest.raises(UserError, match="was trained with phases"):
        restored(found, prepared(), run_of(phase=phases))


@pytest.mark.parametrize(
    "change", ["micro=3", "save_minutes=1", "saves=3", "keep=5", "evaluations=2", "evaluation_rows=8"]
)
def test_what_changes_nothing_that_is_learnt_may_change(tmp_path: Path, change: str) -> None:
    found = saved(prepared(), STATE, tmp_path)
    assert restored(found, prepared(), run_of(f"training.{change}")) == STATE


def test_other_shards_are_refused(tmp_path: Path) -> None:
    found = saved(prepared(), STATE, tmp_path, data="one text")
    with pytest.raises(UserError, match=r"step-000000007 was trained on other shards: go on with the values it was"):
        restored(found, prepared(), data="another")
