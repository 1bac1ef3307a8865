"""Which rows go together? Rows of like length, so that hardly any padding is paid for; and they go to the device fast.

An epoch's order is a keyed permutation. It is cut into steps of `batch` items, all of one size give or take one; the
items of some steps at a time are sorted by width first, and those steps are shuffled. So the items of a step are a
function of (seed, epoch, index), and finding them costs the work of one such window. Shapes: I items, R rows, T tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from litebert import rng
from litebert.data import order
from litebert.data.stream import Position
from litebert.errors import UserError
from litebert.tasks.task import Fed, Item, Task
from litebert.train.loop import Portion

Numbers = NDArray[np.int64]  # of items

WINDOW = 128  # steps that are sorted together
BUDGET = 4096  # tokens of a batch of predictions, padding included
_SPREAD = 16  # of a batch of predictions no row is more than a sixteenth shorter than the longest


class Table:
    """All items as arrays, so that a batch is cut out of them without a loop over its rows."""

    def __init__(
        self, items: Sequence[Item], pad: int, *, segments: bool = True, left: bool = False,
        device: torch.device = torch.device("cpu"),
    ) -> None:  # fmt: skip
        """left: padding stands in front, for a head that reads the last place."""
        if not items:
            raise UserError("there is no example to work on: give at least one")
        self.items, self._pad, self.left, self.device = items, pad, left, device
        rows = [row for item in items for row in item.rows]
        self._lengths = np.fromiter((len(row.ids) for row in rows), np.int64, len(rows))  # [R]
        self._starts = np.cumsum(self._lengths) - self._lengths  # [R]
        self._ids = np.concatenate([np.asarray(row.ids, np.int32) for row in rows])
        self._segments = np.concatenate([np.asarray(row.segments, np.int32) for row in rows]) if segments else None
        self.rows = np.fromiter((len(item.rows) for item in items), np.int64, len(items))  # [I]
        self._firsts = np.cumsum(self.rows) - self.rows  # [I]
        self.widths: Numbers = np.maximum.reduceat(self._lengths, self._firsts)  # [I]
        self.tokens: Numbers = np.add.reduceat(self._lengths, self._firsts)  # [I] real ones

    def fed(self, numbers: Numbers, task: Task) -> Fed:
        """These items as a micro-batch on the device."""
        counts = self.rows[numbers]
        before = np.cumsum(counts) - counts
        rows = np.repeat(self._firsts[numbers] - before, counts) + np.arange(counts.sum())  # [R]
        lengths = self._lengths[rows][:, None]
        width = int(lengths.max())
        places = np.arange(width) - (width - lengths if self.left else 0)  # [R or 1, T] in the row
        real = (places >= 0) & (places < lengths)  # [R, T]
        index = np.where(real, self._starts[rows][:, None] + places, 0)
        ids = np.where(real, self._ids[index], self._pad)
        segments = None if self._segments is None else np.where(real, self._segments[index], 0)
        targets = task.targets([self.items[number] for number in numbers], width)
        return Fed(
            ids=self._sent(ids), mask=None if real.all() else self._sent(real),
            segments=None if segments is None else self._sent(segments), rows=tuple(counts.tolist()),
            targets={name: one.to(self.device, non_blocking=True) for name, one in targets.items()},
            items=tuple(numbers.tolist()),
        )  # fmt: skip

    def _sent(self, array: NDArray[Any]) -> Tensor:
        made = torch.from_numpy(array)
        return made if self.device.type == "cpu" else made.pin_memory().to(self.device, non_blocking=True)


class Steps:
    """The steps of training, without end: each epoch holds every item once."""

    def __init__(self, widths: Numbers, batch: int, seed: int, window: int = WINDOW) -> None:
        self.count = -(-len(widths) // batch)  # steps of an epoch
        self._widths, self._seed, self._window = widths, seed, window
        self._at, self._cut = (-1, -1), list[Numbers]()

    def items(self, place: Position) -> Numbers:
        """The numbers of a step's items, from narrow to wide."""
        window, number = divmod(place.index, self._window)
        if self._at != (place.epoch, window):
            self._at, self._cut = (place.epoch, window), self._cut_window(place.epoch, window)
        return self._cut[number]

    def following(self, place: Position) -> Position:
        """The place of the next step."""
        return Position(*divmod(place.epoch * self.count + place.index + 1, self.count))

    def _cut_window(self, epoch: int, window: int) -> list[Numbers]:
        first = window * self._window
        last, total = min(first + self._window, self.count), len(self._widths)
        borders = np.arange(first, last + 1) * total // self.count  # steps of one size, give or take one
        numbers = order.permute(np.arange(borders[0], borders[-1]), total, self._seed, epoch)
        numbers = numbers[np.argsort(self._widths[numbers], kind="stable")]
        steps = np.split(numbers, borders[1:-1] - borders[0])
        key = rng.key(self._seed, "steps", epoch)
        return [steps[number] for number in order.permute(np.arange(len(steps)), len(steps), key, window)]


def portions(table: Table, steps: Steps, task: Task, micro: int, place: Position) -> Iterator[Portion]:
    """The steps from a place on, each in micro-batches of at most `micro` tokens, padding included (0 = in one)."""
    while True:
        numbers, following = steps.items(place), steps.following(place)
        micros = [table.fed(part, task) for part in parts(table, numbers[::-1], micro)]
        name = f"items {', '.join(map(str, numbers[:8].tolist()))}{' …' if len(numbers) > 8 else ''}"
        yield Portion(micros, int(table.tokens[numbers].sum()), tuple(following), name)
        place = following


def parts(table: Table, numbers: Numbers, most: int, spread: int = 0) -> list[Numbers]:
    """Items that stand from wide to narrow, in batches of at most `most` tokens, padding included (0 = no limit).

    An item that has more on its own is a batch of its own. spread: a batch ends before a row that is shorter than its
    longest by more than one in so many tokens (0 = it does not).
    """
    shrinking, ends = -table.widths[numbers], np.cumsum(table.rows[numbers])
    cut, begin = [], 0
    while begin < len(numbers):
        width, before = -int(shrinking[begin]), int(ends[begin - 1]) if begin else 0
        end = len(numbers)
        if most:
            end = max(begin + 1, int(np.searchsorted(ends, before + most // width, side="right")))
        if spread:
            end = min(end, int(np.searchsorted(shrinking, width // spread - width, side="right")))
        cut.append(numbers[begin:end])
        begin = end
    return cut


def unordered(table: Table, budget: int = BUDGET) -> list[Numbers]:
    """All items in batches for prediction, longest first: what does not fit in memory fails at once.

    Whoever reads the answers puts them back by the items' numbers.
    """
    return parts(table, np.argsort(-table.widths, kind="stable"), budget, _SPREAD)


def padding(table: Table, batches: Sequence[Numbers]) -> float:
    """The share of padding in all tokens that these batches hold."""
    held = sum(int(table.rows[one].sum() * table.widths[one].max()) for one in batches)
    return 1.0 - sum(int(table.tokens[one].sum()) for one in batches) / held
