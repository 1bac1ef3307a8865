"""What are a new model's weights? The right shape of distribution, and a function of seed and name alone."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from litebert.config import Config
from litebert.model.model import Model, build
from model.specimens import RELATIVE, ROTARY, SMALL

WIDE = Config(vocab=400, embedding=64, hidden=128, heads=4, ffn=256, layers=2, sharing="none", max_positions=128)
KINDS = {
    "absolute": WIDE,
    "relative": WIDE.but(positions="relative", objectives=("mlm", "sop", "plm")),
    "rotary, pre-norm": WIDE.but(positions="rotary", norm="pre"),
}
HEADS = ["mlm", "order", "rtd", "classify", "tag", "span", "span-answerable"]


def norms(model: Model) -> set[str]:
    return {name for name, module in model.named_modules() if isinstance(module, nn.LayerNorm)}


def is_bias(name: str) -> bool:
    return name.rsplit(".", 1)[-1] == "bias"


def drawn(model: Model) -> list[Tensor]:
    """The parameters that are neither a bias nor a norm's."""
    rest = {n: p for n, p in model.named_parameters() if not is_bias(n) and n.rsplit(".", 1)[0] not in norms(model)}
    return [parameter.detach() for parameter in rest.values()]


@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS.keys())
def test_biases_are_zero_and_norms_are_one(config: Config) -> None:
    model = build(config, HEADS)
    for name, parameter in model.named_parameters():
        if is_bias(name):
            assert not parameter.any(), name
        elif name.rsplit(".", 1)[0] in norms(model):
            assert (parameter == 1).all(), name
    assert len(norms(model)) >= 7
    assert sum(is_bias(name) for name, _ in model.named_parameters()) > 25


@pytest.mark.parametrize("std", [0.02, 0.1])
@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS.keys())
def test_weights_are_normal_cut_at_two_deviations(config: Config, std: float) -> None:
    model = build(config.but(init_std=std), HEADS)
    weights = [
        p.detach() for n, p in model.named_parameters() if not is_bias(n) and n.rsplit(".", 1)[0] not in norms(model)
    ]
    for weight in weights:
        assert weight.abs().max() <= 2 * std
        assert weight.any()
        if weight.numel() > 5000:
            # a normal cut at ±2 keeps 0.7737 of its variance: its own deviation is 0.8796 of the nominal one
            assert float(weight.std()) == pytest.approx(0.8796 * std, rel=0.03)
            assert abs(float(weight.mean())) < 4 * std / math.sqrt(weight.numel())
            assert float(weight.abs().max()) > 1.95 * std
            assert float((weight.abs() < std).float().mean()) == pytest.approx(0.7152, abs=0.03)


def test_transformers_normal_is_not_cut() -> None:
    weight = build(WIDE.but(init="normal")).embedding.word.weight.detach()
    assert float(weight.std()) == pytest.approx(0.02, rel=0.03)
    assert weight.abs().max() > 0.06


def same(first: Model, second: Model) -> list[str]:
    other = second.state_dict()
    return [name for name, tensor in first.state_dict().items() if name in other and torch.equal(tensor, other[name])]


@pytest.mark.parametrize("config", [SMALL, RELATIVE, ROTARY], ids=["absolute", "relative", "rotary"])
def test_the_same_seed_gives_the_same_bytes(config: Config) -> None:
    torch.manual_seed(1)
    first = build(config, HEADS, seed=3)
    torch.manual_seed(2)
    assert same(first, build(config, HEADS, seed=3)) == list(first.state_dict())


def test_another_seed_moves_every_weight() -> None:
    first, second = build(SMALL, HEADS, seed=0), build(SMALL, HEADS, seed=1)
    constant = [n for n in first.state_dict() if is_bias(n) or n.rsplit(".", 1)[0] in norms(first)]
    assert same(first, second) == constant


def test_building_leaves_torch_s_own_generator_where_it_was() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    build(SMALL, HEADS)
    assert torch.equal(torch.rand(3), expected)


def test_adding_a_head_moves_no_other_tensor() -> None:
    few, many = build(SMALL, ["mlm"]), build(SMALL, ["tag", "order", "mlm"])
    assert same(few, many) == list(few.state_dict())
    assert len(many.state_dict()) > len(few.state_dict())


def test_adding_a_layer_moves_no_other_tensor() -> None:
    three, four = (build(SMALL.but(sharing="none", layers=layers)) for layers in (3, 4))
    assert same(three, four) == list(three.state_dict())


def test_no_two_tensors_hold_the_same_numbers() -> None:
    model = build(SMALL.but(sharing="none"), HEADS)
    assert len({tuple(p.flatten()[:5].tolist()) for p in drawn(model)}) == len(drawn(model))


def test_on_the_meta_device_nothing_is_held() -> None:
    assert all(parameter.is_meta for parameter in build(SMALL, HEADS, device="meta").parameters())


def test_without_a_seed_shapes_are_the_same() -> None:
    shapes = [{n: p.shape for n, p in build(SMALL, HEADS, seed=s).named_parameters()} for s in (None, 0)]
    assert shapes[0] == shapes[1]
