"""What are a new model's weights? Truncated normal (cut at 2 std), biases 0, norms 1: a function of seed and name.

Every tensor is drawn from its own address, so that adding a head, or a tensor in between, moves no other.
"""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import nn

from litebert import rng
from litebert.config import Config

_ZERO = ("bias",)  # names that end so start at 0; the score biases of relative attention are weights in all but name


def fill(module: nn.Module, config: Config, seed: int, only: Collection[str] | None = None) -> None:
    """Initial values in place, for every parameter or only for the named ones."""
    norms = {id(p) for m in module.modules() if isinstance(m, nn.LayerNorm) for p in (m.weight,)}
    with torch.no_grad():
        for name, tensor in module.named_parameters():
            if only is not None and name not in only:
                continue
            if id(tensor) in norms:
                tensor.fill_(1.0)
            elif name.rsplit(".", 1)[-1] in _ZERO:
                tensor.zero_()
            else:
                _draw(tensor, config, seed, name)
        pads = getattr(getattr(module, "embedding", None), "word", None)
        if config.pad_frozen and pads is not None and (only is None or "embedding.word.weight" in only):
            pads.weight[config.pad].zero_()


def _draw(tensor: torch.Tensor, config: Config, seed: int, name: str) -> None:
    """Drawn in float32 on the CPU, so that every device and dtype starts from the same numbers."""
    generator = torch.Generator().manual_seed(rng.key(seed, f"init:{name}"))
    drawn = torch.empty(tensor.shape, dtype=torch.float32)
    if config.init == "normal":
        drawn.normal_(0.0, config.init_std, generator=generator)
    else:
        nn.init.trunc_normal_(drawn, 0.0, config.init_std, -2 * config.init_std, 2 * config.init_std, generator)
    tensor.copy_(drawn)
