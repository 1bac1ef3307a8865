"""Does oneDNN's fused product say what `F.linear` and an activation say? And which GELU is it?"""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from litebert.model import linear as module
from litebert.model import onednn
from litebert.model.linear import activate, linear
from model.specimens import CORNERS, make, noise, tokens

ACTIVATIONS = [None, "none", "gelu_erf", "gelu_tanh", "relu", "tanh"]
SHAPES = {"two axes": (5, 24), "three axes": (2, 3, 24), "four axes": (2, 3, 2, 24), "one row": (1, 24)}


def exact(x: Tensor, layer: nn.Linear, activation: str | None) -> Tensor:
    """The formula in float64, written without PyTorch's activations."""
    y = x.double() @ layer.weight.double().T
    y = y if layer.bias is None else y + layer.bias.double()
    match activation:
        case "gelu_erf":
            return 0.5 * y * (1 + torch.erf(y / math.sqrt(2)))
        case "gelu_tanh":
            return 0.5 * y * (1 + torch.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y**3)))
        case "relu":
            return torch.where(y > 0, y, 0.0)
        case "tanh":
            return torch.tanh(y)
    return y


def layer_of(bias: bool, dtype: torch.dtype = torch.float32) -> nn.Linear:
    layer = nn.Linear(24, 7, bias=bias)
    with torch.no_grad():
        for i, parameter in enumerate(layer.parameters()):
            parameter.copy_(noise(*parameter.shape, seed=20 + i) * 0.5)
    return layer.to(dtype)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("bias", [True, False], ids=["with bias", "without bias"])
