"""What is the loss? Pure functions from logits and labels to a named term: its loss, and how often it was right.

Shapes: B batch, P predicted slots, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

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


def total(terms: Mapping[str, Term]) -> Tensor:
    """The sum of the losses, unweighted, as BERT and ALBERT add theirs."""
    return torch.stack([term.loss for term in terms.values()]).sum()
