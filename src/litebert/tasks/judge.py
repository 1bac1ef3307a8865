"""How good is a finished fine-tuning on data that it has not seen? Official measures, how sure they are, where it errs.

`evaluate("run", Path("glue"))` asks the development part of the benchmark that the folder was fine-tuned on;
`evaluate("run", Path("mine.csv"))` a table with the columns of its kind.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from litebert.errors import UserError
from litebert.tasks import entities, sureness
from litebert.tasks.benchmarks import PARTS, Benchmark, Part, named
from litebert.tasks.bootstrap import Interval
from litebert.tasks.evaluation import Asked, known
from litebert.tasks.examples import Choice, Example, Left, Question, Read, Text, Words
from litebert.tasks.predict import Predictor, opened
from litebert.tasks.readers import own
from litebert.tasks.readers.columns import KINDS
from litebert.tasks.sources import Reading, check
from litebert.train.precision import Precision

NOTHING = "nothing"  # in place of an entity, an answer or a label
_GROUPS, _FEW = 4, 25  # of lengths; a group has at least so many examples


class Group(NamedTuple):
    """Examples of like length, `low` to `high` tokens: what the deciding measure is of them alone."""

    low: int
    high: int
    examples: int
    score: float


class Slip(NamedTuple):
    """What was taken for what, and how often, of how many that are it."""

    right: str
    said: str
    times: int
    of: int


class Judgement(NamedTuple):
    """What a model came to on some data."""

    task: str  # a benchmark's name, or the kind
    part: str  # '' for a file of one's own
    examples: int
    measure: str  # the one that decides
    scores: dict[str, float]
    intervals: dict[str, Interval]  # of 95 %
    loss: float | None
    lengths: list[Group]
    slips: list[Slip]  # the most frequent first
    collapsed: str  # in words, if the model does not tell examples apart
    left: list[Left]  # rows that were left out
    unanswered: int  # examples whose answer is not known: not asked
    seconds: float
    remarks: list[str]
    lines: list[dict[str, Any]]  # every example with its answer, as predictions.jsonl has them


def evaluate(
    folder: str | Path, data: str | Path, task: str = "", *, part: str = "dev",
    columns: Mapping[str, str] | None = None, reading: Reading = Reading(), device: str = "auto",
    precision: Precision = "auto", batch_tokens: int = 0,
) -> Judgement:  # fmt: skip
    """Judge a fine-tuning's folder. task: a benchmark, or its kind where the data are one's own; '' = as it learnt."""
    predictor, remarks = opened(folder, device=device, precision=precision, batch_tokens=batch_tokens)
    read = reading._replace(columns={**reading.columns, **(columns or {})})
    return held(predictor, Path(data), task, part, read)._replace(remarks=remarks)


def held(
    predictor: Predictor, data: Path, task: str = "", part: str = "dev", reading: Reading = Reading()
) -> Judgement:  # fmt: skip
    """A model that is there, held against data."""
    if part not in PARTS:
        raise UserError(f"part {part!r} is none: choose {', '.join(PARTS)}")
    benchmark = _benchmark(predictor, task, data)
    found = _read(predictor, benchmark, data, part, reading)
    asked = [one for one in found.examples if known(one)]
    if not asked:
        raise UserError(f"{data} has no example whose answer is known: litebert predict asks such data")
    if benchmark:
        mine = predictor.task.measures
        first = [name for name in benchmark.measures if name in mine]
        predictor.task.measures = (*first, *(name for name in mine if name not in first))
    name, place = (benchmark.name, part if data.is_dir() else "") if benchmark else (predictor.kind, "")
    made = judge(predictor, asked)
    return made._replace(task=name, part=place, left=found.left, unanswered=len(found.examples) - len(asked))


def judge(predictor: Predictor, examples: Sequence[Example]) -> Judgement:
    """Examples whose answers are known, held against what the model says."""
    task, began = predictor.task, time.perf_counter()
    asked = predictor.asked(examples)
    answers, loss = predictor.judged(asked)
    seconds = time.perf_counter() - began
    return Judgement(
        predictor.kind, "", len(examples), task.measures[0], task.score(examples, answers),
        sureness.intervals(task, examples, answers), loss, list(_lengths(predictor, asked, answers)),
        slips(examples, answers), task.collapsed(answers), [], 0, seconds, [], list(asked.lines(answers)),
    )  # fmt: skip


def slips(examples: Sequence[Example], answers: Sequence[Any]) -> list[Slip]:
    """What is taken for what: classes, labels, entities of the same words, questions with and without an answer."""
    pairs = Counter[tuple[str, str]]()
    total = Counter[str]()
    for example, answer in zip(examples, answers, strict=True):
        for right, said in _held(example, answer):
            total[right] += 1
            pairs[right, said] += right != said
    found = [Slip(right, said, count, total[right]) for (right, said), count in pairs.items() if count]
    return sorted(found, key=lambda slip: (-slip.times, slip.right, slip.said))


def _held(example: Example, answer: Any) -> Iterator[tuple[str, str]]:
    """What is there beside what was said, for each thing of an example that may be mistaken."""
    match example:
        case Text(label=str(label)):
            yield label, answer.prediction
        case Text(label=frozenset() as labels):
            yield from ((one, one if one in answer.prediction else NOTHING) for one in sorted(labels))
            yield from ((NOTHING, one) for one in answer.prediction if one not in labels)
        case Words(tags=tuple() as tags):
            right = {(one.start, one.end): one.type for one in entities.entities(tags)}
            said = {(one.start, one.end): one.type for one in entities.entities(answer.prediction)}
            yield from ((right.get(span, NOTHING), said.get(span, NOTHING)) for span in sorted({*right, *said}))
        case Question(answers=tuple() as gold) if answer.no_answer is not None:
            yield ("an answer" if gold else NOTHING), ("an answer" if answer.prediction else NOTHING)
        case Choice(answer=int(place)):
            yield _letter(place), _letter(answer.prediction)


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else str(place)


def _lengths(predictor: Predictor, asked: Asked, answers: Sequence[Any]) -> Iterator[Group]:
    """Up to four groups of as many examples each, from short to long."""
    tokens = np.zeros(len(asked.examples), np.int64)
    np.add.at(tokens, [item.example for item in asked.table.items], asked.table.tokens)
    count = min(_GROUPS, len(tokens) // _FEW)
    if count < 2:
        return
    borders = sorted({int(np.quantile(tokens, i / count, method="lower")) for i in range(1, count)})
    places = np.searchsorted(borders, tokens, side="left")  # a border belongs to the group below it
    for group in np.unique(places).tolist():
        mine = np.flatnonzero(places == group).tolist()
        score = predictor.task.score([asked.examples[i] for i in mine], [answers[i] for i in mine])
        low, high = int(tokens[mine].min()), int(tokens[mine].max())
        yield Group(low, high, len(mine), score[predictor.task.measures[0]])


def _benchmark(predictor: Predictor, task: str, data: Path) -> Benchmark | None:
    """The benchmark that is asked, None for data of one's own."""
    if task in KINDS:
        found = None
    elif task:
        found = named(task)
    else:  # a file may be anything, a folder is the benchmark's
        learnt = predictor.trained.benchmark
        found = named(learnt) if learnt and data.is_dir() else None
    kind = found.kind if found else task or predictor.kind
    if kind != predictor.kind:
        raise UserError(f"{task} is a task to {kind}, and the model was fine-tuned to {predictor.kind}: name another")
    return found


def _read(predictor: Predictor, benchmark: Benchmark | None, data: Path, part: Part, reading: Reading) -> Read:
    """The examples, with their answers."""
    if not data.exists():
        raise UserError(f"{data} does not exist: name a file, or the folder of a benchmark")
    check(predictor.kind, benchmark, reading)
    if benchmark is None:
        learnt = {} if predictor.trained.benchmark else predictor.trained.columns
        return own.read(
            data, predictor.kind, {**learnt, **reading.columns}, several=reading.several, bad=reading.bad or "refuse",
            delimiter=reading.delimiter, header=reading.header,
        )  # fmt: skip
    if data.is_dir():
        labelled = bool(benchmark.judged) if part == "test" else None
        return benchmark.read(data, part, labelled=labelled, bad=reading.bad)
    return benchmark.read_files([data], labelled=True, bad=reading.bad)
