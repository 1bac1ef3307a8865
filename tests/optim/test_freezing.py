"""Does what is frozen stand still, to the bit, and does the rest learn?"""

from __future__ import annotations

import pytest
import torch

from litebert.config import ConfigError
from litebert.errors import UserError
from litebert.model.model import Model
from litebert.optim.freezing import Frozen, freeze
from litebert.optim.groups import treated
from litebert.optim.lamb import Lamb
from litebert.optim.rule import rule
from model.specimens import RELATIVE, SMALL, make, tokens

DEEP = SMALL.but(layers=4)
CASES = {  # sharing -> frozen blocks -> parts that stand still
    "unshared, two blocks": (DEEP.but(sharing="none"), 2, ["embedding", "encoder.attention.0", "encoder.attention.1",
                                                           "encoder.ffn.0", "encoder.ffn.1"]),
    "shared, two blocks": (DEEP, 2, ["embedding"]),
    "shared, all blocks": (DEEP, 4, ["embedding", "encoder.attention.0", "encoder.ffn.0"]),
    "groups, one of two": (DEEP.but(groups=2), 2, ["embedding", "encoder.attention.0", "encoder.ffn.0"]),
    "groups, half of the second": (DEEP.but(groups=2), 3, ["embedding", "encoder.attention.0", "encoder.ffn.0"]),
    "attention shared, one block": (DEEP.but(sharing="attention"), 1, ["embedding", "encoder.ffn.0"]),
}  # fmt: skip


def train(model: Model, frozen: Frozen, steps: int = 10, which: str = "lamb") -> set[str]:
    """Trains on random words, and says which tensors changed."""
    before = {name: tensor.detach().clone() for name, tensor in model.named_parameters()}
    optimizer = Lamb(treated(model), rule(which, decay=0.01))
    frozen.train(model)
    for step in range(steps):
        ids = tokens(4, 6, seed=step)
        out = model(ids, frozen=frozen.blocks)
        logits = model.logits("mlm", out) if "mlm" in model.specs else model.logits("classify", out)
        logits.log_softmax(-1)[..., 1].mean().neg().backward()
        optimizer.step(1e-2)
    return {name for name, tensor in model.named_parameters() if not torch.equal(tensor, before[name])}


def within(name: str, parts: list[str]) -> bool:
    return any(name.startswith(f"{part}.") for part in parts)


@pytest.mark.parametrize("which", ["lamb", "adamw"])
@pytest.mark.parametrize(("config", "blocks", "still"), CASES.values(), ids=CASES.keys())
def test_what_is_frozen_does_not_move_by_a_bit_and_the_rest_does(
    config: object, blocks: int, still: list[str], which: str
) -> None:
    model = make(config, {"classify": 3})
    frozen = freeze(model, blocks)
    moved = train(model, frozen, which=which)
    every = {name for name, _ in model.named_parameters()}
    assert set(frozen.names) == {name for name in every if within(name, still)}
    assert {one.name for one in treated(model)} == every - set(frozen.names)
    unfelt = {name for name in every if ".key.bias" in name}  # attention is the same whatever it is
    assert every - moved - unfelt == set(frozen.names) - unfelt
    assert not moved & set(frozen.names)


def test_the_frozen_embedding_takes_the_tied_decoder_along() -> None:
    model = make(DEEP, ["mlm"])
    frozen = freeze(model, embedding=True)
    assert frozen.remarks == ("head mlm reads words off the frozen embedding: its output matrix stands still with it",)
    moved = train(model, frozen)
    assert not any(name.startswith("embedding.") for name in moved)
    assert {"heads.mlm.bias", "heads.mlm.dense.weight", "encoder.ffn.0.up.weight"} <= moved


def test_frozen_blocks_freeze_the_decoder_too_though_its_gradient_arrives() -> None:
    model = make(DEEP, ["mlm"])
    model.logits("mlm", model(tokens(2, 6), frozen=1)).sum().backward()
    assert model.embedding.word.weight.grad is not None  # the head's, which would move the embedding
    model.zero_grad()
    frozen = freeze(model, 1)
    assert not any(name.startswith("embedding.") for name in train(model, frozen))


def test_decay_would_move_what_is_only_detached() -> None:
    """Why frozen tensors are left out: a gradient of zero still decays."""
    model = make(DEEP.but(sharing="none"), {"classify": 2})
    weight = model.encoder.ffn[0].up.weight
    before = weight.detach().clone()
    optimizer = Lamb(treated(model), rule("adamw"))
    weight.grad = torch.zeros_like(weight)
    optimizer.step(1e-2)
    assert not torch.equal(weight, before)


def test_a_shared_block_that_still_learns_is_said_to() -> None:
    first, second = freeze(make(DEEP), 3).remarks
    assert first == (
        "attention 0 is shared [0×4]: it gets no gradient from the first 3 of 4 depths, but learns from 1 more, and so "
        "changes in all of them"
    )
    assert second.startswith("ffn 0 is shared")
    assert freeze(make(DEEP), 4).remarks == ()
    assert freeze(make(DEEP.but(sharing="none")), 3).remarks == ()
    assert freeze(make(DEEP.but(groups=2)), 2).remarks == ()


def test_score_biases_stand_still_with_the_attention_they_belong_to() -> None:
    own = freeze(make(RELATIVE.but(sharing="none")), 2).names
    assert {"encoder.biases.0.content", "encoder.biases.1.segment"} <= set(own)
    assert "encoder.biases.2.content" not in own
    one = RELATIVE.but(sharing="none", untied=False)
    assert not any(name.startswith("encoder.biases") for name in freeze(make(one), 2).names)
    assert "encoder.biases.0.content" in freeze(make(one), 3).names


def test_what_is_frozen_rests_and_the_rest_drops_out() -> None:
    model = make(DEEP.but(sharing="none", dropout=0.5, attention_dropout=0.5))
    frozen = freeze(model, 2)
    frozen.train(model)
    assert [module.training for module in (model.embedding, *model.encoder.ffn)] == [False, False, False, True, True]
    states = [model(tokens(2, 6), frozen=2).hidden for _ in range(2)]
    same = [torch.equal(one, other) for one, other in zip(*states, strict=True)]
    assert same == [True, True, True, False, False]
    freeze(model, 0).train(model)
    assert model.embedding.training


def test_freezing_anew_lets_the_body_learn_again_and_leaves_heads_alone() -> None:
    model = make(DEEP, {"classify": 3})
    model.heads["classify"].out.bias.requires_grad_(False)
    freeze(model, 4)
    assert freeze(model) == Frozen()
    assert [name for name, tensor in model.named_parameters() if not tensor.requires_grad] == [
        "heads.classify.out.bias"
    ]


@pytest.mark.parametrize("blocks", [-1, 5])
def test_more_blocks_than_there_are_cannot_be_frozen(blocks: int) -> None:
    with pytest.raises(ConfigError, match=f"frozen {blocks} is not a number of blocks of this model: choose 0 to 4"):
        freeze(make(DEEP), blocks)


def test_nothing_left_to_learn_is_an_error() -> None:
    model = make(DEEP.but(pooler="none", objectives=("mlm",)))
    freeze(model, 4)
    with pytest.raises(UserError, match="nothing is left to learn"):
        Lamb(treated(model))
