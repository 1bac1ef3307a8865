"""Who is left out of decay and adaptation, and how fast does each layer learn?"""

from __future__ import annotations

import re

import pytest
import torch
from torch import nn

from litebert import family, presets
from litebert.config import Config, ConfigError
from litebert.interop import hf_keys
from litebert.model.model import Model, build
from litebert.optim.groups import Row, Treated, excluded, layerwise, rows, treated
from litebert.optim.lamb import Lamb
from litebert.optim.rule import rule
from model.specimens import RELATIVE, SMALL, make, tokens
from optim.toys import parameter

GOOGLE = re.compile("LayerNorm|layer_norm|bias")  # google-research/albert optimization.py
DEEP = SMALL.but(layers=12, sharing="none")


def of(preset: str) -> Config:
    """A preset that is no deeper than it must be for every kind of tensor."""
    return presets.preset(preset).but(layers=2)


@pytest.mark.parametrize("preset", presets.names())
def test_the_excluded_are_those_that_googles_pattern_finds_in_published_names(preset: str) -> None:
    config = of(preset)
    kind = family.family(config)
    worn = {head.partition(".")[0] for head in hf_keys._HEADS[kind]}
    model = build(config, sorted(worn), device="meta")
    table = hf_keys.table(kind, config, model.specs)
    found = {name: hf_keys.theirs(name, table) for name, _ in model.named_parameters()}
    named = {ours: theirs for ours, theirs in found.items() if theirs is not None}
    assert len(named) >= len(found) - 4  # a head's dense layer that the class does not have
    for ours, theirs in named.items():
        assert excluded(ours) is bool(GOOGLE.search(theirs)), (ours, theirs)


def test_the_excluded_of_albert_one_by_one() -> None:
    model = build(of("albert-base"), ["mlm", "order"], device="meta")
    out = {one.name for one in treated(model) if one.excluded}
    assert "heads.mlm.bias" in out
    assert out == {name for name, tensor in model.named_parameters() if tensor.dim() == 1}
    assert not out & {"embedding.word.weight", "embedding.position.weight", "embedding.segment.weight"}


def test_a_head_is_not_excluded_for_the_name_a_user_gave_it() -> None:
    assert [name for name in ("heads.norm.out.weight", "heads.bias.dense.weight", "heads.a_norm.out.weight")
            if excluded(name)] == []  # fmt: skip
    assert excluded("heads.span-answerable.end_norm.weight")


def test_excluded_tensors_neither_decay_nor_adapt() -> None:
    for which in ("lamb", "lamb-paper", "adamw"):
        mine = [Treated("w", parameter([3.0, 4.0])), Treated("b", parameter([3.0, 4.0]), excluded=True)]
        optimizer = Lamb(mine, rule(which, decay=0.5))
        for one in mine:
            one.tensor.grad = torch.zeros(2, dtype=torch.float64)
        optimizer.step(0.1)
        assert mine[1].tensor.tolist() == [3.0, 4.0]
        assert mine[0].tensor.tolist() < [3.0, 4.0]
        assert "b" not in optimizer.trust()


def test_sun_gives_the_top_layer_the_full_rate() -> None:
    model = build(DEEP, ["mlm", "classify"], device="meta")
    found = layerwise(DEEP, [name for name, _ in model.named_parameters()], 0.95)
    assert found["encoder.ffn.11.up.weight"] == found["pooler.dense.weight"] == found["heads.classify.out.bias"] == 1.0
    assert found["encoder.attention.0.query.weight"] == pytest.approx(0.95**11) == pytest.approx(0.5688, abs=5e-5)
    assert found["embedding.word.weight"] == pytest.approx(0.95**12) == pytest.approx(0.5404, abs=5e-5)
    assert [found[f"encoder.attention.{i}.norm.bias"] for i in range(12)] == pytest.approx(
        [0.95 ** (11 - i) for i in range(12)]
    )


def test_electra_counts_two_more_from_the_head() -> None:
    model = build(DEEP, ["classify"], device="meta")
    found = layerwise(DEEP, [name for name, _ in model.named_parameters()], 0.8, "electra")
    assert found["heads.classify.out.weight"] == 1.0
    assert found["encoder.ffn.11.down.weight"] == pytest.approx(0.64)
    assert found["encoder.attention.0.key.bias"] == pytest.approx(0.8**13)
    assert found["embedding.map.weight"] == pytest.approx(0.8**14) == pytest.approx(0.0440, abs=5e-5)


def test_inner_blocks_are_layers_of_their_own() -> None:
    config = SMALL.but(layers=2, inner=2, sharing="none")
    found = layerwise(config, [f"encoder.ffn.{i}.up.weight" for i in range(4)], 0.5)
    assert list(found.values()) == [0.125, 0.25, 0.5, 1.0]


def test_a_group_has_the_mean_rate_of_its_layers() -> None:
    config = SMALL.but(layers=4, groups=2)
    names = ["embedding.word.weight", "encoder.attention.0.query.weight", "encoder.ffn.1.up.weight"]
    assert list(layerwise(config, names, 0.5).values()) == [0.0625, (0.125 + 0.25) / 2, (0.5 + 1.0) / 2]


