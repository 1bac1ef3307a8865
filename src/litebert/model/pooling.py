"""How do many token vectors become one? Named ways, each over real tokens only. Shapes: B batch, T tokens, H hidden."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from litebert.config import Config
from litebert.model.linear import linear


def first(hidden: Tensor) -> Tensor:
    """Position 0 (CLS in BERT's layout)."""
    return hidden[:, 0]


def mean(hidden: Tensor, mask: Tensor | None = None) -> Tensor:
    """Mean over the tokens where mask [B, T] is 1; CLS and SEP count, padding never does."""
    if mask is None:
        return hidden.mean(dim=1)
    weight = mask.to(hidden.dtype)[..., None]  # [B, T, 1]
    return (hidden * weight).sum(dim=1) / weight.sum(dim=1).clamp_min(1)


def maximum(hidden: Tensor, mask: Tensor | None = None) -> Tensor:
    """The largest of every feature over the real tokens."""
    if mask is not None:
        hidden = hidden.masked_fill(~mask.bool()[..., None], torch.finfo(hidden.dtype).min)
    return hidden.amax(dim=1)


def layers(states: Sequence[Tensor], chosen: Sequence[int], mask: Tensor | None = None) -> Tensor:
    """Mean over the token means of the chosen states; 0 is the mapped embedding, -1 the last layer."""
    for i in chosen:
        if not -len(states) <= i < len(states):
            raise ValueError(f"layer {i} does not exist: choose 0 (the embedding) to {len(states) - 1}")
    return torch.stack([mean(states[i], mask) for i in chosen]).mean(dim=0)


def first_last(states: Sequence[Tensor], mask: Tensor | None = None) -> Tensor:
    """Mean of the first transformer layer and the last (BERT-flow, BERT-whitening; SimCSE meant layer 0 first)."""
    return layers(states, (1, -1), mask)


class Pooler(nn.Module):
    """`out.pooled` by the config's choice; only `cls` has weights (dense and tanh, as in BERT)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.way = config.pooler
        self.dense = nn.Linear(config.hidden, config.hidden) if config.pooler == "cls" else None

    def forward(self, states: Sequence[Tensor], mask: Tensor | None) -> Tensor | None:
        """States and mask [B, T] -> [B, H], or None for `none`."""
        if self.dense is not None:
            return linear(first(states[-1]), self.dense, "tanh")
        match self.way:
            case "mean":
                return mean(states[-1], mask)
            case "max":
                return maximum(states[-1], mask)
            case "first-last":
                return first_last(states, mask)
        return None
