"""What do these tests move? One tensor with three known gradients, and any named tensors by a plain reference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from litebert.optim.groups import Treated
from litebert.optim.lamb import Lamb
from litebert.optim.rule import Rule

GRADIENTS = ([0.3, 0.4], [0.6, -0.2], [-0.1, 0.5])
RATE = 0.01


def parameter(values: Sequence[float] | Tensor, dtype: torch.dtype = torch.float64) -> nn.Parameter:
    """A tensor that learns."""
    return nn.Parameter(torch.as_tensor(values).to(dtype).clone())


def trace(
    rule: Rule, start: Sequence[float] = (3.0, 4.0), excluded: bool = False, dtype: torch.dtype = torch.float64
) -> list[tuple[list[float], float]]:
    """(weights, trust ratio) after each of the three steps."""
    weight = parameter(start, dtype)
    optimizer, found = Lamb([Treated("w", weight, excluded)], rule), []
    for gradient in GRADIENTS:
        weight.grad = torch.tensor(gradient, dtype=dtype)
        optimizer.step(RATE)
        found.append((weight.tolist(), optimizer.trust().get("w", 1.0)))
    return found


def shapes(dtype: torch.dtype = torch.float64, seed: int = 0) -> list[Treated]:
    """Tensors of several shapes and treatments, a whole one at zero among them."""
    drawn = torch.Generator().manual_seed(seed)
    sizes = {"table": (40, 8), "map.weight": (8, 16), "map.bias": (16,), "norm.weight": (16,), "zero.weight": (3, 5)}
    out = {"map.bias", "norm.weight"}
    made = {}
    for name, size in sizes.items():
        made[name] = torch.randn(size, generator=drawn, dtype=torch.float64) * (0.0 if name.startswith("zero") else 0.5)
    return [Treated(name, parameter(tensor, dtype), name in out) for name, tensor in made.items()]


def give_gradients(treated: Sequence[Treated], step: int, size: float = 0.3) -> None:
    """Random gradients that depend on the step alone."""
    drawn = torch.Generator().manual_seed(1000 + step)
    for one in treated:
        noise = torch.randn(one.tensor.shape, generator=drawn, dtype=torch.float64) * size
        one.tensor.grad = noise.to(one.tensor.dtype)


class Reference:
    """The formula of the papers, tensor by tensor, one operation at a time."""

    def __init__(self, rule: Rule, treated: Sequence[Treated]) -> None:
        self.rule, self.count = rule, 0
        self.state: Mapping[str, list[Tensor]] = {
            one.name: [one.tensor.detach().clone(), torch.zeros_like(one.tensor), torch.zeros_like(one.tensor)]
            for one in treated
        }

    def step(self, rate: float, treated: Sequence[Treated]) -> None:
        """One step on the gradients that the tensors hold."""
        rule, self.count = self.rule, self.count + 1
        gradients = {one.name: one.tensor.grad.detach().clone() for one in treated}
        whole = math.sqrt(sum(float(gradient.square().sum()) for gradient in gradients.values()))
        shrink = min(1.0, rule.clip / whole) if rule.clip else 1.0
        for one in treated:
            weight, mean, square = self.state[one.name]
            gradient = gradients[one.name] * shrink
            mean.mul_(rule.beta1).add_(gradient * (1 - rule.beta1))
            square.mul_(rule.beta2).add_(gradient * gradient * (1 - rule.beta2))
            first = 1 - rule.beta1**self.count if rule.corrected else 1.0
            second = 1 - rule.beta2**self.count if rule.corrected else 1.0
            update = (mean / first) / ((square / second).sqrt() + rule.eps)
            if not one.excluded:
                update = update + rule.decay * weight
            ratio = 1.0
            if rule.adapt == "all" or (rule.adapt == "weights" and not one.excluded):
                long, far = float(weight.norm()), float(update.norm())
                ratio = long / far if long and far else 1.0
                ratio = min(ratio, rule.ratio_limit) if rule.ratio_limit else ratio
            weight.sub_(update * (rate * one.factor * ratio))
