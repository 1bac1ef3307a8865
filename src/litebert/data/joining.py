"""How are rows taken out of a batch, joined to others, and brought to one shape? Without a look at what they say.

Shapes: R rows, T tokens, P predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litebert.data.rows import NO_ORDER, Batch

_TOKENS, _SLOTS = ("ids", "mask", "segments", "ranks"), ("asked", "targets", "weights", "spans")
_EMPTY: dict[str, int] = {"spans": -1, "ranks": -1, "order": NO_ORDER, "examples": -1}  # elsewhere 0, in ids the pad id


def taken(batch: Batch, start: int, stop: int) -> Batch:
    """The rows start..stop-1, not copied."""
    parts: dict[str, Any] = {
        name: part[start:stop] for name, part in zip(Batch._fields, batch, strict=True) if isinstance(part, np.ndarray)
    }
    return batch._replace(**parts)


def joined(batches: Sequence[Batch], rows: int, width: int, slots: int, pad: int) -> Batch:
    """The rows of all batches below one another, then empty ones up to `rows`, each of `width` tokens and `slots`.

    What is cut off must be padding. An empty row has no real token, asks nothing, and no example has its number, -1.
    """
    if len(batches) == 1 and batches[0].asked.shape == (rows, slots) and batches[0].ids.shape == (rows, width):
        return batches[0]
    parts: dict[str, Any] = {}
    for name, first in zip(Batch._fields, batches[0], strict=True):
        if not isinstance(first, np.ndarray):
            parts[name] = first
            continue
        shape = (rows, width) if name in _TOKENS else (rows, slots) if name in _SLOTS else (rows,)
        fill = pad if name == "ids" else _EMPTY.get(name, 0)
        parts[name] = _placed([getattr(batch, name) for batch in batches], shape, fill)
    return Batch(**parts)


def _placed(arrays: Sequence[NDArray[Any]], shape: tuple[int, ...], fill: int) -> NDArray[Any]:
    whole = np.full(shape, fill, dtype=arrays[0].dtype)
    begin = 0
    for array in arrays:
        part = array[:, : shape[1]] if len(shape) == 2 else array
        whole[(slice(begin, begin + len(part)), *(slice(0, n) for n in part.shape[1:]))] = part
        begin += len(part)
    return whole
