"""Is a batch a function of its position alone: for any number of ranks, after any stop, across any border?"""

from __future__ import annotations

import threading
import time
import traceback
from collections import Counter
from typing import Any

import numpy as np
import pytest

from data.streams import TEXT, WORDS, opened, walked
from data.texts import shards
from litebert.data import masking, modes, packing, stream
from litebert.data.recipe import Recipe, names
from litebert.data.rows import Batch
from litebert.data.stream import START, Position, Stream
from litebert.errors import UserError

BY = [pytest.param({"batch": 12}, id="rows"), pytest.param({"tokens": 1024, "share": 4}, id="tokens")]


@pytest.fixture(autouse=True)
def _small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few batches are made beforehand, not hundreds of these small ones."""
    monkeypatch.setattr(stream, "AT_ONCE", 4096)


def differing(one: Batch, other: Batch) -> list[str]:
    """The fields that are not the same to the byte."""
    found = []
    for name, a, b in zip(Batch._fields, one, other, strict=True):
        if isinstance(a, np.ndarray):
            a, b = ((part.shape, part.dtype, part.tobytes()) for part in (a, b))
        found += [] if a == b else [name]
    return found


@pytest.mark.parametrize("name,by", [
    *((name, {"batch": 24}) for name in names()),
    *((name, {"tokens": 1024, "share": 4}) for name in ("albert", "unilm", "xlnet", "spanbert")),
], ids=str)  # fmt: skip
def test_stopped_anywhere_and_begun_again_nothing_differs(name: str, by: dict[str, int]) -> None:
    """T15, T16: more than an epoch in one go, and the same from positions in between, across the border."""
    made = walked(opened(name, **by), 18)
    assert made[-1][1].epoch >= 1
    running = opened(name, **by).batches()
    for (batch, position), (other, place) in zip(made, running, strict=False):
        assert differing(batch, other) == []
        assert position == place
    running.close()
    for stop in (0, 5, 6, 7, 16):
        batch, position = next(opened(name, **by).batches(made[stop][1]))
        assert differing(batch, made[stop + 1][0]) == []
        assert position == made[stop + 1][1]


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("name", ["albert", "unilm", "xlnet", "spanbert", "roberta"])
@pytest.mark.parametrize("world", [2, 4])
def test_ranks_together_see_what_one_sees_alone(name: str, world: int, by: dict[str, int]) -> None:
    alone = walked(opened(name, **by), 18)
    assert alone[-1][1].epoch >= 1
    ranks = [walked(opened(name, rank=rank, world=world, **by), 18) for rank in range(world)]
    for number, (batch, position) in enumerate(alone):
        shares = [made[number] for made in ranks]
        assert {place for _, place in shares} == {position}
        assert len({len(share.ids) for share, _ in shares}) == 1
        for field in Batch._fields:
            parts = [getattr(share, field) for share, _ in shares]
            if isinstance(parts[0], np.ndarray):
                assert np.concatenate(parts).tobytes() == getattr(batch, field).tobytes(), field
            else:
                assert set(parts) == {getattr(batch, field)}, field


@pytest.mark.parametrize("by", BY)
def test_every_example_comes_once_an_epoch(by: dict[str, int]) -> None:
    found = opened(**by)
    plans = [packing.plan(TEXT, found.recipe, 5, epoch) for epoch in range(3)]
    read: list[int] = []
    for batch, position in found.batches():
        read += [int(example) for example in batch.examples if example >= 0]
        if position.epoch == 3:
            break
    for plan in plans:
        epoch, read = read[: plan.count], read[plan.count :]
        assert Counter(epoch) == Counter(plan.begins.tolist())
    assert len(read) < 12


@pytest.mark.parametrize("name", ["albert", "roberta-doc"])
def test_the_order_differs_between_epochs_and_is_not_the_corpus_order(name: str) -> None:
    """accelerate#2016, transformers#40691: the second epoch in the order of the first, though its text is the same."""
    found = opened(name, batch=8)
    epochs = [found.batch(Position(epoch, 0))[0].examples.tolist() for epoch in range(3)]
    assert len({tuple(examples) for examples in epochs}) == 3
    assert all(examples != sorted(examples) for examples in epochs)


def test_a_border_batch_is_full_and_each_row_keeps_its_epoch() -> None:
    found = opened(batch=12)
    count = found.count(0)
    batch, following = found.batch(Position(0, count - 5))
    assert following == Position(1, 7)
    last, first = found.batch(Position(0, count - 12))[0], found.batch(Position(1, 0))[0]
    width, slots = batch.ids.shape[1], batch.asked.shape[1]
    for field in ("ids", "mask", "segments"):
        assert np.array_equal(getattr(batch, field)[:5, :40], getattr(last, field)[7:, :40])
        assert np.array_equal(getattr(batch, field)[5:, :40], getattr(first, field)[:7, :40])
    assert (len(batch.ids), width, slots) == (12, 48, 7)


