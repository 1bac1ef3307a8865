"""What did a fine-tuning come to? Its folder read back: the task, its seeds with their logs, and every answer.

A fine-tuning that still goes on has a page too: what is not there yet is empty, medians are of the seeds that ended.
"""

from __future__ import annotations

import json
import math
import re
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from litebert import files
from litebert.errors import UserError
from litebert.files import FolderError
from litebert.train import record

TASK, SCORES, TUNING, PREDICTIONS = "task.json", "scores.json", "tuning.toml", "predictions.jsonl"
_SEED = re.compile(r"seed-(\d+)")


class Points(NamedTuple):
    """A value of a log against steps."""

    step: list[float]
    value: list[float]


class Seed(NamedTuple):
    """One attempt: what it came to, and its log."""

    seed: int
    ended: bool
    scores: dict[str, float]  # of its best evaluation
    best_step: int
    steps: int
    seconds: float
    collapsed: str  # what it says of all examples; '' if it tells them apart
    events: list[dict[str, Any]]

    @property
    def alike(self) -> bool:
        """Whether at its last evaluation it said the same of all examples, as it may at first."""
        asked, alike = (
            max((int(one.get("step") or 0) for one in self.events if one.get(field) == name), default=-1)
            for field, name in (("event", "evaluation"), ("kind", "collapsed"))
        )
        return 0 <= asked <= alike

    def points(self, kind: str, field: str) -> Points:
        """A field of every event of a kind that has it as a number."""
        found = Points([], [])
        for event in self.events:
            if event.get("event") == kind and is_number(event.get(field)) and is_number(event.get("step")):
                found.step.append(float(event["step"]))
                found.value.append(float(event[field]))
        return found


class Tuned:
    """What the folder of a fine-tuning holds; `read` gives it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        task = files.read_json(folder / TASK)
        scores = files.read_json(folder / SCORES) if (folder / SCORES).is_file() else {}
        self.kind, self.benchmark = str(task.get("kind", "")), str(task.get("benchmark") or "")
        settled = task.get("task") or {}
        self.judge = str(settled.get("judge") or "squad")  # of answers: whose script
        self.several = settled.get("problem") == "multiple"  # whether an example may have several labels
        self.labels = [str(label) for label in task.get("labels") or ()]
        self.seeds = _seeds(folder, scores)
        told = [str(name) for name in task.get("measures") or ()]
        self.measures = list(dict.fromkeys([*told, *(name for seed in self.seeds for name in seed.scores)]))
        self.measure = str(scores.get("measure") or (self.measures[0] if self.measures else ""))
        self.interval = {
            name: (float(ends[0]), float(ends[1])) for name, ends in (scores.get("interval") or {}).items()
        }
        best = max((seed for seed in self.ended if self.measure in seed.scores),
                   key=lambda seed: seed.scores[self.measure], default=None)  # fmt: skip
        self.best_seed = int(scores["best_seed"]) if is_number(scores.get("best_seed")) else best and best.seed
        places = (folder / PREDICTIONS, folder / f"seed-{self.best_seed}" / PREDICTIONS)  # the second while it goes on
        self.lines = _lines(next((path for path in places if path.is_file()), None))
        self.examples = int(scores.get("dev") or len(self.lines))  # of the development set
        self.settings = _text(folder / TUNING)

    @property
    def ended(self) -> list[Seed]:
        """The seeds that have come to scores."""
        return [seed for seed in self.seeds if seed.ended]

    @property
    def collapsed(self) -> list[Seed]:
        """The seeds that say the same of every example."""
        return [seed for seed in self.seeds if seed.collapsed]

    def values(self, measure: str) -> list[float]:
        """A measure of every seed that has it."""
        return [seed.scores[measure] for seed in self.ended if measure in seed.scores]

    def median(self, measure: str) -> float | None:
        """The middle one of the seeds, collapsed ones too; None before any has ended."""
        values = self.values(measure)
        return statistics.median(values) if values else None

    @property
    def seconds(self) -> float:
        """Time of all seeds together."""
        return sum(seed.seconds for seed in self.seeds)

    @property
    def speed(self) -> float | None:
        """Real tokens a second of a step in the middle."""
        values = [value for seed in self.seeds for value in seed.points("step", "tokens_per_s").value]
        return statistics.median(values) if values else None


def read(folder: Path) -> Tuned:
    """The folder of a fine-tuning, read."""
    try:
        return Tuned(folder)
    except UserError:
        raise
    except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
        what = f"{type(error).__name__}: {error}"
        raise FolderError(f"{folder}: {TASK}, {SCORES} or a seed's is not as litebert writes it ({what}): "
                          "copy the folder again") from None  # fmt: skip


def is_one(folder: Path) -> bool:
    """Whether a folder is that of a fine-tuning."""
    return (folder / TASK).is_file()


def is_seed(folder: Path) -> bool:
    """Whether a folder is that of one seed of a fine-tuning."""
    return _SEED.fullmatch(folder.name) is not None and is_one(folder.parent) and not is_one(folder)


def of_one_task(runs: Sequence[Tuned]) -> None:
    """Refuse to compare what cannot be compared."""
    first = runs[0]
    for other in runs[1:]:
        for what in ("kind", "measure", "labels"):
            here, there = getattr(first, what), getattr(other, what)
            if here != there:
                raise UserError(
                    f"{first.folder} and {other.folder} are not of one task ({what} {_short(here)} and "
                    f"{_short(there)}): give each a page of its own"
                )


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value of JSON is a number that can be drawn."""
    return type(value) in (int, float) and math.isfinite(value)


def _seeds(folder: Path, scores: Mapping[str, Any]) -> list[Seed]:
    """Every seed that the scores tell of, and every one that has a folder."""
    told: dict[int, Mapping[str, Any]] = {int(one["seed"]): one for one in scores.get("seeds") or ()}
    for place in folder.glob("seed-*"):
        named = _SEED.fullmatch(place.name)
        if named and int(named[1]) not in told:
            told[int(named[1])] = files.read_json(place / SCORES) if (place / SCORES).is_file() else {}
    return [_seed(number, told[number], record.read(folder / f"seed-{number}")) for number in sorted(told)]


def _seed(number: int, said: Mapping[str, Any], events: list[dict[str, Any]]) -> Seed:
    last: dict[str, Any] = next((event for event in reversed(events) if "seconds" in event), {})
    steps = max((int(event.get("step") or 0) for event in events), default=0)
    found = {str(name): float(value) for name, value in (said.get("scores") or {}).items() if is_number(value)}
    return Seed(
        number, bool(said), found, int(said.get("best_step") or 0), int(said.get("steps") or steps),
        float(said.get("seconds") or last.get("seconds") or 0.0), str(said.get("collapsed") or ""), events,
    )  # fmt: skip


def _lines(path: Path | None) -> list[dict[str, Any]]:
    if path is None:
        return []
    found = []
    with path.open(encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            try:
                line = json.loads(text)
            except ValueError as error:
                raise UserError(f"{path}:{number} is not JSON ({error}): copy the file again") from None
            if not isinstance(line, dict):
                raise UserError(f"{path}:{number} is no object: this is not the file it is named for")
            found.append(line)
    return found


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _short(value: object) -> str:
    text = f"{value!r}"
    return text if len(text) <= 60 else f"{text[:57]}..."
