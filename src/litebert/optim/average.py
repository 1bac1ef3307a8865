"""What is the average of the weights so far? An exponential one, kept beside the model and exact.

e ← e + (1 - decay)·(w - e), so that after n steps e = decayⁿ·w₀ + (1 - decay)·Σ decayⁿ⁻ⁱ·wᵢ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from litebert.errors import UserError


class Average:
    """An exponential moving average of named tensors; it starts as they are."""

    def __init__(self, tensors: Iterable[tuple[str, Tensor]], decay: float = 0.999) -> None:
        if not 0.0 <= decay < 1.0:
            raise UserError(f"decay {decay} of an average is not a share below 1: choose for example 0.999")
        self.decay = decay
        self._tracked = dict(tensors)
        self.tensors = {name: tensor.detach().clone() for name, tensor in self._tracked.items()}

    @torch.no_grad()
    def update(self) -> None:
        """Takes in the tensors as they are now."""
        mine, theirs = list(self.tensors.values()), [tensor.detach() for tensor in self._tracked.values()]
        torch._foreach_lerp_(mine, theirs, 1.0 - self.decay)

    @torch.no_grad()
    def swap(self) -> None:
        """Exchanges the average and the tensors, for an evaluation; a second call takes it back, bit by bit."""
        for name, tensor in self._tracked.items():
            kept = tensor.detach().clone()
            tensor.copy_(self.tensors[name])
            self.tensors[name].copy_(kept)

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Goes on from saved averages."""
        for name in sorted(set(tensors) ^ set(self.tensors)):
            raise UserError(f"the averages and the model do not both hold {name!r}: they belong to different models")
        for name, tensor in self.tensors.items():
            tensor.copy_(tensors[name])