def test_a_group_moves_as_its_unshared_copies_do_on_average() -> None:
    config, gradient = SMALL.but(layers=4, groups=2), torch.tensor([0.3, -0.1], dtype=torch.float64)
    unshared = config.but(groups=1, sharing="none")
    copies = layerwise(unshared, [f"encoder.ffn.{i}.up.weight" for i in range(2)], 0.8)
    shared = layerwise(config, ["encoder.ffn.0.up.weight"], 0.8)
    ends = []
    for factor in (*copies.values(), *shared.values()):
        weight = parameter([1.0, 2.0])
        weight.grad = gradient.clone()
        Lamb([Treated("w", weight, factor=factor)], rule("lamb")).step(0.1)
        ends.append(weight.detach())
    torch.testing.assert_close((ends[0] + ends[1]) / 2, ends[2], rtol=1e-12, atol=0)


@pytest.mark.parametrize(("change", "what"), [
    ({}, "attention"), ({"sharing": "attention"}, "attention"), ({"sharing": "ffn"}, "ffn"),
    ({"inner": 2}, "attention"),
])  # fmt: skip
def test_one_block_for_all_layers_has_no_rate_by_layer(change: dict, what: str) -> None:
    with pytest.raises(ConfigError, match=f"layer_decay 0.9 with one {what} for all 3 layers: .* unshare the model"):
        treated(build(SMALL.but(**change), device="meta"), layer_decay=0.9)


def test_layer_decay_is_a_share_and_needs_layers() -> None:
    with pytest.raises(ConfigError, match=r"layer_decay 1\.2 is not a share"):
        layerwise(DEEP, [], 1.2)
    with pytest.raises(ConfigError, match=r"layer_decay 0\.9 needs layers, which Linear has not"):
        treated(nn.Linear(2, 2), layer_decay=0.9)
    assert [one.name for one in treated(nn.Linear(2, 2))] == ["weight", "bias"]


def test_relative_and_closing_tensors_have_their_place() -> None:
    names = [
        "query_vector",
        "encoder.biases.0.content",
        "encoder.biases.2.content",
        "encoder.attention.2.relative.segment",
    ]
    own = layerwise(RELATIVE.but(sharing="none"), names, 0.5)
    assert list(own.values()) == [0.125, 0.25, 1.0, 1.0]
    one = layerwise(RELATIVE.but(sharing="none", untied=False), names[:2], 0.5)
    assert one["encoder.biases.0.content"] == (0.25 + 0.5 + 1.0) / 3
    assert layerwise(DEEP.but(norm="pre"), ["encoder.norm.weight"], 0.5) == {"encoder.norm.weight": 1.0}
    assert layerwise(DEEP, ["encoder.norm.weight"], 0.5, "electra") == {"encoder.norm.weight": 0.25}


@pytest.mark.parametrize("which", ["lamb", "adamw", "adam-google"])
def test_a_factor_is_one_of_the_rate(which: str) -> None:
    ends = []
    for factor, rate in ((0.25, 0.4), (1.0, 0.1)):
        weight = parameter([3.0, 4.0])
        weight.grad = torch.tensor([0.3, 0.1], dtype=torch.float64)
        Lamb([Treated("w", weight, factor=factor)], rule(which)).step(rate)
        ends.append(weight.detach())
    torch.testing.assert_close(ends[0], ends[1], rtol=1e-12, atol=0)


def test_layers_move_by_their_factors() -> None:
    model = make(SMALL.but(layers=3, sharing="none"), {"classify": 2}).double()
    before = {name: tensor.detach().clone() for name, tensor in model.named_parameters()}
    mine = treated(model, layer_decay=0.5, convention="electra")
    optimizer = Lamb(mine, rule("adamw", decay=0.0, clip=0.0, eps=1e-30))
    model.logits("classify", model(tokens(2, 6))).square().sum().backward()
    learning = [one for one in mine if one.tensor.grad is not None and one.tensor.grad.abs().min() > 1e-20]
    assert len(learning) > 20
    optimizer.step(1e-3)
    for one in learning:  # the first step of Adam is the rate itself
        assert float((one.tensor.detach() - before[one.name]).abs().max()) == pytest.approx(1e-3 * one.factor, rel=1e-6)


def test_the_table_of_what_learns_adds_up() -> None:
    model: Model = build(SMALL.but(layers=2, sharing="none"), ["mlm"], device="meta")
    mine = treated(model, layer_decay=0.5)
    found = rows(mine)
    assert sum(row.parameters for row in found) == sum(tensor.numel() for tensor in model.parameters())
    assert sum(row.tensors for row in found) == len(mine)
    assert Row("encoder.attention.1", 4, 4 * 16 * 16, False, 1.0) in found
    assert Row("encoder.attention.0", 6, 6 * 16, True, 0.5) in found
    assert Row("heads.mlm", 1, 8 * 16, False, 1.0) in found
    assert {row.part for row in found} >= {"embedding", "pooler", "encoder.ffn.0", "encoder.ffn.1"}
