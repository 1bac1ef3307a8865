"""Is the rate what the originals compute at every step, and does a time budget end when it says?"""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litebert.config import ConfigError
from litebert.optim.schedule import Progress, Schedule, Stopwatch, lamb_rule

ALBERT = Schedule(kind="google", peak=0.00176, warmup=3125, total=125_000)
KINDS = ("google", "electra", "linear", "polynomial", "xlnet", "cosine", "constant")
CONTINUOUS = ("electra", "linear", "polynomial", "xlnet", "cosine", "constant")


@pytest.mark.parametrize(("step", "rate"), [
    (0, 0.0), (1, 5.632e-7), (3124, 0.0017594368), (3125, 0.001716), (62_500, 0.00088), (125_000, 0.0),
    (130_000, 0.0),
])  # fmt: skip
def test_alberts_schedule_with_its_drop(step: int, rate: float) -> None:
    assert ALBERT.value(step) == pytest.approx(rate, abs=1e-16, rel=1e-12)


def test_bert_drops_where_its_warm_up_ends_too() -> None:
    bert = Schedule(kind="google", peak=1e-4, warmup=10_000, total=1_000_000)
    assert bert.value(9_999) == pytest.approx(0.9999e-4)
    assert bert.value(10_000) == pytest.approx(0.99e-4)


def test_electra_multiplies_the_two() -> None:
    electra = Schedule(kind="electra", peak=5e-4, warmup=10_000, total=1_000_000)
    for step, share in ((0, 0.0), (5_000, 0.5 * 0.995), (10_000, 0.99), (500_000, 0.5), (1_000_000, 0.0)):
        assert electra.value(step) == pytest.approx(5e-4 * share, abs=1e-16)


def test_xlnet_ends_at_a_thousandth() -> None:
    xlnet = Schedule(kind="xlnet", peak=4e-4, warmup=40_000, total=500_000)
    for step, share in ((20_000, 0.5), (40_000, 1.0), (270_000, 0.5005), (500_000, 0.001), (600_000, 0.001)):
        assert xlnet.value(step) == pytest.approx(4e-4 * share, rel=1e-12)
    assert xlnet.but(end=0.0).value(500_000) == 0.0


@pytest.mark.parametrize(("more", "points"), [
    ({"kind": "linear"}, {0: 0, 5: 0.5, 10: 1, 55: 0.5, 100: 0, 200: 0}),
    ({"kind": "linear", "end": 0.1}, {10: 1, 55: 0.55, 100: 0.1, 200: 0.1}),
    ({"kind": "polynomial", "power": 2.0}, {10: 1, 55: 0.25, 100: 0}),
    ({"kind": "polynomial", "power": 0.5}, {10: 1, 32.5: math.sqrt(0.75), 100: 0}),
    ({"kind": "google", "power": 2.0}, {5: 0.5, 10: 0.81, 50: 0.25}),
    ({"kind": "electra", "power": 2.0}, {5: 0.5 * 0.95**2, 50: 0.25}),
    ({"kind": "cosine"}, {5: 0.5, 10: 1, 32.5: 0.5 + 0.5 * math.sqrt(0.5), 55: 0.5, 100: 0, 101: 0}),
    ({"kind": "cosine", "end": 0.2}, {55: 0.6, 100: 0.2}),
    ({"kind": "constant"}, {5: 0.5, 10: 1, 100: 1, 1000: 1}),
])  # fmt: skip
def test_every_kind_at_points_one_can_do_in_the_head(more: dict, points: dict[float, float]) -> None:
    schedule = Schedule(peak=2.0, warmup=0.1, total=100.0, **more)
    for done, share in points.items():
        assert schedule.value(done) == pytest.approx(2.0 * share, abs=1e-12)


def test_a_constant_rate_needs_no_end() -> None:
    forever = Schedule(kind="constant", peak=1e-3, warmup=100)
    assert (forever.value(50), forever.value(10**9)) == (5e-4, 1e-3)
    assert forever.share(Progress(steps=10)) == 0.0
    assert Schedule(kind="constant", peak=1e-3).value(0) == 1e-3


@pytest.mark.parametrize("kind", CONTINUOUS)
@given(warmup=st.floats(0.01, 0.9), done=st.floats(0, 1200))
def test_all_but_googles_are_continuous(kind: str, warmup: float, done: float) -> None:
    schedule = Schedule(kind=kind, peak=1.0, warmup=warmup, total=1000.0)
    assert abs(schedule.value(done + 1e-7) - schedule.value(done)) < 1e-6
    edge = schedule.warm
    assert abs(schedule.value(edge * (1 + 1e-12)) - schedule.value(edge * (1 - 1e-12))) < 1e-9


