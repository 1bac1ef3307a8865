"""Which kinds of task are there? A word and examples settle a task, and what was saved restores it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from litebert.config import unknown_name
from litebert.errors import UserError
from litebert.tasks import examples as shapes
from litebert.tasks.choice import Choice
from litebert.tasks.classify import Classify
from litebert.tasks.examples import Example
from litebert.tasks.multilabel import Multilabel
from litebert.tasks.readers.columns import Kind
from litebert.tasks.regress import Regress
from litebert.tasks.settings import Tuning
from litebert.tasks.span import Span
from litebert.tasks.tag import Tag
from litebert.tasks.task import Task

_READS: dict[Kind, type[Example]] = {
    "classify": shapes.Text, "regress": shapes.Text, "tag": shapes.Words, "span": shapes.Question,
    "choice": shapes.Choice,
}  # fmt: skip


def settled(kind: Kind, examples: Sequence[Example], tuning: Tuning, labels: Sequence[str] | None = None) -> Task:
    """The task for such training examples; labels: in their order, where they are not the examples' own."""
    _check(kind, examples)
    if labels and kind not in ("classify", "tag"):
        raise UserError(f"{kind} has no labels, but {len(labels)} are given: leave them out")
    given: Any = examples  # of the kind's shape, as was checked
    task: Any
    match kind:
        case "classify":
            several = any(isinstance(one.label, frozenset) for one in given)
            task = (Multilabel if several else Classify).settled(given, tuning, labels)
        case "regress":
            task = Regress.settled(given, tuning)
        case "tag":
            task = Tag.settled(given, tuning, labels)
        case "span":
            task = Span.settled(given, tuning)
        case "choice":
            task = Choice.settled(given, tuning)
    return cast("Task", task)


def restored(saved: Mapping[str, Any]) -> Task:
    """The task that `Task.saved` told of."""
    kind = str(saved.get("kind", ""))
    made: dict[str, Callable[..., Any]] = {
        "classify": Multilabel.restored if saved.get("problem") == "multiple" else Classify.restored,
        "regress": Regress.restored, "tag": Tag.restored, "span": Span.restored,
        "choice": Choice.restored,
    }  # fmt: skip
    if kind not in made:
        raise UserError(unknown_name("kind of task", kind, made))
    try:
        return cast("Task", made[kind](saved))
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"what was saved of a {kind} task is damaged ({error!r}): fine-tune again") from None


def _check(kind: Kind, examples: Sequence[Example]) -> None:
    """Raise where the kind is unknown, or there is nothing that it could read."""
    if kind not in _READS:
        raise UserError(unknown_name("kind of task", kind, _READS))
    if not examples:
        raise UserError(f"there is no training example for {kind}: give at least one")
    for example in examples:
        if not isinstance(example, _READS[kind]):
            raise shapes.refuse(example.place, f"a {type(example).__name__.lower()} is nothing that {kind} learns from",
                                f"give a {_READS[kind].__name__.lower()}")  # fmt: skip