def test_with_and_without_gradients_the_numbers_are_the_formula_s(activation, shape, bias) -> None:
    layer, x = layer_of(bias), noise(*shape)
    expected = exact(x, layer, activation)
    learning = linear(x, layer, activation)
    with torch.no_grad():
        serving = linear(x, layer, activation)
    assert learning.requires_grad
    assert serving.shape == learning.shape == (*shape[:-1], 7)
    torch.testing.assert_close(learning.double(), expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(serving.double(), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_bfloat16_is_off_by_its_own_rounding_and_no_more(activation, shape) -> None:
    layer, x = layer_of(True, torch.bfloat16), noise(*shape, dtype=torch.bfloat16)
    expected = exact(x, layer, activation)
    with torch.no_grad():
        serving = linear(x, layer, activation)
    assert serving.dtype == torch.bfloat16
    # one rounding of the sum (8 bits), one of the activation, whose slope is at most 1.13
    torch.testing.assert_close(serving.double(), expected, atol=2**-7, rtol=2**-7)


class Own(torch.Tensor):
    """A weight that is more than its numbers, as quantised ones are; `F.linear` asks its class."""

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function is F.linear:
            return 2 * F.linear(args[0], args[1].as_subclass(torch.Tensor), *args[2:])
        return super().__torch_function__(function, types, args, kwargs or {})


def test_a_weight_of_a_class_of_its_own_is_asked_for_the_product() -> None:
    layer, x = layer_of(False), noise(5, 24)
    plain = x @ layer.weight.detach().T
    own = layer.weight.detach().as_subclass(Own)
    layer.weight = nn.Parameter(own, requires_grad=False)
    with torch.no_grad():
        torch.testing.assert_close(linear(x, layer).as_subclass(torch.Tensor), 2 * plain)
        torch.testing.assert_close(module.product(x, layer.weight).as_subclass(torch.Tensor), 2 * plain)


def in_halves(monkeypatch: pytest.MonkeyPatch, wanted: bool) -> list[int]:
    """As on a CPU with matrix units where halves win, or not; gives back the rows of every product that is made."""
    rows: list[int] = []
    call = onednn._call

    def counted(x: Tensor, **more: Any) -> Tensor:
        rows.append(x.numel() // x.shape[-1])
        return call(x, **more)

    monkeypatch.setattr(onednn, "AMX", True)
    monkeypatch.setattr(onednn, "halves_win", lambda *shape: wanted)
    monkeypatch.setattr(onednn, "_call", counted)
    return rows


@pytest.mark.skipif(not onednn.bfloat16_in_hardware(), reason="this CPU has no products in bfloat16")
@pytest.mark.parametrize("activation", [None, "gelu_tanh"])
@pytest.mark.parametrize("shape", [(256, 24), (3, 131, 24), (2, 5, 37, 24)], ids=str)
@pytest.mark.parametrize("bias", [True, False], ids=["with bias", "without bias"])
def test_two_halves_are_the_whole(bias, shape, activation, monkeypatch) -> None:
    rows = in_halves(monkeypatch, True)
    layer = nn.Linear(24, 128, bias=bias).bfloat16()
    x, count = noise(*shape, dtype=torch.bfloat16), math.prod(shape[:-1])
    with torch.no_grad():
        found = linear(x, layer, activation)
    assert rows == [count - count // 2, count // 2]
    assert found.shape == (*shape[:-1], 128)
    torch.testing.assert_close(found.double(), exact(x, layer, activation), atol=2**-7, rtol=2**-7)


@pytest.mark.skipif(not onednn.bfloat16_in_hardware(), reason="this CPU has no products in bfloat16")
@pytest.mark.parametrize("rows, out, wanted, made", [
    (256, 128, True, [128, 128]), (256, 128, False, [256]), (255, 128, True, [255]), (512, 128, True, [512]),
    (300, 600, True, [150, 150]), (300, 602, True, [300]),
], ids=["doubtful", "measured otherwise", "few rows", "far more rows", "half as many", "far fewer"])  # fmt: skip
def test_a_product_is_halved_only_where_it_is_doubtful_and_wins(rows, out, wanted, made, monkeypatch) -> None:
    found = in_halves(monkeypatch, wanted)
    with torch.no_grad():
        linear(noise(rows, 24, dtype=torch.bfloat16), nn.Linear(24, out).bfloat16())
    assert found == made


@pytest.mark.parametrize("whole, half, threads, wins", [
    (2.0, 0.5, 2, True), (2.0, 0.8, 2, True), (2.0, 0.9, 2, False), (2.0, 1.0, 2, False), (1.0, 1.0, 4, False),
    (2.0, 0.5, 1, False),
], ids=["twice as fast", "a fifth less", "a tenth less", "as fast", "slower", "one thread"])  # fmt: skip
def test_halves_win_by_a_sixth_or_not_at_all(whole, half, threads, wins, monkeypatch) -> None:
    """A clock that moves by what a product costs, and once stands still for a second, as a busy machine does."""
    now, calls = [0.0], []

    def call(x: Tensor, **_: Any) -> Tensor:
        calls.append(len(x))
        now[0] += (whole if len(x) == 512 else half) + (1.0 if len(calls) == 9 else 0.0)
        return x

    monkeypatch.setattr(onednn, "_call", call)
    monkeypatch.setattr(onednn.time, "perf_counter", lambda: now[0])
    assert onednn.halves_win.__wrapped__(512, 8, 512, threads) is wins
    assert calls == ([] if threads == 1 else [256, 256, 512] * 6)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_views_that_are_not_contiguous_are_read_right(activation) -> None:
    layer = layer_of(True)
    transposed, cut = noise(3, 24, 2).transpose(1, 2), noise(4, 30)[:, 3:27]
    with torch.no_grad():
        for x in (transposed, cut):
            torch.testing.assert_close(linear(x, layer, activation).double(), exact(x, layer, activation),
                                       atol=1e-5, rtol=0)  # fmt: skip


def test_onednn_is_asked_only_for_what_it_is_fast_in() -> None:
    if not onednn.BUILT_IN:
        pytest.skip("this PyTorch has no oneDNN")
    layer, x = layer_of(True), noise(2, 24)
    given = module._given(x, layer.weight, layer.bias)
    assert given is not None
    assert given.learns
    layer.weight.requires_grad_(False)
    assert module._given(x, layer.weight, layer.bias).learns  # its bias may be what learns
    with torch.no_grad():
        assert not module._given(x, layer.weight, layer.bias).learns
        assert module._given(x.double(), layer.weight.double(), None) is None
        assert module._given(x.double(), layer.weight, layer.bias) is None  # mixed types are F.linear's to refuse
        assert module._given(x[:0], layer.weight, layer.bias) is None
        assert linear(x[:0], layer, "relu").shape == (0, 7)
        with onednn.switched_off():
            assert module._given(x, layer.weight, layer.bias) is None
        assert module._given(x, layer.weight, layer.bias) is not None


@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
def test_a_model_says_the_same_with_and_without_gradients(config) -> None:
    heads = ["mlm", "classify", "tag", "span", "rtd"]
    model, ids = make(config, heads), tokens(2, 7)
    mask = torch.tensor([[1] * 7, [1] * 4 + [0] * 3])
    learning = model(ids, mask)
    with torch.no_grad():
        serving = model(ids, mask)
    torch.testing.assert_close(serving.last, learning.last, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(serving.pooled, learning.pooled, atol=1e-5, rtol=1e-5)
    for head in heads:
        with torch.no_grad():
            said = model.logits(head, serving)
        torch.testing.assert_close(said, model.logits(head, learning), atol=2e-5, rtol=1e-5)


def test_the_two_gelus_differ_by_4_735e_4_at_most_near_2_699() -> None:
    x = torch.linspace(-8, 8, 160_001, dtype=torch.float64)
    gap = (activate(x, "gelu_tanh") - activate(x, "gelu_erf")).abs()
    assert 4.732e-4 < float(gap.max()) <= 4.735e-4
    assert abs(float(x[gap.argmax()])) == pytest.approx(2.699, abs=5e-4)


def test_each_gelu_is_the_one_its_name_says() -> None:
    x = torch.tensor([2.699], dtype=torch.float64)
    erf = 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))
    torch.testing.assert_close(activate(x, "gelu_erf"), erf, atol=1e-12, rtol=0)
    assert float((activate(x, "gelu_tanh") - erf).abs()) > 4.7e-4
    assert torch.equal(activate(x, "relu"), x)
    assert torch.equal(activate(-x, "relu"), torch.zeros_like(x))


def test_the_config_s_activation_reaches_the_ffn_and_the_masked_word_head() -> None:
    for name, function in {"relu": F.relu, "gelu_erf": F.gelu}.items():
        model = make(CORNERS["absolute"].but(activation=name, head_activation="relu"), ["mlm"]).double()
        ffn, x = model.encoder.ffn[0], noise(2, 3, 16, dtype=torch.float64)
        inside = function(x @ ffn.up.weight.T + ffn.up.bias)
        torch.testing.assert_close(ffn(x), ffn.norm(x + inside @ ffn.down.weight.T + ffn.down.bias))
        head, out = model.heads["mlm"], model(tokens(2, 3))
        dense = head.norm(F.relu(out.last @ head.dense.weight.T + head.dense.bias))
        torch.testing.assert_close(model.logits("mlm", out), dense @ model.embedding.word.weight.T + head.bias)


def test_an_unknown_activation_names_the_ones_that_exist() -> None:
    with pytest.raises(ValueError, match=r"unknown activation 'swish': choose gelu_erf, gelu_tanh, relu, tanh or none"):
        activate(noise(2), "swish")


@pytest.mark.parametrize("how", ["full_backward", "full_backward_pre", "forward", "forward_pre"])
def test_whoever_hooked_a_layer_is_called(how) -> None:
    """As those do who watch gradients."""
    layer, called = layer_of(True), list[str]()
    getattr(layer, f"register_{how}_hook")(lambda *_: called.append(how))
    linear(noise(5, 24).requires_grad_(), layer, "relu").sum().backward()
    assert called == [how]


def test_a_layer_with_a_forward_of_its_own_is_called() -> None:
    layer = layer_of(True)
    layer.forward = lambda x: x[..., :7] + 3.0  # type: ignore[method-assign]
    x = noise(5, 24)
    torch.testing.assert_close(linear(x, layer), x[:, :7] + 3.0)


def test_torch_func_takes_gradients_of_every_row() -> None:
    """Of each example its own: an autograd function of ours stands in its way."""
    layer, x = layer_of(True), noise(5, 24)

    def lost(weight: Tensor, row: Tensor) -> Tensor:
        return module.product(row[None], weight, layer.bias).sum()

    found = torch.func.vmap(torch.func.grad(lost), (None, 0))(layer.weight.detach(), x)
    torch.testing.assert_close(found, x[:, None].expand(-1, 7, -1))
