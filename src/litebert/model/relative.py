"""How does Transformer-XL score a distance? A sinusoid for i-j, projected per block, met by the query.

Score(i, j) = (q_i + u)·k_j + (q_i + v)·(W_R R_{i-j}) + (q_i + b)·s_{ij}, all over √D (Dai et al. 2019 §3.3; the segment
term is XLNet's §2.5: s depends only on whether i and j lie in the same segment).
Shapes: B batch, Q queries, K keys (memory first), N heads, D head width, R = distances, from K down to 1-Q.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from litebert.config import Config
from litebert.model.linear import linear


class Distances(NamedTuple):
    """What every block needs to know of places and segments; made once per forward pass."""

    sinusoid: Tensor  # [R, H]
    rows: Tensor | None  # [B, M]: the rows that ask, where only some do (the query stream); None = all in order
    different: Tensor | None  # [B, Q, K] bool: query and key lie in different segments; None = no segments given


class Biases(nn.Module):
    """u, v and b: what a query asks for whatever it is. One set for every block, or one for all (`untied`)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        shape = (config.heads, config.head_width)
        self.content = nn.Parameter(torch.empty(shape))
        self.position = nn.Parameter(torch.empty(shape))
        self.segment = nn.Parameter(torch.empty(shape))


class Relative(nn.Module):
    """A block's own part of the scores: W_R and the two segment vectors."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads, self.width = config.heads, config.head_width
        self.project = nn.Linear(config.hidden, config.hidden, bias=False)
        self.segment = nn.Parameter(torch.empty(2, config.heads, config.head_width)) if config.segments else None

    def forward(self, query: Tensor, biases: Biases, distances: Distances, keys: int) -> Tensor:
        """query [B, N, Q, D] -> what to add to the scores [B, N, Q, K], not yet over √D."""
        projected = linear(distances.sinusoid, self.project).view(-1, self.heads, self.width)  # [R, N, D]
        asked = query + biases.position[:, None, :]  # [B, N, Q, D]
        by_distance = asked @ projected.permute(1, 2, 0)  # [B, N, Q, R]
        rows = distances.rows
        scores = shift(by_distance, keys) if rows is None else pick(by_distance, rows, keys)
        if distances.different is not None and self.segment is not None:
            asked = query + biases.segment[:, None, :]
            same, other = (asked @ self.segment.permute(1, 2, 0)).unbind(-1)  # each [B, N, Q]
            differs = distances.different[:, None]  # [B, 1, Q, K]
            scores = scores + torch.where(differs, other[..., None], same[..., None])
        return scores


def sinusoid(queries: int, keys: int, width: int, clamp: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    """R for the distances keys, keys-1, …, 1-queries: [sin | cos] halves, as the original (not interleaved)."""
    distance = torch.arange(keys, -queries, -1, device=device, dtype=torch.float32)
    if clamp:
        distance = distance.clamp(-clamp, clamp)
    frequency = 1.0 / 10000.0 ** (torch.arange(0, width, 2, device=device, dtype=torch.float32) / width)
    angle = distance[:, None] * frequency  # [R, H/2]
    return torch.cat([angle.sin(), angle.cos()], dim=-1).to(dtype)


def shift(by_distance: Tensor, keys: int) -> Tensor:
    """[B, N, Q, R] by distance -> [B, N, Q, K] by key: row i starts Q-i columns in, by reading the rows out of step.

    Row i wants distance (K-Q+i)-j at key j, which is column Q-i+j of K … 1-Q. Reading a [Q, R] block as rows of R-1
    moves every row one column on, and the Q numbers dropped in front line row 0 up.
    """
    batch, heads, queries, count = by_distance.shape  # R = K + Q
    flat = by_distance.reshape(batch, heads, queries * count)[..., queries:]  # Q·R - Q = Q·(R-1) numbers
    return flat.reshape(batch, heads, queries, count - 1)[..., :keys]


def pick(by_distance: Tensor, rows: Tensor, keys: int) -> Tensor:
    """[B, N, M, R] by distance -> [B, N, M, K] by key, for the rows [B, M] that ask."""
    batch, heads, asking, count = by_distance.shape
    queries = count - keys
    column = (queries - rows)[:, :, None] + torch.arange(keys, device=rows.device)  # [B, M, K]
    return by_distance.gather(3, column[:, None].expand(batch, heads, asking, keys))
