"""How does a batch of arrays become tensors on a device? Narrow over the wire, and as wide as PyTorch's indexing wants.

Shapes: R rows, T tokens, P predictions. The only file of this room that knows PyTorch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from litebert.data.rows import NO_ORDER, Batch

UNASKED = -100  # the label that PyTorch's cross entropy leaves out
_DTYPES = {"ids": torch.int32, "mask": torch.bool, "segments": torch.int32, "weights": torch.float32,
           "spans": torch.int32, "ranks": torch.int32, "source": torch.int32}  # fmt: skip


class Tensors(NamedTuple):
    """A batch on a device."""

    ids: Tensor  # [R, T] int32
    mask: Tensor  # [R, T] bool
    segments: Tensor  # [R, T] int32
    asked: Tensor  # [R, P] int64
    targets: Tensor  # [R, P] int64
    weights: Tensor  # [R, P] float32
    order: Tensor  # [R] int64, UNASKED where there is no order
    examples: Tensor  # [R] int64
    spans: Tensor  # [R, P] int32
    ranks: Tensor | None
    mode: str
    source: Tensor | None


def tensors(batch: Batch, device: str | torch.device = "cpu") -> Tensors:
    """The batch on a device; to CUDA by pinned memory, so that the copy runs beside the computation."""
    where = torch.device(device)
    parts: dict[str, Any] = {
        name: _tensor(part, _DTYPES.get(name, torch.int64), where) if isinstance(part, np.ndarray) else part
        for name, part in zip(Batch._fields, batch, strict=True)
    }
    order = parts["order"]
    parts["order"] = order.masked_fill(order == NO_ORDER, UNASKED)
    return Tensors(**parts)


def _tensor(array: np.ndarray[Any, Any], dtype: torch.dtype, where: torch.device) -> Tensor:
    found = torch.from_numpy(np.ascontiguousarray(array))
    if where.type == "cuda":
        found = found.pin_memory()
    return found.to(where, non_blocking=True).to(dtype)
