"""How is a whole text answered for? By one vector of scores, the mean of its windows' where it has several.

What the kinds of task that do so have in common: classes, several labels at once, and scores. Shapes: I items, R rows,
K scores of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from litebert.model.model import Model
from litebert.tasks import layout
from litebert.tasks.cutting import Cut
from litebert.tasks.examples import Text
from litebert.tasks.task import Fed, Item
from litebert.text.tokenizer import Tokenizer

MANY = 10  # texts that do not all get one answer by chance
HAIR = 1e-3  # between probabilities that are as good as alike


def items(
    examples: Sequence[Text], tokenizer: Tokenizer, cut: Cut, target: Callable[[Text], Any]
) -> list[Item]:  # fmt: skip
    """One item a text."""
    rows = layout.texts(examples, tokenizer, cut)
    return [
        Item(number, one, None if example.label is None else target(example))
        for number, (example, one) in enumerate(zip(examples, rows, strict=True))
    ]


def logits(model: Model, micro: Fed) -> Tensor:
    """[I, K] in float32."""
    out = model(micro.ids, micro.mask, micro.segments, all_hidden=False)
    scores: Tensor = model.logits("classify", out).float()  # [R, K]
    if len(micro.rows) == len(scores):
        return scores
    return torch.stack([part.mean(dim=0) for part in torch.split(scores, list(micro.rows))])


def outputs(model: Model, micro: Fed) -> list[Any]:
    """[K] of every text."""
    return list(logits(model, micro).cpu().numpy())


def alike(given: NDArray[np.float64]) -> bool:
    """Whether all texts are given the same probabilities [I, K], but for a hair."""
    return len(given) >= MANY and float((given.max(axis=0) - given.min(axis=0)).max()) < HAIR


def in_order(labels: set[str]) -> list[str]:
    """Labels in an order that does not depend on the data's: numbers by size, else by their letters."""
    return sorted(labels, key=int) if all(map(str.isdecimal, labels)) else sorted(labels)


def shown(labels: Sequence[str], most: int = 12) -> str:
    """Labels in an error."""
    return ", ".join(map(repr, labels[:most])) + (f" and {len(labels) - most} more" if len(labels) > most else "")
