"""What is far from the usual, and what did a clock slow down? Numbers made to be judged."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from litebert.train.usual import Pace, Sample, Slow, Smooth, Usual


def judged(numbers: list[float], usual: Usual) -> list[float]:
    """What each of them is said to be."""
    return [usual.add(number) for number in numbers]


def noise(count: int, spread: float = 0.2) -> list[float]:
    """Numbers around 3, log-normal."""
    return [3 * math.exp(x) for x in np.random.default_rng(0).normal(0, spread, count)]


def test_the_usual_is_the_geometric_mean_of_the_last() -> None:
    usual = Usual(history=50, patience=50)
    judged(noise(40), usual)
    assert usual.value == pytest.approx(math.exp(np.mean(np.log(noise(40)))), rel=1e-12)
    judged([300.0] * 500, usual)
    assert usual.value == pytest.approx(300.0, rel=0.01)


@pytest.mark.parametrize("number, far", [(70.0, True), (50.0, False), (0.13, True), (0.2, False)])
def test_far_out_is_twenty_times_either_way(number: float, far: bool) -> None:
    usual = Usual(history=50, patience=50)
    assert set(judged(noise(200), usual)) == {1.0}
    before = usual.value
    times = usual.add(number)
    assert times == pytest.approx(number / before) if far else times == 1.0
    assert usual.value == pytest.approx(before, rel=0.02)


def test_what_varies_much_is_far_out_later() -> None:
    wild = Usual(history=50, patience=50)
    judged(noise(400, spread=1.0), wild)
    assert wild.add(wild.value * 60) == 1.0
    assert wild.add(wild.value * 60_000) > 1.0


def test_what_never_varied_may_change_too() -> None:
    usual = Usual(history=50, patience=50)
    found = judged([1.0] * 100 + [100.0] * 400, usual)
    assert found[100] == pytest.approx(100.0)
    assert found[200:] == [1.0] * 300


def test_nothing_is_far_out_before_enough_is_known() -> None:
    usual = Usual(history=10, patience=10)
    assert judged([1.0, *[1e6] * 3, 1e-9, *[1.0] * 5], usual) == [1.0] * 10
    known = Usual(history=10, patience=10)
    judged([1.0] * 10, known)
    assert known.add(1e6) == pytest.approx(1e6)


def test_nothing_at_all_is_a_number_too() -> None:
    usual = Usual(history=10, patience=10)
    judged([1.0] * 10, usual)
    assert 0 < usual.add(0.0) < 1e-20
    assert math.isfinite(usual.value)


def test_the_notes_go_on_exactly() -> None:
    whole, numbers = Usual(50, 50), [*noise(90), 900.0, *noise(30)]
    expected = judged(numbers, whole)
    part, found = Usual(50, 50), []
    for number in numbers:
        part = Usual(50, 50, json.loads(json.dumps(part.notes())))
        found.append(part.add(number))
    assert found == expected
    assert part.notes() == whole.notes()


def test_a_smooth_mean_begins_as_the_mean() -> None:
    smooth = Smooth()
    for number in range(1, 20):
        smooth = smooth.with_one(number)
        assert smooth.mean == pytest.approx((number + 1) / 2)
        assert not smooth.settled
    assert smooth.with_one(20.0).settled


@pytest.mark.parametrize("mean, above", [(0.52, False), (0.56, True), (0.44, False)])
def test_a_mean_is_above_by_its_own_error(mean: float, above: bool) -> None:
    sample, spread = Sample(), 0.1
    for sign in (-1, 1) * 16:
        sample = sample.with_one(mean + sign * spread)
    assert sample.above(0.5, 2.33) is above  # an error of 0.1 / √32 = 0.018


def paced(rates: list[float], seconds: float = 1.0) -> list[tuple[int, Slow]]:
    """What a pace says of rates that come every so many seconds, and when."""
    pace, found = Pace(0.5), []
    for number, rate in enumerate(rates):
        said = pace.add(rate, number * seconds)
        found += [(number, said)] if said else []
    return found


def test_a_fall_is_told_once_with_its_medians() -> None:
    ((at, slow),) = paced([100.0] * 100 + [40.0] * 200)
    assert at in range(110, 145)
    assert (slow.pace, slow.usual) == (40.0, 100.0)
    assert slow.seconds >= 10


def test_two_falls_are_told_twice_and_a_slope_is_not() -> None:
    assert len(paced([100.0] * 100 + [40.0] * 100 + [100.0] * 100 + [40.0] * 100)) == 2
    assert paced([100.0 * 0.999**i for i in range(600)]) == []


def test_what_is_forgotten_is_no_measure() -> None:
    pace = Pace(0.5)
    said = []
    for number in range(300):
        if number == 150:
            pace.forget()
        said.append(pace.add(100.0 if number < 150 else 20.0, float(number)))
    assert not any(said)


@pytest.mark.parametrize("seconds", [0.001, 0.0])
def test_a_hiccup_of_milliseconds_is_none(seconds: float) -> None:
    assert paced([100.0] * 300 + [1.0] * 300, seconds) == []
