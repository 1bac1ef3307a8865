"""One of several processes, started by test_distributed.py: what it found it prints as its last line, in JSON."""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from litebert.data import stream
from litebert.optim.schedule import Progress, Stopwatch
from litebert.train import distributed, feeding, loop
from litebert.train.distributed import World
from train.small import portions, trainer, weights
from train.tiny import prepared, run_of

_PATIENCE = 240  # seconds, on a machine that does much else


def gradients(world: World) -> list[list[float] | None]:
    """Sums of gradients: of both, of one alone, of nobody, and of a tensor that does not learn; two in a bucket."""
    tensors = [torch.zeros(4, requires_grad=True) for _ in range(4)]
    tensors.append(torch.zeros(2))
    tensors[0].grad = torch.arange(4.0) * (world.rank + 1)
    if world.leads:
        tensors[1].grad = torch.full((4,), 0.5)
    tensors[3].grad = torch.ones(4)
    usual, distributed._BUCKET = distributed._BUCKET, 6
    world.sum_gradients(tensors)
    distributed._BUCKET = usual
    return [None if t.grad is None else t.grad.tolist() for t in tensors]


def small_steps(world: World) -> dict[str, Any]:
    """Steps on this rank's rows of every batch; the last process asks for the end, and its clock is its own."""
    made, own = trainer(dropout=0.0, world=world), 8 // world.size
    feed = portions(first=world.rank * own, last=(world.rank + 1) * own, micro=max(1, own // 2))
    asked = iter([False] * 14 + [world.rank == world.size - 1] * 10)
    watch = Stopwatch(iter([float(world.rank * 1000 + i) for i in range(100)]).__next__)
    steps = list(loop.steps(made, feed, Progress(), watch, lambda: next(asked)))
    return {
        "losses": [s.result.loss for s in steps], "norms": [s.norm for s in steps],
        "accuracies": [s.result.accuracies["class"] for s in steps], "progress": [list(s.progress) for s in steps],
        "weights": weights(made).tolist(),
    }  # fmt: skip


def real_steps(world: World) -> dict[str, Any]:
    """Six steps of a real model on its own text, and what it then comes to on held-out text."""
    stream.AT_ONCE = 4096  # a few batches beforehand, not hundreds of these small ones
    made = prepared(run_of("training.micro=2"), world)
    feed = feeding.portions(made.run, made.shards, made.vocabulary, world, feeding.START, lambda: 0.0)
    losses = []
    for step in loop.steps(made.trainer, feed, Progress(), Stopwatch(lambda: 0.0), lambda: False):
        losses.append([step.result.loss, *step.result.losses.values(), step.norm, float(step.tokens)])
        if step.progress.steps == 6:
            break
    feed.close()  # type: ignore[attr-defined]  # a generator: its thread ends
    held = feeding.held_out(made.run, made.held_out, made.vocabulary, world)
    found = loop.evaluate(made.trainer, iter(held))
    return {"losses": losses, "held_out": [found.loss, *found.accuracies.values(), *found.counts.values()]}


def everything(world: World) -> dict[str, Any]:
    """All of it, in the order in which all processes do it."""
    return {
        "rank": world.rank, "size": world.size, "leads": world.leads,
        "sums": world.sums([world.rank + 1.0, 0.1, 1e16 if world.leads else 1.0]),
        "agree": [world.agree(7.0), world.agree(float(world.rank)), world.agree(-1.5)],
        "gradients": gradients(world), "small": small_steps(world), "real": real_steps(world),
    }  # fmt: skip


def main() -> None:
    """One process of torchrun's."""
    faulthandler.enable()
    faulthandler.dump_traceback_later(_PATIENCE, exit=True)  # who waits for ever says where
    torch.set_num_threads(1)
    world = distributed.join(os.environ, "cpu")
    found = everything(world)
    world.meet()
    distributed.leave()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
