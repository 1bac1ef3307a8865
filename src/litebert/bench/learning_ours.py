"""One competitor of `bench learning`: `litebert pretrain` with a recipe. Started as a process; prints lines of JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch

from litebert.bench import learning_rows
from litebert.bench.learning_curve import Clock, Curve, say
from litebert.model.model import Model
from litebert.optim.schedule import Progress
from litebert.train import distributed, recipe
from litebert.train.prepared import prepare
from litebert.train.pretrain import pretrain


def measure(
    shards: str, recipe_name: str, changes: list[str], device: str, rows: int, moments: int, folder: str
) -> dict[str, Any]:  # fmt: skip
    """Train to the run's end, looked at on the way; what it came to."""
    prepared = prepare(recipe.load(recipe_name, changes), shards, distributed.join({}, device))
    run, trainer = prepared.run, prepared.trainer
    asked = learning_rows.questions(run, shards, trainer.world.device, rows)
    order = learning_rows.order_of(run)
    assert isinstance(trainer.model, Model)
    look = partial(learning_rows.scored, trainer.model, asked, trainer.precision, order)
    clock = Clock(trainer.precision.device)
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    curve = Curve(out.with_suffix(".jsonl"), moments, look, clock, lambda line: say({"tell": f"ours: {line}"}))

    def watch(event: Mapping[str, Any]) -> None:
        if event["event"] in ("start", "step"):
            done = Progress(event["step"], event["tokens"], event["seconds"])
            if curve.due(run.schedule.share(done)):
                curve.look(*done)

    done = pretrain(prepared, out, tell=watch, clock=clock.read).progress
    curve.look(*done)
    return {
        "steps": done.steps, "tokens": done.tokens, "seconds": round(done.seconds, 1),
        "tokens_per_s": round(done.tokens / done.seconds, 1), "precision": trainer.precision.reason,
        "device": trainer.precision.device, "threads": torch.get_num_threads(), "rows": asked.rows,
        "unigram_entropy": prepared.entropy, "final": curve.points[-1],
    }  # fmt: skip


if __name__ == "__main__":
    say({"found": measure(**json.loads(sys.argv[1]))})
