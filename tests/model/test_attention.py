"""How does a token gather from those it may see? Against a formula in loops; eager against fused; and the blind row."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from litebert.model import attention as module
from litebert.model.attention import Attention, Surroundings, mix, surroundings_of
from litebert.model.init import fill
from litebert.model.model import Model
from model.specimens import CORNERS, SMALL, influence, make, noise, tokens

IDS = tokens(2, 6)
SEGMENTS = torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]])
PADDING = torch.tensor([[1] * 6, [1] * 4 + [0] * 2])
ROWS = torch.tensor([[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 1], [0] * 6, [1] * 6, [0, 1, 0, 1, 0, 1], [0, 0, 0, 0, 0, 1]])
MASKS = {
    "no mask": None,
    "padding": PADDING,
    "padding on the left": PADDING.flip(1),
    "a mask for every row, row 2 blind": ROWS.expand(2, 6, 6),
    "a mask for every row and text": torch.stack([ROWS, ROWS.T]),
    "nothing but padding": torch.zeros(2, 6, dtype=torch.long),
    "every row blind": torch.zeros(2, 6, 6, dtype=torch.long),
}


def in_loops(query: Tensor, key: Tensor, value: Tensor, visible: Tensor) -> Tensor:
    """Softmax attention one number at a time; a query that sees no one gathers zeros."""
    out = torch.zeros_like(query)
    for b, n, q in torch.cartesian_prod(*(torch.arange(size) for size in query.shape[:3])).tolist():
        keys = [k for k in range(key.shape[2]) if visible[b, 0, q, k]]
        scores = [float(query[b, n, q] @ key[b, n, k]) / math.sqrt(query.shape[-1]) for k in keys]
        whole = sum(math.exp(score) for score in scores)
        for k, score in zip(keys, scores, strict=True):
            out[b, n, q] += math.exp(score) / whole * value[b, n, k]
    return out


@pytest.mark.parametrize("path", ["eager", "fused"])
def test_a_mix_is_a_softmax_over_those_who_are_seen(path) -> None:
    query, key, value = (noise(2, 3, 4, 5, seed=s, dtype=torch.float64) for s in range(3))
    visible = torch.stack([ROWS[:4, :4], ROWS[:4, 2:]]).bool()[:, None]
    assert not visible[0, 0, 2].any()
    bias, seen = surroundings_of(visible, torch.float64)
    found = mix(query, key, value, bias, 0.0, path) * seen
    torch.testing.assert_close(found, in_loops(query, key, value, visible), atol=1e-12, rtol=0)


def run(model: Model, path: str, mask: Tensor | None) -> tuple[Tensor, dict[str, Tensor]]:
    model.path = path
    model.zero_grad()
    out = model(IDS, mask, SEGMENTS)
    (out.last * noise(2, 6, 16, seed=8)).sum().backward()
    return out.last.detach(), {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_the_eager_path_is_the_fused_path(config, mask) -> None:
    model = make(config).double()
    eager, eager_slopes = run(model, "eager", mask)
    fused, fused_slopes = run(model, "fused", mask)
    torch.testing.assert_close(eager, fused, atol=1e-6, rtol=0)
    assert eager_slopes.keys() == fused_slopes.keys()
    for name, slope in eager_slopes.items():
        torch.testing.assert_close(slope, fused_slopes[name], atol=1e-5, rtol=1e-5, msg=lambda m, n=name: f"{n}: {m}")


@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
def test_the_two_paths_agree_in_float32_with_and_without_gradients(config) -> None:
    model = make(config)
    for grad in (True, False):
        with torch.set_grad_enabled(grad):
            outs = {}
            for path in ("eager", "fused", "auto"):
                model.path = path
                outs[path] = model(IDS, MASKS["a mask for every row and text"], SEGMENTS).last
            torch.testing.assert_close(outs["eager"], outs["fused"], atol=1e-5, rtol=1e-5)
            assert any(torch.equal(outs["auto"], outs[path]) for path in ("eager", "fused"))


def test_auto_trains_eagerly_and_serves_float32_by_the_fused_kernel(monkeypatch) -> None:
    plain, learning = noise(1, 2, 3, 4), noise(1, 2, 3, 4).requires_grad_()
    assert module._prefers_fused(plain, plain)
    assert not module._prefers_fused(learning, plain)
    assert not module._prefers_fused(plain, learning)
    half, learning_half = plain.bfloat16(), learning.bfloat16()
    for matrix_units in (True, False):
        monkeypatch.setattr(module, "AMX", matrix_units)
        assert module._prefers_fused(half, half) is matrix_units
        assert not module._prefers_fused(learning_half, half)
    with torch.no_grad():
        assert module._prefers_fused(learning, learning)
    monkeypatch.setattr(module, "_EAGER_BYTES", 2 * 3 * 3 * 4 - 1)
    assert module._prefers_fused(learning, learning)  # its scores would fill the memory


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("path", ["eager", "fused"])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_no_mask_makes_a_nan(mask, path, dtype) -> None:
    for config in (CORNERS["absolute"], CORNERS["relative"], CORNERS["rotary"]):
        model = make(config, path=path).to(dtype)
        out = model(IDS, mask, SEGMENTS)
        assert out.last.dtype == out.hidden[1].dtype == dtype
        assert all(state.isfinite().all() for state in out.hidden)
        (out.last * noise(2, 6, 16, dtype=dtype)).sum().backward()
        assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)
        with torch.no_grad():
            assert model(IDS, mask, SEGMENTS).last.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("path", ["eager", "fused"])
@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
def test_a_query_that_sees_no_one_gathers_zeros(config, path, dtype) -> None:
    model = make(config.but(layers=max(1, config.groups), attention_bias=True), path=path).to(dtype)
    sub_layer, hidden = model.encoder.attention[0], noise(1, 6, 16, dtype=dtype)
    with torch.no_grad():
        sub_layer.output.bias.copy_(noise(16, seed=5) * 0.3)
    around = model._surroundings(hidden, SEGMENTS[:1], None, 0)
    bias, seen = surroundings_of(ROWS.bool()[None, None], dtype)
    biases = model.encoder.biases[0] if len(model.encoder.biases) else None
    out = sub_layer(hidden, around._replace(bias=bias, seen=seen), None, biases)
    alone = hidden[:, 2] + sub_layer.output.bias
    assert torch.equal(out[:, 2], alone if config.norm == "pre" else sub_layer.norm(alone))
    assert not torch.allclose(out[:, 1], hidden[:, 1] + sub_layer.output.bias, atol=1e-2)


@pytest.mark.parametrize("path", ["eager", "fused"])
@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
def test_a_row_learns_from_itself_and_those_it_sees_alone(config, path) -> None:
    model = make(config.but(layers=max(1, config.groups)), path=path).double()  # rows see by one hop or two
    reach = ROWS.bool() | torch.eye(6, dtype=torch.bool)
    for _ in range(model.config.depth - 1):
        reach = (reach.double() @ (ROWS + torch.eye(6)).double()) > 0
    out = model(IDS[:1], ROWS[None], SEGMENTS[:1])
    assert torch.equal(influence(out.hidden[-1], out.hidden[0])[0], reach)


@pytest.mark.parametrize("path", ["eager", "fused"])
def test_a_text_of_nothing_but_padding_gathers_zeros(path) -> None:
    model = make(SMALL.but(layers=1), path=path).double()
    mask = torch.tensor([[1] * 6, [0] * 6])
    out = model(IDS, mask)
    assert torch.equal(influence(out.last[1:], out.hidden[0])[1], torch.eye(6, dtype=torch.bool))


def test_a_bias_is_zero_for_the_seen_and_the_lowest_number_for_the_others() -> None:
    bias, seen = surroundings_of(ROWS.bool()[None, None], torch.float32)
    assert bias[0, 0, 1].tolist() == [0, 0, *[torch.finfo(torch.float32).min] * 3, 0]
    assert bias[0, 0, 2].tolist() == [0] * 6  # the blind row: evenly spread, then put to zero by `seen`
    assert seen.flatten().tolist() == [1, 1, 0, 1, 1, 1]
    assert surroundings_of(None, torch.float32) == (None, None)


def test_the_sub_layer_is_projections_a_mix_a_residual_and_a_norm() -> None:
    sub_layer = Attention(SMALL)
    fill(sub_layer, SMALL, seed=1)
    with torch.no_grad():
        for i, layer in enumerate((sub_layer.query, sub_layer.key, sub_layer.value, sub_layer.output)):
            layer.bias.copy_(noise(16, seed=30 + i))
    sub_layer = sub_layer.double().eval().requires_grad_(False)
    hidden = noise(2, 6, 16, dtype=torch.float64)

    def split(layer: torch.nn.Linear) -> Tensor:
        return (hidden @ layer.weight.T + layer.bias).view(2, 6, 4, 4).transpose(1, 2)

    visible = ROWS.bool().expand(2, 1, 6, 6)
    mixed = in_loops(split(sub_layer.query), split(sub_layer.key), split(sub_layer.value), visible)
    gathered = mixed.transpose(1, 2).reshape(2, 6, 16) @ sub_layer.output.weight.T + sub_layer.output.bias
    expected = F.layer_norm(hidden + gathered, (16,), eps=1e-12)
    bias, seen = surroundings_of(visible, torch.float64)
    torch.testing.assert_close(sub_layer(hidden, Surroundings(bias, seen)), expected, atol=1e-10, rtol=0)
