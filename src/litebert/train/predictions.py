"""Does a model answer everything with the same word? One look at its likeliest answers on held-out rows."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from litebert.data.batch import UNASKED, Tensors
from litebert.model.heads import MaskedLM
from litebert.model.model import Model
from litebert.model.output import Output
from litebert.train import feeding
from litebert.train.loop import Trainer

_ROWS = 64  # that are looked at: a thousand words, and enough pairs
_AT_ONCE = 1 << 24  # logits


@torch.no_grad()
def predictions(trainer: Trainer, micro: Tensors) -> dict[str, float]:
    """Share of the most frequent answer, and for words how many answers there are, over the micro-batch's first rows.

    `mlm_top`, `mlm_distinct` where words are asked for, `order_top` where an order is; the model's mode is restored.
    """
    model, rows = trainer.model, feeding.split(micro, _ROWS)[0]
    assert isinstance(model, Model)
    training = model.training
    model.eval()
    try:
        with trainer.precision.context():
            out = model(rows.ids, rows.mask, rows.segments if model.config.segments > 1 else None, all_hidden=False)
            words, orders = _words(model, out, rows), _orders(model, out, rows)
    finally:
        model.train(training)
    found: dict[str, float] = {}
    if words is not None and len(words):
        counts = torch.bincount(words)
        found |= {"mlm_top": float(counts.max()) / len(words), "mlm_distinct": float((counts > 0).sum())}
    if orders is not None and len(orders):
        found["order_top"] = float(torch.bincount(orders).max()) / len(orders)
    return found


def _words(model: Model, out: Output, rows: Tensors) -> Tensor | None:
    """The likeliest word of every place that is asked for."""
    if "mlm" not in model.heads:
        return None
    head = model.heads["mlm"]
    assert isinstance(head, MaskedLM)
    features, table = head.features(out, model.embedding, rows.asked)  # [B, P, E], [V, E]
    asked = features[rows.weights > 0]  # [R, E]
    step = max(1, _AT_ONCE // len(table))
    starts = range(0, len(asked), step)
    parts = [F.linear(asked[start : start + step], table, head.bias).argmax(-1) for start in starts]
    return torch.cat(parts) if parts else None


def _orders(model: Model, out: Output, rows: Tensors) -> Tensor | None:
    """The likelier order of every pair that has one."""
    if "order" not in model.heads:
        return None
    found: Tensor = model.logits("order", out).argmax(-1)
    return found[rows.order != UNASKED]
