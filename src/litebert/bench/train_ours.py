"""One competitor of `bench train`: our own loop, fed by our own stream. Started as a process; prints one JSON line."""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from litebert.bench import train
from litebert.config import Config
from litebert.data import vocabulary as vocabularies
from litebert.data.shards import Arrays, Counts, Shard, Shards
from litebert.model.model import Model, build
from litebert.optim.groups import treated
from litebert.optim.lamb import Lamb
from litebert.optim.schedule import Progress, Schedule, Stopwatch
from litebert.train import allocation, feeding, loop, precision, work
from litebert.train.distributed import World
from litebert.train.loop import Trainer
from litebert.train.objectives import Pretraining
from litebert.train.recipe import Run, Training

_WARM = 3  # steps that are not counted


def measure(size: str, length: int, batch: int, steps: int, ids: str, compiled: bool, mode: str) -> dict[str, float]:
    """Seconds of a step, by the median, and the most memory that was held."""
    config = Config(**train.SIZES[size], objectives=("mlm",), pooler="none")
    run = Run(model=config, data=train.recipe(length), training=Training(batch=batch))
    model = build(config, ["mlm"], seed=0)
    if compiled:
        _compile(model)
    allocation.keep()
    chosen = precision.choose("auto", torch.device("cpu"))
    trainer = Trainer(model, Pretraining(["mlm"]), Lamb(treated(model), run.optimizer), Schedule(peak=1e-4, total=1e6),
                      chosen, World())  # fmt: skip
    text = _in_memory(np.load(ids), config.vocab, length)
    portions = feeding.portions(run, text, vocabularies.plain(config.vocab), World(), feeding.START, lambda: 0.0)
    marks = [time.perf_counter()]
    for _ in loop.steps(trainer, portions, Progress(), Stopwatch(time.monotonic), lambda: len(marks) > steps + _WARM):
        marks.append(time.perf_counter())
    step = statistics.median(np.diff(marks)[_WARM:])
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"tokens_per_s": batch * length / step, "rss": rss, "gemm": work.peak(chosen, 1.0),
            "threads": torch.get_num_threads()}  # fmt: skip


def _compile(model: Model) -> None:
    for part in (*model.encoder.attention, *model.encoder.ffn):
        part.compile(dynamic=False)


def _in_memory(ids: np.ndarray[Any, Any], vocab: int, length: int) -> Shards:
    """One shard of documents, each as long as a row of text."""
    inner = length - 3 + 1  # [CLS] and [SEP] come to it
    count = len(ids) // inner
    flat = ids[: count * inner].astype(np.uint16)
    ends = np.arange(count + 1, dtype=np.int64)
    starts = np.packbits(np.ones(len(flat), bool), bitorder="little")
    arrays = Arrays(flat, ends * inner, ends, starts)
    shard = Shard(Counts(len(flat), count, count), lambda: arrays)
    return Shards([shard], Path(), "train", vocab, "", {})


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(**json.loads(sys.argv[1]))) + "\n")
