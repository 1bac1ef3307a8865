"""Is an estimate what the run then does, and does asking for it leave the run as it was?"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch

from litebert import family
from litebert.model import cost
from litebert.optim.schedule import Progress, Stopwatch
from litebert.train import estimate, feeding, loop
from litebert.train.estimate import Speed
from train.tiny import prepared, run_of

SPEED = Speed(length=48, rows=8, row_seconds=0.01, step_seconds=0.03, fill=0.5, epoch_tokens=2880.0)


def ticking(each: float) -> Callable[[], float]:
    """A clock that moves by `each` whenever it is read."""
    ticks = itertools.count()
    return lambda: each * next(ticks)


def reckoned(monkeypatch: pytest.MonkeyPatch, *changes: str, progress: Progress = Progress(), **more: Any) -> Any:
    """The estimate of a run whose rehearsal came to `SPEED`."""
    monkeypatch.setattr(estimate, "rehearse", lambda *_: SPEED)
    made = prepared(run_of("training.evaluations=0", *changes, **more))
    return estimate.estimate(made, progress, clock=ticking(0.1))


def test_steps_tokens_and_seconds_follow_from_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    found = reckoned(monkeypatch)
    assert found.steps == 20
    assert found.tokens == pytest.approx(20 * 12 * 48 * 0.5)
    assert found.seconds == pytest.approx(20 * (12 * 0.01 + 0.03))
    assert found.tokens_per_s == pytest.approx(found.tokens / found.seconds)
    assert found.epochs == pytest.approx(found.tokens / 2880)
    assert found.ends


@pytest.mark.parametrize("total, steps", [("2880 tokens", 10.0), ("3 seconds", 20.0), ("1 minutes", 400.0)])
def test_a_total_of_tokens_or_of_time_is_so_many_steps(
    monkeypatch: pytest.MonkeyPatch, total: str, steps: float
) -> None:
    found = reckoned(monkeypatch, f"schedule.total={total}")
    assert found.steps == pytest.approx(steps)
    assert found.seconds == pytest.approx(steps * 0.15)


def test_what_is_done_is_not_to_be_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found = reckoned(monkeypatch, progress=Progress(15, 0, 0.0))
    assert (found.steps, found.seconds) == (pytest.approx(5), pytest.approx(0.75))
    none = reckoned(monkeypatch, "schedule.kind=constant", "schedule.total=0", "schedule.warmup=0")
    assert not none.ends
    assert (none.steps, none.tokens, none.seconds) == (0.0, 0.0, 0.0)


def test_longer_rows_of_a_later_phase_cost_more_and_are_half_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    halves = [{"share": 0.5, "length": 48}, {"share": 0.5, "length": 96}]
    plain, phased = reckoned(monkeypatch), reckoned(monkeypatch, phase=halves)
    assert phased.steps == pytest.approx(20)
    assert phased.tokens == pytest.approx(plain.tokens)
    assert plain.seconds < phased.seconds < 1.5 * plain.seconds
    rest = reckoned(monkeypatch, phase=halves, progress=Progress(10, 0, 0.0))
    assert rest.seconds == pytest.approx(phased.seconds - plain.seconds / 2)


def test_evaluations_take_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, watched = reckoned(monkeypatch), reckoned(monkeypatch, "training.evaluations=10")
    assert watched.steps == plain.steps
    assert watched.seconds - plain.seconds == pytest.approx(10 * 24 * 0.01 / 3)
    budget = reckoned(monkeypatch, "training.evaluations=10", "schedule.total=3 seconds")
    assert budget.seconds == pytest.approx(3.0)
    assert budget.steps == pytest.approx((3.0 - 0.8) / 0.15)


def test_an_evaluation_reads_no_more_rows_than_there_are_and_no_step_is_followed_by_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = reckoned(monkeypatch)
    made = prepared(run_of("training.evaluation_rows=100000"))
    rows = sum(len(one.micros[0].ids) * len(one.micros) for one in feeding.held_out(
        made.run, made.held_out, made.vocabulary, made.trainer.world))  # fmt: skip
    assert rows < 1000
    many = reckoned(monkeypatch, "training.evaluation_rows=100000", "training.evaluations=50")
    assert many.seconds - plain.seconds == pytest.approx(20 * rows * 0.01 / 3)


def test_memory_and_checkpoint_are_those_of_the_model() -> None:
    made = prepared()
    found = estimate.estimate(made, seconds=0.1)
    count = sum(p.numel() for p in made.trainer.model.parameters())
    assert found.parameters == count
    assert found.memory["weights"] == found.memory["gradients"] == 4 * count
    assert found.memory["optimizer"] == 8 * count
    heads = family.pretraining_heads(made.run.model)
    assert count == sum(cost.parameters(made.run.model, heads).values())
    assert found.checkpoint == 12 * count
    assert found.disk == 3 * 12 * count + 4 * count
    assert found.tokens_per_parameter == pytest.approx(found.tokens / count)
    assert found.share_of_peak > 0
    assert 10_000_000 < found.resident <= found.highest


def test_a_smaller_micro_batch_holds_less_and_a_longer_phase_more() -> None:
    plain = estimate.memory(prepared())
    few = estimate.memory(prepared(run_of("training.micro=3")))
    assert few["activations"] == pytest.approx(plain["activations"] / 4, rel=0.01)
    phases = [{"share": 0.5, "length": 48}, {"share": 0.5, "length": 96}]
    assert sum(estimate.memory(prepared(run_of(phase=phases))).values()) > sum(plain.values())


def test_the_rehearsal_is_what_training_then_takes() -> None:
    made = prepared(run_of("training.batch=48"))
    found = estimate.estimate(made, seconds=1.0)
    feed = feeding.portions(made.run, made.shards, made.vocabulary, made.trainer.world, feeding.START, lambda: 0.0)
    watch = Stopwatch(time.perf_counter)
    steps = list(loop.steps(made.trainer, feed, Progress(), watch, lambda: False))
    feed.close()  # type: ignore[attr-defined]  # a generator: its thread ends
    took, tokens = steps[-1].progress.seconds, steps[-1].progress.tokens
    assert len(steps) == found.steps == 20
    assert tokens == pytest.approx(found.tokens, rel=0.2)
    assert took / 6 < found.seconds < took * 6  # a busy machine: the order of magnitude is what is asked


def test_a_rehearsal_moves_nothing() -> None:
    made = prepared(run_of("model.dropout=0.1"))
    before = {name: tensor.clone() for name, tensor in made.trainer.model.state_dict().items()}
    made.trainer.model.eval()
    estimate.rehearse(made, feeding.START, 0.1)
    means, counts = made.trainer.optimizer.state_dict()
    assert all(torch.equal(tensor, before[name]) for name, tensor in made.trainer.model.state_dict().items())
    assert not any(tensor.any() for tensor in means.values())
    assert set(counts.values()) == {0}
    assert all(p.grad is None for p in made.trainer.model.parameters())
    assert not made.trainer.model.training


def test_no_more_rows_are_rehearsed_than_the_seconds_allow() -> None:
    run = run_of("training.batch=64")
    slow = estimate.rehearse(prepared(run), feeding.START, 4.0, clock=ticking(100.0))
    quick = estimate.rehearse(prepared(run), feeding.START, 4.0, clock=ticking(1e-6))
    assert (slow.rows, quick.rows) == (8, 64)
    assert slow.row_seconds == pytest.approx(100 / 8)
    assert 0.3 < quick.fill <= 1.0
