"""What is a token before anyone has looked around? Word, segment and position, summed at width E, mapped to H.

Shapes: B batch, T tokens, E embedding width, H hidden width.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from litebert.config import Config
from litebert.model.linear import linear, product


class Embedding(nn.Module):
    """The factorised embedding: tables of width E, a norm, and a mapping to H that exists only where it is needed."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.early = config.mapping == "early"
        width = config.hidden if self.early else config.embedding  # where words, segments and positions meet
        self.word = _table(config.vocab, config.embedding)
        self.segment = _table(config.segments, width) if _adds_segments(config) else None
        rows = config.max_positions + config.position_offset
        self.position = _table(rows, width) if config.positions == "absolute" else None
        self.norm = nn.LayerNorm(width, eps=config.layer_norm_eps) if config.embedding_norm else nn.Identity()
        self.map = nn.Linear(config.embedding, config.hidden, bias=not self.early) if config.mapped else None
        self.offset, self.pad, self.dropout = config.position_offset, config.pad, config.dropout
        self.pad_frozen = config.pad_frozen

    def forward(self, ids: Tensor, segments: Tensor | None = None, positions: Tensor | None = None) -> Tensor:
        x = F.embedding(ids, self.word.weight, padding_idx=self.pad if self.pad_frozen else None)  # [B, T, E]
        if self.early and self.map is not None:
            x = linear(x, self.map)
        if self.segment is not None:
            # Without segments everything is segment 0: one row to add instead of a table look-up.
            x = x + (self.segment.weight[0] if segments is None else self.segment(segments))
        if self.position is not None:
            x = x + self.position(self.places(ids) if positions is None else positions + self.offset)
        x = F.dropout(self.norm(x), self.dropout, self.training)
        return x if self.map is None or self.early else linear(x, self.map)  # [B, T, H]

    def decode(self, x: Tensor, bias: Tensor) -> Tensor:
        """x [..., width] -> logits [..., V] by the word table itself: the tie of input and output."""
        return product(self.narrowed(x), self.word.weight, bias)

    def narrowed(self, x: Tensor) -> Tensor:
        """x at the width of the word table: words that were mapped on the way in are mapped back."""
        if self.early and self.map is not None:
            return x @ self.map.weight  # [..., H] -> [..., E]
        return x

    def places(self, ids: Tensor) -> Tensor:
        """Rows of the position table: 0 … T-1, or counted over the real tokens where an offset is set (RoBERTa)."""
        if not self.offset:
            return torch.arange(ids.shape[1], device=ids.device)
        real = (ids != self.pad).long()
        return torch.cumsum(real, dim=1) * real + self.offset - 1


def _table(rows: int, width: int) -> nn.Embedding:
    """A table without values: to draw some on the device meta nn.Embedding imports PyTorch's compiler, for a second."""
    return nn.Embedding(rows, width, _weight=torch.empty(rows, width))


def _adds_segments(config: Config) -> bool:
    """Relative models score whether two tokens share a segment; the others add a vector for it."""
    return config.segments > 0 and config.positions != "relative"
