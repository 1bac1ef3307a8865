"""How is a model trained? One loop that knows neither task nor data: batches and a loss function are passed in.

A step is one global batch. Its targets are counted over all micro-batches and all processes first, and every loss is
divided by those counts: so 1 × 8, 2 × 4 and 8 × 1 rows, on one process or on four, are the same step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from litebert import rng
from litebert.optim.lamb import Lamb
from litebert.optim.schedule import Progress, Schedule, Stopwatch
from litebert.train.cross_entropy import Sums
from litebert.train.distributed import World
from litebert.train.precision import Chosen


class Portion(NamedTuple):
    """What one process is fed at one step."""

    micros: Sequence[Any]  # micro-batches, whatever the loss function takes
    tokens: int  # real tokens of the global batch's share
    position: tuple[int, ...]  # where the stream stands after it
    name: str = ""  # what to look up if this batch does harm


class Objective(Protocol):
    """What is learnt: how many targets a micro-batch has, and what guessing them cost."""

    def counts(self, micro: Any) -> Mapping[str, float]:
        """Targets by objective, known without the model."""

    def sums(self, model: nn.Module, micro: Any) -> Mapping[str, Sums]:
        """Summed loss and hits by objective."""


class Result(NamedTuple):
    """What one step, or one evaluation, came to: means over its targets, by objective."""

    loss: float
    losses: dict[str, float]
    accuracies: dict[str, float]
    counts: dict[str, float]


class Step(NamedTuple):
    """A step that was made."""

    progress: Progress  # after it
    rate: float
    norm: float  # of the gradient, before clipping
    result: Result
    tokens: int  # of this step, all processes
    position: tuple[int, ...]  # of the stream, after it
    stopping: bool  # somebody asked for the end: this is the last step
    batch: str = ""  # the portion's name


class DivergedError(RuntimeError):
    """Training came apart at a step: `what` is no longer a number, and the step was not made, or it is far too high.

    text: what is said instead, with the advice.
    """

    def __init__(self, step: int, what: str, batch: str, text: str = "") -> None:
        super().__init__(text or f"step {step}: the {what} is not a finite number")
        self.step, self.what, self.batch, self.advises = step, what, batch, bool(text)


class Trainer(NamedTuple):
    """What a run is made of."""

    model: nn.Module
    objective: Objective
    optimizer: Lamb
    schedule: Schedule
    precision: Chosen
    world: World
    seed: int = 0


def steps(
    trainer: Trainer, portions: Iterator[Portion], start: Progress, watch: Stopwatch, asked_to_stop: Callable[[], bool]
) -> Iterator[Step]:
    """Train until the schedule's total is reached or somebody asks for the end; a step is yielded when it is made.

    Whoever reads the steps may save, evaluate or print between them. The clock of a time budget is the leader's.
    """
    progress, world = start, trainer.world
    while True:
        progress = progress._replace(seconds=seconds(world, watch))
        if trainer.schedule.total and trainer.schedule.share(progress) >= 1.0:
            return
        portion = next(portions, None)
        if portion is None:
            return
        whole = _counted(trainer, portion, asked_to_stop())
        trainer.model.train()
        result = _accumulated(trainer, portion.micros, whole, progress.steps)
        rate = trainer.schedule.at(progress)
        norm = _moved(trainer, rate, result, progress.steps, portion.name)
        progress = Progress(progress.steps + 1, progress.tokens + int(whole.tokens), seconds(world, watch))
        yield Step(progress, rate, norm, result, int(whole.tokens), portion.position, whole.stopping, portion.name)
        if whole.stopping:
            return


def seconds(world: World, watch: Stopwatch) -> float:
    """Seconds trained by the leader's watch, so that all processes go by one."""
    read = watch.read()
    return world.sums([read if world.leads else 0.0])[0] if world.size > 1 else read


def rehearse(trainer: Trainer, micro: Any) -> None:
    """Forward and backward pass of a micro-batch as a step makes them; the gradients are thrown away, nothing moves."""
    training = trainer.model.training
    trainer.model.train()
    _backward(trainer, micro, trainer.objective.counts(micro))
    trainer.model.zero_grad(set_to_none=True)
    trainer.model.train(training)


