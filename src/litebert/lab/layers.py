"""What does every layer do to a token? How far it moves the vector, and how far it turns it (ALBERT paper, figure 1).

Shapes: B texts of a batch, T tokens, H hidden, L layers executed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from litebert.model.model import Model
from litebert.text.tokenizer import Tokenizer
from litebert.vectors import rows

_BATCH = 16


class Layers(NamedTuple):
    """Means over the real tokens of some texts, layer by layer [L]."""

    distance: list[float]  # L2, between what goes into a layer and what comes out
    angle: list[float]  # degrees
    tokens: int


def measure(model: Model, tokenizer: Tokenizer, texts: Sequence[str]) -> Layers:
    """Distances and angles on texts; what is longer than the model reads is cut off."""
    rows.check(model, tokenizer, texts)
    most = rows.most(model)
    encoded = [tokenizer.encode(text)[: most or None] for text in texts]
    total = torch.zeros(2, model.config.depth, dtype=torch.float64)
    tokens = 0
    with rows.resting(model):
        for group in rows.batches(model, tokenizer, encoded, _BATCH):
            real = torch.ones_like(group.ids) if group.mask is None else group.mask
            total += between(group.through(model, all_hidden=True).hidden, real)
            tokens += int(real.sum())
    distance, angle = (total / max(1, tokens)).tolist()
    return Layers(distance, angle, tokens)


def between(states: Sequence[Tensor], real: Tensor) -> Tensor:
    """L + 1 states [B, T, H] and a mask [B, T] -> [2, L] sums of distances and of angles over the real tokens."""
    sums = []
    for before, after in pairwise(states):
        x, y = before[real.bool()].double(), after[real.bool()].double()  # [tokens, H]
        cosine = F.cosine_similarity(x, y, dim=-1).clamp(-1.0, 1.0)
        sums.append(torch.stack([(y - x).norm(dim=-1).sum(), torch.rad2deg(torch.acos(cosine)).sum()]))
    return torch.stack(sums, dim=1).cpu()
