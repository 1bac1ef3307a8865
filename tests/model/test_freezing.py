"""What learns when something is frozen? A shared block learns from the depths that are not, and from no others."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from litebert.config import Config
from litebert.model.attention import Surroundings
from litebert.model.model import Model
from model.specimens import CORNERS, SMALL, make, noise, tokens

IDS = tokens(2, 6)
DEEP = SMALL.but(layers=4)


def learn(model: Model, frozen: int) -> Tensor:
    model.zero_grad()
    out = model(IDS, frozen=frozen)
    if out.last.requires_grad:
        (out.last * noise(2, 6, 16)).sum().backward()
    return out.last.detach()


def learned(model: Model, prefix: str) -> bool:
    slopes = [p.grad for name, p in model.named_parameters() if name.startswith(prefix)]
    return any(slope is not None and bool(slope.any()) for slope in slopes)


@pytest.mark.parametrize("frozen", range(5))
def test_a_shared_block_learns_while_one_application_is_left(frozen: int) -> None:
    model = make(DEEP)
    learn(model, frozen)
    for part in ("encoder.attention.0.query", "encoder.attention.0.norm", "encoder.ffn.0.up", "encoder.ffn.0.norm"):
        assert learned(model, part) is (frozen < 4)
    assert learned(model, "embedding") is (frozen == 0)


@pytest.mark.parametrize("frozen", range(4))
def test_freezing_is_cutting_the_states_after_so_many_blocks(frozen: int) -> None:
    model = make(DEEP).double()
    learn(model, frozen)
    slopes = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    hidden = model.embedding(IDS)
    for depth, (attention, ffn, _) in enumerate(model.encoder.blocks()):
        hidden = hidden.detach() if depth == frozen > 0 else hidden
        hidden = ffn(attention(hidden, Surroundings()))
    (hidden * noise(2, 6, 16)).sum().backward()
    for name, slope in slopes.items():
        if name.startswith("encoder"):
            expected = dict(model.named_parameters())[name].grad
            torch.testing.assert_close(slope, expected, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("frozen", range(5))
def test_unshared_blocks_learn_from_the_frozen_depth_on(frozen: int) -> None:
    model = make(DEEP.but(sharing="none"))
    learn(model, frozen)
    assert [learned(model, f"encoder.ffn.{i}") for i in range(4)] == [i >= frozen for i in range(4)]
    assert [learned(model, f"encoder.attention.{i}") for i in range(4)] == [i >= frozen for i in range(4)]


@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
def test_freezing_changes_no_number(config: Config) -> None:
    model = make(config)
    free = learn(model, 0)
    for frozen in range(1, config.depth + 1):
        torch.testing.assert_close(learn(model, frozen), free, atol=1e-5, rtol=0)


def test_a_shared_block_that_may_not_learn_freezes_every_depth() -> None:
    model = make(DEEP)
    model.encoder.requires_grad_(False)
    learn(model, 0)
    assert not learned(model, "encoder")
    assert learned(model, "embedding")


def test_a_head_learns_on_a_wholly_frozen_encoder() -> None:
    model = make(DEEP, {"classify": 3})
    model.logits("classify", model(IDS, frozen=4)).square().sum().backward()
    assert learned(model, "heads.classify")
    assert learned(model, "pooler")
    assert not learned(model, "encoder")
    assert not learned(model, "embedding")


def test_freezing_does_not_turn_gradients_on_where_they_were_off() -> None:
    with torch.no_grad():
        for frozen in range(5):
            assert not any(state.requires_grad for state in make(DEEP)(IDS, frozen=frozen).hidden)


@pytest.mark.parametrize("frozen", range(1, 5))
def test_the_embedding_is_frozen_with_the_first_block(frozen: int) -> None:
    states = make(DEEP)(IDS, frozen=frozen).hidden
    assert [state.requires_grad for state in states] == [i > frozen for i in range(5)]


@pytest.mark.parametrize("prefix", ["encoder", "embedding", "heads.mlm"])
def test_biases_learn_alone_what_they_learn_among_all(prefix: str) -> None:
    model = make(SMALL, ["mlm"])
    chosen = {n: p for n, p in model.named_parameters() if n.startswith(prefix) and n.endswith("bias")}

    def slopes() -> dict[str, Tensor]:
        model.zero_grad()
        logits = model.logits("mlm", model(IDS))
        (logits * noise(*logits.shape)).sum().backward()
        return {name: torch.zeros_like(p) if p.grad is None else p.grad.clone() for name, p in chosen.items()}

    expected = slopes()
    model.requires_grad_(False)
    for parameter in chosen.values():
        parameter.requires_grad_()
    for name, slope in slopes().items():
        torch.testing.assert_close(slope, expected[name], atol=1e-4, rtol=1e-4, msg=lambda m, n=name: f"{n}: {m}")
