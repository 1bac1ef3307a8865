"""What stands still? The embedding, the first blocks, or all of them; and what of it still learns because it is shared.

Freezing is two things at once: the tensors that must not move are left out of the optimizer (decay would move them),
and the first applications pass no gradient back (`model(..., frozen=blocks)`). Where depths share a block the two
differ, and `remarks` says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from litebert.config import ConfigError
from litebert.model.model import Model
from litebert.model.sharing import runs, sharing_map


class Frozen(NamedTuple):
    """What stands still, and what the forward pass must be told."""

    blocks: int = 0  # for `model(..., frozen=blocks)`
    names: tuple[str, ...] = ()  # tensors that do not move
    resting: tuple[str, ...] = ()  # modules without dropout: all they do is frozen
    remarks: tuple[str, ...] = ()  # what one might not expect

    def train(self, model: Model) -> None:
        """Puts the model in training mode, and what is frozen in evaluation mode."""
        model.train()
        for name in self.resting:
            model.get_submodule(name).eval()


def freeze(model: Model, blocks: int = 0, embedding: bool = False) -> Frozen:
    """Freezes the embedding, or it and the first `blocks` blocks; the rest of the body learns again.

    Afterwards `groups.treated(model)` lists exactly what learns.
    """
    depth = model.config.depth
    if not 0 <= blocks <= depth:
        raise ConfigError(f"frozen {blocks} is not a number of blocks of this model: choose 0 to {depth}")
    resting = [name for name, last in _modules(model) if last < blocks] + ["embedding"] * (embedding or blocks > 0)
    names = []
    for name, tensor in model.named_parameters():
        if name.startswith(("embedding.", "encoder.")):
            still = any(name.startswith(f"{module}.") for module in resting)
            tensor.requires_grad_(not still)
            names += [name] * still
    return Frozen(blocks, tuple(names), tuple(resting), tuple(_remarks(model, blocks, tuple(resting))))


def _modules(model: Model) -> Iterator[tuple[str, int]]:
    """The encoder's distinct modules, and the last depth at which each of them runs."""
    depths, config = sharing_map(model.config), model.config
    for what, users in (("attention", depths.attention), ("ffn", depths.ffn)):
        for index in sorted(set(users)):
            yield f"encoder.{what}.{index}", max(depth for depth, user in enumerate(users) if user == index)
    for index in range(len(model.encoder.biases)):
        users = depths.attention if config.untied else (0,) * config.depth
        yield f"encoder.biases.{index}", max(depth for depth, user in enumerate(users) if user == index)


def _remarks(model: Model, blocks: int, resting: tuple[str, ...]) -> Iterator[str]:
    depths = sharing_map(model.config)
    for what, users in (("attention", depths.attention), ("ffn", depths.ffn)):
        for index in sorted(set(users[:blocks]) & set(users[blocks:])):
            left = sum(user == index for user in users[blocks:])
            yield (f"{what} {index} is shared {runs(users)}: it gets no gradient from the first {blocks} of "
                   f"{len(users)} depths, but learns from {left} more, and so changes in all of them")  # fmt: skip
    tied = [name for name, head in model.specs.items() if head.kind in ("mlm", "plm")]
    if "embedding" in resting and tied:
        yield f"head {tied[0]} reads words off the frozen embedding: its output matrix stands still with it"
