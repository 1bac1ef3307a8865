"""Do axes hold what is drawn on them, with ticks that a person would choose?"""

from __future__ import annotations

import random

import pytest

from litebert.lab import axes

TICKS = {
    "loss": ([4.69, 10.3], {}, (4, 5, 6, 7, 8, 9, 10, 11)),
    "accuracy from zero": ([12.0, 27.5], {"zero": True}, (0, 5, 10, 15, 20, 25, 30)),
    "steps, ending where they end": ([1, 4200], {"zero": True, "tight": True}, (0, 1000, 2000, 3000, 4000)),
    "one value": ([7.0], {}, None),
    "powers of ten": ([0.002, 3000.0], {"log": True}, (0.01, 0.1, 1, 10, 100, 1000)),
    "halves of powers": ([0.9, 60.0], {"log": True}, (1, 2, 5, 10, 20, 50)),
    "a narrow stretch of a logarithmic axis": ([1.0, 4.0], {"log": True}, (1, 2, 3, 4)),
}


@pytest.mark.parametrize("name", TICKS)
def test_ticks_are_round_and_the_values_lie_between_them(name: str) -> None:
    values, how, expected = TICKS[name]
    made = axes.axis(values, **how)
    assert expected is None or made.ticks == pytest.approx(expected)
    assert made.low <= min(values) <= max(values) <= made.high
    assert all(0 <= made.place(value) <= 1 for value in values)
    assert (made.place(made.low), made.place(made.high)) == (0, pytest.approx(1))


def test_any_values_have_an_axis() -> None:
    draw = random.Random(0)
    for _ in range(500):
        scale = 10 ** draw.uniform(-9, 9)
        values = [scale * draw.uniform(-1, 1) for _ in range(draw.randrange(1, 5))]
        made = axes.axis(values)
        assert made.low <= min(values) <= max(values) <= made.high
        assert 2 <= len(made.ticks) <= 9
        logarithmic = axes.axis([abs(value) for value in values], log=True)
        assert logarithmic.low <= min(map(abs, values))
        assert logarithmic.high >= max(map(abs, values))
        assert len(logarithmic.ticks) < 20


@pytest.mark.parametrize("values", [[], [0.0], [0.0, 0.0], [-3.0, -3.0]])
def test_nothing_and_nought_have_an_axis(values: list[float]) -> None:
    made = axes.axis(values)
    assert made.low < made.high
    assert axes.axis(values, log=True).low > 0


def test_on_a_logarithmic_axis_equal_ratios_are_equal_distances() -> None:
    made = axes.axis([1.0, 1000.0], log=True)
    assert made.place(10) - made.place(1) == pytest.approx(made.place(1000) - made.place(100))
    assert made.place(0.0) == 0


def test_a_long_series_is_thinned_to_means_that_know_their_extremes() -> None:
    x = [float(i) for i in range(1000)]
    y = [1.0 if i % 10 else 11.0 for i in range(1000)]
    thin = axes.binned(x, y, 50)
    assert len(thin.x) == 50
    assert thin.mean == pytest.approx([2.0] * 50)
    assert (set(thin.low), set(thin.high)) == ({1.0}, {11.0})
    assert thin.x[0] == pytest.approx(9.5)
    assert thin.x == sorted(thin.x)


def test_a_thinned_series_has_the_mean_of_the_whole() -> None:
    draw = random.Random(1)
    x = sorted(draw.uniform(0, 7) for _ in range(777))
    y = [draw.gauss(0, 1) for _ in x]
    width = (x[-1] - x[0]) / 20
    thin = axes.binned(x, y, 20)
    counts = [0] * 20
    for here in x:
        counts[min(19, int((here - x[0]) / width))] += 1
    assert sum(m * n for m, n in zip(thin.mean, counts, strict=True)) / 777 == pytest.approx(sum(y) / 777)


def test_a_short_series_stays_as_it_is() -> None:
    assert axes.binned([1, 2, 2], [5, 6, 7], 3) == ([1, 2, 2], [5, 6, 7], [5, 6, 7], [5, 6, 7])


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.25, "0.25"), (0.00176, "0.00176"), (4e-5, "4e-5"), (-1.5e-5, "-1.5e-5"), (1234, "1234"),
     (12345, "12.3k"), (2.5e6, "2.5M"), (1e7, "10M"), (3e9, "3G"), (7.0, "7")],
)  # fmt: skip
def test_labels_are_short(value: float, text: str) -> None:
    assert axes.plain(value) == text


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((0.0, 2e-4), ["0", "0.5e-4", "1e-4", "1.5e-4", "2e-4"]),
        ((0.0, 5e-5), ["0", "1e-5", "2e-5", "3e-5", "4e-5", "5e-5"]),
        ((0.0, 2e-3), ["0", "0.0005", "0.001", "0.0015", "0.002"]),
        ((-3e-5, 3e-5), ["-3e-5", "-2e-5", "-1e-5", "0", "1e-5", "2e-5", "3e-5"]),
        ((0.0, 15000.0), ["0", "2500", "5000", "7500", "10k", "12.5k", "15k"]),
    ],
)
def test_labels_of_an_axis_share_their_power_of_ten(values: tuple[float, float], texts: list[str]) -> None:
    assert axes.labels(axes.axis(values)) == texts


def test_labels_of_powers_of_ten_are_their_own() -> None:
    assert axes.labels(axes.axis((1e-6, 1e-3), log=True)) == ["1e-6", "1e-5", "0.0001", "0.001"]
