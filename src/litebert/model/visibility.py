"""Who sees whom: functions that make one boolean value, true where a query may look at a key.

Every value broadcasts to [B, 1, Q, K]: batch, heads, query rows, key columns. Memory, where there is any, stands in
front of the keys and may be seen by all. Combine values with `&`. The encoder takes the value and never asks which
of these made it.
"""

from __future__ import annotations

import torch
from torch import Tensor

from litebert import rng

# UniLM v1 §2.3: every batch is of one kind, drawn with these shares.
MIXTURE = {"bidirectional": 1 / 3, "seq2seq": 1 / 3, "left-to-right": 1 / 6, "right-to-left": 1 / 6}


def padding(mask: Tensor, memory: int = 0) -> Tensor:
    """[B, T] with 1 at real tokens (or [B, T, T] with 1 where a row may look) -> [B, 1, 1 or T, memory + T]."""
    visible = mask.bool()[:, None, None, :] if mask.dim() == 2 else mask.bool()[:, None]
    if memory:
        front = visible.new_ones(*visible.shape[:-1], memory)
        visible = torch.cat([front, visible], dim=-1)
    return visible


def bidirectional(length: int, memory: int = 0, device: torch.device | None = None) -> Tensor:
    """Everyone sees everyone."""
    return torch.ones(1, 1, length, memory + length, dtype=torch.bool, device=device)


def left_to_right(length: int, memory: int = 0, device: torch.device | None = None) -> Tensor:
    """Row i sees the memory and j <= i."""
    return bidirectional(length, memory, device).tril(memory)


def right_to_left(length: int, memory: int = 0, device: torch.device | None = None) -> Tensor:
    """Row i sees j >= i (and the memory)."""
    row = torch.arange(length, device=device)[:, None] + memory
    column = torch.arange(memory + length, device=device)[None, :]
    return ((column >= row) | (column < memory))[None, None]


def seq2seq(source: Tensor, length: int) -> Tensor:
    """`source` [B] counts the source tokens, its closing separator too: all see them, a target also j <= i."""
    column = torch.arange(length, device=source.device)
    prefix = (column[None, :] < source[:, None])[:, None, None, :]  # [B, 1, 1, T]
    causal = left_to_right(length, device=source.device)  # [1, 1, T, T]
    # A source row i < source has j <= i < source in the prefix already, so the union gives it nothing of the target.
    return prefix | causal


def permutation(rank: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """XLNet's two values, (content, query) each [B, 1, T, T], from a place in the order for every token.

    `rank` [B, T] is the place, or -1 for a token outside the order, which all see and which sees only its like;
    `target` [B, T] is true where the token is predicted: it is hidden from its own query stream. A token that is in
    the order and not predicted (a separator) sees itself in both.
    """
    free = rank < 0
    own = torch.where(target, rank, rank + 1)  # [B, T]; a free token's own place is 0: it sees no one in the order
    hidden = (own[:, :, None] <= rank[:, None, :]) & ~free[:, None, :]  # [B, T, T]
    query = ~hidden[:, None]
    return see_self(query), query


def see_self(visible: Tensor) -> Tensor:
    """The content stream's value from the query stream's: everyone sees itself as well."""
    queries, keys = visible.shape[-2:]
    eye = torch.eye(queries, dtype=torch.bool, device=visible.device)
    memory = eye.new_zeros(queries, keys - queries)
    return visible | torch.cat([memory, eye], dim=-1)


def mixture(seed: int, epoch: int, batch: int) -> str:
    """Which of UniLM's ways to see a batch is trained with: a function of its address."""
    draw = rng.generator(seed, "unilm-mixture", epoch, batch).random()
    for name, share in MIXTURE.items():
        draw -= share
        if draw < 0:
            return name
    return "right-to-left"
