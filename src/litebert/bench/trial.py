"""Which run do the benches of faults harm? One of a second, on text made up here; and have two come to the same?"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from litebert import files, rng
from litebert.data.build import build
from litebert.data.options import Options
from litebert.text import sample, train
from litebert.text.corpus import sources
from litebert.text.tokenizer import load
from litebert.train import checkpoint, record
from litebert.train.pretrain import CHECKPOINTS

RECIPE = """
[model]
embedding = 16
hidden = 32
layers = 2
heads = 2
ffn = 64
positions = "rotary"
dropout = {dropout}

[data]
recipe = "albert"
length = 48

[optimizer]
rule = "lamb"

[schedule]
kind = "linear"
peak = 5e-3
warmup = 0.1
total = "{total}"

[training]
batch = {batch}
precision = "float32"
evaluations = 6
evaluation_rows = {batch}
saves = {saves}
"""
_PARTS = ("ba", "do", "fi", "gu", "ke", "lo", "mi", "na", "pe", "ri", "so", "tu")
_DOCUMENTS, _WORDS, _PIECES = 150, 300, 120


class Place(NamedTuple):
    """Where everything lies."""

    root: Path

    @property
    def text(self) -> Path:
        """A folder of one file."""
        return self.root / "text"

    @property
    def tokenizer(self) -> Path:
        """A tokenizer.json."""
        return self.root / "tokenizer"

    @property
    def shards(self) -> Path:
        """The encoded text."""
        return self.root / "shards"

    def recipe(self, total: str, *, batch: int = 12, saves: int = 20, dropout: float = 0.1) -> Path:
        """A recipe of so many steps or tokens, as a file."""
        path = self.root / f"{total.replace(' ', '-')}-{batch}.toml"
        path.write_text(RECIPE.format(total=total, batch=batch, saves=saves, dropout=dropout), encoding="utf-8")
        return path


def made(root: Path) -> Place:
    """Text, its tokenizer and its shards, the same every time."""
    place = Place(root)
    place.text.mkdir(parents=True)
    place.text.joinpath("made-up.txt").write_text("\n\n".join(_documents()) + "\n", encoding="utf-8")
    train.train(sample.draw(sources([place.text])), "wordpiece", _PIECES).save(place.tokenizer)
    options = Options(held_out=0.1, shard_tokens=4000)
    build([place.text], load(place.tokenizer), place.shards, options, workers=1)
    return place


def outcome(run: Path) -> dict[str, Any]:
    """What a run came to, clock times aside: digests of its last checkpoint, its model and its log; equal or not."""
    root = run / CHECKPOINTS
    last = checkpoint.path_of(root, checkpoint.steps(root)[-1])
    state = files.read_json(last / checkpoint.STATE)
    state["progress"] = state["progress"][:2]
    tensors = {file.name: files.digest(file) for file in sorted(last.glob("*.safetensors"))}
    log = [record.timeless(event) for event in record.read(run) if _lasts(event)]
    whole = {"folder": files.digest(run / "model.safetensors"), "state": _digest(state), "log": _digest(log)}
    return {"checkpoint": last.name, **tensors, **whole}


def _lasts(event: Mapping[str, Any]) -> bool:
    """Whether an event is one of the run's own, not of how often it was begun or how fast the machine was."""
    return event["event"] not in ("start", "resume") and event.get("kind") != "throughput"


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _documents() -> list[str]:
    draw = rng.generator(0, "made-up text")
    words = ["".join(draw.choice(_PARTS, draw.integers(1, 4))) for _ in range(_WORDS)]
    often = 1.0 / (1.0 + draw.permutation(_WORDS))
    often /= often.sum()

    def sentence() -> str:
        return " ".join(draw.choice(words, draw.integers(3, 13), p=often)).capitalize() + "."

    return [" ".join(sentence() for _ in range(draw.integers(1, 10))) for _ in range(_DOCUMENTS)]
