"""How much arithmetic is in a token of training, and how much could this machine do? In floating-point operations."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
import torch.nn.functional as F

from litebert import family
from litebert.config import Config
from litebert.data.recipe import Recipe
from litebert.data.units import most_predictions
from litebert.model import cost
from litebert.train.precision import Chosen

_SHAPE = (2048, 768, 3072)  # rows, width in and out: what a block of BERT-base multiplies at a batch of 16 × 128
_TRIES = 3  # at least


def per_token(config: Config, recipe: Recipe) -> float:
    """Operations of the forward and backward pass for a token of a full row: what padding costs comes on top."""
    asked, heads = most_predictions(recipe), family.pretraining_heads(config)
    return cost.training_flops(config, recipe.length, heads=heads, asked=asked) / recipe.length


@torch.no_grad()
def peak(chosen: Chosen, seconds: float = 0.3, clock: Callable[[], float] = time.perf_counter) -> float:
    """Operations a second of the best matrix product, in the run's own numbers: measured for tenths of a second."""
    rows, wide, out = _SHAPE
    draw = torch.Generator().manual_seed(0)
    x, weight = (torch.randn(n, wide, generator=draw).to(chosen.device, chosen.dtype) for n in (rows, out))
    times: list[float] = []
    F.linear(x, weight)
    while len(times) < _TRIES or sum(times) < seconds:
        settle(chosen.device)
        began = clock()
        F.linear(x, weight)
        settle(chosen.device)
        times.append(clock() - began)
    return 2 * rows * wide * out / min(times)


def settle(device: str) -> None:
    """Wait until a device has done what it was given: a clock would else measure the giving."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()
