"""How does a dense layer learn on the CPU? The same product and gradients as `F.linear`'s, by oneDNN's fastest ways.

Which way is fastest was measured (LOG.md, 2026-11-20): the bias in the product; the gradient of the weight as dYᵀ·X or
as (Xᵀ·dY)ᵀ, by shape; float32 by oneDNN, as MKL runs at half its rate on AMD. Shapes: R rows, I in, O out.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from litebert.model import onednn
from litebert.model.casting import Layouts


class Dense(torch.autograd.Function):
    """x [..., I], weight [O, I], bias [O] -> x · Wᵀ + b [..., O]; all of one type that `onednn.knows`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, layouts: Layouts | None) -> Tensor:
        """x and weight are kept, nothing else."""
        ctx.save_for_backward(x, weight)
        ctx.layouts = layouts
        return onednn.dense(x, weight if layouts is None else layouts.ahead(weight, rows_of(x)), bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        """Only what is asked for."""
        x, weight = ctx.saved_tensors
        needs_x, needs_weight, needs_bias, _ = ctx.needs_input_grad
        dy, flat = upstream.reshape(-1, upstream.shape[-1]), x.reshape(-1, x.shape[-1])  # [R, O], [R, I]
        dx = None
        if needs_x:
            turned = weight.t() if ctx.layouts is None else ctx.layouts.back(weight, len(dy))
            dx = onednn.dense(dy, turned, None).view(x.shape)
        return dx, _to_weight(dy, flat) if needs_weight else None, dy.sum(0) if needs_bias else None, None


class TanhGelu(torch.autograd.Function):
    """tanh-GELU of x in bfloat16 with the derivative of the erf form, at a third of the price of PyTorch's own.

    The two derivatives differ by 0.0009 at most, half of what bfloat16 rounds a derivative near 1 by. What is put
    forward is exact.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        """x is kept."""
        ctx.save_for_backward(x)
        return onednn.activated(x.contiguous(), "gelu_tanh")

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> Tensor:
        """By the erf form's slope."""
        (x,) = ctx.saved_tensors
        dx: Tensor = torch.ops.aten.gelu_backward(upstream, x, approximate="none")
        return dx


def rows_of(x: Tensor) -> int:
    """R of x [..., I]."""
    return x.numel() // x.shape[-1]


def _to_weight(dy: Tensor, x: Tensor) -> Tensor:
    """dYᵀ·X [O, I]."""
    widens = dy.shape[1] > x.shape[1]
    if dy.dtype == torch.bfloat16:
        return dy.t() @ x if widens else (x.t() @ dy).t()
    return onednn.dense(x.t(), dy.t(), None).t() if widens else onednn.dense(dy.t(), x.t(), None)
