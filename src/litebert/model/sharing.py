"""Which weights run at a depth: two lists of indexes, and nothing else knows about sharing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from litebert.config import Config


class SharingMap(NamedTuple):
    """For every executed block, in order, the index of the attention and of the FFN that it runs."""

    attention: tuple[int, ...]
    ffn: tuple[int, ...]


def sharing_map(config: Config) -> SharingMap:
    """The two lists for a config: groups are `i*g//L`, in integers (floats put layer 15 of 22 in the wrong group)."""
    shared, own = [], []
    for layer in range(config.layers):
        group = layer * config.groups // config.layers
        for k in range(config.inner):
            shared.append(group * config.inner + k)
            own.append(layer * config.inner + k)
    return SharingMap(
        attention=tuple(shared if config.sharing in ("all", "attention") else own),
        ffn=tuple(shared if config.sharing in ("all", "ffn") else own),
    )


def distinct(indexes: Sequence[int]) -> int:
    """How many different sets of weights a list of indexes names."""
    return max(indexes) + 1


def runs(indexes: Sequence[int]) -> str:
    """A list of indexes for a person: `[0×12]`, `[0×4 1×4 2×4]`, `[0…11]`."""
    if len(indexes) > 2 and list(indexes) == list(range(len(indexes))):
        return f"[0…{len(indexes) - 1}]"
    parts: list[list[int]] = []
    for index in indexes:
        if parts and parts[-1][0] == index:
            parts[-1][1] += 1
        else:
            parts.append([index, 1])
    if len(parts) > 8 and distinct(indexes) <= 8:  # inner blocks take turns: name the cycle once
        cycle = distinct(indexes)
        if list(indexes) == list(range(cycle)) * (len(indexes) // cycle):
            return f"[({' '.join(map(str, range(cycle)))})×{len(indexes) // cycle}]"
    return "[" + " ".join(f"{index}×{count}" if count > 1 else str(index) for index, count in parts) + "]"
