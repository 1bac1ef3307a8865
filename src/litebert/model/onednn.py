"""What is asked of oneDNN directly, because PyTorch's own way to it is slower? Products and activations on the CPU.

On AMD its float32 product runs at twice the rate of the MKL routine that `F.linear` picks; it adds the bias where
`F.linear` copies it into every row first, and it folds the activation in. On CPUs with matrix units (AMX) it keeps all
threads but one idle at some shapes; what it does with them is measured once. The operators are those that PyTorch's
compiler emits.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Iterator

import torch
from torch import Tensor

from litebert.config import Activation

# activation -> the (attribute, algorithm) pair that oneDNN takes
_FUSED = {None: ("none", ""), "gelu_erf": ("gelu", "none"), "gelu_tanh": ("gelu", "tanh"), "relu": ("relu", ""),
          "tanh": ("tanh", "")}  # fmt: skip

BUILT_IN = bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]
AMX = torch.cpu._is_amx_tile_supported()  # whether this CPU has matrix units


@functools.cache
def bfloat16_in_hardware() -> bool:
    """Whether this CPU multiplies bfloat16 itself."""
    return BUILT_IN and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def switched_on() -> bool:
    """Whether oneDNN is there, and nobody has switched it off."""
    return BUILT_IN and bool(torch._C._get_mkldnn_enabled())


@contextlib.contextmanager
def switched_off() -> Iterator[None]:
    """Within, all products are PyTorch's other ones: `torch.backends.mkldnn.flags`, which also warns of GPUs."""
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(before)


def knows(dtype: torch.dtype) -> bool:
    """Whether products of this type are oneDNN's and fast."""
    return BUILT_IN and (dtype == torch.float32 or (dtype == torch.bfloat16 and bfloat16_in_hardware()))


def dense(x: Tensor, weight: Tensor, bias: Tensor | None, activation: Activation | str | None = None) -> Tensor:
    """`activation(x · Wᵀ + b)`, all of one type, without gradient."""
    attribute, algorithm = _FUSED[None if activation == "none" else activation]
    call = functools.partial(_call, weight=weight, bias=bias, attribute=attribute, algorithm=algorithm)
    out, rows = weight.shape[0], x.numel() // x.shape[-1]
    # It happens only where rows and columns are about as many. The last bits may differ, as with any other batch.
    doubtful = x.dtype == torch.bfloat16 and AMX and max(256, out // 2) <= rows < 4 * out
    if doubtful and halves_win(128 * round(rows / 128), x.shape[-1], out, torch.get_num_threads()):
        parts = x.reshape(rows, -1).chunk(2)
        return torch.cat([call(part) for part in parts]).view(*x.shape[:-1], out)
    return call(x)


def laid_out(weight: Tensor, rows: int) -> Tensor:
    """The weight as products with so many rows want it; those with other numbers of rows take it as well."""
    laid: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous(), rows)
    return laid


def activated(x: Tensor, activation: Activation) -> Tensor:
    """The activation alone, of contiguous x: a product of every column by 1 with the activation folded in."""
    attribute, algorithm = _FUSED[activation]
    rows, columns = x.numel() // x.shape[-1], x.shape[-1]
    image = x.view(1, rows, 1, columns).permute(0, 3, 1, 2)  # [1, columns, rows, 1], as it lies in memory
    y: Tensor = torch.ops.mkldnn._convolution_pointwise(
        image, _ones(columns, x.dtype), None, [0, 0], [1, 1], [1, 1], columns, attribute, [], algorithm
    )
    return y.permute(0, 2, 3, 1).reshape(x.shape)


def _call(x: Tensor, weight: Tensor, bias: Tensor | None, attribute: str, algorithm: str) -> Tensor:
    y: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, attribute, [], algorithm)
    return y


@functools.lru_cache(maxsize=16)
def _ones(columns: int, dtype: torch.dtype) -> Tensor:
    return torch.ones(columns, 1, 1, 1, dtype=dtype)


@functools.cache
def halves_win(rows: int, wide: int, out: int, threads: int) -> bool:
    """Whether two products of half the rows take less time here than the whole [rows, wide] · [wide, out], by a sixth.

    oneDNN 3.12 gives [1024, 768] · [768, 768] to one thread of two, and [512, 768] to both (LOG.md, 2026-11-19).
    """
    if threads < 2:
        return False
    x, weight = torch.ones(rows, wide, dtype=torch.bfloat16), torch.ones(out, wide, dtype=torch.bfloat16)
    call = functools.partial(_call, weight=weight, bias=None, attribute="none", algorithm="")
    best = [float("inf")] * 2
    for turn in range(12):  # in turn, so that a slow moment of the machine slows both; the first two warm up
        began = time.perf_counter()
        call(x) if turn % 2 else torch.cat([call(part) for part in x.chunk(2)])
        if turn > 1:
            best[turn % 2] = min(best[turn % 2], time.perf_counter() - began)
    return 7 * best[0] < 6 * best[1]
