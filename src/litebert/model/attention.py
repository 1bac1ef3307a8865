"""How does a token gather from the tokens that it may see? One sub-layer: project, score, mix, project, add, norm.

Two paths compute the same mix. `eager` is three batched products: on CPU its backward is up to four times faster than
the fused kernel's, and in bfloat16 without matrix units (AMX) its forward is twice as fast. `fused` is PyTorch's own
kernel: on CPU the faster forward in float32, and in bfloat16 with matrix units; on CUDA flash attention. `auto` takes
what was measured (LOG.md, 2026-11-18 and -19).
Shapes: B batch, T tokens, N heads, D head width, Q queries, K keys (memory first), H hidden.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from litebert.config import Config
from litebert.model import relative, rotary
from litebert.model.linear import linear
from litebert.model.onednn import AMX

Path = Literal["auto", "eager", "fused"]
_EAGER_BYTES = 2**30  # above this the eager path's scores would not be worth their memory


class Surroundings(NamedTuple):
    """What every block needs besides the hidden states; made once per forward pass."""

    bias: Tensor | None = None  # added to the scores: 0 where a query may look, else the lowest number [B|1, 1, Q|1, K]
    seen: Tensor | None = None  # 0 at queries that may look nowhere: they gather nothing [B|1, 1, Q|1, 1]
    query_angles: rotary.Angles | None = None  # rotary: how far the queries turn, and
    key_angles: rotary.Angles | None = None  # the keys, memory included
    distances: relative.Distances | None = None  # relative positions
    path: Path = "auto"


def surroundings_of(visible: Tensor | None, dtype: torch.dtype) -> tuple[Tensor | None, Tensor | None]:
    """(bias, seen) from a boolean visibility [B|1, 1, Q|1, K]; a query that sees no one must give zeros, never NaN."""
    if visible is None:
        return None, None
    anyone = visible.any(dim=-1, keepdim=True)  # [B|1, 1, Q|1, 1]
    seen, visible = anyone.to(dtype), visible | ~anyone
    bias = torch.zeros(visible.shape, dtype=dtype, device=visible.device)
    return bias.masked_fill(~visible, torch.finfo(dtype).min), seen


class Attention(nn.Module):
    """The attention sub-layer with its residual and norm."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        hidden, bias = config.hidden, config.attention_bias
        self.query = nn.Linear(hidden, hidden, bias=bias)
        self.key = nn.Linear(hidden, hidden, bias=bias)
        self.value = nn.Linear(hidden, hidden, bias=bias)
        self.output = nn.Linear(hidden, hidden, bias=bias)
        self.norm = nn.LayerNorm(hidden, eps=config.layer_norm_eps)
        self.relative = relative.Relative(config) if config.positions == "relative" else None
        self.heads, self.width = config.heads, config.head_width
        self.dropout, self.weight_dropout = config.dropout, config.attention_dropout
        self.norm_first = config.norm == "pre"

    def forward(
        self, hidden: Tensor, around: Surroundings, memory: Tensor | None = None, biases: relative.Biases | None = None
    ) -> Tensor:
        """hidden [B, T, H], memory [B, M, H] in front of the keys -> [B, T, H]."""
        key, value = self.keys_values(hidden, around, memory)
        return self.read(hidden, key, value, around, biases)

    def keys_values(self, hidden: Tensor, around: Surroundings, memory: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Keys and values of memory and hidden states, each [B, N, K, D]."""
        source = hidden if memory is None else torch.cat([memory, hidden], dim=1)
        if self.norm_first:
            source = self.norm(source)
        key, value = self._heads(linear(source, self.key)), self._heads(linear(source, self.value))
        if around.key_angles is not None:
            key = rotary.rotate(key, around.key_angles)
        return key.transpose(1, 2), value.transpose(1, 2)

    def read(
        self, hidden: Tensor, key: Tensor, value: Tensor, around: Surroundings, biases: relative.Biases | None = None
    ) -> Tensor:
        """hidden [B, Q, H] gathers from keys and values, then residual and norm."""
        query = self._heads(linear(self.norm(hidden) if self.norm_first else hidden, self.query))  # [B, Q, N, D]
        if around.query_angles is not None:
            query = rotary.rotate(query, around.query_angles)
        query, bias = query.transpose(1, 2), around.bias
        if self.relative is not None and biases is not None and around.distances is not None:
            scores = self.relative(query, biases, around.distances, key.shape[2]) * self.width**-0.5
            bias = scores if bias is None else scores + bias
            query = query + biases.content[:, None, :]
        mixed = mix(query, key, value, bias, self.weight_dropout if self.training else 0.0, around.path)
        if around.seen is not None:
            mixed = mixed * around.seen
        mixed = mixed.transpose(1, 2).flatten(2)  # [B, N, Q, D] -> [B, Q, H]
        out = F.dropout(linear(mixed, self.output), self.dropout, self.training)
        return hidden + out if self.norm_first else self.norm(hidden + out)

    def _heads(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.heads, self.width)  # [B, T, H] -> [B, T, N, D]


def mix(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, dropout: float, path: Path) -> Tensor:
    """softmax(query · keyᵀ / √D + bias) · value, [B, N, Q, D], by the path that suits the machine."""
    if _prefers_fused(query, key) if path == "auto" else path == "fused":
        return F.scaled_dot_product_attention(query, key, value, attn_mask=bias, dropout_p=dropout)
    batch, heads, queries, width = query.shape
    keys = key.shape[2]
    scores = torch.baddbmm(
        query.new_empty(1, 1, 1), query.reshape(-1, queries, width), key.reshape(-1, keys, width).transpose(1, 2),
        beta=0, alpha=1 / math.sqrt(width),
    ).view(batch, heads, queries, keys)  # fmt: skip
    if bias is not None:
        scores = scores + bias
    weights = F.dropout(torch.softmax(scores, dim=-1), dropout, dropout > 0)
    return weights @ value


def _prefers_fused(query: Tensor, key: Tensor) -> bool:
    if query.device.type != "cpu":
        return True
    batch, heads, queries, _ = query.shape
    if batch * heads * queries * key.shape[2] * query.element_size() > _EAGER_BYTES:
        return True
    training = torch.is_grad_enabled() and (query.requires_grad or key.requires_grad)
    return not training and (query.dtype == torch.float32 or (query.dtype == torch.bfloat16 and AMX))
