"""In which numbers is a weight multiplied? Under autocast in those of its products, cast once for all that read it.

A shared block is read at every depth: its weights are cast once within `once()`, and the gradients of all depths go
back through that one cast. What autocast does for PyTorch's own operators, for ours.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

import torch
from torch import Tensor

# (tensor, whether it learns) -> the tensor and its cast; the tensor is held so that its address stays its own
_kept: ContextVar[dict[tuple[int, bool], tuple[Tensor, Tensor]] | None] = ContextVar("casts", default=None)


@contextlib.contextmanager
def once() -> Iterator[None]:
    """Within, every tensor is cast once. Nobody may change one meanwhile."""
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)


def cast(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """The tensor in this type; the cast passes gradients on."""
    if tensor.dtype == dtype:
        return tensor
    kept = _kept.get()
    if kept is None:
        return tensor.to(dtype)
    key = id(tensor), torch.is_grad_enabled() and tensor.requires_grad  # one made without gradients passes none on
    if key not in kept or kept[key][1].dtype != dtype:
        kept[key] = tensor, tensor.to(dtype)
    return kept[key][1]


def of_products(x: Tensor) -> torch.dtype:
    """The type that autocast multiplies x in; without autocast its own."""
    kind = x.device.type
    if x.is_floating_point() and x.dtype != torch.float64 and torch.is_autocast_enabled(kind):
        return torch.get_autocast_dtype(kind)
    return x.dtype
