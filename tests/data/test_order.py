"""Is an epoch's order a permutation, of any size, without a pattern, another one for every epoch and seed?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litebert.data import order
from litebert.errors import UserError


def whole(count: int, seed: int = 0, epoch: int = 0) -> np.ndarray:
    return order.permute(np.arange(count), count, seed, epoch)


@pytest.mark.parametrize("seed", [0, 1, 2**63])
def test_every_small_count_is_permuted(seed: int) -> None:
    for count in [*range(1, 130), 255, 256, 257, 1023, 1024, 1025]:
        assert np.array_equal(np.sort(whole(count, seed, count % 3)), np.arange(count)), count


@given(st.integers(1, 2**62), st.integers(0, 2**63), st.integers(0, 10**6), st.data())
def test_the_inverse_undoes_any_count(count: int, seed: int, epoch: int, data: st.DataObject) -> None:
    places = np.array(data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=8)), dtype=np.int64)
    examples = order.permute(places, count, seed, epoch)
    assert examples.dtype == np.int64
    assert examples.min() >= 0
    assert examples.max() < count
    assert np.array_equal(order.inverse(examples, count, seed, epoch), places)


def test_a_place_is_computed_alone() -> None:
    """Any subset, in any order and shape, is the same slice of the whole order."""
    everything = whole(1000, 3, 4)
    some = np.array([[999, 0, 17], [500, 17, 3]])
    assert np.array_equal(order.permute(some, 1000, 3, 4), everything[some])
    assert order.permute(np.zeros(0, dtype=np.int64), 1000, 3, 4).shape == (0,)


def test_what_was_given_is_not_changed() -> None:
    places = np.arange(50)
    order.permute(places, 50, 0, 0)
    assert np.array_equal(places, np.arange(50))


def test_the_order_is_pinned() -> None:
    """The order belongs to every run that was started with it: changing it would change what a resumed run reads."""
    assert whole(10).tolist() == [9, 4, 5, 6, 2, 8, 0, 1, 3, 7]
    assert order.permute(np.array([0, 10**9, 10**12]), 10**12 + 39, 7, 3).tolist() == [
        561318137570,
        26526022139,
        659995910330,
    ]


@pytest.mark.parametrize("count,places", [(2, 2), (3, 3), (7, 7), (30, 30), (1000, 20)])
def test_over_seeds_every_place_holds_every_example_equally_often(count: int, places: int) -> None:
    """Chi-squared by place, over 3,000 seeds: examples in at most 20 cells."""
    cells = min(count, 20)
    seen = np.array([order.permute(np.arange(places), count, seed, 0) for seed in range(3000)]) * cells // count
    expected = 3000 * np.bincount(np.arange(count) * cells // count, minlength=cells) / count
    statistic = [((np.bincount(seen[:, i], minlength=cells) - expected) ** 2 / expected).sum() for i in range(places)]
    free = cells - 1
    assert max(statistic) < free + 5 * math.sqrt(2 * free) + 8  # p < 1e-5 a place
    assert abs(np.mean(statistic) - free) < 4 * math.sqrt(2 * free / places) + 0.5


def test_over_seeds_every_arrangement_of_four_is_as_likely() -> None:
    arrangements: dict[tuple[int, ...], int] = {}
    for seed in range(6000):
        arrangement = tuple(whole(4, seed).tolist())
        arrangements[arrangement] = arrangements.get(arrangement, 0) + 1
    assert len(arrangements) == 24
    assert sum((n - 250) ** 2 / 250 for n in arrangements.values()) < 60  # 23 degrees: p = 4e-5


@pytest.mark.parametrize("count", [1000, 4096, 99_991])
def test_neighbours_are_not_correlated(count: int) -> None:
    """Neither a place with its example, nor examples at distance 1, 2 or the size of the network's half."""
    values = whole(count, 5, 2).astype(float)
    limit = 4.5 / math.sqrt(count)
    assert abs(np.corrcoef(values, np.arange(count))[0, 1]) < limit
    for distance in (1, 2, math.isqrt(count - 1) + 1):
        assert abs(np.corrcoef(values[:-distance], values[distance:])[0, 1]) < limit
    following = np.mean(np.diff(values) == 1)
    assert following < 10 / count, "examples that follow one another stay together"


def test_another_epoch_seed_or_count_is_another_order() -> None:
    """Two orders agree in one place on average, whatever the count."""
    first = whole(1000, 1, 1)
    for other in (whole(1000, 1, 2), whole(1000, 2, 1), whole(1001, 1, 1)[:1000]):
        assert (first == other).sum() < 8
        assert abs(np.corrcoef(first, other)[0, 1]) < 0.15


@pytest.mark.parametrize("places,count,message", [
    ([10], 10, "place 10 is outside an epoch of 10: choose 0 to 9"),
    ([-1, 3], 10, "place -1 is outside an epoch of 10: choose 0 to 9"),
    ([0], 0, "0 examples cannot be put in order: choose 1 to 2^62"),
    ([0], 2**62 + 1, "4611686018427387905 examples cannot be put in order: choose 1 to 2^62"),
])  # fmt: skip
def test_what_cannot_be_ordered_is_refused(places: list[int], count: int, message: str) -> None:
    with pytest.raises(UserError) as refusal:
        order.permute(np.array(places), count, 0, 0)
    assert str(refusal.value) == message
