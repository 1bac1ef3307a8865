"""Where do a run's batches come from? One stream a phase, cut into micro-batches, on the device.

A position is three integers: the phase, and the stream's own two.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import torch

from litebert.data.batch import Tensors, tensors
from litebert.data.rows import Batch
from litebert.data.shards import Shards
from litebert.data.stream import Position, Stream
from litebert.data.vocabulary import Vocabulary
from litebert.errors import UserError
from litebert.train.distributed import World
from litebert.train.loop import Portion
from litebert.train.recipe import Phase, Run

START = (0, 0, 0)
_SHARE = 8  # rows of a batch of so many tokens come in multiples of it


def portions(
    run: Run, shards: Shards, vocabulary: Vocabulary, world: World, position: tuple[int, ...],
    share: Callable[[], float],
) -> Generator[Portion]:  # fmt: skip
    """Batches without end from a position on; `share` tells how much of the run is done, and so which phase it is."""
    phase, place = position[0], Position(*position[1:])
    while True:
        stream = stream_of(run, run.stretches()[phase], shards, vocabulary, world)
        with contextlib.closing(stream.batches(place)) as batches:
            for batch, following in batches:
                if run.phase_at(share()) > phase:
                    break
                place = following
                yield _portion(run, batch, (phase, *place), world.device)
        phase, place = run.phase_at(share()), Position(0, 0)


def held_out(run: Run, shards: Shards, vocabulary: Vocabulary, world: World) -> list[Portion]:
    """The same few batches at every evaluation: the held-out split with the masks of its first epoch."""
    stream, rows = evaluated(run, shards, vocabulary, world)
    found, place = [], Position(0, 0)
    for _ in range(rows // _batch(run, world)):
        batch, place = stream.batch(place)
        found.append(_portion(run, batch, (0, *place), world.device))
    return found


def evaluated(run: Run, shards: Shards, vocabulary: Vocabulary, world: World) -> tuple[Stream, int]:
    """What an evaluation reads, and how many rows of it over all processes: whole batches, one at least."""
    rows = _batch(run, world)
    stream = stream_of(run, run.stretches()[-1], shards, vocabulary, world, rows)
    return stream, max(1, min(run.training.evaluation_rows, stream.count(0)) // rows) * rows


def _batch(run: Run, world: World) -> int:
    """Rows of a batch of an evaluation."""
    most = max(world.size, run.training.evaluation_rows // world.size * world.size)
    return min(rows_of(run, run.stretches()[-1]), most)


def stream_of(run: Run, phase: Phase, shards: Shards, vocabulary: Vocabulary, world: World, rows: int = 0) -> Stream:
    """The stream of a phase, for this process."""
    recipe, training = run.data.but(length=phase.length), run.training
    share = {"tokens": training.tokens} if training.tokens and not rows else {"batch": rows or rows_of(run, phase)}
    return Stream(shards, recipe, vocabulary, seed=training.seed, rank=world.rank, world=world.size, **share)


def split(whole: Tensors, rows: int) -> list[Tensors]:
    """A batch in pieces of so many rows."""
    count = len(whole.ids)
    return [_cut(whole, start, start + rows) for start in range(0, count, rows)]


def rows_of(run: Run, phase: Phase) -> int:
    """Rows of a global batch: the phase's own, or as many as keep the tokens of a step what they were.

    The number of processes has no say in it: one that does not divide it is refused by the stream, with the nearest
    numbers that would do.
    """
    if phase.batch:
        return phase.batch
    if run.training.tokens:  # rows of like length, each of which may be as long as this
        return max(1, run.training.tokens // phase.length // _SHARE * _SHARE)
    wanted = run.training.batch * run.data.length / phase.length
    if wanted < 0.5:
        raise UserError(f"batch {run.training.batch} at length {run.data.length} is not one row at {phase.length}: "
                        "set training.batch higher, or the phase's batch")  # fmt: skip
    return max(1, round(wanted))


def _portion(run: Run, batch: Batch, position: tuple[int, ...], device: torch.device) -> Portion:
    whole = tensors(batch, device)
    micros = split(whole, run.training.micro or max(1, len(batch.ids)))
    real = batch.examples[batch.examples >= 0]
    name = f"examples {', '.join(map(str, real[:8]))}{' …' if len(real) > 8 else ''}"
    return Portion(micros, int(np.count_nonzero(batch.mask)), position, name)


def _cut(whole: Tensors, start: int, stop: int) -> Tensors:
    parts: dict[str, Any] = {
        name: part[start:stop] if isinstance(part, torch.Tensor) else part
        for name, part in zip(Tensors._fields, whole, strict=True)
    }
    return Tensors(**parts)
