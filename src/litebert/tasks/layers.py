"""Which hidden states does a head read? Layers by explicit places: 0 is the embedding, `depth` the last block.

The choices are those that BERT's authors compare (Devlin et al. 2018, table 7). Shapes: B batch, T tokens, H hidden,
K layers.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from litebert.errors import UserError
from litebert.tasks.settings import Layers

_FEW = 4  # the last so many


def places(layers: Layers, depth: int) -> tuple[int, ...]:
    """The states that a choice reads of a model of `depth` blocks, from below."""
    if layers == "embedding":
        return (0,)
    if layers == "last":
        return (depth,)
    if layers == "second-to-last":
        _check(layers, depth, 2)
        return (depth - 1,)
    if layers in ("sum-all", "weighted-all"):
        return tuple(range(1, depth + 1))
    _check(layers, depth, _FEW)
    return tuple(range(depth - _FEW + 1, depth + 1))


def weighted(layers: Layers) -> bool:
    """Whether the head learns how much each of its layers counts."""
    return layers.startswith("weighted")


def count(layers: Layers, depth: int) -> int:
    """K: how many vectors of width H stand side by side in what `chosen` gives."""
    return 1 if layers.startswith("sum") else len(places(layers, depth))


def chosen(hidden: Sequence[Tensor], layers: Layers) -> Tensor:
    """depth + 1 states [B, T, H] -> [B, T, K · H]: a sum, or layers side by side from below (weights come later)."""
    picked = [hidden[place] for place in places(layers, len(hidden) - 1)]
    if layers.startswith("sum"):
        return torch.stack(picked).sum(dim=0)
    return picked[0] if len(picked) == 1 else torch.cat(picked, dim=-1)


def _check(layers: Layers, depth: int, least: int) -> None:
    if depth < least:
        raise UserError(f"layers {layers!r} needs a model of {least} blocks or more, and this one has {depth}: choose "
                        "last, sum-all or weighted-all")  # fmt: skip
