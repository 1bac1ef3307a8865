"""A real run, small enough for a test: 120 documents of a made-up text, and an ALBERT of 32 × 2."""

from __future__ import annotations

from typing import Any

from data.texts import SIZE, shards, vocabulary
from litebert import family
from litebert.model.model import build
from litebert.optim.groups import treated
from litebert.optim.lamb import Lamb
from litebert.train import precision, recipe
from litebert.train.distributed import World
from litebert.train.loop import Trainer
from litebert.train.objectives import Pretraining
from litebert.train.prepared import Prepared
from litebert.train.recipe import Run

TEXT, HELD_OUT, WORDS = shards(), shards(30, seed=1), vocabulary()


def run_of(*changes: str, **tables: Any) -> Run:
    """The run, with changes such as `training.batch=24`; `phase=[…]` gives it phases."""
    plain = {
        "model": {"vocab": SIZE, "embedding": 16, "hidden": 32, "layers": 2, "heads": 2, "ffn": 64},
        "data": {"recipe": "albert", "length": 48},
        "optimizer": {"rule": "lamb"},
        "schedule": {"kind": "linear", "peak": 5e-3, "warmup": 0.1, "total": "20 steps"},
        "training": {"batch": 12, "precision": "float32", "evaluation_rows": 24},
        **tables,
    }
    return recipe.build(recipe._changed(plain, changes))


def prepared(run: Run | None = None, world: World = World(), asked: str = "float32") -> Prepared:
    """Everything that a run stands on, but a tokenizer, which only the folder of a run needs."""
    settled = run or run_of()
    model = build(settled.model, family.pretraining_heads(settled.model), seed=settled.training.seed)
    chosen = precision.choose(asked, world.device)  # type: ignore[arg-type]
    trainer = Trainer(
        model=model, objective=Pretraining(settled.model.objectives), optimizer=Lamb(treated(model), settled.optimizer),
        schedule=settled.schedule, precision=chosen, world=world, seed=settled.training.seed,
    )  # fmt: skip
    return Prepared(settled, TEXT, HELD_OUT, None, WORDS, trainer, 5.2)  # type: ignore[arg-type]
