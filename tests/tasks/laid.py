"""How do the tests of single kinds read examples? By a small model that wears the task's head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from litebert.model.model import Model
from litebert.tasks.batches import Table
from litebert.tasks.evaluation import Asked
from litebert.tasks.task import Fed, Item
from litebert.train import precision
from vectors.tiny import model_of, wordpiece_of


class Laid(NamedTuple):
    """Examples as a model reads them."""

    model: Model
    items: list[Item]
    micro: Fed


def laid(task: Any, examples: Sequence[Any], **more: object) -> Laid:
    """All examples as one micro-batch, and a model with lively weights."""
    tokenizer = wordpiece_of()
    model = model_of(tokenizer, heads=[], **more)
    name, head = task.spec(model.config)
    model = model_of(tokenizer, heads={name: head}, **more)  # type: ignore[arg-type]
    items = task.items(examples, tokenizer)
    return Laid(model, items, Table(items, tokenizer.specials.pad).fed(np.arange(len(items)), task))


def answered(task: Any, examples: Sequence[Any], model: Model) -> list[Any]:
    """What a model predicts, by the way that every evaluation takes."""
    tokenizer = wordpiece_of()
    table = Table(task.items(examples, tokenizer), tokenizer.specials.pad)
    chosen = precision.choose("float32", torch.device("cpu"))
    return Asked(task, examples, table).answers(model, chosen).predictions
