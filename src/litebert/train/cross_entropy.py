"""What does it cost to guess words wrongly, without keeping the logits twice? Cross entropy over a tied word table.

A row of logits is as long as the vocabulary, so that the usual way (logits, their float32 copy, log-probabilities,
the gradient of both) moves five times the bytes that are needed. Here the logits are made once, in the dtype of the
product; a few rows at a time are turned in float32, while they lie in the cache, into the loss and then into its
gradient, which takes the logits' place. Shapes: R rows, E width, V vocabulary, C rows at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

_CACHED = 1 << 19  # numbers in float32 that are worked on at a time: two such buffers fit a core's cache


class Sums(NamedTuple):
    """An objective over some targets, summed in float32: only the loss carries a gradient."""

    loss: Tensor
    right: Tensor  # the weight of the targets that were the likeliest answer
    count: Tensor  # type: ignore[assignment]  # the weight of all targets; hides tuple.count, which nobody asks


def tied(features: Tensor, table: Tensor, bias: Tensor, targets: Tensor, weights: Tensor) -> Sums:
    """Cross entropy of `features · tableᵀ + bias` [R, V] for targets [R], each counted by its weight [R].

    Slots of weight 0 count for nothing; their target may be any id. The product runs in the features' dtype, or in
    that of the autocast around it.
    """
    weights, kind = weights.float(), features.device.type
    if torch.is_autocast_enabled(kind):  # on CUDA a norm leaves it in float32
        features = features.to(torch.get_autocast_dtype(kind))
    loss, right = _Tied.apply(features, table, bias, targets, weights)  # type: ignore[no-untyped-call]
    return Sums(loss, right, weights.sum())


class _Tied(torch.autograd.Function):
    """Gradients are made with the loss, as both need the same exponentials."""

    @staticmethod
    def forward(
        ctx: Any, features: Tensor, table: Tensor, bias: Tensor, targets: Tensor, weights: Tensor
    ) -> tuple[Tensor, Tensor]:
        words = table.to(features.dtype)  # [V, E]
        logits = F.linear(
            features, words
        )  # [R, V], the bias still missing: a product that adds it first copies it R times
        learns = any(ctx.needs_input_grad[:3])
        loss, right = _reduced(logits, bias.float(), targets, weights, learns)
        if learns:
            ctx.save_for_backward(logits, features, words)
            ctx.kinds = table.dtype, bias.dtype
        ctx.mark_non_differentiable(right)
        return loss, right

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        gradient, features, words = ctx.saved_tensors  # [R, V], [R, E], [V, E]
        scale = upstream[0]  # in float32, as a rounded one would shrink every gradient alike
        table_kind, bias_kind = ctx.kinds
        columns = (features.float() * scale).to(features.dtype)  # [R, E] is small, [V, E] is not
        ones = gradient.new_ones(1, len(features))
        return (
            ((gradient @ words).float() * scale).to(features.dtype),
            (gradient.t() @ columns).to(table_kind),
            (ones @ gradient)[0].to(bias_kind) * scale,
            None,
            None,
        )


def _reduced(
    logits: Tensor, bias: Tensor, targets: Tensor, weights: Tensor, learns: bool
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """(loss, right) of logits + bias, summed; where something learns the logits become the gradient, in place."""
    rows, vocabulary = logits.shape
    step = max(1, _CACHED // vocabulary) if logits.device.type == "cpu" else max(1, rows)
    scores = logits.new_empty(min(step, rows), vocabulary, dtype=torch.float32)
    losses, rights = weights.new_zeros(rows), weights.new_zeros(rows)
    for start in range(0, rows, step):
        part = slice(start, min(start + step, rows))
        score = torch.add(logits[part], bias, out=scores[: part.stop - start])  # [C, V]
        target = targets[part, None].clamp(min=0)  # -100 stands on slots of weight 0
        best = score.amax(dim=-1, keepdim=True)
        asked = score.gather(1, target)
        rights[part] = (asked >= best)[:, 0].float()
        score.sub_(best).exp_()
        total = score.sum(dim=-1, keepdim=True)
        losses[part] = (total.log() + best - asked)[:, 0]
        if learns:
            weight = weights[part, None]
            score.mul_(weight / total).scatter_add_(1, target, -weight)
            logits[part] = score
    counted = weights > 0  # a weight of 0 times an infinite loss would be no number
    return torch.where(counted, losses * weights, 0.0).sum(), (rights * weights).sum()
