"""Are the gradients of a dense layer those of the formula, and what does bfloat16's tanh-GELU leave out?"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from litebert.model import onednn
from litebert.model.linear import activate, linear
from model.specimens import noise
from model.test_linear import layer_of


@pytest.mark.parametrize("shape", [(24, 7), (7, 24), (24, 24)], ids=["narrows", "widens", "square"])
@pytest.mark.parametrize("bias", [True, False], ids=["with bias", "without bias"])
@pytest.mark.parametrize("leading", [(5,), (2, 3), (1,)], ids=str)
def test_gradients_are_those_of_the_formula(leading, bias, shape) -> None:
    layer = nn.Linear(*shape, bias=bias)
    x, upstream = noise(*leading, shape[0]).requires_grad_(), noise(*leading, shape[1], seed=9)
    wanted = torch.autograd.grad(F.linear(x, layer.weight, layer.bias), [x, *layer.parameters()], upstream)
    found = torch.autograd.grad(linear(x, layer), [x, *layer.parameters()], upstream)
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_what_stands_still_is_asked_for_no_gradient() -> None:
    layer, x = layer_of(True), noise(5, 24)
    layer.weight.requires_grad_(False)
    linear(x, layer).sum().backward()
    assert layer.weight.grad is None
    assert float(layer.bias.grad[0]) == 5.0


@pytest.mark.skipif(not onednn.bfloat16_in_hardware(), reason="this CPU has no products in bfloat16")
@pytest.mark.parametrize("shape", [(24, 7), (7, 24)], ids=["narrows", "widens"])
def test_under_autocast_the_gradients_are_pytorch_s_own(shape) -> None:
    layer = nn.Linear(*shape)
    x, upstream = noise(64, shape[0]).requires_grad_(), noise(64, shape[1], seed=9).bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        plain, ours = F.linear(x, layer.weight, layer.bias), linear(x, layer)
    assert ours.dtype == plain.dtype == torch.bfloat16
    torch.testing.assert_close(ours, plain, atol=2**-7, rtol=2**-7)
    wanted = torch.autograd.grad(plain, [x, *layer.parameters()], upstream)
    for one, other in zip(torch.autograd.grad(ours, [x, *layer.parameters()], upstream), wanted, strict=True):
        assert one.dtype == other.dtype == torch.float32
        torch.testing.assert_close(one, other, atol=2**-5, rtol=2**-6)


@pytest.mark.skipif(not onednn.bfloat16_in_hardware(), reason="this CPU has no products in bfloat16")
def test_bfloat16_s_tanh_gelu_is_its_own_and_its_derivative_within_a_thousandth() -> None:
    x = torch.linspace(-9, 9, 9 * 1024 + 1).bfloat16()[:, None].expand(-1, 8).contiguous().requires_grad_()
    y = activate(x, "gelu_tanh")
    (slope,) = torch.autograd.grad(y, x, torch.ones_like(y))
    double = x.detach().double().requires_grad_()
    exact_y = F.gelu(double, approximate="tanh")
    (exact_slope,) = torch.autograd.grad(exact_y.sum(), double)
    torch.testing.assert_close(y.double(), exact_y, atol=1e-5, rtol=2**-8)  # of the erf form it would be off by 5e-4
    # the forms differ by 9.1e-4; bfloat16 rounds a slope of 1 to 1.13 by up to 3.9e-3, smaller ones by less
    torch.testing.assert_close(slope.double(), exact_slope, atol=9.5e-4, rtol=2**-8)


def test_no_rows_have_a_tanh_gelu_too() -> None:
    """A micro-batch without a masked word."""
    x = torch.zeros(0, 8, dtype=torch.bfloat16, requires_grad=True)
    y = activate(x, "gelu_tanh")
    y.sum().backward()
    assert y.shape == x.grad.shape == (0, 8)


def test_where_the_cpu_has_no_bfloat16_its_tanh_gelu_is_pytorch_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """oneDNN refuses to activate it there."""
    monkeypatch.setattr(onednn, "bfloat16_in_hardware", lambda: False)
    monkeypatch.setattr(onednn, "activated", lambda *_: pytest.fail("oneDNN was asked"))
    x = noise(5, 8).bfloat16().requires_grad_()
    assert torch.equal(activate(x, "gelu_tanh"), F.gelu(x, approximate="tanh"))
