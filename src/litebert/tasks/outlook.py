"""What will a fine-tuning take, and what of the model learns? Asked before the first step, by a short rehearsal.

A model is built as the first seed's will be, makes a few forward and backward passes whose gradients are thrown away,
and is forgotten.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from litebert.optim import groups
from litebert.optim.groups import Row
from litebert.tasks import features
from litebert.tasks import prepared as preparing
from litebert.tasks.batches import Numbers, Table
from litebert.tasks.featured import Featured
from litebert.tasks.prepared import Prepared
from litebert.train import loop

SECONDS = 4.0  # for the rehearsal
_FORWARD = 3  # forward and backward pass together take about so many times the forward pass
_TRIED = 5  # micro-batches, from narrow to wide


class Outlook(NamedTuple):
    """One seed, from its first step to its last."""

    rows: list[Row]  # what learns, and how
    learns: int  # parameters
    frozen: int  # parameters that stand still
    remarks: tuple[str, ...]  # what one might not expect of them
    precision: str
    steps: int
    epochs: float
    evaluations: int
    tokens: int  # real ones of an epoch
    padding: float  # share of all that is read in training
    seconds: float  # with evaluations
    tokens_per_s: float  # real ones, in training


def outlook(
    prepared: Prepared, seconds: float = SECONDS, clock: Callable[[], float] = time.perf_counter
) -> Outlook:  # fmt: skip
    """Rehearse for about so many seconds, and reckon."""
    ready = prepared.ready
    features_only = prepared.tuning.mode == "features"
    made = features.reading(ready) if features_only else ready.learner(prepared.tuning.seed)
    cut = preparing.parts(ready)
    each = _seconds_a_token(made.trainer, prepared, cut, seconds, clock)
    read, judged = _held(ready.train, cut), _held(ready.dev.table, ready.dev.batches)
    real, epochs = int(ready.train.tokens.sum()), ready.total / ready.epoch
    evaluations = len(ready.due())
    learning = made.trainer.optimizer.treated
    count = sum(one.tensor.numel() for one in learning)
    model = made.trainer.model
    every = [*model.parameters(), *(model.body.parameters() if isinstance(model, Featured) else ())]
    # A body that stands still reads everything once; the head's own steps cost next to nothing beside that.
    tokens = read + judged if features_only else read * epochs + evaluations * judged / _FORWARD
    return Outlook(
        rows=groups.rows(learning), learns=count, remarks=made.frozen.remarks,
        frozen=sum(one.numel() for one in every) - count,
        precision=made.trainer.precision.reason, steps=ready.total, epochs=epochs, evaluations=evaluations, tokens=real,
        padding=1 - real / read, seconds=each * tokens,
        tokens_per_s=real / (each * read),
    )  # fmt: skip


def _seconds_a_token(
    trainer: loop.Trainer, prepared: Prepared, cut: Sequence[Numbers], seconds: float, clock: Callable[[], float]
) -> float:  # fmt: skip
    """Of forward and backward pass, padding included: over micro-batches of all widths, as far as the time allows."""
    ready = prepared.ready
    held = np.array([_held(ready.train, [numbers]) for numbers in cut])
    order = np.argsort(held, kind="stable")
    chosen = [int(order[int(place)]) for place in np.linspace(0, len(order) - 1, min(_TRIED, len(order)))]
    fed = [ready.train.fed(cut[number], ready.task) for number in chosen]
    loop.rehearse(trainer, fed[0])  # what is only done once, such as choosing kernels
    began, tokens, took = clock(), 0, 0.0
    for number, micro in zip(chosen, fed, strict=True):
        loop.rehearse(trainer, micro)
        if micro.ids.is_cuda:
            float(micro.ids.sum())  # until it is done
        tokens, took = tokens + int(held[number]), clock() - began
        if took > seconds:
            break
    return took / tokens


def _held(table: Table, cut: Sequence[Numbers]) -> int:
    """Tokens that are read for these batches, padding included."""
    return sum(int(table.rows[numbers].sum() * table.widths[numbers].max()) for numbers in cut)
