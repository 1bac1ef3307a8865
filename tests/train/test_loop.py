"""Is a step the step of the whole global batch, and is a run that stops and goes on the run that never stopped?"""

from __future__ import annotations

import itertools

import pytest
import torch

from litebert.optim.schedule import Progress, Stopwatch
from litebert.train import loop
from litebert.train.loop import DivergedError, Portion, Step, Trainer
from train.small import Micro, portion, portions, trainer, weights


def ticking(each: float = 1.0) -> Stopwatch:
    """A watch whose clock moves by `each` whenever it is read."""
    ticks = itertools.count()
    return Stopwatch(lambda: each * next(ticks))


def run(
    made: Trainer, given: object = None, start: Progress = Progress(), watch: Stopwatch | None = None
) -> list[Step]:
    """All steps of a run."""
    feed = portions(start.steps) if given is None else iter(given)  # type: ignore[call-overload]
    return list(loop.steps(made, feed, start, watch or ticking(), lambda: False))


@pytest.mark.parametrize("micro", [4, 1, 3], ids=["2 x 4", "8 x 1", "3 + 3 + 2"])
def test_micro_batches_change_nothing(micro: int) -> None:
    whole, parts = trainer(), trainer()
    expected, found = run(whole), run(parts, portions(micro=micro))
    torch.testing.assert_close(weights(parts), weights(whole), rtol=1e-5, atol=1e-6)  # 20 steps of float32
    assert [s.result.loss for s in found] == pytest.approx([s.result.loss for s in expected], rel=1e-6)
    assert [s.norm for s in found] == pytest.approx([s.norm for s in expected], rel=1e-5)
    assert found[0].result.counts == expected[0].result.counts == {"class": 7.0, "even": pytest.approx(8, abs=7)}


def test_the_loss_is_the_mean_over_targets_of_each_objective_summed() -> None:
    made = trainer()
    one = portion(0)
    sums = made.objective.sums(made.model, one.micros[0])
    expected = {name: float(s.loss.detach()) / float(s.count) for name, s in sums.items()}
    step = run(made, [one])[0]
    assert step.result.losses == pytest.approx(expected, rel=1e-6)
    assert step.result.loss == pytest.approx(sum(expected.values()), rel=1e-6)
    assert step.result.accuracies["class"] == pytest.approx(float(sums["class"].right) / 7)


def test_a_run_that_goes_on_is_the_run_that_never_stopped_with_dropout() -> None:
    whole, half = trainer(dropout=0.3), trainer(dropout=0.3)
    expected = run(whole)
    first = run(half, portions(0, 9))
    torch.rand(17)  # nothing may hang on the global generator
    second = run(half, portions(9), start=first[-1].progress)
    assert [s.progress.steps for s in first + second] == [s.progress.steps for s in expected] == [*range(1, 21)]
    assert [s.result.loss for s in first + second] == [s.result.loss for s in expected]
    assert torch.equal(weights(half), weights(whole))


def test_dropout_differs_from_step_to_step_and_from_micro_batch_to_micro_batch() -> None:
    made = trainer(dropout=0.5)
    made.schedule.__dict__["peak"] = 1e-30  # the weights stay as they are
    same = portion(0, micro=8)
    assert len({s.result.loss for s in run(made, [same] * 5)}) == 5
    row = same.micros[0]
    twice = Portion([Micro(row.rows, row.classes), Micro(row.rows, row.classes)], 80, (1,), "")
    sums = run(made, [twice])[0].result.loss
    assert sums != pytest.approx(run(made, [same])[0].result.loss, rel=1e-6)


def test_a_time_budget_ends_the_run_and_its_rate_falls_to_nothing() -> None:
    made = trainer(total=100.0, unit="seconds")
    found = run(made, watch=ticking(1.0))
    rates = [s.rate for s in found]
    assert found[-1].progress.seconds >= 98
    assert max(rates) <= 0.05
    assert rates[-1] < 0.05 * 0.03
    assert rates[len(rates) // 10 + 1 :] == sorted(rates[len(rates) // 10 + 1 :], reverse=True)


def test_seconds_already_trained_count() -> None:
    made = trainer(total=100.0, unit="seconds")
    ticks = itertools.count()
    found = run(made, portions(50), Progress(50, 0, 90.0), Stopwatch(lambda: float(next(ticks)), 90.0))
    assert len(found) < 8


def test_tokens_end_a_run_too() -> None:
    found = run(trainer(total=400, unit="tokens"))
    assert [s.progress.tokens for s in found] == [80, 160, 240, 320, 400]


def test_asking_for_the_end_ends_after_the_step() -> None:
    made, asked = trainer(), iter([False, False, True, True])
    found = list(loop.steps(made, portions(), Progress(), ticking(), lambda: next(asked)))
    assert [s.stopping for s in found] == [False, False, True]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_never_reaches_the_weights(value: float) -> None:
    made = trainer()
    run(made, portions(0, 3))
    before = weights(made)
    bad = portion(3)
    bad.micros[0].rows[2, 1] = value
    with pytest.raises(DivergedError, match="step 4: the loss is not a finite number") as caught:
        run(made, [bad], Progress(3, 0, 0.0))
    assert caught.value.batch == "batch 3"
    assert torch.equal(weights(made), before)


def test_evaluation_is_the_mean_over_all_targets_without_dropout() -> None:
    made = trainer(dropout=0.5)
    found = loop.evaluate(made, portions(0, 4, micro=3))
    again = loop.evaluate(made, portions(0, 4, micro=8))
    assert found.loss == pytest.approx(again.loss, rel=1e-6)
    assert found.counts["class"] == 28.0
    assert not made.model.training
