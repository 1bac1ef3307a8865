"""Do the inputs of a forward pass go together, and with the model? What does not is named, with the rule and the fix.

Where a compiler reads along nothing is asked of shapes or values: it would have to guard every answer. Values are only
looked at on CPU, as a GPU would have to be waited for. Shapes: B batch, T tokens, K keys (memory first).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import torch
from torch import Tensor

from litebert.config import Config


def check(
    config: Config,
    ids: Tensor,
    mask: Tensor | None,
    segments: Tensor | None,
    positions: Tensor | None,
    visible: Tensor | None,
    memory: Sequence[Tensor] | None,
) -> None:
    """Raise for the first thing that is wrong; `Model.forward` says what each input is."""
    if ids.dim() != 2 or ids.is_floating_point() or not ids.shape[1]:
        raise ValueError(f"ids {list(ids.shape)} of {ids.dtype} are no texts: give whole numbers [batch, tokens]")
    length = ids.shape[1]
    if config.max_positions and length > config.max_positions:
        raise ValueError(
            f"length {length} exceeds max_positions {config.max_positions}: cut the text, or read it in pieces"
        )
    if memory is not None and config.positions == "absolute":
        raise ValueError("memory needs positions that reach back, these are absolute: use relative or rotary")
    if memory is not None and len(memory) != config.depth:
        raise ValueError(f"memory of {len(memory)} depths for a model of {config.depth}: pass what it gave back")
    if positions is not None and (memory is not None or config.positions == "relative"):
        raise ValueError("positions of one's own need a model without memory and without relative positions")
    if torch.compiler.is_compiling():
        return
    _check_shapes(ids, mask, segments, positions, visible, 0 if memory is None else memory[0].shape[1])
    if ids.device.type == "cpu" and ids.numel():
        _check_values(config, ids, segments, positions)


def _check_shapes(
    ids: Tensor, mask: Tensor | None, segments: Tensor | None, positions: Tensor | None, visible: Tensor | None,
    past: int,
) -> None:  # fmt: skip
    """What is given beside ids [B, T]; one row may stand for every text, or for every query."""
    batch, length = ids.shape
    texts, rows, keys = (1, batch), (1, length), (length, past + length)
    rules = {
        "mask": (mask, ((texts, keys), (texts, rows, keys)), "[batch, tokens] or [batch, tokens, tokens]"),
        "segments": (segments, ((texts, (length,)),), "[batch, tokens]"),
        "positions": (positions, (((length,),), (texts, (length,))), "[tokens] or [batch, tokens]"),
        "visible": (visible, ((texts, (1,), rows, keys),), "[batch, 1, tokens, tokens]"),
    }
    for name, (given, shapes, words) in rules.items():
        if given is not None and not any(_fits(given, shape) for shape in shapes):
            raise ValueError(f"{name} {list(given.shape)} does not go with ids {list(ids.shape)}: give {words}")
    if visible is not None and visible.dtype != torch.bool:
        raise ValueError(f"visible is of {visible.dtype}: give torch.bool, true where a query may look")


def _fits(given: Tensor, shape: Sequence[Collection[int]]) -> bool:
    """Whether every size is among those that its axis may have."""
    return given.dim() == len(shape) and all(n in sizes for n, sizes in zip(given.shape, shape, strict=True))


def _check_values(config: Config, ids: Tensor, segments: Tensor | None, positions: Tensor | None) -> None:
    _check_range("id", ids, config.vocab, "vocab")
    if segments is not None and config.positions != "relative":
        if not config.segments:
            raise ValueError("segments for a model that has none (segments 0): leave them out")
        _check_range("segment", segments, config.segments, "segments")
    if positions is not None and config.max_positions:
        _check_range("position", positions, config.max_positions, "max_positions")


def _check_range(what: str, values: Tensor, limit: int, field: str) -> None:
    low, high = int(values.min()), int(values.max())
    if low < 0 or high >= limit:
        raise ValueError(f"{what} {low if low < 0 else high} is outside {field} {limit}: choose 0 to {limit - 1}")
