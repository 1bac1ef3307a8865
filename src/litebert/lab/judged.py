"""Which predictions are right, and how sure was the model? Each line of predictions.jsonl held against its answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from litebert.errors import UserError
from litebert.lab import axes, told
from litebert.lab.tuned import PREDICTIONS, Tuned, is_number
from litebert.tasks import cmrc_metric, entities, squad_metric

Line = Mapping[str, Any]


_LEAST = 1e-12  # probability: below, it is as good as 0


class Judged(NamedTuple):
    """A prediction whose answer is known."""

    line: Line
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
    return f"{value:#.3g}".rstrip(".") if 1e-3 <= abs(value) < 1e3 else axes.plain(float(f"{value:.3g}"))


_SCALES: dict[str, Scale] = {
    "classify": Scale("accuracy"),
    "choice": Scale("accuracy"),
    "tag": Scale("texts without a mistake"),
    "span": Scale("F1"),
    "regress": Scale("mean distance", "", 1.0, _plain),
}


def scale(run: Tuned) -> Scale:
    """What the scores of its examples mean."""
    return Scale("texts with all labels right") if run.several else _SCALES[run.kind]


def judge(run: Tuned) -> list[Judged]:
    """Every prediction whose answer is known, in order; a score that is no number is held against nothing."""
    found = []
    for number, line in enumerate(run.lines, 1):
        if line.get("label") is None:
            continue
        what = fault(run.kind, line)
        if what:
            raise UserError(f"{run.folder / PREDICTIONS}:{number} is no prediction of kind {run.kind}: {what}: "
                            "let `litebert finetune` or `litebert predict` write it again")  # fmt: skip
        if run.kind != "regress" or is_number(line["prediction"]):
            found.append(_judged(run, line))
    return found


def fault(kind: str, line: Line) -> str:
    """'' if a line has what its kind of task wants, else what is wrong with it."""
    if "prediction" not in line:
        return "it has no field 'prediction'"
    right, said = line["label"], line["prediction"]
    wanted = _WANTED.get(kind)
    if wanted is None:
        return f"no kind of task is called {kind!r}"
    return (
        "" if wanted(line, right, said) else f"label {_short(right)} and prediction {_short(said)} do not go together"
    )


def probabilities(line: Line) -> dict[str, float]:
    """What every class, label or option was given, by its name or its number."""
    given = line.get("probabilities") or {}
    pairs = given.items() if isinstance(given, dict) else enumerate(given)
    return {str(name): float(value) for name, value in pairs if is_number(value)}


def named(kind: str, label: str | int) -> str:
    """A class by its name, an option by its letter."""
    return chr(ord("A") + label) if kind == "choice" and isinstance(label, int) else str(label)


def several(line: Line) -> bool:
    """Whether an example may have several labels."""
    return isinstance(line["label"], list)


def _judged(run: Tuned, line: Line) -> Judged:
    loss, tokens, given = line.get("loss"), line.get("tokens"), probabilities(line)
    if not is_number(loss):
        loss = _lost(line, given)
    score, right = _SCORES[run.kind](run, line)
    return Judged(line, score, right, _confidence(line, given), None if loss is None else float(loss),
                  int(tokens) if is_number(tokens) else None)  # fmt: skip


def _lost(line: Line, given: Mapping[str, float]) -> float | None:
    """Nats of what is right; of several labels those of each that holds, and of each other that it does not."""
    if several(line) and given:
        shares = [share if name in line["label"] else 1.0 - share for name, share in given.items()]
    else:
        shares = [given[str(line["label"])]] if str(line["label"]) in given else []
    return -math.fsum(math.log(max(share, _LEAST)) for share in shares) if shares else None


def _confidence(line: Line, given: Mapping[str, float]) -> float | None:
    """How likely what was said was to the model; of a span the answer as a whole, or that there is none."""
    sure, absent = line.get("probability"), line.get("no_answer")
    if not is_number(sure):
        sure = given.get(str(line["prediction"]))
    if not is_number(absent):
        return sure if sure is None else float(sure)
    if not line["prediction"]:
        return float(absent)
    return None if sure is None else (1.0 - absent) * float(sure)


def _class(_: Tuned, line: Line) -> tuple[float, bool]:
    right, said = line["label"], line["prediction"]
    same = set(right) == set(said) if isinstance(right, list) else right == said
    return float(same), same


def _tags(_: Tuned, line: Line) -> tuple[float, bool]:
    same = set(entities.entities(line["label"])) == set(entities.entities(line["prediction"]))
    return float(same), same


def _distance(_: Tuned, line: Line) -> tuple[float, bool]:
    off = abs(float(line["prediction"]) - float(line["label"]))
    return off, off == 0.0


def _answer(run: Tuned, line: Line) -> tuple[float, bool]:
    gold = [str(answer["text"]) for answer in line["label"]]
    if run.judge == "cmrc":
        near = cmrc_metric.judged(line["prediction"], gold)
        return near.f1, near.exact == 1.0
    found = squad_metric.judged(line["prediction"], gold)
    return found.f1, found.exact == 1.0


_SCORES: dict[str, Callable[[Tuned, Line], tuple[float, bool]]] = {
    "classify": _class, "choice": _class, "tag": _tags, "regress": _distance, "span": _answer,
}  # fmt: skip


def _is_class(line: Line, right: object, said: object) -> bool:
    if isinstance(right, list):
        return isinstance(said, list) and all(isinstance(name, str) for name in (*right, *said))
    return isinstance(right, str) and isinstance(said, str)


def _is_option(line: Line, right: object, said: object) -> bool:
    options = line.get("options")
    return isinstance(options, list) and all(type(one) is int and 0 <= one < len(options) for one in (right, said))


def _is_score(line: Line, right: object, said: object) -> bool:
    return is_number(right) and type(said) in (int, float)


def _is_tagged(line: Line, right: Any, said: Any) -> bool:
    sizes = {len(each) if isinstance(each, list) else -1 for each in (line.get("words"), right, said)}
    return len(sizes) == 1 and sizes != {-1}


def _is_answer(line: Line, right: object, said: object) -> bool:
    whole = isinstance(right, list) and all(isinstance(one, dict) and {"text", "start"} <= set(one) for one in right)
    return whole and isinstance(said, str) and isinstance(line.get("pair"), str)


_WANTED: dict[str, Callable[[Line, Any, Any], bool]] = {
    "classify": _is_class, "choice": _is_option, "regress": _is_score, "tag": _is_tagged, "span": _is_answer,
}  # fmt: skip


def _short(value: object) -> str:
    text = f"{value!r}"
    return text if len(text) <= 40 else f"{text[:37]}..."
