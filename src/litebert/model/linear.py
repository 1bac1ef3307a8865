"""How is one dense layer computed fastest, with the same numbers?

On CPU by oneDNN's own product: without gradients with the activation folded in (tanh-GELU alone costs as much as a
third of the product), with gradients by `dense.py`. Elsewhere, and for layers that are more than their weight, by
PyTorch.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from litebert.config import Activation
from litebert.model import casting, onednn
from litebert.model.dense import Dense, TanhGelu, rows_of


def activate(x: Tensor, activation: Activation | str | None) -> Tensor:
    """The named activation; the two GELUs differ by up to 4.735e-4, so the name matters."""
    match activation:
        case None | "none":
            return x
        case "gelu_erf":
            return F.gelu(x)
        case "gelu_tanh":
            if x.requires_grad and x.dtype == torch.bfloat16 and x.numel() and _ours(x) and onednn.knows(x.dtype):
                y: Tensor = TanhGelu.apply(x)  # type: ignore[no-untyped-call]
                return y
            return F.gelu(x, approximate="tanh")
        case "relu":
            return F.relu(x)
        case "tanh":
            return torch.tanh(x)
    raise ValueError(f"unknown activation {activation!r}: choose gelu_erf, gelu_tanh, relu, tanh or none")


def linear(x: Tensor, layer: nn.Linear, activation: Activation | str | None = None) -> Tensor:
    """`activation(x · Wᵀ + b)`; a layer that was wrapped, replaced or hooked is called as it is."""
    given = _given(x, layer.weight, layer.bias) if is_plain(layer) else None
    if given is None:
        return activate(layer(x), activation)
    if given.learns:
        return activate(_learnt(given), activation)
    return _served(given, activation)


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x · Wᵀ + b` for a weight that belongs to no layer: the word table as a decoder."""
    given = _given(x, weight, bias)
    if given is None:
        return F.linear(x, weight, bias)
    return _learnt(given) if given.learns else _served(given, None)


def _learnt(given: _Given) -> Tensor:
    y: Tensor = Dense.apply(given.x, given.weight, given.bias, casting.layouts(given.weight))  # type: ignore[no-untyped-call]
    return y


def _served(given: _Given, activation: Activation | str | None) -> Tensor:
    layouts = casting.layouts(given.weight)
    weight = given.weight if layouts is None else layouts.ahead(given.weight, rows_of(given.x))
    return onednn.dense(given.x, weight, given.bias, activation)


def is_plain(layer: nn.Linear) -> bool:
    """Whether calling it is its product and nothing else: no hook on the way there or back, no `forward` of its own."""
    hooks = layer._forward_hooks or layer._forward_pre_hooks or layer._backward_hooks or layer._backward_pre_hooks
    return type(layer) is nn.Linear and not hooks and "forward" not in layer.__dict__


class _Given(NamedTuple):
    """The arguments of a product as oneDNN takes them: of one type."""

    x: Tensor
    weight: Tensor
    bias: Tensor | None
    learns: bool


def _given(x: Tensor, weight: Tensor, bias: Tensor | None) -> _Given | None:
    """What oneDNN multiplies, cast as autocast would; None where it is not asked: elsewhere than on the CPU, for types
    it is slow in, for no rows, and for a weight of a class of its own (quantised, spread over processes), which only
    `F.linear` asks what it is."""
    if type(weight) not in (nn.Parameter, Tensor) or x.numel() == 0 or not _ours(x):
        return None
    dtype = casting.of_products(x)
    if not onednn.knows(dtype):
        return None
    if dtype == x.dtype and not torch.is_autocast_enabled("cpu"):
        if weight.dtype != dtype or (bias is not None and bias.dtype != dtype):
            return None  # mixed types are F.linear's to refuse
    else:
        x, weight = x.to(dtype), casting.cast(weight, dtype)
        bias = None if bias is None else casting.cast(bias, dtype)
    learns = x.requires_grad or weight.requires_grad or (bias is not None and bias.requires_grad)
    return _Given(x, weight, bias, learns and torch.is_grad_enabled())


def _ours(x: Tensor) -> bool:
    """On the CPU, and not while compiling: inductor makes code for oneDNN's product only where weights are constants,
    and picks its own product anyway. Nor within torch.func, which knows PyTorch's own operators, nor where oneDNN is
    switched off (`torch.backends.mkldnn.flags`)."""
    if x.device.type != "cpu" or torch.compiler.is_compiling() or not onednn.switched_on():
        return False
    return not torch._C._are_functorch_transforms_active()
