"""What runs do these tests report on? Folders written by hand: a tiny model, and a log whose every number is known."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from data import corpora
from litebert import family
from litebert.interop import folder as folders
from litebert.model.model import build
from litebert.optim.groups import excluded
from litebert.text import assemble, wordpiece
from litebert.text.tokenizer import Tokenizer
from litebert.train import recipe

STEPS, EVALUATED, TRUSTED = 60, 15, 20
FLOOR = 3.21


def reader() -> Tokenizer:
    """The pieces of the corpus that these tests read, with the way back to text."""
    vocabulary = corpora.tokenizer().engine.get_vocab()
    return assemble.finished(wordpiece.engine(vocabulary, "[UNK]", True, True), assemble.BRACKETS)


def events(seed: int = 0, steps: int = STEPS, tensors: Iterable[str] = (), adapt: bool = True) -> list[dict[str, Any]]:
    """A log: a start, a step after another, an evaluation at every fifteenth."""
    draw = random.Random(seed)
    found: list[dict[str, Any]] = [
        {**_where("start", 0), "precision": "as asked", "world": 1, "floor": FLOOR, "top_frequency": 0.0625}
    ]
    for step in range(steps + 1):
        if step:
            one = {**_where("step", step), "rate": 1e-3 * step, "norm": draw.uniform(0.5, 9), "phase": 0,
                   "tokens_per_s": draw.uniform(900, 1100), "share_of_peak": draw.uniform(0.5, 0.6)}  # fmt: skip
            found.append(one | _scores(draw, step))
            if step % TRUSTED == 1:
                found[-1]["trust"] = {
                    name: 1.0 if excluded(name) or not adapt else draw.uniform(0.01, 3) for name in tensors
                }
        if step % EVALUATED == 0:
            found.append({**_where("evaluation", step), **_scores(draw, step), "mlm_count": 321.0, "sop_count": 64.0,
                          "mlm_top": draw.uniform(0.1, 0.9)})  # fmt: skip
    return found


def run(
    folder: Path, tokenizer: Tokenizer, *, seed: int = 0, rule: str = "lamb", finished: bool = True, start: str = "",
    more: Iterable[dict[str, Any]] = (), log: list[dict[str, Any]] | None = None, **model: Any,
) -> list[dict[str, Any]]:  # fmt: skip
    """Write a run's folder and give back the events of its log."""
    folder.mkdir(parents=True)
    values = {"preset": "albert-base", "vocab": tokenizer.size, "pad": tokenizer.specials.pad, "embedding": 8,
              "hidden": 16, "layers": 3, "heads": 2, "ffn": 32, "max_positions": 64, "init_std": 0.3}  # fmt: skip
    made = recipe.build({
        "start": start,
        "model": {**values, **model}, "data": {"recipe": "albert", "length": 32}, "optimizer": {"rule": rule},
        "schedule": {"kind": "linear", "peak": 0.01, "total": float(STEPS)}, "training": {"batch": 4, "seed": seed},
    })  # fmt: skip
    recipe.save(made, folder / "recipe.toml")
    trained = build(made.model, family.pretraining_heads(made.model), seed=seed + 100)
    if finished:
        folders.save(trained, folder)
    tokenizer.save(folder)
    names = [name for name, _ in trained.named_parameters()]
    found = events(seed, tensors=names, adapt=rule == "lamb") + list(more) if log is None else log
    (folder / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in found))
    return found


def last(found: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    """The newest event of a kind."""
    return next(event for event in reversed(found) if event["event"] == kind)


def _where(event: str, step: int) -> dict[str, Any]:
    return {"event": event, "step": step, "tokens": 100 * step, "seconds": 2.5 * step}


def _scores(draw: random.Random, step: int) -> dict[str, float]:
    words, order = 6.0 - 0.05 * step + draw.uniform(0, 0.1), 0.7 - draw.uniform(0, 0.1)
    return {"loss": words + order, "mlm": words, "mlm_accuracy": draw.uniform(0.1, 0.3), "sop": order,
            "sop_accuracy": draw.uniform(0.4, 0.9)}  # fmt: skip
