"""Which small models do these tests run? One config for every corner of the family, large initial weights so that
nothing hides below a tolerance, and a probe that asks by gradient who sees whom.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from litebert.config import Config, Head
from litebert.model.model import Model, build

SMALL = Config(
    vocab=60, embedding=8, hidden=16, layers=3, heads=4, ffn=32, max_positions=24, init_std=0.3, classifier_dropout=0.0
)
RELATIVE = SMALL.but(positions="relative", max_positions=0, objectives=("mlm", "plm"))
ROTARY = SMALL.but(positions="rotary", max_positions=0, objectives=("mlm", "plm"))
PRE_NORM = {"norm": "pre", "sharing": "none"}

# every position scheme, and the structural choices that attention could trip over
CORNERS: dict[str, Config] = {
    "absolute": SMALL,
    "absolute, pre-norm, unshared": SMALL.but(**PRE_NORM),
    "relative": RELATIVE,
    "relative, unshared, one set of biases": RELATIVE.but(sharing="none", untied=False, attention_bias=False),
    "relative, pre-norm": RELATIVE.but(norm="pre"),
    "rotary": ROTARY,
    "rotary, pre-norm, two groups": ROTARY.but(norm="pre", groups=2),
}


def make(
    config: Config, heads: Iterable[str] | Mapping[str, int | Head] = (), *, seed: int = 0, path: str = "auto"
) -> Model:
    """A model in eval mode, in float32."""
    model = build(config, heads, seed=seed).eval()
    model.path = path  # type: ignore[assignment]
    return model


def tokens(*shape: int, seed: int = 0) -> Tensor:
    """Token ids between 3 and 59: never the padding id of a small config."""
    return torch.randint(3, 60, shape, generator=torch.Generator().manual_seed(seed))


def noise(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Standard normal numbers that depend on the seed alone."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def influence(rows: Tensor, source: Tensor) -> Tensor:
    """rows [B, R, H], source [B, T, H] -> [B, R, T] true where a row's output has a gradient to a source vector."""
    weight = noise(rows.shape[-1], seed=11, dtype=rows.dtype)
    found = []
    for r in range(rows.shape[1]):
        (slope,) = torch.autograd.grad((rows[:, r] @ weight).sum(), source, retain_graph=True)
        found.append(slope.abs().sum(-1) > 0)  # [B, T]
    return torch.stack(found, dim=1)
