"""Which predictions are right, and how sure was the model? Each line of predictions.jsonl held against its answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from litebert.lab import axes, told
from litebert.lab.tuned import Tuned, is_number
from litebert.tasks import entities, squad_metric
from litebert.tasks.squad_metric import Judged as Near


class Judged(NamedTuple):
    """A prediction whose answer is known."""

    line: Mapping[str, Any]
    score: float  # 1 right, 0 wrong, F1 of an answer's words between them; of a regression how far off it is
    right: bool  # exactly
    confidence: float | None  # probability of what was said
    loss: float | None  # nats of what is right
    tokens: int | None  # real ones


class Scale(NamedTuple):
    """What the scores of a kind of task mean, and how they are shown."""

    title: str
    unit: str = "%"
    times: float = 100.0
    show: Callable[[float], str] = told.percent


def _plain(value: float) -> str:
    return axes.plain(float(f"{value:.3g}"))


SCALES: dict[str, Scale] = {
    "classify": Scale("accuracy"),
    "choice": Scale("accuracy"),
    "tag": Scale("texts without a mistake"),
    "span": Scale("F1"),
    "regress": Scale("mean distance", "", 1.0, _plain),
}


def judge(run: Tuned) -> list[Judged]:
    """Every prediction whose answer is known, in order."""
    return [_judged(run.kind, line) for line in run.lines if line.get("label") is not None]


def near(line: Mapping[str, Any]) -> Near:
    """How near the answer to a question is to the gold ones."""
    return squad_metric.judged(str(line["prediction"]), [str(answer["text"]) for answer in line["label"]])


def probabilities(line: Mapping[str, Any]) -> dict[str, float]:
    """What every class, label or option was given, by its name or its number."""
    given = line.get("probabilities") or {}
    pairs = given.items() if isinstance(given, dict) else enumerate(given)
    return {str(name): float(value) for name, value in pairs if is_number(value)}


def several(line: Mapping[str, Any]) -> bool:
    """Whether an example may have several labels."""
    return isinstance(line.get("label"), list)


def _judged(kind: str, line: Mapping[str, Any]) -> Judged:
    loss, tokens, sure, right = line.get("loss"), line.get("tokens"), _confidence(line), str(line["label"])
    given = probabilities(line)
    if not is_number(loss) and given.get(right):
        loss = -math.log(given[right])
    score = _score(kind, line)
    return Judged(
        line, score, near(line).exact == 1.0 if kind == "span" else score == (0.0 if kind == "regress" else 1.0),
        sure, float(loss) if is_number(loss) else None, int(tokens) if is_number(tokens) else None,
    )  # fmt: skip


def _confidence(line: Mapping[str, Any]) -> float | None:
    """How likely what was said was to the model; of a span the answer as a whole, or that there is none."""
    sure, absent = line.get("probability"), line.get("no_answer")
    if is_number(absent):
        return float(absent) if not line["prediction"] else (1.0 - absent) * float(sure) if is_number(sure) else None
    return float(sure) if is_number(sure) else probabilities(line).get(str(line["prediction"]))


def _score(kind: str, line: Mapping[str, Any]) -> float:
    right, said = line["label"], line["prediction"]
    if kind == "regress":
        return abs(float(said) - float(right))
    if kind == "span":
        return near(line).f1
    if kind == "tag":
        return float(set(entities.entities(right)) == set(entities.entities(said)))
    if isinstance(right, list):
        return float(set(right) == set(said))
    return float(right == said)