@torch.no_grad()
def evaluate(trainer: Trainer, portions: Iterator[Portion]) -> Result:
    """Means over all targets of some portions, by the model as it is used: no dropout, no gradient."""
    trainer.model.eval()
    found: dict[str, list[float]] = {}
    for portion in portions:
        for micro in portion.micros:
            with trainer.precision.context():
                sums = trainer.objective.sums(trainer.model, micro)
            for name, one in sums.items():
                row = found.setdefault(name, [0.0, 0.0, 0.0])
                for i, value in enumerate(one):
                    row[i] += float(value)
    names = sorted(found)
    totals = trainer.world.sums([value for name in names for value in found[name]])
    rows = {name: totals[3 * i : 3 * i + 3] for i, name in enumerate(names)}
    return _result({n: r[0] for n, r in rows.items()}, {n: r[1] for n, r in rows.items()},
                   {n: r[2] for n, r in rows.items()})  # fmt: skip


class _Whole(NamedTuple):
    """The global batch, all processes together."""

    counts: dict[str, float]
    tokens: float
    stopping: bool


def _counted(trainer: Trainer, portion: Portion, stop: bool) -> _Whole:
    own: dict[str, float] = {}
    for micro in portion.micros:
        for name, count in trainer.objective.counts(micro).items():
            own[name] = own.get(name, 0.0) + float(count)
    names = sorted(own)
    summed = trainer.world.sums([*(own[name] for name in names), portion.tokens, float(stop)])
    return _Whole(dict(zip(names, summed, strict=False)), summed[-2], summed[-1] > 0)


def _accumulated(trainer: Trainer, micros: Sequence[Any], whole: _Whole, step: int) -> Result:
    """Gradients of the global batch in every parameter, and what the batch came to."""
    sums: dict[str, list[Tensor]] = {name: [] for name in whole.counts}
    for number, micro in enumerate(micros):
        # Dropout is the one thing that PyTorch draws by itself: its generator is set to this step's own address.
        torch.manual_seed(rng.key(trainer.seed, "dropout", step, trainer.world.rank, number) >> 1)
        for name, one in _backward(trainer, micro, whole.counts).items():
            sums[name].append(torch.stack([one.loss.detach().double(), one.right.double()]))
    trainer.world.sum_gradients(trainer.model.parameters())
    names = sorted(sums)
    own = [v for n in names for v in (torch.stack(sums[n]).sum(0).tolist() if sums[n] else [0.0, 0.0])]
    totals = trainer.world.sums(own)
    return _result(
        {n: totals[2 * i] for i, n in enumerate(names)}, {n: totals[2 * i + 1] for i, n in enumerate(names)},
        whole.counts,
    )  # fmt: skip


def _backward(trainer: Trainer, micro: Any, counts: Mapping[str, float]) -> Mapping[str, Sums]:
    """Add a micro-batch's gradients to the parameters', each objective's divided by its count."""
    with trainer.precision.context():
        found = trainer.objective.sums(trainer.model, micro)
    losses = [one.loss / counts[name] for name, one in found.items() if counts[name]]
    if losses:
        torch.stack(losses).sum().backward()  # type: ignore[no-untyped-call]
    return found


def _moved(trainer: Trainer, rate: float, result: Result, step: int, batch: str) -> float:
    """One step of the optimizer, unless it would carry something that is no number into the weights."""
    norm = trainer.optimizer.norm()
    length = float(norm)
    for what, value in (("loss", result.loss), ("gradient", length)):
        if not math.isfinite(value):
            raise DivergedError(step + 1, what, batch)
    trainer.optimizer.step(rate, norm)
    return length


def _result(losses: Mapping[str, float], rights: Mapping[str, float], counts: Mapping[str, float]) -> Result:
    means = {n: losses[n] / counts[n] if counts[n] else 0.0 for n in counts}
    hits = {n: rights[n] / counts[n] if counts[n] else 0.0 for n in counts}
    return Result(sum(means.values()), means, hits, dict(counts))
