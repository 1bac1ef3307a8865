"""Do texts stand before the model as they should, whoever stands beside them?"""

from __future__ import annotations

import pytest
import torch

from litebert.errors import UserError
from litebert.vectors import rows
from vectors import tiny


def test_a_row_is_dressed_as_its_tokenizer_does_it() -> None:
    for tokenizer in (tiny.wordpiece_of(), tiny.unigram_of(), tiny.xlnet_of()):
        group = next(rows.batches(tiny.model_of(tokenizer), tokenizer, [tokenizer.encode("the old boat")], 4))
        assert group.ids[0].tolist() == tokenizer.engine.encode("the old boat").ids
        assert group.mask is None


def test_batches_hold_every_text_once_and_the_longest_come_first() -> None:
    tokenizer = tiny.wordpiece_of()
    lengths = [3, 1, 7, 0, 5, 7, 2]
    groups = list(rows.batches(tiny.model_of(tokenizer), tokenizer, [[10] * length for length in lengths], 3))
    assert [len(group.numbers) for group in groups] == [3, 3, 1]
    assert sorted(number for group in groups for number in group.numbers) == list(range(7))
    assert [group.ids.shape[1] for group in groups] == [9, 5, 2]
    for group in groups:
        real = group.ids != tokenizer.specials.pad if group.mask is None else group.mask.bool()
        assert real.sum(1).tolist() == [lengths[number] + 2 for number in group.numbers]
        assert (group.ids[~real] == tokenizer.specials.pad).all()


def test_a_text_that_ends_with_its_vector_is_padded_before_it() -> None:
    tokenizer = tiny.xlnet_of()
    model = tiny.model_of(tokenizer, "xlnet-base", embedding=16, max_positions=0)
    group = next(rows.batches(model, tokenizer, [[10, 11, 12], [10]], 2))
    assert group.ids[:, -1].tolist() == [tokenizer.specials.cls] * 2
    assert group.mask is not None
    assert group.mask.tolist() == [[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]]
    assert group.segments is not None
    assert group.segments.tolist() == [[0, 0, 0, 0, 2]] * 2
    assert next(rows.batches(tiny.model_of(tokenizer), tokenizer, [[10]], 1)).segments is None


def test_a_model_that_was_training_goes_on_training() -> None:
    model = tiny.model_of(tiny.wordpiece_of())
    model.train()
    seen = []

    def fail() -> None:
        with rows.resting(model):
            seen.append((model.training, torch.is_grad_enabled()))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert seen == [(False, False)]
    assert model.training
    assert torch.is_grad_enabled()


def test_a_tokenizer_of_another_model_is_refused() -> None:
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer, vocab=tokenizer.size - 1)
    with pytest.raises(UserError, match=r"the tokenizer has 40 pieces and the model 39: use the tokenizer.json"):
        rows.check(model, tokenizer, ["a"])


def test_half_a_character_is_refused_by_name() -> None:
    tokenizer = tiny.wordpiece_of()
    with pytest.raises(UserError, match=r"'a \\udcff b' holds '\\udcff'"):
        rows.check(tiny.model_of(tokenizer), tokenizer, ["fine", "a \udcff b"])


def test_the_special_pieces_count_towards_the_limit() -> None:
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer)
    assert rows.most(model) == 30
    assert rows.too_long(model, "text", 30) == ""
    assert rows.too_long(model, "t" * 50, 31) == (
        f"text '{'t' * 39}…' has 31 tokens and the model reads 30 (max_positions 32)"
    )
    assert rows.most(tiny.model_of(tokenizer, positions="rotary", max_positions=0)) == 0
