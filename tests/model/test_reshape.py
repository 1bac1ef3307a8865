"""Does a model with other sharing hold the right weights, and compute the same wherever nothing had to be merged?"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from litebert.config import Config, ConfigError
from litebert.errors import UserError
from litebert.model import reshape
from litebert.model.model import Model
from litebert.model.sharing import sharing_map
from model.specimens import RELATIVE, ROTARY, SMALL, make, tokens

SHARED: dict[str, Config] = {
    "ALBERT": SMALL,
    "two groups of four layers": SMALL.but(layers=4, groups=2),
    "three groups of seven layers": SMALL.but(layers=7, groups=3),
    "two inner blocks": SMALL.but(inner=2),
    "two groups of two inner blocks": SMALL.but(layers=4, groups=2, inner=2),
    "attention shared": SMALL.but(sharing="attention"),
    "ffn shared in two groups": SMALL.but(sharing="ffn", layers=4, groups=2),
    "pre-norm": SMALL.but(norm="pre"),
    "mapped early": SMALL.but(mapping="early"),
    "relative": RELATIVE,
    "relative, one set of biases": RELATIVE.but(untied=False),
    "relative, attention shared in two groups": RELATIVE.but(sharing="attention", layers=4, groups=2),
    "rotary": ROTARY,
    "rotary, two groups": ROTARY.but(layers=4, groups=2),
}
HEADS = ["mlm", "order", "tag"]


def said(model: Model) -> list[Tensor]:
    """Every state and every answer to a padded text in two segments."""
    ids, mask = tokens(2, 9), torch.ones(2, 9, dtype=torch.long)
    mask[1, 5:] = 0
    segments = (torch.arange(9) > 4).long().expand(2, 9)
    with torch.no_grad():
        out = model(ids, mask, segments)
        answers = [model.logits(name, out) for name in model.specs]
    return [*out.hidden, *([] if out.pooled is None else [out.pooled]), *answers]


def same(one: Model, other: Model) -> bool:
    return all(torch.equal(a, b) for a, b in zip(said(one), said(other), strict=True))


@pytest.mark.parametrize("name", SHARED)
def test_unsharing_moves_no_bit_of_any_output(name: str) -> None:
    model = make(SHARED[name], HEADS)
    wide = reshape.reshare(model, "none")
    assert wide.config == SHARED[name].but(sharing="none", groups=1)
    assert (len(wide.encoder.attention), len(wide.encoder.ffn)) == (wide.config.depth, wide.config.depth)
    assert same(model, wide)


def test_one_set_of_score_biases_becomes_one_a_block_without_a_change() -> None:
    model = make(RELATIVE.but(untied=False, sharing="none"), HEADS)
    config = model.config.but(untied=True)
    state, moved = reshape.resharing(model.state_dict(), model.config, config)
    wide = reshape.with_state(config, model, state)
    assert (len(wide.encoder.biases), moved) == (3, 0.0)
    assert same(model, wide)


def test_regrouping_into_ever_more_groups_changes_nothing() -> None:
    model = make(SMALL.but(layers=4), HEADS)
    for sharing, groups in (("all", 2), ("all", 4), ("none", 1)):
        finer = reshape.reshare(model, sharing, groups)
        assert same(model, finer)
        model = finer
    assert len(model.encoder.ffn) == 4


@pytest.mark.parametrize("how", ["average", "first"])
@pytest.mark.parametrize("name", [n for n in SHARED if SHARED[n].sharing == "all" and SHARED[n].untied])
def test_sharing_again_what_was_unshared_gives_the_old_weights_back(name: str, how: str) -> None:
    model = make(SHARED[name])
    wide = reshape.reshare(model, "none")
    state, moved = reshape.resharing(wide.state_dict(), wide.config, model.config, how)
    assert moved == 0.0
    assert state.keys() == model.state_dict().keys()
    assert all(torch.equal(tensor, state[key]) for key, tensor in model.state_dict().items())


WAYS = {
    "all of it": (SMALL.but(layers=4), [[0, 1, 2, 3]], [[0, 1, 2, 3]]),
    "two groups": (SMALL.but(layers=4, groups=2), [[0, 1], [2, 3]], [[0, 1], [2, 3]]),
    "uneven groups": (SMALL.but(layers=5, groups=2), [[0, 1, 2], [3, 4]], [[0, 1, 2], [3, 4]]),
    "attention": (SMALL.but(sharing="attention"), [[0, 1, 2]], [[0], [1], [2]]),
    "ffn": (SMALL.but(sharing="ffn"), [[0], [1], [2]], [[0, 1, 2]]),
    "inner blocks apart": (SMALL.but(inner=2), [[0, 2, 4], [1, 3, 5]], [[0, 2, 4], [1, 3, 5]]),
}


@pytest.mark.parametrize("how", ["average", "first"])
@pytest.mark.parametrize("name", WAYS)
def test_merging_takes_the_blocks_that_ran_there(name: str, how: str) -> None:
    config, attention, ffn = WAYS[name]
    wide = make(config.but(sharing="none", groups=1))
    narrow = reshape.reshare(wide, config.sharing, config.groups, how)
    _, moved = reshape.resharing(wide.state_dict(), wide.config, narrow.config, how)
    worst = 0.0
    for kind, sources in (("attention", attention), ("ffn", ffn)):
        blocks = [dict(block.named_parameters()) for block in getattr(wide.encoder, kind)]
        for made, chosen in zip(getattr(narrow.encoder, kind), sources, strict=True):
            for leaf, tensor in made.named_parameters():
                parts = torch.stack([blocks[i][leaf].double() for i in chosen])
                wanted = parts.mean(0) if how == "average" else parts[0]
                assert torch.equal(tensor, wanted.float()), f"{kind} {leaf}"
                worst = max(worst, float((parts - tensor.double()).abs().max()))
    assert moved == worst > 0


def test_groups_that_do_not_nest_mix_only_where_they_overlap() -> None:
    model = make(SMALL.but(layers=6, groups=2))  # 0 0 0 1 1 1 -> 0 0 1 1 2 2
    other = reshape.reshare(model, groups=3)
    old, new = (m.encoder.ffn for m in (model, other))
    assert torch.equal(new[0].up.weight, old[0].up.weight)
    assert torch.equal(new[2].up.weight, old[1].up.weight)
    torch.testing.assert_close(new[1].up.weight, (old[0].up.weight + old[1].up.weight) / 2)


@pytest.mark.parametrize("name", SHARED)
def test_the_gradients_of_the_copies_sum_to_that_of_the_shared_weight(name: str) -> None:
    shared = make(SHARED[name]).double()
    wide = reshape.reshare(shared, "none").double()
    ids, slope = tokens(2, 7), torch.randn(2, 7, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    for model in (shared, wide):
        (model(ids).last * slope).sum().backward()
    stored = sharing_map(shared.config)
    for kind, indexes in (("attention", stored.attention), ("ffn", stored.ffn)):
        copies = [dict(block.named_parameters()) for block in getattr(wide.encoder, kind)]
        for number, block in enumerate(getattr(shared.encoder, kind)):
            for leaf, tensor in block.named_parameters():
                if tensor.grad is None:  # segments were not given, so nobody read their vectors
                    continue
                total = sum(copies[i][leaf].grad for i, index in enumerate(indexes) if index == number)
                torch.testing.assert_close(tensor.grad, total, atol=1e-9, rtol=1e-6, msg=f"{kind} {number} {leaf}")


def test_copies_are_their_own_and_the_old_model_stays_as_it_was() -> None:
    model = make(SMALL, HEADS)
    before = {key: tensor.clone() for key, tensor in model.state_dict().items()}
    wide = reshape.reshare(model, "none")
    with torch.no_grad():
        for tensor in wide.parameters():
            tensor.add_(1.0)
    assert all(torch.equal(tensor, before[key]) for key, tensor in model.state_dict().items())
    places = [p.untyped_storage().data_ptr() for p in wide.parameters()]
    assert len(places) == len(set(places))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluating"])
def test_dtype_heads_and_mode_are_kept(dtype: torch.dtype, training: bool) -> None:
    model = make(SMALL, {"classify": 3, "mlm": 2}).to(dtype).train(training)
    wide = reshape.reshare(model, "none")
    for other in (wide, reshape.reshare(model, "attention"), reshape.reshare(wide, "all")):
        assert {tensor.dtype for tensor in other.state_dict().values()} == {dtype}
        assert (other.specs, other.training) == (model.specs, training)
        assert torch.equal(other.heads["classify"].out.weight, model.heads["classify"].out.weight)


REFUSED = {
    "more groups than layers": ({"groups": 4}, ConfigError, "groups 4 exceeds layers 3"),
    "groups of nothing shared": ({"sharing": "none", "groups": 2}, ConfigError, "groups 2 with sharing 'none'"),
    "a way of sharing that is none": ({"sharing": "both"}, ConfigError, "sharing 'both'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused(name: str) -> None:
    changes, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        reshape.reshare(make(SMALL), **changes)


@pytest.mark.parametrize("changes", [{"layers": 6}, {"hidden": 32}, {"inner": 2}, {"norm": "pre"}], ids=str)
def test_resharing_changes_nothing_else(changes: dict[str, object]) -> None:
    model = make(SMALL)
    (field,) = changes
    with pytest.raises(UserError, match=f"resharing cannot change {field}: only sharing, groups, untied"):
        reshape.resharing(model.state_dict(), model.config, SMALL.but(sharing="none", **changes))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_mapping_by_the_identity_moves_no_bit(dtype: torch.dtype) -> None:
    model = make(SMALL.but(embedding=16), HEADS).to(dtype)
    mapped = reshape.with_mapping(model)
    assert (model.embedding.map, mapped.config) == (None, model.config.but(mapping="always"))
    assert mapped.embedding.map.weight.dtype == dtype
    assert same(model, mapped)
    assert reshape.with_mapping(mapped) is mapped