def test_an_epoch_that_ends_with_a_batch_is_followed_by_the_next() -> None:
    found = opened(batch=1)
    assert found.batch(Position(0, found.count(0) - 1))[1] == Position(1, 0)


def test_a_batch_larger_than_the_corpus_reads_several_epochs() -> None:
    small = shards(3)
    found = Stream(small, Recipe(length=48, short=0.0), WORDS, batch=64, seed=5)
    count = found.count(0)
    assert count < 16
    batch, following = found.batch()
    assert len(batch.ids) == 64
    assert following.epoch == 64 // count
    assert set(batch.examples.tolist()) == set(packing.plan(small, found.recipe, 5, 0).begins.tolist())


def test_masks_change_between_epochs_unless_copies_say_otherwise() -> None:
    """Items 37 and 38: dynamic masks are new every epoch; ten stored copies come again after ten epochs."""

    def hidden(name: str, epoch: int) -> dict[int, bytes]:
        found = opened(name, batch=4, pad_to=0)
        position, rows = Position(epoch, 0), {}
        while position.epoch == epoch:
            batch, position = found.batch(position)
            rows |= {int(example): row.tobytes() for example, row in zip(batch.examples, batch.ids, strict=True)}
        return rows

    def shared(one: dict[int, bytes], other: dict[int, bytes]) -> float:
        both = one.keys() & other.keys()
        return sum(one[example] == other[example] for example in both) / len(both)

    assert shared(hidden("roberta", 0), hidden("roberta", 0)) == 1
    assert shared(hidden("roberta", 0), hidden("roberta", 10)) < 0.1
    assert shared(hidden("bert", 0), hidden("bert", 10)) > 0.95  # but for the next epoch's rows in the last batch
    assert shared(hidden("bert", 0), hidden("bert", 9)) < 0.3


def test_another_seed_is_another_stream() -> None:
    one, other = (opened(batch=12, seed=seed).batch()[0] for seed in (5, 6))
    assert one.examples.tolist() != other.examples.tolist()


def test_all_ranks_of_a_mixture_see_in_the_same_way_and_all_ways_come() -> None:
    position, seen = START, []
    streams = [opened("unilm", batch=8, rank=rank, world=2) for rank in range(2)]
    for _ in range(60):
        (one, following), (two, _) = (found.batch(position) for found in streams)
        assert one.mode == two.mode == modes.mode(5, *position)
        seen.append(one.mode)
        position = following
    assert set(seen) == set(modes.SHARES)


def test_a_first_batch_costs_no_more_far_in_than_at_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    """T16: nothing is read or laid out that is not of the batch."""
    laid: list[int] = []
    whole = stream.segments.rows

    def watched(made: Any, which: np.ndarray, *more: Any) -> Any:
        laid.append(len(which))
        return whole(made, which, *more)

    monkeypatch.setattr(stream.segments, "rows", watched)
    found = opened(batch=4)
    for position in (Position(0, 0), Position(7, 60), Position(1000, 33)):
        found.batch(position)
    assert laid == [4, 4, 4]


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("litebert")]


def test_an_error_of_the_thread_reaches_the_reader_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    running = opened(batch=12, changes={"length": 512}).batches()
    next(running)

    def damaged(*given: Any, **more: Any) -> Any:
        raise UserError("shards/train/00007.safetensors does not match its manifest: copy it again")

    monkeypatch.setattr(masking, "corrupt", damaged)
    with pytest.raises(UserError, match="00007") as caught:
        for _ in running:
            pass
    assert "in damaged" in "".join(traceback.format_tb(caught.value.__traceback__))
    assert threads() == []


def test_a_stream_that_is_left_leaves_no_thread() -> None:
    for batch, _ in opened(batch=12).batches():
        assert len(batch.ids) == 12
        break
    running = opened(batch=12).batches()
    next(running)
    running.close()
    assert threads() == []


def test_the_plan_of_the_next_epoch_is_there_before_the_border(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "AT_ONCE", 1)  # a corpus of many portions
    found, made = opened(batch=4), []
    make = found._epochs._make
    found._epochs._make = lambda epoch: made.append((epoch, threading.current_thread().name)) or make(epoch)
    running = found.batches()
    for _, position in running:
        if position.epoch == 1:
            break
    time.sleep(0.01)
    running.close()
    assert (1, "litebert-plan") in made
