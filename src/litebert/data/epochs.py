"""Where does an epoch's plan come from when it is needed? Made once, and the next one's beforehand by a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future

import numpy as np
from numpy.typing import NDArray

from litebert.data import order, packing
from litebert.data.packing import Plan

KEPT = 3  # plans: of the epoch before, this one and the next
BLOCK = 4096  # places that are permuted at once: for a few it would cost more to call NumPy than to compute
NAME = "litebert-plan"


class Epoch:
    """All that an epoch's batches are made from: its plan, and the order in which its examples are read."""

    def __init__(self, number: int, plan: Plan, seed: int) -> None:
        self.number, self.plan, self.count = number, plan, plan.count
        self.lengths: NDArray[np.int32] = packing.lengths(plan)  # [count] tokens of each example's row
        self._seed = seed
        self._block: tuple[int, NDArray[np.int64]] = (-1, np.zeros(0, dtype=np.int64))  # where it begins, and it

    def order(self, start: int, stop: int) -> NDArray[np.int64]:
        """The examples at the places start..stop-1 of the order."""
        begin, block = self._block  # read once: another thread may replace it
        if not begin <= start < stop <= begin + len(block):
            begin = start
            places = np.arange(start, min(self.count, max(stop, start + BLOCK)))
            block = order.permute(places, self.count, self._seed, self.number)
            self._block = (begin, block)
        return block[start - begin : stop - begin]


class Epochs:
    """The plans of the epochs about the one that is being read."""

    def __init__(self, make: Callable[[int], Plan], seed: int) -> None:
        self._make, self._seed = make, seed
        self._made: dict[int, Future[Epoch]] = {}
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def get(self, number: int) -> Epoch:
        """An epoch's plan; whoever asks first makes it, others wait."""
        made, mine = self._claim(number)
        if mine:
            self._fill(number, made)
        return made.result()

    def prepare(self, number: int) -> None:
        """Have a plan made by a thread, if it is not there; what fails here fails again for whoever asks for it."""
        made, mine = self._claim(number)
        if mine:
            thread = threading.Thread(target=self._fill, args=(number, made), name=NAME, daemon=True)
            with self._lock:
                self._threads = [one for one in self._threads if one.is_alive()] + [thread]
            thread.start()

    def join(self) -> None:
        """Wait for the plans that are being made."""
        with self._lock:
            waiting, self._threads = self._threads, []
        for thread in waiting:
            thread.join()

    def _claim(self, number: int) -> tuple[Future[Epoch], bool]:
        with self._lock:
            if number in self._made:
                return self._made[number], False
            for old in list(self._made)[: 1 - KEPT]:
                del self._made[old]
            made = self._made[number] = Future[Epoch]()
            return made, True

    def _fill(self, number: int, made: Future[Epoch]) -> None:
        try:
            made.set_result(Epoch(number, self._make(number), self._seed))
        except BaseException as error:
            with self._lock:
                self._made.pop(number, None)  # the next one who asks tries again
            made.set_exception(error)
