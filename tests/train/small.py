"""A trainer small enough to reckon with: one dense layer that guesses classes, and portions made by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from litebert.optim.groups import treated
from litebert.optim.lamb import Lamb
from litebert.optim.rule import Rule
from litebert.optim.schedule import Schedule
from litebert.train import precision
from litebert.train.cross_entropy import Sums
from litebert.train.distributed import World
from litebert.train.loop import Portion, Trainer


class Micro(NamedTuple):
    """Some rows, and the classes they belong to; -100 asks nothing."""

    rows: Tensor  # [R, 4]
    classes: Tensor  # [R]


class Guess:
    """Cross entropy over three classes, and beside it a second objective that only even rows have."""

    def counts(self, micro: Micro) -> dict[str, float]:
        """Targets of either."""
        return {"class": float((micro.classes >= 0).sum()), "even": float((micro.classes % 2 == 0).sum())}

    def sums(self, model: nn.Module, micro: Micro) -> Mapping[str, Sums]:
        """Loss and hits of either."""
        logits = model(micro.rows)
        asked = micro.classes >= 0
        loss = F.cross_entropy(logits, micro.classes, ignore_index=-100, reduction="sum")
        right = ((logits.argmax(-1) == micro.classes) & asked).sum().float()
        even = micro.classes % 2 == 0
        return {
            "class": Sums(loss, right, asked.sum().float()),
            "even": Sums(logits[even].square().sum(), even.sum().float() * 0, even.sum().float()),
        }


def portion(number: int, rows: int = 8, micro: int = 8, first: int = 0, last: int | None = None) -> Portion:
    """The rows first..last of a global batch of `rows`, in micro-batches."""
    draw = torch.Generator().manual_seed(number)
    all_rows, classes = torch.randn(rows, 4, generator=draw), torch.randint(0, 3, (rows,), generator=draw)
    classes[0] = -100
    last = rows if last is None else last
    micros = [Micro(all_rows[i : min(i + micro, last)], classes[i : min(i + micro, last)])
              for i in range(first, last, micro)]  # fmt: skip
    return Portion(micros, 10 * (last - first), (number + 1,), f"batch {number}")


def portions(start: int = 0, end: int = 10_000, **more: int) -> Iterator[Portion]:
    """One after another."""
    return (portion(number, **more) for number in range(start, end))


def trainer(
    *, dropout: float = 0.0, total: float = 20, unit: str = "steps", world: World = World(), dtype: str = "float32"
) -> Trainer:
    """Always the same one."""
    layers: Sequence[nn.Module] = [nn.Linear(4, 16), nn.Dropout(dropout), nn.Linear(16, 3)]
    model = nn.Sequential(*layers)
    draw = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.3 * torch.randn(parameter.shape, generator=draw))
    schedule = Schedule(kind="linear", peak=0.05, warmup=0.1, total=total, unit=unit)
    chosen = precision.choose(dtype, torch.device("cpu"))
    return Trainer(model, Guess(), Lamb(treated(model), Rule()), schedule, chosen, world, seed=3)


def weights(made: Trainer) -> Tensor:
    """All of them in one line."""
    return torch.cat([p.detach().flatten() for p in made.model.parameters()])
