"""What does a model answer, and how good is it? One forward pass over examples gives answers, scores and loss."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch

from litebert.model.model import Model
from litebert.model.output import Output
from litebert.tasks import batches
from litebert.tasks.batches import Table
from litebert.tasks.examples import Choice, Example, Question, Text, Words
from litebert.tasks.task import Task
from litebert.train.precision import Chosen


class Answers(NamedTuple):
    """What a model says of examples."""

    predictions: list[Any]  # one an example, in their order
    loss: float | None  # mean over the targets; None where no answer is known


class Asked:
    """Examples that are asked about again and again: their rows stay laid out."""

    def __init__(
        self, task: Task, examples: Sequence[Example], table: Table, budget: int = batches.BUDGET
    ) -> None:  # fmt: skip
        self.task, self.examples, self.table = task, examples, table
        self.batches = batches.unordered(table, budget)

    @property
    def padding(self) -> float:
        """The share of padding in what the model reads."""
        return batches.padding(self.table, self.batches)

    def answers(self, model: Model, chosen: Chosen) -> Answers:
        """The model's answers, without dropout and gradient; its mode is restored."""
        items, training = self.table.items, model.training
        outputs: list[Any] = [None] * len(items)
        totals: dict[str, tuple[float, float]] = {}
        model.eval()
        try:
            with torch.no_grad(), chosen.context(), _remembering(model):  # weights are cast once for all
                for numbers in self.batches:
                    micro = self.table.fed(numbers, self.task)
                    for number, output in zip(micro.items, self.task.outputs(model, micro), strict=True):
                        outputs[number] = output
                    if micro.targets:
                        for name, sums in self.task.sums(model, micro).items():
                            loss, count = totals.get(name, (0.0, 0.0))
                            totals[name] = loss + float(sums.loss), count + float(sums.count)
        finally:
            model.train(training)
        predictions = self.task.predictions(self.examples, items, outputs)
        known = [loss / count for loss, count in totals.values() if count]
        return Answers(predictions, sum(known) if known else None)

    def lines(self, predictions: Sequence[Any]) -> Iterator[dict[str, Any]]:
        """One JSON object an example: what was asked, what is known, what was answered."""
        tokens = [0] * len(self.examples)
        for item, count in zip(self.table.items, self.table.tokens.tolist(), strict=True):
            tokens[item.example] += count
        for example, prediction, count in zip(self.examples, predictions, tokens, strict=True):
            yield {**told(example), **prediction._asdict(), "tokens": count}


def told(example: Example) -> dict[str, Any]:
    """An example as JSON; what is not there is left out."""
    found: dict[str, Any] = {"id": example.id, "place": str(example.place)}
    match example:
        case Text():
            label = sorted(example.label) if isinstance(example.label, frozenset) else example.label
            found |= {"text": example.text, "pair": example.pair, "label": label}
        case Words():
            found |= {"text": (" " if example.spaced else "").join(example.words), "words": list(example.words),
                      "label": None if example.tags is None else list(example.tags)}  # fmt: skip
        case Question():
            answers = None if example.answers is None else [answer._asdict() for answer in example.answers]
            found |= {"text": example.question, "pair": example.context, "label": answers}
        case Choice():
            found |= {"text": example.question, "pair": example.context, "options": list(example.options),
                      "label": example.answer, "group": example.group}  # fmt: skip
    return {name: value for name, value in found.items() if value is not None}


def known(example: Example) -> bool:
    """Whether the answer is known."""
    match example:
        case Text():
            return example.label is not None
        case Words():
            return example.tags is not None
        case Question():
            return example.answers is not None
        case Choice():
            return example.answer is not None


@contextlib.contextmanager
def _remembering(model: Model) -> Iterator[None]:
    """Within, the same tensors asked again are answered from memory: loss and answers share one forward pass."""
    forward = model.forward
    last: tuple[Sequence[Any], Output] | None = None

    def remembered(*given: Any, **named: Any) -> Output:
        nonlocal last
        asked = [*given, *(part for pair in sorted(named.items()) for part in pair)]
        if last is None or len(last[0]) != len(asked) or any(a is not b for a, b in zip(last[0], asked, strict=True)):
            last = asked, forward(*given, **named)
        return last[1]

    model.forward = remembered  # type: ignore[method-assign]
    try:
        yield
    finally:
        del model.forward
