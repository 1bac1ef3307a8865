"""What must be settled before a fine-tuning's first step? Settings, examples, the task, and rows for all of them.

Settings are checked before data are read, and data before a weight is: a mistake costs seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch

from litebert import files
from litebert.config import Config, ConfigError, Head, unknown_name
from litebert.data.stream import Position
from litebert.errors import UserError
from litebert.tasks import batches, defaults, kinds, learner, sources
from litebert.tasks.batches import Table
from litebert.tasks.evaluation import Asked
from litebert.tasks.examples import Example
from litebert.tasks.fit import Ready
from litebert.tasks.learner import Start
from litebert.tasks.settings import Tuning
from litebert.tasks.sources import Source
from litebert.tasks.task import Task
from litebert.tasks.windows import dress_of
from litebert.text import tokenizer as tokenizers
from litebert.text.tokenizer import Tokenizer
from litebert.train.recipe import value_of


class Shaped(NamedTuple):
    """The model that is begun from, as far as its JSON tells."""

    start: Start
    tokenizer: Tokenizer
    config: Config
    heads: Mapping[str, Head]
    weights: str  # a digest of its tensors; '' = they are drawn from the seed


class Prepared(NamedTuple):
    """All that stands before the first step."""

    shaped: Shaped
    source: Source
    ready: Ready
    columns: Mapping[str, str]

    @property
    def tuning(self) -> Tuning:
        """The settings."""
        return self.ready.tuning

    @property
    def padding(self) -> float:
        """The share of padding in what an epoch has the model read."""
        ready = self.ready
        return batches.padding(ready.train, parts(ready))

    def data(self) -> dict[str, Any]:
        """What the settings are applied to, as the table [data] of tuning.toml."""
        start = self.shaped.start
        return {
            "task": self.source.name or self.source.kind, "model": start.model, "random": start.random,
            "tokenizer": start.tokenizer, "examples": len(self.source.train), "dev": len(self.source.dev),
            "weights": self.shaped.weights, "pieces": self.shaped.tokenizer.fingerprint,
            "texts": self.source.fingerprint,
        }  # fmt: skip


def shaped(start: Start) -> Shaped:
    """The model that is begun from; an error where it or its tokenizer is not there."""
    start.check()
    if start.tokenizer:
        tokenizer = tokenizers.load(start.tokenizer)
    elif not Path(start.model).is_dir():
        raise UserError(f"{start.model} has no tokenizer of its own: name a folder that has one with --tokenizer")
    elif not (Path(start.model) / "tokenizer.json").is_file():
        raise UserError(f"{start.model} has no tokenizer.json: name a folder that has one with --tokenizer (litebert "
                        "tokenizer import makes it from a vocab.txt or spiece.model)")  # fmt: skip
    else:
        tokenizer = tokenizers.load(start.model)
    config, heads = start.shape(tokenizer)
    found = () if start.random else sorted(Path(start.model).glob("*.safetensors"))
    weights = "+".join(files.digest(path) for path in found)
    return Shaped(start, tokenizer, config, heads, weights)


def tuning(task: str, model: Shaped, changes: Mapping[str, Any]) -> Tuning:
    """The settings of a task on a model of this shape, with changes."""
    kind, benchmark = sources.named(task)
    found = benchmark.settings(model.config) if benchmark else defaults.settings("", kind, model.config)
    if changes.get("mode") == "features":
        found = defaults.on_features(found, model.config)
    return changed(model, found, changes)


def changed(model: Shaped, settings: Tuning, changes: Mapping[str, Any]) -> Tuning:
    """The settings with changes, as this model can have them.

    Who says for how many epochs does not mean the steps that stood there; and a warm-up in steps stays the share of the
    run that it was.
    """
    given = dict(changes)
    if "epochs" in given and "steps" not in given:
        given["steps"] = 0
    if "warmup" not in given and {"epochs", "steps"} & set(given) and settings.warmup >= 1 and settings.steps:
        given["warmup"] = round(settings.warmup / settings.steps, 4)
    made = settings.but(**{name: _as_field(name, value) for name, value in given.items()})
    learner.check(model.config, model.start, made, model.tokenizer)
    if made.freeze > model.config.depth:
        raise ConfigError(f"freeze {made.freeze} exceeds the {model.config.depth} blocks of {model.start.model}: "
                          f"choose 0 to {model.config.depth}")  # fmt: skip
    return made


def parsed(changes: Iterable[str]) -> dict[str, Any]:
    """`["rate=1e-4"]` as settings."""
    found = {}
    for text in changes:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ConfigError(f"--set {text!r} is not of the form name=value: write --set rate=1e-4")
        found[_field(name.strip())] = value_of(value.strip())
    return found


def prepare(
    model: Shaped, source: Source, settings: Tuning, columns: Mapping[str, str], device: torch.device
) -> Prepared:
    """Everything is laid out: what remains is to train."""
    labels = source.benchmark.labels if source.benchmark else ()
    task = kinds.settled(source.kind, source.train, settings, labels or None)
    if source.benchmark:
        first = [name for name in source.benchmark.measures if name in task.measures]
        task.measures = (*first, *(name for name in task.measures if name not in first))
    train, dev = (table(task, part, model, device) for part in (source.train, source.dev))
    ready = Ready(
        model.start, task, settings, model.tokenizer, source.train, train, Asked(task, source.dev, dev), device
    )
    if settings.warmup >= max(1, ready.total):
        raise ConfigError(f"warmup {settings.warmup:g} is not shorter than the {ready.total:,} steps of the training: "
                          "choose a share such as 0.1")  # fmt: skip
    return Prepared(model, source, ready, columns)


def table(task: Task, examples: list[Example], model: Shaped, device: torch.device) -> Table:
    """Rows for examples, as a model of this shape wants them."""
    config, tokenizer = model.config, model.tokenizer
    segments = config.segments > 1 or config.positions == "relative"
    return Table(task.items(examples, tokenizer), tokenizer.specials.pad, segments=segments,
                 left=dress_of(tokenizer).left, device=device)  # fmt: skip


def parts(ready: Ready) -> list[batches.Numbers]:
    """The micro-batches of the first epoch of the first seed."""
    steps = ready.steps(ready.tuning.seed)
    found = []
    for index in range(steps.count):
        found += batches.parts(ready.train, steps.items(Position(0, index))[::-1], ready.tuning.micro)
    return found


def _field(name: str) -> str:
    if name not in Tuning.model_fields:
        raise ConfigError(unknown_name("setting", name, Tuning.model_fields))
    return name


def _as_field(name: str, value: Any) -> Any:
    """A whole number where a setting is any number."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and "float" in str(Tuning.model_fields[_field(name)].annotation) else value
