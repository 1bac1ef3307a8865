"""How sure is a score on the development set? The ends between which it lies when other examples of the kind are drawn.

`tasks.bootstrap` draws; here is what each kind of task adds up or computes anew for every draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

from litebert.tasks import bootstrap, entities, metrics
from litebert.tasks.bootstrap import Interval, Order
from litebert.tasks.choice import Choice
from litebert.tasks.classify import Classify
from litebert.tasks.examples import Example, Text, Words
from litebert.tasks.metrics import Counts
from litebert.tasks.multilabel import Multilabel
from litebert.tasks.span import Span
from litebert.tasks.tag import Tag
from litebert.tasks.task import Task

FEW = 2  # below so many examples there is nothing to draw from
_MEANS = ("f1", "exact")  # of answers: each has its own, and no thousand data sets need be judged anew


def said(lines: Sequence[dict[str, Any]]) -> list[Any]:
    """Answers as they were written into predictions.jsonl."""
    return [SimpleNamespace(**line) for line in lines]


def intervals(task: Task, examples: Sequence[Example], answers: Sequence[Any]) -> dict[str, Interval]:
    """Of the measure that decides, and of those that come with it for nothing."""
    if len(examples) < FEW:
        return {}
    main, settled = task.measures[0], cast("object", task)
    if isinstance(settled, Choice) or (isinstance(settled, Span) and main in _MEANS):
        each = [task.score([example], [answer])[main] for example, answer in zip(examples, answers, strict=True)]
        return {main: bootstrap.of_mean(each)}
    if isinstance(settled, Classify):
        return _of_classes(settled, examples, answers)
    if isinstance(settled, Tag) and main == "f1":
        return {main: _of_entities(examples, answers)}
    if isinstance(settled, Multilabel) and main == "f1_micro":
        return {main: _of_labels(examples, answers)}

    def again(order: Order) -> dict[str, float]:
        return {main: task.score([examples[i] for i in order], [answers[i] for i in order])[main]}

    return bootstrap.of_any(again, len(examples))


def _of_classes(task: Classify, examples: Sequence[Example], answers: Sequence[Any]) -> dict[str, Interval]:
    gold = [str(one.label) for one in examples if isinstance(one, Text)]
    made = {"accuracy": metrics.accuracy_of, "matthews": metrics.matthews_of, "f1_macro": metrics.f1_macro_of,
            "f1": lambda counts: metrics.f1_label_of(counts, 1)}  # fmt: skip
    wanted = {name: made[name] for name in task.measures if name in made}
    return bootstrap.of_counts(gold, [one.prediction for one in answers], wanted, task.names)


def _of_entities(examples: Sequence[Example], answers: Sequence[Any]) -> Interval:
    gold = [one.tags or () for one in examples if isinstance(one, Words)]
    return _of_found(entities.counts(gold, [one.prediction for one in answers])[0])


def _of_labels(examples: Sequence[Example], answers: Sequence[Any]) -> Interval:
    labels = [one.label for one in examples if isinstance(one, Text)]
    gold = [one if isinstance(one, frozenset) else {str(one)} for one in labels]  # one alone is a list of one
    return _of_found(metrics.sets_counts(gold, [one.prediction for one in answers])[0])


def _of_found(counts: Counts) -> Interval:
    """Of F1 over all that is looked for, from its hits, gold and guesses in every example [N, 3, C]."""
    return bootstrap.of_sums(counts.sum(axis=2), lambda sums: metrics.f1_of(sums[:, 0], sums[:, 1], sums[:, 2]))
