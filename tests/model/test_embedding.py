"""What is a token before anyone looked around? Every embedding against its formula; one table, in and out."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from litebert.model.model import Model
from model.specimens import RELATIVE, SMALL, make, noise, tokens

IDS = torch.tensor([[2, 7, 9, 3, 5, 3], [2, 11, 3, 4, 0, 0]])
SEGMENTS = torch.tensor([[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1]])


def norm(model: Model, x: Tensor) -> Tensor:
    layer = model.embedding.norm
    return F.layer_norm(x, layer.normalized_shape, layer.weight, layer.bias, 1e-12)


def test_words_segments_and_positions_add_up_are_normed_and_mapped() -> None:
    model = make(SMALL).double()
    e = model.embedding
    summed = e.word.weight[IDS] + e.segment.weight[SEGMENTS] + e.position.weight[:6]
    expected = norm(model, summed) @ e.map.weight.T + e.map.bias
    out = model(IDS, segments=SEGMENTS)
    torch.testing.assert_close(out.hidden[0], expected, atol=1e-12, rtol=0)
    assert out.hidden[0].shape == (2, 6, SMALL.hidden)


def test_every_executed_block_leaves_one_state_and_the_first_is_the_mapped_embedding() -> None:
    model = make(SMALL.but(layers=3, inner=2))
    out = model(IDS, segments=SEGMENTS)
    assert len(out.hidden) == 7
    assert torch.equal(out.hidden[0], model.embedding(IDS, SEGMENTS))
    assert out.hidden[-1] is out.last
    kept = model(IDS, segments=SEGMENTS, all_hidden=False)
    assert kept.hidden == ()
    assert torch.equal(kept.last, out.last)


@pytest.mark.parametrize("config", [SMALL, SMALL.but(embedding=16)], ids=["mapped", "as wide as hidden"])
def test_no_segments_are_segment_zero(config) -> None:
    model = make(config)
    assert torch.equal(model(IDS).last, model(IDS, segments=torch.zeros_like(IDS)).last)
    assert not torch.allclose(model(IDS).last, model(IDS, segments=torch.ones_like(IDS)).last, atol=1e-3)


def test_a_mapping_exists_only_where_the_widths_differ() -> None:
    assert make(SMALL).embedding.map is not None
    assert make(SMALL.but(embedding=16)).embedding.map is None
    assert make(SMALL.but(embedding=16, mapping="always")).embedding.map is not None


def test_an_early_mapping_has_no_bias_and_comes_before_segments_and_positions() -> None:
    model = make(SMALL.but(mapping="early"), ["mlm"]).double()
    e = model.embedding
    assert e.map.bias is None
    expected = norm(model, e.word.weight[IDS] @ e.map.weight.T + e.segment.weight[SEGMENTS] + e.position.weight[:6])
    torch.testing.assert_close(model(IDS, segments=SEGMENTS).hidden[0], expected, atol=1e-12, rtol=0)
    x, bias = noise(3, 16, dtype=torch.float64), noise(60, seed=1, dtype=torch.float64)
    torch.testing.assert_close(e.decode(x, bias), x @ (e.word.weight @ e.map.weight.T).T + bias, atol=1e-12, rtol=0)


def test_positions_given_replace_the_count_from_zero() -> None:
    model = make(SMALL)
    count = torch.arange(6).expand(2, 6)
    assert torch.equal(model(IDS, positions=count).last, model(IDS).last)
    assert not torch.allclose(model(IDS, positions=count + 5).last, model(IDS).last, atol=1e-3)


@pytest.mark.parametrize("ids, places", [
    ([9, 9, 9, 9], [2, 3, 4, 5]),
    ([9, 9, 1, 1], [2, 3, 1, 1]),
    ([1, 1, 9, 9], [1, 1, 2, 3]),
    ([9, 1, 9, 1], [2, 1, 3, 1]),
    ([1, 1, 1, 1], [1, 1, 1, 1]),
], ids=["no padding", "on the right", "on the left", "in between", "nothing but padding"])  # fmt: skip
def test_roberta_counts_real_tokens_from_two_and_leaves_pads_at_one(ids: list[int], places: list[int]) -> None:
    config = SMALL.but(position_offset=2, pad=1)
    embedding = make(config).embedding
    assert embedding.position.num_embeddings == config.max_positions + 2
    assert embedding.places(torch.tensor([ids])).tolist() == [places]


def test_the_longest_text_still_has_a_row_for_every_place() -> None:
    for config in (SMALL, SMALL.but(position_offset=2, pad=1)):
        ids = tokens(1, config.max_positions)
        assert int(make(config).embedding.places(ids).max()) == config.max_positions - 1 + config.position_offset
        assert make(config)(ids).last.isfinite().all()


def test_a_frozen_padding_row_is_zero_and_never_learns() -> None:
    ids = torch.tensor([[5, 0, 6, 0]])
    for frozen in (True, False):
        model = make(SMALL.but(pad_frozen=frozen, pad=0))
        assert bool((model.embedding.word.weight[0] == 0).all()) is frozen
        (model(ids).last * noise(1, 4, 16)).sum().backward()
        slope = model.embedding.word.weight.grad
        assert bool((slope[0] == 0).all()) is frozen
        assert (slope[[5, 6]].abs().sum(-1) > 0).all()


def test_the_frozen_row_is_the_config_s_own_padding_id() -> None:
    weight = make(SMALL.but(pad_frozen=True, pad=4)).embedding.word.weight
    assert (weight.abs().sum(-1) == 0).nonzero().flatten().tolist() == [4]


def test_the_masked_word_head_owns_no_matrix_of_the_vocabulary() -> None:
    model = make(SMALL, ["mlm"])
    wide = [name for name, p in model.named_parameters() if p.dim() == 2 and SMALL.vocab in p.shape]
    assert wide == ["embedding.word.weight"]


def test_changing_a_word_s_vector_changes_its_logit_and_no_other() -> None:
    model = make(SMALL, ["mlm"])
    out = model(IDS)
    before = model.logits("mlm", out)
    with torch.no_grad():
        model.embedding.word.weight[33] += noise(8, seed=4)  # 33 is not among the ids: the input stays what it was
    moved = (model.logits("mlm", out) - before).abs() > 1e-6
    assert moved[..., 33].all()
    assert not moved[..., torch.arange(60) != 33].any()


def test_the_word_table_learns_from_both_its_ends() -> None:
    model = make(SMALL, ["mlm"])
    table = model.embedding.word.weight

    def rows_that_learn(frozen: int) -> list[int]:
        model.zero_grad()
        model.logits("mlm", model(IDS, frozen=frozen))[..., 33].sum().backward()
        return (table.grad.abs().sum(-1) > 0).nonzero().flatten().tolist()

    assert rows_that_learn(frozen=3) == [33]  # the decoder alone: the input is cut
    assert rows_that_learn(frozen=0) == sorted({*IDS.flatten().tolist(), 33})


def test_a_relative_model_adds_no_vector_for_a_place_or_a_segment() -> None:
    embedding = make(RELATIVE).embedding
    assert embedding.position is None
    assert embedding.segment is None


def test_without_an_embedding_norm_the_sum_is_passed_on() -> None:
    model = make(SMALL.but(embedding_norm=False, embedding=16)).double()
    e = model.embedding
    expected = e.word.weight[IDS] + e.segment.weight[0] + e.position.weight[:6]
    torch.testing.assert_close(model(IDS).hidden[0], expected, atol=1e-12, rtol=0)
