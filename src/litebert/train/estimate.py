"""How long will a run take, and what will it hold? Asked before its first step: a short rehearsal, and closed forms.

The rehearsal makes forward and backward passes on the run's first batch and throws the gradients away: no weight
moves, and as batches are a function of their position, neither does the stream.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from litebert import family
from litebert.data.batch import Tensors, tensors
from litebert.data.stream import Position
from litebert.data.units import most_predictions
from litebert.model import footprint
from litebert.optim.lamb import Lamb
from litebert.optim.schedule import Progress
from litebert.train import feeding, loop, work
from litebert.train.loop import Trainer
from litebert.train.prepared import Prepared
from litebert.train.recipe import Phase

_FEW = 8  # rows that are tried first
_TIMES = 9  # as often, at most, is a micro-batch rehearsed
_BACKWARD = 3  # forward and backward pass together take about so many times the forward pass


class Speed(NamedTuple):
    """What the rehearsal came to, on this process's share of a batch."""

    length: int  # of the rows
    rows: int  # rehearsed at a time
    row_seconds: float  # forward and backward pass, a row
    step_seconds: float  # once a step: the optimizer, and the sum over processes
    fill: float  # real tokens of all places
    epoch_tokens: float  # real tokens that an epoch holds


class Estimate(NamedTuple):
    """A run from where it stands to its end, and what it holds."""

    speed: Speed
    tokens_per_s: float  # while it trains, all processes
    peak: float  # operations a second that this process's device could make
    share_of_peak: float
    ends: bool  # whether there is an end to reckon with: a constant rate may have none
    steps: float
    tokens: float
    seconds: float  # with evaluations
    epochs: float
    parameters: int
    memory: Mapping[str, int]  # bytes by component, in closed form
    resident: int  # bytes that this process holds now
    highest: int  # and has held at most, the rehearsal included
    checkpoint: int  # bytes of one
    disk: int  # bytes of those that are kept, and the model beside them

    @property
    def tokens_per_parameter(self) -> float:
        """Tokens that the run sees for every weight it trains."""
        return self.tokens / self.parameters


def estimate(
    prepared: Prepared, progress: Progress = Progress(), position: tuple[int, ...] = feeding.START, *,
    seconds: float = 4.0, clock: Callable[[], float] = time.perf_counter,
) -> Estimate:  # fmt: skip
    """Rehearse for about so many seconds, and reckon. In a run of several processes all of them must ask."""
    run, trainer = prepared.run, prepared.trainer
    speed = rehearse(prepared, position, seconds, clock)
    steps, tokens, took = _to_the_end(prepared, speed, progress)
    phase = run.stretches()[position[0]]
    rate = _step(prepared, speed, phase)
    heads = family.pretraining_heads(run.model)
    checkpoint = footprint.checkpoint_bytes(run.model, heads, slots=2)
    peak = work.peak(trainer.precision, clock=clock)
    done = rate.tokens / rate.seconds
    most = work.per_token(run.model, run.data.but(length=phase.length)) * done / trainer.world.size
    return Estimate(
        speed=speed, tokens_per_s=done, peak=peak, share_of_peak=most / peak, ends=run.schedule.total > 0,
        steps=steps, tokens=tokens, seconds=took, epochs=tokens / speed.epoch_tokens,
        parameters=sum(one.tensor.numel() for one in trainer.optimizer.treated), memory=memory(prepared),
        resident=held().now, highest=held().highest, checkpoint=checkpoint,
        disk=checkpoint * (run.training.keep + 1) + footprint.weight_bytes(run.model, heads),
    )  # fmt: skip


def memory(prepared: Prepared) -> dict[str, int]:
    """Bytes of a training step by component, in closed form, of the phase that needs most."""
    run, trainer = prepared.run, prepared.trainer
    each = trainer.precision.dtype.itemsize
    found = [
        footprint.training_memory(run.model, _micro(prepared, phase), phase.length,
                                  asked=most_predictions(run.data, phase.length), bytes_each=each)
        for phase in run.stretches()
    ]  # fmt: skip
    return max(found, key=lambda parts: sum(parts.values()))


def rehearse(
    prepared: Prepared, position: tuple[int, ...], seconds: float, clock: Callable[[], float] = time.perf_counter
) -> Speed:
    """Measure on the batch at a position, in no more rows at a time than the seconds allow."""
    run, trainer = prepared.run, prepared.trainer
    phase = run.stretches()[position[0]]
    stream = feeding.stream_of(run, phase, prepared.shards, prepared.vocabulary, trainer.world)
    batch, _ = stream.batch(Position(*position[1:]))
    whole = tensors(batch, trainer.world.device)
    most = min(len(whole.ids), run.training.micro or len(whole.ids))
    few = min(most, _FEW)
    _timed(trainer, whole, few, 1, clock)  # what is only done once, such as choosing kernels
    each = _timed(trainer, whole, few, 1, clock) / few
    rows = max(few, min(most, int(seconds / 4 / each)))
    if rows != few:
        _timed(trainer, whole, rows, 1, clock)
    times = max(2, min(_TIMES, int(seconds / 2 / (rows * each))))
    each = _timed(trainer, whole, rows, times, clock) / rows
    real = float(np.count_nonzero(batch.mask))
    examples = max(1, int(np.count_nonzero(batch.examples >= 0)))
    return Speed(
        length=phase.length, rows=rows, row_seconds=_mean(trainer, each),
        step_seconds=_mean(trainer, _once_a_step(trainer, clock)), fill=_mean(trainer, real / whole.ids.numel()),
        epoch_tokens=_mean(trainer, real / examples * stream.count(0)),
    )  # fmt: skip


