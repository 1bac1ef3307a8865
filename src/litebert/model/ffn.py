"""What does a token make of what it gathered? Up, activation, down, residual, norm; no token sees another here."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from litebert.config import Config
from litebert.model.linear import linear


class FeedForward(nn.Module):
    """The feed-forward sub-layer with its residual and norm."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.up = nn.Linear(config.hidden, config.ffn)
        self.down = nn.Linear(config.ffn, config.hidden)
        self.norm = nn.LayerNorm(config.hidden, eps=config.layer_norm_eps)
        self.activation = config.activation
        self.inner_dropout = config.activation_dropout
        self.dropout = config.dropout if config.ffn_output_dropout else 0.0
        self.norm_first = config.norm == "pre"

    def forward(self, hidden: Tensor) -> Tensor:
        """[B, T, H] -> [B, T, H], through a width of `ffn`."""
        x = linear(self.norm(hidden) if self.norm_first else hidden, self.up, self.activation)
        x = linear(F.dropout(x, self.inner_dropout, self.training), self.down)
        x = F.dropout(x, self.dropout, self.training)
        return hidden + x if self.norm_first else self.norm(hidden + x)
