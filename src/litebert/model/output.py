"""What does a forward pass give back? Shapes: B batch, T tokens, H hidden, M predicted rows."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Output(NamedTuple):
    """`last` is what heads read: the last state, or the query stream's where one ran."""

    last: Tensor  # [B, T, H]; [B, M, H] with a query stream
    hidden: tuple[Tensor, ...]  # depth + 1 states [B, T, H], the mapped embedding first; () when not asked for
    pooled: Tensor | None  # [B, H]; None where the config has no pooler, or the query stream ran
    memory: tuple[Tensor, ...] | None = None  # a [B, rows, H] for every depth, when asked to remember
    query: tuple[Tensor, ...] = ()  # the query stream's depth + 1 states [B, M, H]
