"""Is confidence beside accuracy what a hand reckons, bin by bin, and is what is no probability refused?"""

from __future__ import annotations

import numpy as np
import pytest

from litebert.errors import UserError
from litebert.tasks.calibration import calibration, of_classes


def test_two_bins_are_reckoned_by_hand() -> None:
    found = calibration([0.9, 0.8, 0.3, 0.2], [True, False, False, True], bins=2)
    low, high = found.bins
    assert (low.low, low.high, low.examples) == (0.0, 0.5, 2)
    assert (low.confidence, low.accuracy) == (pytest.approx(0.25), 0.5)
    assert (high.low, high.high, high.examples) == (0.5, 1.0, 2)
    assert (high.confidence, high.accuracy) == (pytest.approx(0.85), 0.5)
    assert found.error == pytest.approx((2 * 0.25 + 2 * 0.35) / 4)
    assert found.worst == pytest.approx(0.35)
    assert (found.confidence, found.accuracy) == (pytest.approx(0.55), 0.5)


def test_a_larger_bin_weighs_more() -> None:
    found = calibration([0.95] * 9 + [0.15], [True] * 9 + [True])
    assert found.error == pytest.approx(0.9 * 0.05 + 0.1 * 0.85)
    assert found.worst == pytest.approx(0.85)


def test_a_bound_belongs_to_the_bin_below_and_nothing_to_the_first() -> None:
    found = calibration([0.0, 0.1, 0.2, 0.3, 0.7, 1.0, np.nextafter(0.1, 1)], [True] * 7)
    assert [one.examples for one in found.bins] == [2, 2, 1, 0, 0, 0, 1, 0, 0, 1]


def test_an_empty_bin_counts_for_nothing() -> None:
    found = calibration([1.0, 1.0], [True, True])
    assert found.error == found.worst == 0.0
    assert [(one.confidence, one.accuracy) for one in found.bins[:-1]] == [(0.0, 0.0)] * 9


def test_a_model_that_is_as_often_right_as_it_says_has_no_error() -> None:
    random = np.random.default_rng(0)
    sure = random.uniform(0.5, 1.0, 200_000)
    right = random.random(200_000) < sure
    assert calibration(sure, right.tolist()).error < 0.006
    assert calibration(sure, (random.random(200_000) < sure - 0.2).tolist()).error == pytest.approx(0.2, abs=0.006)


def test_the_likeliest_class_is_the_guess() -> None:
    found = of_classes([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1]], [0, 0, 1])
    assert found.accuracy == pytest.approx(2 / 3)
    assert found.confidence == pytest.approx((0.6 + 0.5 + 0.8) / 3)
    assert found.error == pytest.approx((0.4 + 0.5 + 0.2) / 3)


def test_a_share_that_was_rounded_is_a_probability() -> None:
    found = calibration([1.0000001, -1e-9], [True, False])
    assert (found.confidence, found.error) == (0.5, 0.0)


@pytest.mark.parametrize("sure,message", [
    ([0.5, 1.5], "confidence 1.5 of example 2 is no probability: give numbers from 0 to 1"),
    ([-0.5, 0.5], "confidence -0.5 of example 1 is no probability"),
    ([0.5, float("nan")], "confidence nan of example 2 is no probability"),
    ([0.5], "1 guesses for 2 examples"),
])  # fmt: skip
def test_what_is_no_confidence_is_refused(sure: list[float], message: str) -> None:
    with pytest.raises(UserError, match=message):
        calibration(sure, [True, False])


def test_what_makes_no_table_is_refused() -> None:
    with pytest.raises(UserError, match="0 examples"):
        calibration([], [])
    with pytest.raises(UserError, match="0 bins hold nothing: choose 1 or more"):
        calibration([0.5], [True], bins=0)
    with pytest.raises(UserError, match=r"probabilities of shape \[2\]: give a row for each example"):
        of_classes([0.5, 0.5], [0, 1])
    with pytest.raises(UserError, match="1 guesses for 2 examples"):
        of_classes([[0.5, 0.5]], [0, 1])
