"""Where do the norms stand, and how small is their epsilon? Post-norm, pre-norm, and numbers near zero."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from litebert.config import Config
from litebert.model.model import build
from litebert.presets import preset
from model.specimens import CORNERS, ROTARY, SMALL, make, noise, tokens

NEAR_ZERO = torch.tensor([1e-6, -1e-6], dtype=torch.float64)


@pytest.mark.parametrize("eps, expected", [(1e-12, 0.70711), (1e-5, 0.00032)], ids=["BERT's 1e-12", "RoBERTa's 1e-5"])
def test_two_tiny_numbers_are_normed_by_the_config_s_epsilon(eps: float, expected: float) -> None:
    config = SMALL.but(hidden=2, embedding=2, heads=1, norm="pre", layer_norm_eps=eps)
    model = make(config, ["mlm"]).double()
    norms = [module for module in model.modules() if isinstance(module, nn.LayerNorm)]
    assert len(norms) == 5  # embedding, attention, FFN, the end of the stack, the head
    for norm in norms:
        assert norm(NEAR_ZERO).tolist() == pytest.approx([expected, -expected], abs=5e-6)


@pytest.mark.parametrize("eps, expected", [(1e-12, 0.70711), (1e-5, 0.00032)], ids=["BERT's 1e-12", "RoBERTa's 1e-5"])
def test_a_whole_model_norms_words_near_zero(eps: float, expected: float) -> None:
    model = make(SMALL.but(hidden=2, embedding=2, heads=1, layer_norm_eps=eps)).double()
    with torch.no_grad():
        for table in (model.embedding.segment, model.embedding.position):
            table.weight.zero_()
        model.embedding.word.weight[7] = NEAR_ZERO
    embedded = model(torch.tensor([[7, 7]])).hidden[0]
    assert embedded[0, 1].tolist() == pytest.approx([expected, -expected], abs=5e-6)


def test_a_constant_vector_becomes_beta_exactly() -> None:
    for module in make(SMALL, ["mlm"]).double().modules():
        if isinstance(module, nn.LayerNorm):
            beta = noise(*module.normalized_shape, dtype=torch.float64)
            with torch.no_grad():
                module.bias.copy_(beta)
            assert torch.equal(module(torch.full_like(beta, 0.75)), beta)


@pytest.mark.parametrize("name, eps", [
    ("albert-base", 1e-12), ("bert-base", 1e-12), ("roberta-base", 1e-5), ("xlnet-base", 1e-12),
    ("electra-base", 1e-12), ("unilm-base", 1e-5),
])  # fmt: skip
def test_every_norm_of_a_preset_has_its_family_s_epsilon(name: str, eps: float) -> None:
    model = build(preset(name), ["mlm"], device="meta")
    assert {module.eps for module in model.modules() if isinstance(module, nn.LayerNorm)} == {eps}


@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
def test_the_last_state_is_normed_and_so_are_post_norm_states(config: Config) -> None:
    out = make(config).double()(tokens(2, 6))
    after = out.hidden[1:] if config.norm == "post" else out.hidden[-1:]
    for state in after:
        torch.testing.assert_close(state.mean(-1), torch.zeros(2, 6, dtype=torch.float64), atol=1e-10, rtol=0)
        torch.testing.assert_close(
            state.var(-1, unbiased=False), torch.ones(2, 6, dtype=torch.float64), atol=1e-8, rtol=0
        )
    if config.norm == "pre":
        assert (out.hidden[1].var(-1, unbiased=False) - 1).abs().min() > 1e-4


@pytest.mark.parametrize("final", [True, False], ids=["with a norm at the end", "without"])
def test_a_pre_norm_stack_is_a_sum_of_branches(final: bool) -> None:
    model = make(SMALL.but(norm="pre", final_norm=final, sharing="none")).double()
    out = model(tokens(2, 5))
    x = out.hidden[0]
    for i in range(3):
        attention, ffn = model.encoder.attention[i], model.encoder.ffn[i]
        inside = F.layer_norm(x, (16,), attention.norm.weight, attention.norm.bias, 1e-12)
        query, key, value = (
            (inside @ layer.weight.T + layer.bias).view(2, 5, 4, 4).transpose(1, 2)
            for layer in (attention.query, attention.key, attention.value)
        )
        weights = torch.softmax(query @ key.transpose(2, 3) / 2.0, dim=-1)
        x = x + (weights @ value).transpose(1, 2).flatten(2) @ attention.output.weight.T + attention.output.bias
        inside = F.layer_norm(x, (16,), ffn.norm.weight, ffn.norm.bias, 1e-12)
        inside = F.gelu(inside @ ffn.up.weight.T + ffn.up.bias, approximate="tanh")
        x = x + inside @ ffn.down.weight.T + ffn.down.bias
        if i < 2:
            torch.testing.assert_close(out.hidden[i + 1], x, atol=1e-10, rtol=0)
    assert isinstance(model.encoder.norm, nn.LayerNorm if final else nn.Identity)
    torch.testing.assert_close(out.last, F.layer_norm(x, (16,), eps=1e-12) if final else x, atol=1e-10, rtol=0)


def test_post_norm_has_no_norm_at_the_end() -> None:
    assert isinstance(make(SMALL.but(final_norm=True)).encoder.norm, nn.Identity)


@pytest.mark.parametrize("config", [SMALL, ROTARY], ids=["absolute", "rotary"])
def test_gradient_flows_to_every_weight_of_a_pre_norm_model(config: Config) -> None:
    model = make(config.but(norm="pre", sharing="none", layers=6))
    out = model(tokens(2, 6), segments=torch.ones(2, 6, dtype=torch.long))
    (out.last * noise(2, 6, 16)).sum().backward()
    read = {name: p.grad for name, p in model.named_parameters() if not name.startswith(("pooler", "query_vector"))}
    still = [name for name, slope in read.items() if slope is None or not slope.any()]
    assert still == []
    sizes = [float(ffn.up.weight.grad.norm()) for ffn in model.encoder.ffn]
    assert max(sizes) < 100 * min(sizes)  # the lowest block learns as the highest does
