"""Are rows of like length put together, every item once an epoch, wherever one begins to read?"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from litebert import rng
from litebert.data.stream import Position
from litebert.errors import UserError
from litebert.tasks import batches
from litebert.tasks.batches import Steps, Table
from litebert.tasks.task import Item, Row
from tasks.toy import Boats

PAD = 9


def item(number: int, *lengths: int) -> Item:
    """Rows of so many tokens; each id tells item, row and place."""
    firsts = [1000 * number + 100 * i for i in range(len(lengths))]
    rows = [Row(range(first, first + n), [i % 2] * n) for i, (first, n) in enumerate(zip(firsts, lengths, strict=True))]
    return Item(number, tuple(rows), number % 2)


def table(lengths: Sequence[int], **more: bool) -> Table:
    """One row an item."""
    return Table([item(i, n) for i, n in enumerate(lengths)], PAD, **more)


def natural(count: int, longest: int = 60) -> list[int]:
    """Lengths as sentences have them."""
    return (3 + rng.generator(0, "lengths").gamma(2.0, 8.0, count)).clip(max=longest).astype(int).tolist()


def walk(steps: Steps, place: Position, count: int) -> list[list[int]]:
    """The items of so many steps from a place on."""
    found = []
    for _ in range(count):
        found.append(steps.items(place).tolist())
        place = steps.following(place)
    return found


@pytest.mark.parametrize(("count", "batch", "window"), [(100, 8, 4), (33, 32, 64), (7, 32, 64), (1, 1, 1), (257, 2, 5)])
def test_an_epoch_holds_every_item_once_in_steps_of_like_size(count: int, batch: int, window: int) -> None:
    steps = Steps(np.array(natural(count)), batch, seed=3, window=window)
    for epoch in range(2):
        found = walk(steps, Position(epoch, 0), steps.count)
        assert sorted(itertools.chain(*found)) == list(range(count))
        sizes = {len(one) for one in found}
        assert max(sizes) <= batch
        assert max(sizes) - min(sizes) <= 1  # never a step of a single left-over
    assert steps.following(Position(0, steps.count - 1)) == (1, 0)


def test_epochs_and_seeds_differ_and_any_place_is_found_at_once() -> None:
    widths = np.array(natural(200))
    whole = walk(Steps(widths, 8, seed=0, window=4), Position(0, 0), 60)
    for begin in (0, 3, 4, 24, 25, 47):
        place = Position(*divmod(begin, 25))
        assert walk(Steps(widths, 8, seed=0, window=4), place, 60 - begin) == whole[begin:]
    assert whole[:25] != whole[25:50]
    assert walk(Steps(widths, 8, seed=1, window=4), Position(0, 0), 25) != whole[:25]


def test_rows_of_like_length_stand_together_and_short_ones_do_not_come_first() -> None:
    lengths = natural(20_000)
    made = table(lengths)
    steps = Steps(made.widths, 32, seed=0)
    found = [steps.items(Position(0, i)) for i in range(steps.count)]
    assert batches.padding(made, found) < 0.03
    widest = [int(made.widths[one].max()) for one in found]
    assert abs(np.corrcoef(np.arange(len(widest)), widest)[0, 1]) < 0.15
    shuffled = np.array_split(rng.generator(0, "any").permutation(len(lengths)), steps.count)
    assert batches.padding(made, shuffled) > 0.4  # what it would cost without


def test_batches_of_predictions_take_all_items_longest_first_within_the_budget() -> None:
    made = table(natural(3_000))
    found = batches.unordered(made, 512)
    assert sorted(itertools.chain(*(one.tolist() for one in found))) == list(range(3_000))
    widest = [int(made.widths[one].max()) for one in found]
    assert widest == sorted(widest, reverse=True)
    assert all(width * len(one) <= 512 for width, one in zip(widest, found, strict=True))
    assert all(made.widths[one].min() >= width - width // 16 for width, one in zip(widest, found, strict=True))
    assert batches.padding(made, found) < 0.03


def test_a_row_beyond_the_budget_goes_alone() -> None:
    made = table([5, 40, 40, 6])
    assert [one.tolist() for one in batches.unordered(made, 30)] == [[1], [2], [3], [0]]


def test_micro_batches_hold_the_whole_step_and_no_more_tokens_than_they_may() -> None:
    made = Table([item(0, 3, 7), item(1, 5, 5), item(2, 4, 1), item(3, 2, 2)], PAD)
    numbers = np.array([0, 1, 2, 3])
    assert [one.tolist() for one in batches.parts(made, numbers, 28)] == [[0, 1], [2, 3]]
    assert [one.tolist() for one in batches.parts(made, numbers, 27)] == [[0], [1, 2], [3]]
    assert [one.tolist() for one in batches.parts(made, numbers, 1)] == [[0], [1], [2], [3]]
    assert [one.tolist() for one in batches.parts(made, numbers, 0)] == [[0, 1, 2, 3]]


def test_a_micro_batch_is_what_its_rows_say() -> None:
    made = Table([item(0, 2), item(1, 3, 1), item(2, 3)], PAD)
    fed = made.fed(np.array([1, 0]), Boats())
    assert fed.ids.tolist() == [[1000, 1001, 1002], [1100, PAD, PAD], [0, 1, PAD]]
    assert fed.mask is not None
    assert fed.mask.tolist() == [[True, True, True], [True, False, False], [True, True, False]]
    assert fed.segments is not None
    assert fed.segments.tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert (fed.rows, fed.items) == ((2, 1), (1, 0))
    assert fed.targets["classes"].tolist() == [1, 0]
    assert made.fed(np.array([2]), Boats()).mask is None  # nothing is padded


def test_a_head_that_reads_the_last_place_is_padded_in_front() -> None:
    fed = Table([item(0, 2), item(1, 3)], PAD, segments=False, left=True).fed(np.array([0, 1]), Boats())
    assert fed.ids.tolist() == [[PAD, 0, 1], [1000, 1001, 1002]]
    assert fed.mask is not None
    assert fed.mask.tolist() == [[False, True, True], [True, True, True]]
    assert fed.segments is None


def test_a_micro_batch_is_the_same_as_by_single_rows() -> None:
    class Widths(Boats):
        def targets(self, items: Sequence[Item], width: int) -> Mapping[str, Tensor]:
            return {"width": torch.tensor([width] * len(items))}

    draw = rng.generator(1, "rows")
    items = [item(i, *draw.integers(1, 20, size=int(draw.integers(1, 4))).tolist()) for i in range(50)]
    made = Table(items, PAD)
    for part in np.array_split(draw.permutation(50), 7):
        fed, rows = made.fed(part, Widths()), [row for number in part for row in items[number].rows]
        width = max(len(row.ids) for row in rows)
        assert fed.ids.tolist() == [[*row.ids, *[PAD] * (width - len(row.ids))] for row in rows]
        assert fed.segments is not None
        assert fed.segments.tolist() == [[*row.segments, *[0] * (width - len(row.ids))] for row in rows]
        assert fed.targets["width"].tolist() == [width] * len(part)
        assert made.tokens[part].sum() == sum(len(row.ids) for row in rows)


def test_portions_tell_real_tokens_and_where_the_next_one_stands() -> None:
    made = table([4, 2, 3, 8, 1])
    steps = Steps(made.widths, 2, seed=0)
    found = list(itertools.islice(batches.portions(made, steps, Boats(), 8, Position(0, 0)), 4))
    assert [one.position for one in found] == [(0, 1), (0, 2), (1, 0), (1, 1)]
    assert sum(one.tokens for one in found[:3]) == 18
    for one in found[:3]:
        assert all(micro.ids.numel() <= 8 for micro in one.micros)
    again = next(batches.portions(made, Steps(made.widths, 2, seed=0), Boats(), 8, Position(0, 2)))
    assert [micro.items for micro in again.micros] == [micro.items for micro in found[2].micros]


def test_no_example_at_all_is_an_error() -> None:
    with pytest.raises(UserError, match="no example"):
        Table([], PAD)


def test_padding_of_real_sentences_is_hardly_paid_for(shared_data: Path) -> None:
    lengths = {}
    for split in ("train", "dev"):  # a word and its punctuation are a token or so
        lines = (shared_data / "glue" / "SST-2" / f"{split}.tsv").read_text().splitlines()[1:]
        lengths[split] = [len(line.split("\t")[0].split()) + 2 for line in lines]
    train, dev = table(lengths["train"]), table(lengths["dev"])
    steps = Steps(train.widths, 32, seed=0)
    assert batches.padding(train, [steps.items(Position(0, i)) for i in range(steps.count)]) < 0.03
    assert batches.padding(dev, batches.unordered(dev)) < 0.03