@pytest.mark.parametrize("kind", KINDS)
@given(budget=st.floats(60, 1e5), warmup=st.floats(0.0, 0.9), shares=st.lists(st.floats(0, 1.5), min_size=2))
def test_a_time_budget_never_exceeds_the_peak_and_only_falls_after_the_warm_up(
    kind: str, budget: float, warmup: float, shares: list[float]
) -> None:
    schedule = Schedule(kind=kind, peak=1e-3, warmup=warmup, total=budget, unit="seconds")
    seconds = [share * budget for share in sorted(shares)]
    rates = [schedule.at(Progress(steps=7, tokens=9, seconds=second)) for second in seconds]
    assert all(0.0 <= rate <= 1e-3 * (1 + 1e-12) for rate in rates)
    falling = [rate for second, rate in zip(seconds, rates, strict=True) if second >= schedule.warm]
    rising = [rate for second, rate in zip(seconds, rates, strict=True) if second < schedule.warm]
    assert all(later <= earlier + 1e-15 for earlier, later in pairwise(falling))
    # within electra's warm-up the product may already fall
    assert kind == "electra" or all(later >= earlier for earlier, later in pairwise(rising))


@pytest.mark.parametrize("kind", ["google", "electra", "linear", "polynomial", "cosine"])
def test_fifty_five_minutes_are_over_at_minute_fifty_five(kind: str) -> None:
    schedule = Schedule(kind=kind, peak=1e-3, warmup=0.05, total=55 * 60, unit="seconds")
    assert schedule.value(54.9 * 60) > 0.0
    assert [schedule.value(60.0 * minute) for minute in (55, 56, 600)] == [0.0, 0.0, 0.0]
    shares = [schedule.share(Progress(seconds=60.0 * minute)) for minute in (0, 27.5, 55, 60)]
    assert shares == [0.0, 0.5, 1.0, 1.0]


def test_progress_is_counted_in_the_schedules_unit() -> None:
    progress = Progress(steps=10, tokens=20, seconds=40.0)
    for unit, rate in (("steps", 0.9), ("tokens", 0.8), ("seconds", 0.6)):
        assert Schedule(peak=1.0, total=100, unit=unit).at(progress) == pytest.approx(rate)


def test_a_stopwatch_counts_only_while_it_runs() -> None:
    times = iter([100.0, 103.0, 103.5, 90.0, 91.0])
    watch = Stopwatch(lambda: next(times))
    assert [watch.read(), watch.read()] == [3.0, 3.5]
    assert [watch.read(), watch.read()] == [3.5, 4.5]  # the clock was set back, and went on from there
    later = Stopwatch(iter([5000.0, 5002.0]).__next__, trained=4.5)  # nobody trained in between
    assert later.read() == 6.5


def test_the_rule_of_lambs_authors_gives_alberts_flags() -> None:
    assert lamb_rule(4096) == Schedule(kind="google", peak=5e-3 * math.sqrt(1 / 8), warmup=3125, total=125_000)
    assert lamb_rule(4096).peak == pytest.approx(0.0017678, abs=5e-8)
    assert lamb_rule(4096).warm / lamb_rule(4096).total == 1 / 40
    with pytest.raises(ConfigError, match="batch 0 is too small"):
        lamb_rule(0)


@pytest.mark.parametrize(("values", "message"), [
    ({"peak": 0.0}, "peak 0.0 is not a positive number"),
    ({"peak": math.nan}, "peak nan is not a positive number"),
    ({"power": -1.0, "kind": "google"}, "power -1.0 is not a positive number"),
    ({"warmup": -1}, "warmup -1.0 is not a number of steps"),
    ({"total": math.inf}, "total inf is not a number of steps"),
    ({"total": 0}, "total 0 with kind 'linear': a decay needs an end"),
    ({"warmup": 200}, "warmup 200 does not end before total 100 steps"),
    ({"warmup": 100, "unit": "seconds"}, "warmup 100 does not end before total 100 seconds"),
    ({"end": 2.0}, "end 2.0 is not a share of the peak"),
    ({"power": 2.0, "kind": "cosine"}, "power 2.0 has no effect with kind 'cosine'"),
    ({"power": 2.0}, "power 2.0 has no effect with kind 'linear'"),
    ({"end": 0.1, "kind": "constant"}, "end 0.1 has no effect with kind 'constant'"),
    ({"kind": "constant", "total": 0, "warmup": 0.1}, "warmup 0.1 is a share of a total that is 0"),
    ({"kind": "linaer"}, "kind 'linaer': input should be 'google'"),
    ({"warm_up": 1}, "unknown schedule field 'warm_up': did you mean 'warmup'?"),
    ({"peak": "0.1"}, "peak '0.1': input should be a valid number"),
])  # fmt: skip
def test_a_schedule_that_makes_no_sense_says_why(values: dict, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Schedule(**{"total": 100, **values})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
