"""How does the stack run? One loop over depth that looks its weights up in the sharing map.

Shapes: B batch, T tokens, H hidden, M memory rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from litebert.config import Config
from litebert.model.attention import Attention, Surroundings
from litebert.model.ffn import FeedForward
from litebert.model.relative import Biases
from litebert.model.sharing import distinct, sharing_map


class Encoder(nn.Module):
    """The distinct sub-layers, and for every depth which of them runs."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.map = sharing_map(config)
        self.attention = nn.ModuleList(Attention(config) for _ in range(distinct(self.map.attention)))
        self.ffn = nn.ModuleList(FeedForward(config) for _ in range(distinct(self.map.ffn)))
        # Score biases follow the attention they belong to, or are one set for the whole depth.
        count = 0 if config.positions != "relative" else len(self.attention) if config.untied else 1
        self.biases = nn.ModuleList(Biases(config) for _ in range(count))
        # Post-norm blocks end in a norm; a pre-norm stack needs one more at its end.
        closing = config.norm == "pre" and config.final_norm
        self.norm = nn.LayerNorm(config.hidden, eps=config.layer_norm_eps) if closing else nn.Identity()

    def blocks(self) -> Iterator[tuple[Attention, FeedForward, Biases | None]]:
        """The sub-layers in the order in which they run; shared ones come up again and again."""
        for attention, ffn in zip(self.map.attention, self.map.ffn, strict=True):
            biases = self.biases[min(attention, len(self.biases) - 1)] if len(self.biases) else None
            yield self.attention[attention], self.ffn[ffn], biases  # type: ignore[misc]

    def forward(
        self,
        hidden: Tensor,
        around: Surroundings,
        memory: Sequence[Tensor | None] | None = None,
        frozen: int = 0,
        keep: bool = True,
    ) -> list[Tensor]:
        """hidden [B, T, H] -> depth + 1 states, the input first, or only the last where they need not be kept.

        The first `frozen` blocks run without gradient.
        """
        states = [hidden]
        learning = torch.is_grad_enabled()
        for i, (attention, ffn, biases) in enumerate(self.blocks()):
            with torch.set_grad_enabled(learning and i >= frozen):
                hidden = attention(hidden, around, None if memory is None else memory[i], biases)
                hidden = ffn(hidden)
            states = [*states, hidden] if keep else [hidden]  # what nobody asks for is let go at once
        states[-1] = self.norm(states[-1])
        return states
