"""In which numbers does this machine train? It is asked, and what it said is written in the log."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Literal, NamedTuple

import torch

from litebert.errors import UserError
from litebert.model import casting

Precision = Literal["auto", "bfloat16", "float32"]


class Chosen(NamedTuple):
    """The numbers that are computed with, and why. Weights, optimizer and sums are float32 in either case."""

    dtype: torch.dtype
    reason: str
    device: str

    def context(self) -> AbstractContextManager[object]:
        """What a forward pass runs in."""
        if self.dtype == torch.float32:
            return contextlib.nullcontext()
        stack = contextlib.ExitStack()
        stack.enter_context(torch.autocast(self.device, dtype=self.dtype))
        stack.enter_context(casting.once())
        return stack


def choose(wanted: Precision, device: torch.device) -> Chosen:
    """The precision that was asked for, or the fastest one that loses nothing that matters."""
    able, what = _BF16[device.type]() if device.type in _BF16 else (False, f"{device.type} is not known to have it")
    if wanted == "bfloat16" and not able and device.type != "cpu":
        raise UserError(f"precision bfloat16 on {device}: {what}, choose float32 or auto")
    if wanted == "float32" or (wanted == "auto" and not able):
        return Chosen(torch.float32, "as asked" if wanted == "float32" else what, device.type)
    return Chosen(torch.bfloat16, what if able else f"as asked, though {what}", device.type)


def _cpu() -> tuple[bool, str]:
    if torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported():  # type: ignore[no-untyped-call]
        tiles = torch.cpu._is_amx_tile_supported() if hasattr(torch.cpu, "_is_amx_tile_supported") else False
        return True, "this CPU multiplies bfloat16 in hardware" + (" (AMX tiles)" if tiles else "")
    return False, "this CPU has no bfloat16 products in hardware"


def _cuda() -> tuple[bool, str]:
    able = torch.cuda.is_bf16_supported(including_emulation=False)
    return able, "this GPU multiplies bfloat16 in hardware" if able else "this GPU has no bfloat16 products"


_BF16: dict[str, Callable[[], tuple[bool, str]]] = {"cpu": _cpu, "cuda": _cuda}
