"""One competitor of `bench finetune`: a seed's own training. Started as a process; prints one JSON line."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import torch

from litebert.bench import finetune
from litebert.bench.train import SIZES
from litebert.config import Config
from litebert.data.stream import Position
from litebert.interop import folder as folders
from litebert.model.model import build
from litebert.optim.schedule import Progress, Stopwatch
from litebert.tasks.batches import Steps, Table
from litebert.tasks.classify import Classify
from litebert.tasks.learner import Start, learner
from litebert.tasks.settings import Tuning
from litebert.tasks.task import Item, Row, Task
from litebert.text import tokenizer as tokenizers
from litebert.train import loop
from litebert.train.loop import Portion


def measure(
    size: str, vocab: int, pad: int, batch: int, rows: str, tokenizer: str, steps: int, mode: str
) -> dict[str, float]:  # fmt: skip
    """Real tokens a second, and the most memory that was held."""
    task = cast("Task", Classify(finetune.LABELS))
    words, total = tokenizers.load(tokenizer), steps + finetune.WARM
    with tempfile.TemporaryDirectory() as folder:
        folders.save(build(Config(**SIZES[size], vocab=vocab, pad=pad), [], seed=0), Path(folder))
        tuning = Tuning(length=finetune.LENGTH, batch=batch, steps=total, rate=1e-5)
        trainer = learner(Start(folder), task, tuning, words, total, torch.device("cpu")).trainer
    table = Table(items_of(rows), pad)
    held: list[int] = []
    portions = fed(table, finetune.evenly(epoch(table, batch), table.widths.tolist(), steps), task, held)
    tokens, marks = list[int](), list[float]()
    for step in loop.steps(trainer, portions, Progress(), Stopwatch(time.monotonic), lambda: False):
        tokens.append(step.tokens)
        marks.append(time.perf_counter())
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {**finetune.rates(tokens, held, marks, batch), "rss": rss, "threads": torch.get_num_threads()}


def items_of(rows: str) -> list[Item]:
    """The rows as the task has them."""
    ids, classes = finetune.read_rows(rows)
    return [Item(number, (Row(one, np.zeros(len(one), np.uint8)),), target)
            for number, (one, target) in enumerate(zip(ids, classes, strict=True))]  # fmt: skip


def epoch(table: Table, batch: int) -> list[list[int]]:
    """The batches that a seed's first epoch is put into."""
    steps = Steps(table.widths, batch, 0)
    return [steps.items(Position(0, number)).tolist() for number in range(steps.count)]


def fed(table: Table, chosen: Sequence[Sequence[int]], task: Task, held: list[int]) -> Iterator[Portion]:
    """Batches as a seed is fed them, and in `held` how many tokens each has, padding included."""
    for numbers in chosen:
        items = np.array(numbers)[::-1]
        micro = table.fed(items, task)
        held.append(micro.ids.numel())
        yield Portion([micro], int(table.tokens[items].sum()), (0, 0))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(**json.loads(sys.argv[1]))) + "\n")
