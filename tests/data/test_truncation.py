"""Do two segments lose the same tokens, in the same distribution, as if they lost one after the other?"""

import random
from collections import Counter

import numpy as np
import pytest

from data import originals
from litebert.data.truncation import heads, losses, truncated

DRAWS = 100_000


def chi_square(one: Counter[tuple[int, int]], two: Counter[tuple[int, int]]) -> float:
    """How far two samples of the same size differ, in standard deviations of what equal ones do."""
    kinds = [kind for kind in one | two if one[kind] + two[kind] >= 20]
    distance = sum((one[kind] - two[kind]) ** 2 / (one[kind] + two[kind]) for kind in kinds)
    freedom = len(kinds) - 1
    return (distance - freedom) / np.sqrt(2 * freedom)


def test_who_loses_how_much_follows_the_rule_for_all_small_lengths() -> None:
    sizes = [(a, b, room) for a in range(1, 14) for b in range(1, 14) for room in range(2, 16)]
    toss = random.Random(0)
    for a, b, room in sizes:
        one, two = losses(np.array([a]), np.array([b]), room)
        front, back, other_front, other_back = originals.dropped(a, b, room, toss)
        assert (one[0], two[0]) == (front + back, other_front + other_back), (a, b, room)
        assert a - one[0] >= 1
        assert b - two[0] >= 1


@pytest.mark.parametrize(("a", "b", "room"), [(20, 6, 14), (7, 9, 6), (3, 12, 12), (9, 9, 9)])
def test_what_is_lost_in_front_is_distributed_as_token_by_token(a: int, b: int, room: int) -> None:
    toss = random.Random(1)
    slowly = Counter(originals.dropped(a, b, room, toss)[::2] for _ in range(DRAWS))
    sizes = (np.full(DRAWS, size) for size in (a, b))
    one, two = truncated(*sizes, room, np.arange(DRAWS), seed=3, epoch=2)
    assert set((one.length + two.length).tolist()) == {room}
    at_once = Counter(zip(one.skipped.tolist(), two.skipped.tolist(), strict=True))
    assert abs(chi_square(slowly, at_once)) < 5


def test_a_coin_falls_on_either_side_alike_however_often_it_is_tossed() -> None:
    for tosses in (1, 3, 63, 64, 65, 200, 1024):
        counted = heads(np.full(40_000, tosses), np.arange(40_000), 1, "coin", 0)
        assert abs(counted.mean() - tosses / 2) < 4 * np.sqrt(tosses / 4 / 40_000)
        assert abs(counted.var() / (tosses / 4) - 1) < 0.04
        assert counted.min() >= 0
        assert counted.max() <= tosses
    assert set(heads(np.full(99, 1), np.arange(99), 1, "coin", 0).tolist()) == {0, 1}
    many = heads(np.full(200, 5_000), np.arange(200), 1, "coin", 0)
    assert abs(many.mean() - 2500) < 4 * np.sqrt(1250 / 200)
    assert 0.7 < many.var() / 1250 < 1.4


def test_a_row_tosses_its_own_coin_whatever_is_tossed_beside_it() -> None:
    tosses, examples = np.array([3, 0, 100, 2_000_000, 64, 1025, 7]), np.array([9, 1, 9, 4, 2**40, 5, 3])
    together = heads(tosses, examples, 1, "coin", 5)
    alone = [heads(tosses[i : i + 1], examples[i : i + 1], 1, "coin", 5)[0] for i in range(len(tosses))]
    assert together.tolist() == alone
    assert together[1] == 0
    assert abs(together[3] - 1_000_000) < 5 * 708
    assert together.tolist() != heads(tosses, examples, 1, "coin", 6).tolist()


def test_what_fits_is_left_alone() -> None:
    one, two = truncated(np.array([3, 1]), np.array([4, 1]), 7, np.arange(2), 1, 0)
    assert (one.skipped.tolist(), one.length.tolist()) == ([0, 0], [3, 1])
    assert (two.skipped.tolist(), two.length.tolist()) == ([0, 0], [4, 1])
