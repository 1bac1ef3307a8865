"""What is the loss? Pure functions from logits and labels to a named term: its loss, and how often it was right.

`masked_lm` and `order` are the definitions. `Pretraining` is what runs: the same sums, by named objective, from a batch
and a model; the mean is taken by the loop, which alone knows the whole global batch. Shapes: B batch, P predicted
slots, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from litebert.config import unknown_name
from litebert.data.batch import UNASKED, Tensors
from litebert.errors import UserError
from litebert.model.heads import MaskedLM
from litebert.model.model import Model
from litebert.model.output import Output
from litebert.train.cross_entropy import Sums, tied

# What the summed cross entropy is divided by. google = sum of weights + 1e-5, as google-research/bert and /albert;
# mean = sum of weights, as transformers (where a batch without targets gives NaN; here it gives 0).
Denominator = Literal["google", "mean"]


class Term(NamedTuple):
    """One objective's share of the total, both scalars in float32; accuracy carries no gradient."""

    loss: Tensor
    accuracy: Tensor


def masked_lm(logits: Tensor, targets: Tensor, weights: Tensor, *, denominator: Denominator = "google") -> Term:
    """Cross entropy of logits [B, P, V] for targets [B, P], where weights [B, P] are 0 on slots that predict nothing.

    Any leading shape will do, [R, V] as well. Slots of weight 0 count for nothing; their target may be any id, or -100.
    """
    entropy = F.cross_entropy(logits.flatten(0, -2).float(), targets.flatten(), reduction="none")  # [B·P]
    weight = weights.flatten().float()
    count = weight.sum()
    some = torch.where(count > 0, count, 1.0)
    right = (logits.argmax(dim=-1) == targets).flatten().float()
    return Term(
        loss=(entropy * weight).sum() / (count + 1e-5 if denominator == "google" else some),
        accuracy=(right * weight).sum() / some,
    )


def order(logits: Tensor, labels: Tensor) -> Term:
    """SOP and NSP: mean cross entropy of logits [B, 2] for labels [B], 0 = in order (is next), 1 = swapped (random)."""
    return Term(
        loss=F.cross_entropy(logits.float(), labels),
        accuracy=(logits.argmax(dim=-1) == labels).float().mean(),
    )


def replaced(samples: Tensor, originals: Tensor) -> Tensor:
    """ELECTRA's labels: 1 where a sample is not what stood there. One that hits the original is real: 0."""
    return (samples != originals).long()


def total(terms: Mapping[str, Term]) -> Tensor:
    """The sum of the losses, unweighted, as BERT and ALBERT add theirs."""
    return torch.stack([term.loss for term in terms.values()]).sum()


class Pretraining:
    """The objectives of a run by name, on one forward pass: `Pretraining(["mlm", "sop"])`."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        for name in self.names:
            if name not in _PARTS:
                raise UserError(unknown_name("objective", name, _PARTS))

    def counts(self, micro: Tensors) -> dict[str, float]:
        """Targets of each objective in a micro-batch."""
        return {name: _PARTS[name].count(micro) for name in self.names}

    def sums(self, model: nn.Module, micro: Tensors) -> dict[str, Sums]:
        """What guessing them cost."""
        assert isinstance(model, Model)
        mask = None if bool(micro.mask.all()) else micro.mask  # padding is the exception: nothing to hide without it
        segments = micro.segments if model.config.segments > 1 else None
        out = model(micro.ids, mask, segments, all_hidden=False)
        return {name: _PARTS[name].sums(model, out, micro) for name in self.names}


class _Part(NamedTuple):
    count: Callable[[Tensors], float]  # type: ignore[assignment]  # hides tuple.count, which nobody asks
    sums: Callable[[Model, Output, Tensors], Sums]


def _masked_lm_sums(model: Model, out: Output, micro: Tensors) -> Sums:
    head = model.heads["mlm"]
    assert isinstance(head, MaskedLM)
    features, table = head.features(out, model.embedding, micro.asked)  # [B, P, E], [V, E]
    return tied(features.flatten(0, 1), table, head.bias, micro.targets.flatten(), micro.weights.flatten())


def _order_sums(model: Model, out: Output, micro: Tensors) -> Sums:
    asked = micro.order != UNASKED
    logits = model.logits("order", out).float()  # [B, 2]
    loss = F.cross_entropy(logits, micro.order, ignore_index=UNASKED, reduction="sum")
    return Sums(loss, ((logits.argmax(dim=-1) == micro.order) & asked).sum().float(), asked.sum().float())


def _order_count(micro: Tensors) -> float:
    return float((micro.order != UNASKED).sum())


_PARTS: dict[str, _Part] = {
    "mlm": _Part(lambda micro: float(micro.weights.sum()), _masked_lm_sums),
    "sop": _Part(_order_count, _order_sums),
    "nsp": _Part(_order_count, _order_sums),
}
