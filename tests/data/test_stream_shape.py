"""How large and how wide are batches, by rows and by tokens, and what cannot be read so?"""

from __future__ import annotations

import numpy as np
import pytest

from data.streams import TEXT, WORDS, opened, walked
from data.texts import shards
from litebert.data import stream
from litebert.data import vocabulary as vocabularies
from litebert.data.recipe import Recipe
from litebert.data.stream import Position, Stream
from litebert.errors import UserError


@pytest.mark.parametrize("pad_to,widths", [(0, {48}), (1, set(range(1, 49))), (8, {8, 16, 24, 32, 40, 48})])
def test_rows_are_as_long_as_the_longest_rounded_up(pad_to: int, widths: set[int]) -> None:
    changes = {"packing": "sentence-pair", "layout": "roberta"}
    seen = set()
    for batch, _ in walked(opened("bert", batch=4, pad_to=pad_to, changes=changes), 30):
        longest, width = int(batch.mask.sum(axis=1).max()), batch.ids.shape[1]
        assert width == (min(48, -(-longest // pad_to) * pad_to) if pad_to else 48)
        assert (batch.ids[batch.mask == 0] == WORDS.pad).all()
        seen.add(width)
    assert seen <= widths
    assert pad_to == 0 or len(seen) > 2


def test_a_budget_of_tokens_holds_and_saves_padding() -> None:
    changes = {"packing": "sentence-pair"}
    found = opened("bert", tokens=1024, changes=changes, pad_to=1)
    real = slots = 0
    for batch, position in walked(found, 40):
        if position.epoch:
            break
        assert batch.ids.size <= 1024
        assert len(batch.ids) % 8 == 0
        real, slots = real + int(batch.mask.sum()), slots + batch.ids.size
    even, filled = 0, 0
    for batch, position in walked(opened("bert", batch=24, changes=changes, pad_to=1), 40):
        if position.epoch:
            break
        even, filled = even + int(batch.mask.sum()), filled + batch.ids.size
    assert real / slots > 0.85 > even / filled


def test_one_batch_of_an_epoch_has_empty_rows_and_any_rank_can_read_it() -> None:
    by, empty = {"tokens": 1024, "share": 8}, []
    for batch, position in opened(**by).batches():
        empty.append(int((batch.examples < 0).sum()))
        if position.epoch:
            break
    assert sum(number > 0 for number in empty) == 1
    assert sum(empty) == -opened(**by).count(0) % 8
    small = shards(2, seed=3)
    ranks = [Stream(small, Recipe(length=48), WORDS, rank=rank, world=8, **by) for rank in range(8)]
    count = ranks[0].count(0)
    assert count < 8
    batches = [found.batch()[0] for found in ranks]
    assert [int(batch.examples[0]) >= 0 for batch in batches] == [True] * count + [False] * (8 - count)
    assert len({batch.ids.shape for batch in batches}) == 1


def test_the_text_for_replacements_is_from_all_over_the_corpus() -> None:
    found = stream.sample(TEXT, runs=16, length=8)
    assert len(found) == 128
    places = np.concatenate([shard.ids for shard in TEXT.shards])
    begins = np.arange(16) * ((TEXT.tokens - 8) // 16)
    assert np.array_equal(found, np.concatenate([places[begin : begin + 8] for begin in begins]))
    assert np.array_equal(stream.sample(TEXT), places)


@pytest.mark.parametrize("given,message", [
    ({}, "batch 0 and tokens 0: give one of them, and more than 0"),
    ({"batch": 8, "tokens": 9}, "batch 8 and tokens 9: give one of them, and more than 0"),
    ({"batch": 10, "world": 4}, "batch 10 is not divisible by 4 ranks: choose 8 or 12"),
    ({"batch": 2, "world": 4}, "batch 2 is not divisible by 4 ranks: choose 4"),
    ({"batch": 8, "rank": 2, "world": 2}, "rank 2 is not one of 2: choose 0 to 1"),
    ({"batch": 8, "pad_to": -1}, "pad_to -1 is negative: choose 8, or 0 for the recipe's length"),
    ({"tokens": 1024, "world": 3}, "share 8 is not divisible by 3 ranks: choose 9"),
    ({"tokens": 100}, "100 tokens do not hold 8 rows of length 48: choose 384 or more, or a smaller share"),
])  # fmt: skip
def test_what_cannot_be_read_so_is_refused_with_the_way_out(given: dict[str, int], message: str) -> None:
    with pytest.raises(UserError) as refusal:
        opened(**given)
    assert str(refusal.value) == message


@pytest.mark.parametrize("by,position,message", [
    ({"batch": 8}, Position(0, 10**6), "place 1000000 is not in epoch 0, which has"),
    ({"batch": 8}, Position(0, -1), "place -1 is not in epoch 0"),
    ({"batch": 8}, Position(-1, 0), "epoch -1 is negative"),
    ({"tokens": 1024}, Position(0, 60), "batch 60 is not in the window at 0 of epoch 0, which has"),
])  # fmt: skip
def test_a_position_of_something_else_is_refused(by: dict[str, int], position: Position, message: str) -> None:
    with pytest.raises(UserError, match=message):
        opened(**by).batch(position)


def test_a_vocabulary_of_other_size_is_refused() -> None:
    with pytest.raises(UserError, match="the shards have 200 pieces, this vocabulary has 300"):
        Stream(TEXT, Recipe(), vocabularies.plain(300), batch=8)
