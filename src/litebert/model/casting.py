"""In which numbers, and how laid out, is a weight multiplied? Cast and laid out once for all that read it.

A shared block is read at every depth: within `once()` its weights are cast once, the gradients of all depths go back
through that one cast, and from the second reading on they lie as oneDNN's products want them, which is a tenth to a
fifth of a product. What autocast does for PyTorch's own operators, and a little more.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import NamedTuple

import torch
from torch import Tensor

from litebert.model import onednn


class Layouts:
    """A weight [O, I] as products forward and back want it, made when it is worth it: from its second reading on."""

    def __init__(self) -> None:
        self._read = 0
        self._ahead: Tensor | None = None
        self._back: Tensor | None = None

    def ahead(self, weight: Tensor, rows: int) -> Tensor:
        """What x [R, I] is multiplied by; the same numbers come out."""
        self._read += 1
        if self._read > 1 and self._ahead is None:
            self._ahead = onednn.laid_out(weight, rows)
        return weight if self._ahead is None else self._ahead

    def back(self, weight: Tensor, rows: int) -> Tensor:
        """What a gradient [R, O] is multiplied by: the weight turned round."""
        if self._read > 1 and self._back is None:
            self._back = onednn.laid_out(weight.t(), rows)
        return weight.t() if self._back is None else self._back


class _Pass(NamedTuple):
    """What is made within one `once()`; the tensors are held so that their addresses stay their own."""

    casts: dict[tuple[int, bool], tuple[Tensor, Tensor]]  # (tensor, whether it learns) -> the tensor and its cast
    layouts: dict[int, tuple[Tensor, Layouts]]


_pass: ContextVar[_Pass | None] = ContextVar("pass", default=None)


@contextlib.contextmanager
def once() -> Iterator[None]:
    """Within, every tensor is cast and laid out once. Nobody may change one meanwhile."""
    token = _pass.set(_Pass({}, {}))
    try:
        yield
    finally:
        _pass.reset(token)


def cast(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """The tensor in this type; the cast passes gradients on."""
    if tensor.dtype == dtype:
        return tensor
    within = _pass.get()
    if within is None:
        return tensor.to(dtype)
    key = id(tensor), torch.is_grad_enabled() and tensor.requires_grad  # one made without gradients passes none on
    if key not in within.casts or within.casts[key][1].dtype != dtype:
        within.casts[key] = tensor, tensor.to(dtype)
    return within.casts[key][1]


def layouts(weight: Tensor) -> Layouts | None:
    """Those of a weight that is cast already; None outside `once()`, and for one that was laid out for good."""
    within = _pass.get()
    if within is None or weight.layout != torch.strided:
        return None
    return within.layouts.setdefault(id(weight), (weight, Layouts()))[1]


def of_products(x: Tensor) -> torch.dtype:
    """The type that autocast multiplies x in; without autocast its own."""
    kind = x.device.type
    if x.is_floating_point() and x.dtype != torch.float64 and torch.is_autocast_enabled(kind):
        return torch.get_autocast_dtype(kind)
    return x.dtype
