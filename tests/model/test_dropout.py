"""Which numbers are dropped, and when? Every rate acts while training, where its name says, and never afterwards."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from litebert import family
from litebert.config import Config, Head
from litebert.model.attention import mix
from litebert.model.ffn import FeedForward
from litebert.model.init import fill
from litebert.model.model import Model
from model.specimens import RELATIVE, ROTARY, SMALL, make, noise, tokens

IDS = tokens(3, 6)
CLASSIFY = Head(kind="classify", dense="tanh", source="first")
# rate -> (config, the head that must notice, or none for the hidden states)
RATES: dict[str, tuple[str, Config, str | Head | None]] = {
    "hidden": ("dropout", SMALL, None),
    "hidden, relative": ("dropout", RELATIVE, None),
    "attention": ("attention_dropout", SMALL, None),
    "attention, rotary": ("attention_dropout", ROTARY, None),
    "attention, relative": ("attention_dropout", RELATIVE, None),
    "activation": ("activation_dropout", SMALL, None),
    "output": ("output_dropout", SMALL, None),
    "classifier": ("classifier_dropout", SMALL, "classify"),
    "classifier, with a dense layer": ("classifier_dropout", SMALL, CLASSIFY),
    "classifier of tokens": ("classifier_dropout", SMALL, "tag"),
    "classifier of choices": ("classifier_dropout", SMALL, "choice"),
    "classifier of answerable questions": ("classifier_dropout", SMALL, "span-answerable"),
    "order": ("order_dropout", SMALL, "order"),
}


def said(model: Model, head: str | None, seed: int) -> Tensor:
    torch.manual_seed(seed)
    out = model(IDS)
    if head is None:
        return out.last
    logits: Any = model.logits(head, out)
    return logits[-1] if isinstance(logits, tuple) else logits


def model_of(config: Config, head: str | Head | None) -> Model:
    spec = family.head(config, head) if isinstance(head, str) else head
    return make(config, {} if spec is None else {"it": spec})


@pytest.mark.parametrize("path", ["eager", "fused"])
@pytest.mark.parametrize("rate, config, head", RATES.values(), ids=RATES.keys())
def test_a_rate_acts_in_training_and_never_in_evaluation(rate, config, head, path) -> None:
    name = None if head is None else "it"
    dropping, plain = model_of(config.but(**{rate: 0.5}), head), model_of(config, head)
    dropping.path = plain.path = path
    expected = said(plain, name, 0)
    assert torch.equal(said(dropping, name, 0), expected)
    assert torch.equal(said(dropping, name, 1), expected)
    assert torch.equal(said(plain.train(), name, 0), expected)
    dropping.train()
    first, second = said(dropping, name, 0), said(dropping, name, 1)
    assert (first - expected).abs().max() > 1e-3
    assert (first - second).abs().max() > 1e-3
    assert torch.equal(said(dropping, name, 0), first)  # nothing but torch's generator decides


def test_the_order_head_knows_nothing_of_the_classifier_s_rate() -> None:
    model = model_of(SMALL.but(classifier_dropout=0.5), "order").train()
    assert torch.equal(said(model, "it", 0), said(model, "it", 1))


def test_the_output_rate_drops_the_last_state_and_leaves_the_states_below() -> None:
    model = make(SMALL.but(output_dropout=0.5)).train()
    out = model(IDS)
    zero = out.last == 0
    assert 0.3 < zero.float().mean() < 0.7
    assert torch.equal(out.last[~zero], 2 * out.hidden[-1][~zero])


def ffn(**changes: Any) -> FeedForward:
    config = SMALL.but(**changes)
    module = FeedForward(config)
    fill(module, config, seed=0)
    return module.train()


def test_the_ffn_s_output_is_dropped_before_the_residual() -> None:
    """transformers builds this dropout for ALBERT and never applies it; google-research/albert applies it."""
    x = noise(4, 5, 16)
    module = ffn(dropout=0.5, norm="pre")
    torch.manual_seed(0)
    branch = module(x) - x
    kept = branch.abs() > 1e-6
    full = module.eval()(x) - x
    assert 0.4 < kept.float().mean() < 0.6
    torch.testing.assert_close(branch[kept], 2 * full[kept], atol=1e-5, rtol=1e-5)


def test_with_nearly_everything_dropped_the_ffn_is_its_residual_and_norm() -> None:
    x = noise(4, 5, 16)
    module = ffn(dropout=1 - 1e-6)
    assert torch.equal(module(x), module.norm(x))
    assert not torch.allclose(module.eval()(x), module.norm(x), atol=0.1)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_ffn_s_output_dropout_can_be_switched_off_alone(norm: str) -> None:
    x = noise(4, 5, 16)
    module = ffn(dropout=0.5, ffn_output_dropout=False, norm=norm)
    assert torch.equal(module(x), module.eval()(x))
    model = make(SMALL.but(dropout=0.5, ffn_output_dropout=False)).train()
    assert not torch.equal(said(model, None, 0), said(model, None, 1))  # the others go on dropping


def test_the_query_stream_is_dropped_too() -> None:
    model = make(RELATIVE.but(dropout=0.5)).train()
    out = model(IDS, targets=torch.tensor([[1], [2], [3]]))
    assert 0 < (out.query[0] == 0).sum() < out.query[0].numel()
    assert not (model.eval()(IDS, targets=torch.tensor([[1], [2], [3]])).query[0] == 0).any()


@pytest.mark.parametrize("first", [True, False], ids=["as RoBERTa does", "as XLNet does"])
def test_a_classifier_drops_the_vector_before_its_dense_layer_or_not(first: bool) -> None:
    spec = Head(kind="classify", dense="tanh", source="first", first_dropout=first)
    model = make(SMALL.but(classifier_dropout=0.5), {"it": spec}).train()
    torch.manual_seed(0)
    model.logits("it", model(IDS[:1])).sum().backward()
    dropped = (model.heads["it"].dense.weight.grad == 0).all(dim=0)  # features that the dense layer never saw
    assert bool(dropped.any()) is first


@pytest.mark.parametrize("kind, dense", [
    ("classify", "none"), ("classify", "tanh"), ("tag", "none"), ("choice", "none"), ("span-answerable", "none"),
])  # fmt: skip
def test_a_head_s_own_rate_goes_before_the_config_s(kind: Any, dense: Any) -> None:
    for own, of_the_config, drops in ((0.0, 0.5, False), (0.5, 0.0, True)):
        spec = Head(kind=kind, dense=dense, dropout=own)
        model = model_of(SMALL.but(classifier_dropout=of_the_config), spec).train()
        assert torch.equal(said(model, "it", 0), said(model, "it", 1)) is not drops


@pytest.mark.parametrize("path", ["eager", "fused"])
def test_attention_weights_are_dropped_and_scaled_up(path) -> None:
    query, key = torch.zeros(1, 1, 2000, 2), torch.zeros(1, 1, 4, 2)  # every weight is a quarter
    torch.manual_seed(0)
    mixed = mix(query, key, torch.ones(1, 1, 4, 2), None, 0.25, path)[0, 0, :, 0]
    assert mixed.mean() == pytest.approx(1.0, abs=0.03)
    shares = [float((mixed - kept / 3).abs().lt(1e-5).float().mean()) for kept in range(5)]
    binomial = [0.25**4, 4 * 0.75 * 0.25**3, 6 * 0.75**2 * 0.25**2, 4 * 0.75**3 * 0.25, 0.75**4]
    assert shares == pytest.approx(binomial, abs=0.04)
