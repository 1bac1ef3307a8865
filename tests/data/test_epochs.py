"""Is each plan made once, by whoever comes first, the next one in time, and not again while it is kept?"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from data.texts import shards
from litebert.data import order, packing
from litebert.data.epochs import BLOCK, NAME, Epoch, Epochs
from litebert.data.packing import Plan
from litebert.data.recipe import Recipe

TEXT = shards(400)
PLAN: Callable[[int], Plan] = partial(packing.plan, TEXT, Recipe(length=16), 3)


class Counted:
    """A way to make plans that keeps book, and takes its time."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.made: list[int] = []
        self.threads: set[str] = set()
        self.seconds = seconds

    def __call__(self, epoch: int) -> Plan:
        self.made.append(epoch)
        self.threads.add(threading.current_thread().name)
        time.sleep(self.seconds)
        return PLAN(epoch)


def test_a_plan_is_made_once_and_few_are_kept() -> None:
    make = Counted()
    epochs = Epochs(make, 3)
    for epoch in (0, 0, 1, 0, 1, 2, 1, 2):
        assert epochs.get(epoch).number == epoch
    assert make.made == [0, 1, 2]
    epochs.get(3)
    epochs.get(0)
    assert make.made == [0, 1, 2, 3, 0], "the oldest of three is let go"


def test_what_was_prepared_is_not_made_again_and_is_waited_for() -> None:
    make = Counted(seconds=0.05)
    epochs = Epochs(make, 3)
    epochs.prepare(1)
    epochs.prepare(1)
    assert epochs.get(1).number == 1
    assert (make.made, make.threads) == ([1], {NAME})


def test_many_who_ask_at_once_get_one_plan() -> None:
    make = Counted(seconds=0.05)
    epochs, found = Epochs(make, 3), []
    threads = [threading.Thread(target=lambda: found.append(epochs.get(0))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert make.made == [0]
    assert len({id(one) for one in found}) == 1


def test_a_preparing_thread_is_waited_for() -> None:
    epochs = Epochs(Counted(seconds=0.05), 3)
    epochs.prepare(0)
    assert NAME in [thread.name for thread in threading.enumerate()]
    epochs.join()
    assert NAME not in [thread.name for thread in threading.enumerate()]


def test_what_fails_fails_for_everyone_who_asks_and_may_succeed_later() -> None:
    down = [True]

    def make(epoch: int) -> Plan:
        if down[0]:
            raise OSError("the disk is gone")
        return PLAN(epoch)

    epochs = Epochs(make, 3)
    epochs.prepare(0)
    epochs.join()
    for _ in range(2):
        with pytest.raises(OSError, match="the disk is gone"):
            epochs.get(0)
    down[0] = False
    assert epochs.get(0).number == 0


def test_any_stretch_of_the_order_is_that_of_the_permutation() -> None:
    plan = packing.plan(shards(4000, most=4), Recipe(length=8), 3, 1)
    epoch = Epoch(1, plan, 3)
    assert epoch.count > 2 * BLOCK
    whole = order.permute(np.arange(epoch.count), epoch.count, 3, 1)
    for start, stop in ((0, 5), (5, 9), (BLOCK - 3, BLOCK + 3), (2, 2 * BLOCK), (epoch.count - 1, epoch.count), (7, 8)):
        assert np.array_equal(epoch.order(start, stop), whole[start:stop])
    assert np.array_equal(epoch.lengths, packing.lengths(plan))
