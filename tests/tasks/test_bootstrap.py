"""Do intervals hold the truth as often as they say, and are resamples the same for one seed, whatever is measured?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litebert.errors import UserError
from litebert.tasks import bootstrap, metrics

TRIALS, SIZE = 400, 80


def covered(truth: float, draw: Any, interval: Any) -> float:
    """In what share of trials an interval from new examples holds the truth."""
    random = np.random.default_rng(7)
    held = 0
    for trial in range(TRIALS):
        low, high = interval(draw(random), trial)
        held += low <= truth <= high
    return held / TRIALS


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_mean_lies_within_as_often_as_is_said(level: float) -> None:
    share = covered(0.0, lambda random: random.normal(size=SIZE),
                    lambda values, seed: bootstrap.of_mean(values, 300, seed, level))  # fmt: skip
    # a percentile interval of so few is a little too narrow; the deviation of a share of 400 trials is at most 0.02
    assert level - 0.05 < share < level + 0.03


def test_accuracy_lies_within_as_often_as_is_said() -> None:
    share = covered(0.8, lambda random: random.random(SIZE) < 0.8,
                    lambda right, seed: bootstrap.of_mean(right, 300, seed))  # fmt: skip
    assert 0.9 < share < 0.98


def test_matthews_lies_within_as_often_as_is_said() -> None:
    def draw(random: np.random.Generator) -> tuple[list[int], list[int]]:
        gold = random.integers(0, 2, SIZE)  # right in 80 of 100 cases: a correlation of 0.6
        return gold.tolist(), np.where(random.random(SIZE) < 0.8, gold, 1 - gold).tolist()

    def interval(pair: tuple[list[int], list[int]], seed: int) -> bootstrap.Interval:
        return bootstrap.of_counts(*pair, {"matthews": metrics.matthews_of}, count=200, seed=seed)["matthews"]

    assert 0.9 < covered(0.6, draw, interval) < 0.98


def test_an_interval_narrows_with_the_root_of_the_examples() -> None:
    values = np.random.default_rng(0).normal(size=10_000)
    few, many = (bootstrap.of_mean(values[:size], 400) for size in (100, 10_000))
    assert (few.high - few.low) / (many.high - many.low) == pytest.approx(10, rel=0.25)
    assert many.high - many.low == pytest.approx(2 * 1.96 / 100, rel=0.15)


def test_a_resample_is_the_same_whatever_is_measured_and_however_many_there_are() -> None:
    some = list(bootstrap.resamples(50, 10, seed=3))
    more = list(bootstrap.resamples(50, 30, seed=3))
    assert all(np.array_equal(one, other) for one, other in zip(some, more, strict=False))
    assert not np.array_equal(some[0], next(bootstrap.resamples(50, 1, seed=4)))
    assert [one.tobytes() for one in some] == [one.tobytes() for one in bootstrap.resamples(50, 10, seed=3)]


def test_drawing_in_portions_changes_no_resample(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.stack(list(bootstrap.resamples(40, 20)))
    monkeypatch.setattr(bootstrap, "AT_A_TIME", 100)
    assert np.array_equal(np.stack(list(bootstrap.resamples(40, 20))), whole)
    gold, said = ["a", "b", "b", "c"] * 10, ["a", "b", "c", "c"] * 10
    portions = bootstrap.of_counts(gold, said, {"macro": metrics.f1_macro_of})
    monkeypatch.undo()
    assert bootstrap.of_counts(gold, said, {"macro": metrics.f1_macro_of}) == portions


def test_every_example_is_drawn_as_often_as_any_other() -> None:
    size, count = 37, 3000
    times = np.bincount(np.concatenate(list(bootstrap.resamples(size, count))), minlength=size)
    assert len(times) == size
    assert ((times - count) ** 2 / count).sum() < 75  # chi-square of 36 degrees: one in 5,000 is above
    first = np.bincount([order[0] for order in bootstrap.resamples(size, count)], minlength=size)
    assert ((first - count / size) ** 2 / (count / size)).sum() < 75


def test_ways_to_the_same_measure_give_the_same_interval() -> None:
    random = np.random.default_rng(1)
    gold = random.integers(0, 3, 60)
    said = np.where(random.random(60) < 0.7, gold, random.integers(0, 3, 60))
    right = gold == said
    by_mean = bootstrap.of_mean(right, 200, seed=5)
    by_counts = bootstrap.of_counts(gold.tolist(), said.tolist(), {"accuracy": metrics.accuracy_of}, count=200, seed=5)
    by_any = bootstrap.of_any(lambda order: {"accuracy": float(right[order].mean())}, 60, 200, seed=5)
    by_sums = bootstrap.of_sums(np.stack([right, ~right], 1), lambda sums: sums[:, 0] / sums.sum(1), 200, seed=5)
    for found in (by_counts["accuracy"], by_any["accuracy"], by_sums):
        np.testing.assert_allclose(found, by_mean)


def test_a_label_that_a_resample_misses_is_none_to_average_over() -> None:
    gold, said = ["a"] * 30 + ["b"], ["a"] * 30 + ["b"]
    found = bootstrap.of_counts(gold, said, {"macro": metrics.f1_macro_of, "accuracy": metrics.accuracy_of})
    assert found == {"macro": (1.0, 1.0), "accuracy": (1.0, 1.0)}


def test_the_middle_is_taken_as_numpy_takes_quantiles() -> None:
    assert bootstrap.interval(np.arange(101.0), 0.9) == pytest.approx((5.0, 95.0))


@pytest.mark.parametrize("call,message", [
    (lambda: bootstrap.of_mean([]), "0 values: an interval needs at least one"),
    (lambda: bootstrap.of_mean([1.0, float("nan")]), "value 2 is nan: an interval needs finite numbers only"),
    (lambda: bootstrap.of_mean([1.0], level=1.0), "level 1.0 is not a share: choose one between 0 and 1"),
    (lambda: bootstrap.of_mean([1.0], count=0), "0 resamples of 1 examples"),
    (lambda: bootstrap.of_counts([], [], {"a": metrics.accuracy_of}), "0 examples"),
    (lambda: bootstrap.of_any(lambda _: {"x": float("inf")}, 3, 4), "measure 1 is inf"),
    (lambda: bootstrap.of_any(lambda _: {"x": 1.0}, 0), "1000 resamples of 0 examples"),
])  # fmt: skip
def test_what_gives_no_interval_is_refused(call: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        call()
