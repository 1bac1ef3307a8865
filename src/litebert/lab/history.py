"""What did a run come to? Its log as series, its last evaluation, and what it was, read from its folder alone.

A run that still goes on, or was stopped, has a history too; only its model may not be there yet.
"""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeGuard

from litebert.errors import UserError
from litebert.train import recipe, record
from litebert.train.pretrain import RECIPE
from litebert.train.recipe import Run

Field = Literal["step", "tokens", "seconds"]
FIELDS: tuple[Field, ...] = ("step", "tokens", "seconds")
_RECENT = 20  # steps whose mean stands for the end of training where nothing was evaluated


class Series(NamedTuple):
    """A value of the log against the three ways to count how far the run was."""

    step: list[float]
    tokens: list[float]
    seconds: list[float]
    value: list[float]


class Outcome(NamedTuple):
    """What one objective came to at the end of a run."""

    objective: str
    loss: float
    accuracy: float
    asked: int  # targets; 0 = unknown
    held_out: bool  # else of the last steps of training


class History:
    """A run's folder, as far as its log and its recipe tell."""

    def __init__(self, folder: Path) -> None:
        if not (folder / record.NAME).is_file():
            what = f"holds no {record.NAME}" if folder.is_dir() else "is no folder"
            raise UserError(
                f"{folder} {what}: name the folder of a run that `litebert pretrain` or `litebert finetune` wrote"
            )
        self.folder, self.name = folder, folder.resolve().name
        self.events = record.read(folder)
        if not self.events:
            raise UserError(f"{folder / record.NAME} holds no event: let the run begin first")
        self.steps = self._of("step")
        self.evaluations = self._of("evaluation")
        self.warnings = self._of("warning")
        self.resumed = len(self._of("resume"))
        self.diverged = self._of("diverged")
        self.recipe_text = _text(folder / RECIPE)
        self.run, self.unreadable = _recipe(folder / RECIPE)
        self._series: dict[tuple[str, str, float], Series] = {}

    @property
    def last(self) -> dict[str, Any]:
        """Where the run stands: the last event that says so."""
        return next((e for e in reversed(self.events) if "tokens" in e), self.events[-1])

    @property
    def floor(self) -> float | None:
        """The unigram entropy of the training text in nats, where the run wrote it down."""
        return self._said("floor")

    @property
    def most_frequent(self) -> float | None:
        """How often one is right who always answers the most frequent piece."""
        return self._said("top_frequency")

    @property
    def speed(self) -> float | None:
        """Tokens a second of a step in the middle: neither the first, which warms up, nor a pause, counts for much."""
        return self._median("tokens_per_s")

    @property
    def share_of_peak(self) -> float | None:
        """Share of the machine's best rate of arithmetic that training used, where the run measured it."""
        return self._median("share_of_peak")

    @property
    def objectives(self) -> list[str]:
        """What was learnt, by the names that the log has."""
        found = dict.fromkeys(key.removesuffix("_accuracy") for event in (*self.evaluations[:1], *self.steps[:1])
                              for key in event if key.endswith("_accuracy"))  # fmt: skip
        return list(found)

    def series(self, kind: Literal["step", "evaluation"], field: str, times: float = 1.0) -> Series:
        """A field of every event of a kind that has it as a number."""
        if (kind, field, times) in self._series:
            return self._series[kind, field, times]
        found = self._series[kind, field, times] = Series([], [], [], [])
        for event in self.steps if kind == "step" else self.evaluations:
            value = event.get(field)
            if _is_number(value) and all(_is_number(event.get(where)) for where in FIELDS):
                for where in FIELDS:
                    getattr(found, where).append(float(event[where]))
                found.value.append(times * value)
        return found

    def trust(self) -> dict[str, Series]:
        """The trust ratio of every tensor at the steps that recorded them."""
        found: dict[str, Series] = {}
        for event in self.steps:
            for name, ratio in (event.get("trust") or {}).items():
                if _is_number(ratio):
                    one = found.setdefault(name, Series([], [], [], []))
                    for where in FIELDS:
                        getattr(one, where).append(float(event[where]))
                    one.value.append(float(ratio))
        return found

    def outcome(self, objective: str) -> Outcome | None:
        """What an objective came to on held-out text; without any, in the last steps of training."""
        accuracy = f"{objective}_accuracy"
        for event in reversed(self.evaluations):
            if objective in event and accuracy in event:
                asked = int(event.get(f"{objective}_count") or 0)
                return Outcome(objective, float(event[objective]), float(event[accuracy]), asked, True)
        recent = [event for event in self.steps[-_RECENT:] if objective in event and accuracy in event]
        if not recent:
            return None
        loss, right = (statistics.fmean(event[key] for event in recent) for key in (objective, accuracy))
        return Outcome(objective, loss, right, 0, False)

    def _of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event.get("event") == kind]

    def _said(self, field: str) -> float | None:
        """A number of the newest event that has it."""
        found = next((event[field] for event in reversed(self.events) if _is_number(event.get(field))), None)
        return None if found is None else float(found)

    def _median(self, field: str) -> float | None:
        values = [float(event[field]) for event in self.steps if _is_number(event.get(field))]
        return statistics.median(values) if values else self._said(field)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _recipe(path: Path) -> tuple[Run | None, str]:
    """The run as a value, or why it cannot be had."""
    try:
        return recipe.load(path), ""
    except UserError as error:
        return None, str(error)


def _is_number(value: Any) -> TypeGuard[float]:
    return type(value) in (int, float) and math.isfinite(value)
