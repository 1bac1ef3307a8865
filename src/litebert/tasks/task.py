"""What must a kind of task be able to do? Turn examples into rows, say what a guess costs, and read answers off it.

A task is settled for one set of labels and one way of laying texts out. The loop trains it as it trains anything: a
task is an objective (`train.loop.Objective`) over micro-batches of `Fed`. Shapes: R rows, T tokens, I items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from litebert.config import Config, Head
from litebert.model.model import Model
from litebert.tasks.examples import Example
from litebert.text.tokenizer import Tokenizer
from litebert.train.cross_entropy import Sums

Numbers = Sequence[int] | NDArray[np.integer[Any]]


class Row(NamedTuple):
    """One row of the model's input, special pieces included, unpadded; its arrays may be shared with other rows."""

    ids: Numbers
    segments: Numbers


class Item(NamedTuple):
    """What cannot be parted: the one row of a text, the rows of a choice's options, one window of a long context."""

    example: int  # its number among the examples
    rows: tuple[Row, ...]
    target: Any = None  # the task's own; None where the answer is not known
    back: Any = None  # the task's own: the way from the row back to the text

    @property
    def width(self) -> int:
        """Tokens of its longest row."""
        return max(len(row.ids) for row in self.rows)

    @property
    def tokens(self) -> int:
        """Real tokens of all its rows."""
        return sum(len(row.ids) for row in self.rows)


class Fed(NamedTuple):
    """A micro-batch on the device: the rows of all its items, an item's rows side by side."""

    ids: Tensor  # [R, T]
    mask: Tensor | None  # [R, T] bool; None where nothing is padded
    segments: Tensor | None  # [R, T]; None where the model knows none
    rows: tuple[int, ...]  # how many rows each item has
    targets: Mapping[str, Tensor]  # the task's own, by name
    items: tuple[int, ...]  # the items' numbers


class Task(Protocol):
    """A kind of task, settled."""

    kind: str  # classify, regress, tag, span, choice
    measures: tuple[str, ...]  # what `score` gives, the one that decides first

    def spec(self, config: Config) -> tuple[str, Head]:
        """Under what name, and which head the model must wear."""

    def items(self, examples: Sequence[Example], tokenizer: Tokenizer) -> list[Item]:
        """Rows for all examples, in their order; an example may have several items."""

    def targets(self, items: Sequence[Item], width: int) -> Mapping[str, Tensor]:
        """What is asked of a batch of items padded to `width` tokens; {} where the answers are not known."""

    def counts(self, micro: Fed) -> Mapping[str, float]:
        """Targets of a micro-batch."""

    def sums(self, model: Model, micro: Fed) -> Mapping[str, Sums]:
        """What guessing them cost: forward pass and loss."""

    def outputs(self, model: Model, micro: Fed) -> list[Any]:
        """What the model says of every item, as NumPy arrays: scores, not yet an answer."""

    def predictions(self, examples: Sequence[Example], items: Sequence[Item], outputs: Sequence[Any]) -> list[Any]:
        """One answer for every example: a NamedTuple of plain values (`_asdict()` is its line of JSON)."""

    def score(self, examples: Sequence[Example], predictions: Sequence[Any]) -> dict[str, float]:
        """Every measure over examples whose answers are known."""

    def collapsed(self, predictions: Sequence[Any]) -> str:
        """'' if the model tells examples apart, else in words what it says of all of them."""

    def saved(self) -> dict[str, Any]:
        """Everything that `tasks.kinds.restored` needs to make this task again, as JSON."""
