"""Do rows keep what they say when they are cut out, joined and brought to one shape, and is an empty row empty?"""

from __future__ import annotations

import numpy as np

from data.texts import shards, vocabulary
from litebert.data import joining
from litebert.data.recipe import recipe
from litebert.data.rows import NO_ORDER, Batch
from litebert.data.stream import Stream

PAD = 99  # unlike any filling


def batches(name: str = "xlnet") -> Batch:
    return Stream(shards(40), recipe(name, length=32), vocabulary(), batch=12, pad_to=0).batch()[0]


def test_rows_taken_out_and_joined_again_are_the_batch() -> None:
    whole = batches()
    parts = [joining.taken(whole, 0, 5), joining.taken(whole, 5, 6), joining.taken(whole, 6, 12)]
    again = joining.joined(parts, 12, whole.ids.shape[1], whole.asked.shape[1], PAD)
    for name, one, other in zip(Batch._fields, whole, again, strict=True):
        assert np.array_equal(one, other), name
        assert not isinstance(one, np.ndarray) or one.dtype == other.dtype, name


def test_wider_rows_and_empty_ones_hold_padding_and_ask_nothing() -> None:
    whole = batches()
    width, slots = whole.ids.shape[1], whole.asked.shape[1]
    made = joining.joined([joining.taken(whole, 0, 3)], 5, width + 4, slots + 2, PAD)
    for new in (slice(0, 3), slice(3, 5)):
        columns = slice(width, None) if new.start == 0 else slice(None)
        assert (made.ids[new, columns] == PAD).all()
        assert not made.mask[new, columns].any()
        assert not made.segments[new, columns].any()
        assert (made.ranks[new, columns] == -1).all()
        slot = slice(slots, None) if new.start == 0 else slice(None)
        assert not made.weights[new, slot].any()
        assert not made.asked[new, slot].any()
        assert not made.targets[new, slot].any()
        assert (made.spans[new, slot] == -1).all()
    assert made.examples.tolist()[3:] == [-1, -1]
    assert made.order.tolist()[3:] == [NO_ORDER, NO_ORDER]
    assert np.array_equal(made.ids[:3, :width], whole.ids[:3])


def test_what_has_its_shape_is_not_copied() -> None:
    whole = batches()
    assert joining.joined([whole], 12, whole.ids.shape[1], whole.asked.shape[1], PAD) is whole
    assert np.shares_memory(joining.taken(whole, 2, 4).ids, whole.ids)
