"""How is one dense layer computed fastest, with the same numbers?

On CPU without gradients oneDNN's own product is called: on AMD it runs float32 at twice the rate of the MKL routine
that `F.linear` picks, and it folds the activation in (tanh-GELU alone costs as much as a third of the product). On CPUs
with matrix units (AMX) it keeps all threads but one idle at some shapes; what it does with them is measured once.
"""

from __future__ import annotations

import functools
import time

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from litebert.config import Activation

# activation -> the (attribute, algorithm) pair that oneDNN's fused product takes
_FUSED = {None: ("none", ""), "gelu_erf": ("gelu", "none"), "gelu_tanh": ("gelu", "tanh"), "relu": ("relu", ""),
          "tanh": ("tanh", "")}  # fmt: skip


def activate(x: Tensor, activation: Activation | str | None) -> Tensor:
    """The named activation; the two GELUs differ by up to 4.735e-4, so the name matters."""
    match activation:
        case None | "none":
            return x
        case "gelu_erf":
            return F.gelu(x)
        case "gelu_tanh":
            return F.gelu(x, approximate="tanh")
        case "relu":
            return F.relu(x)
        case "tanh":
            return torch.tanh(x)
    raise ValueError(f"unknown activation {activation!r}: choose gelu_erf, gelu_tanh, relu, tanh or none")


def linear(x: Tensor, layer: nn.Linear, activation: Activation | str | None = None) -> Tensor:
    """`activation(x · Wᵀ + b)`; a layer that was wrapped, replaced or hooked is called as it is."""
    plain = type(layer) is nn.Linear and not layer._forward_hooks and not layer._forward_pre_hooks
    if plain and _onednn_serves(x, layer.weight, layer.bias):
        return _onednn(x, layer.weight, layer.bias, activation)
    return activate(layer(x), activation)


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x · Wᵀ + b` for a weight that belongs to no layer: the word table as a decoder."""
    return _onednn(x, weight, bias, None) if _onednn_serves(x, weight, bias) else F.linear(x, weight, bias)


def _onednn(x: Tensor, weight: Tensor, bias: Tensor | None, activation: Activation | str | None) -> Tensor:
    attribute, algorithm = _FUSED[None if activation == "none" else activation]
    call = functools.partial(_call, weight=weight, bias=bias, attribute=attribute, algorithm=algorithm)
    out, rows = weight.shape[0], x.numel() // x.shape[-1]
    # It happens only where rows and columns are about as many. The last bits may differ, as with any other batch.
    doubtful = x.dtype == torch.bfloat16 and AMX and max(256, out // 2) <= rows < 4 * out
    if doubtful and halves_win(128 * round(rows / 128), x.shape[-1], out, torch.get_num_threads()):
        parts = x.reshape(rows, -1).chunk(2)
        return torch.cat([call(part) for part in parts]).view(*x.shape[:-1], out)
    return call(x)


def _call(x: Tensor, weight: Tensor, bias: Tensor | None, attribute: str, algorithm: str) -> Tensor:
    y: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, attribute, [], algorithm)
    return y


@functools.cache
def halves_win(rows: int, wide: int, out: int, threads: int) -> bool:
    """Whether two products of half the rows take less time here than the whole [rows, wide] · [wide, out], by a sixth.

    oneDNN 3.12 gives [1024, 768] · [768, 768] to one thread of two, and [512, 768] to both (LOG.md, 2026-11-19).
    """
    if threads < 2:
        return False
    x, weight = torch.ones(rows, wide, dtype=torch.bfloat16), torch.ones(out, wide, dtype=torch.bfloat16)
    call = functools.partial(_call, weight=weight, bias=None, attribute="none", algorithm="")
    best = [float("inf")] * 2
    for turn in range(12):  # in turn, so that a slow moment of the machine slows both; the first two warm up
        began = time.perf_counter()
        call(x) if turn % 2 else torch.cat([call(part) for part in x.chunk(2)])
        if turn > 1:
            best[turn % 2] = min(best[turn % 2], time.perf_counter() - began)
    return 7 * best[0] < 6 * best[1]


_BUILT_IN = bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]
AMX = torch.cpu._is_amx_tile_supported()  # whether this CPU has matrix units


def _onednn_serves(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> bool:
    """Inference on CPU, one dtype, not under autocast (which would have to cast the arguments), nor while compiling:
    inductor makes code for it only where weights are constants, and picks its own product anyway. Nor for a weight of
    a class of its own (quantised, spread over processes), which only `F.linear` asks what it is."""
    learns = x.requires_grad or weight.requires_grad or (bias is not None and bias.requires_grad)
    return (
        _BUILT_IN
        and x.device.type == "cpu"
        and type(weight) in (nn.Parameter, Tensor)
        and x.dtype == weight.dtype
        and (x.dtype == torch.float32 or (x.dtype == torch.bfloat16 and _bf16_in_hardware()))
        and not (torch.is_grad_enabled() and learns)
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
        and x.numel() > 0
    )


@functools.cache
def _bf16_in_hardware() -> bool:
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