class _Step(NamedTuple):
    tokens: float  # of all processes
    seconds: float


def _step(prepared: Prepared, speed: Speed, phase: Phase) -> _Step:
    """A step of a phase, of which one phase was rehearsed: of longer rows a token costs more."""
    run, size = prepared.run, prepared.trainer.world.size
    here, there = (work.per_token(run.model, run.data.but(length=n)) * n for n in (phase.length, speed.length))
    places = run.training.tokens if run.training.tokens else feeding.rows_of(run, phase) * phase.length
    rows = places / phase.length / size
    return _Step(places * speed.fill, rows * speed.row_seconds * here / there + speed.step_seconds)


def _to_the_end(prepared: Prepared, speed: Speed, progress: Progress) -> tuple[float, float, float]:
    """(steps, tokens, seconds) from a progress on; without an end, none."""
    run = prepared.run
    schedule, stretches = run.schedule, run.stretches()
    left = 1.0 - schedule.share(progress)
    times = run.training.evaluations * left
    if schedule.unit == "steps":  # no step is followed by two
        times = min(times, left * schedule.total)
    rows = 0.0
    if prepared.held_out.tokens:
        world = prepared.trainer.world
        rows = feeding.evaluated(run, prepared.held_out, prepared.vocabulary, world)[1] / world.size
    last = _step(prepared, speed, stretches[-1])
    per_row = (last.seconds - speed.step_seconds) / feeding.rows_of(run, stretches[-1]) * prepared.trainer.world.size
    evaluating = rows * per_row / _BACKWARD * times
    steps, tokens, seconds, done = 0.0, 0.0, evaluating, 0.0
    for phase in stretches:
        begin, done = max(done, 1.0 - left), done + phase.share
        share, one = max(0.0, done - begin), _step(prepared, speed, phase)
        match schedule.unit:
            case "steps":
                count = share * schedule.total
            case "tokens":
                count = share * schedule.total / one.tokens
            case "seconds":
                count = max(0.0, share * schedule.total - evaluating * share / max(left, 1e-12)) / one.seconds
        steps, tokens, seconds = steps + count, tokens + count * one.tokens, seconds + count * one.seconds
    return (steps, tokens, seconds) if schedule.total else (0.0, 0.0, 0.0)


def _micro(prepared: Prepared, phase: Phase) -> int:
    """Rows that a process works on at a time."""
    run, size = prepared.run, prepared.trainer.world.size
    own = max(1, feeding.rows_of(run, phase) // size)
    return min(own, run.training.micro or own)


def _timed(trainer: Trainer, whole: Tensors, rows: int, times: int, clock: Callable[[], float]) -> float:
    """Median seconds of the forward and backward pass of so many rows."""
    micro, found = feeding.split(whole, rows)[0], []
    for _ in range(times):
        began = clock()
        loop.rehearse(trainer, micro)
        work.settle(trainer.precision.device)
        found.append(clock() - began)
    return statistics.median(found)


def _once_a_step(trainer: Trainer, clock: Callable[[], float]) -> float:
    """Seconds of the optimizer, on a copy of the largest tensor and told for all, and of the sum over processes."""
    largest = max(trainer.optimizer.treated, key=lambda one: one.tensor.numel())
    copy = nn.Parameter(largest.tensor.detach().clone())
    scratch, found = Lamb([largest._replace(tensor=copy)], trainer.optimizer.rule), []
    for _ in range(3):
        copy.grad = torch.zeros_like(copy)
        began = clock()
        scratch.step(0.0, scratch.norm())
        work.settle(trainer.precision.device)
        found.append(clock() - began)
    learning = [one.tensor for one in trainer.optimizer.treated]
    optimizer = min(found) * sum(one.numel() for one in learning) / copy.numel()
    if trainer.world.size == 1:
        return optimizer
    for one in learning:
        one.grad = torch.zeros_like(one)
    began = clock()
    trainer.world.sum_gradients(learning)
    work.settle(trainer.precision.device)
    together = clock() - began
    trainer.model.zero_grad(set_to_none=True)
    return optimizer + together


def _mean(trainer: Trainer, value: float) -> float:
    """Over all processes."""
    return trainer.world.sums([value])[0] / trainer.world.size


class Held(NamedTuple):
    """Bytes of memory of this process."""

    now: int
    highest: int


def held() -> Held:
    """What this process holds, as the system counts; 0 where it does not say."""
    status = Path("/proc/self/status")
    found = {"VmRSS": 0, "VmHWM": 0}
    for line in status.read_text().splitlines() if status.is_file() else ():
        name, _, value = line.partition(":")
        if name in found:
            found[name] = int(value.split()[0]) * 1024
    return Held(found["VmRSS"], found["VmHWM"])
