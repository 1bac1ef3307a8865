"""How good is a model, and by how much luck? Several seeds of one fine-tuning, their median and spread, and the best.

Each seed lies in a folder of its own and is done when its scores are there, so that the same call goes on wherever it
was cut off, between seeds and within one. The folder itself becomes the model of the best seed.
"""

from __future__ import annotations

import json
import math
import shutil
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from torch import nn

from litebert import files
from litebert.errors import RunError, UserError
from litebert.files import FolderError
from litebert.interop import folder as folders
from litebert.interop import tensors
from litebert.tasks import featured, features, fit, hidden, learner, standing, sureness, trained
from litebert.tasks.bootstrap import Interval
from litebert.tasks.examples import Question
from litebert.tasks.fit import PREDICTIONS, SCORES, Fitted, Tell
from litebert.tasks.prepared import Prepared
from litebert.tasks.span import Span
from litebert.tasks.task import Task
from litebert.tasks.trained import Trained
from litebert.train.claim import claimed


class Outcome(NamedTuple):
    """What a fine-tuning came to."""

    folder: Path
    measure: str  # the one that decides
    scores: tuple[Fitted, ...]  # of every seed that came to its end
    best: Fitted | None
    interval: Mapping[str, Interval]  # of the best seed's scores, were the development examples others of their kind
    examples: int  # of the development set
    stopped: bool = False  # before its end, because somebody asked

    @property
    def median(self) -> dict[str, float]:
        """Of every measure, over the seeds; those that collapsed are among them."""
        return {name: statistics.median(values) for name, values in self._values() if values}

    @property
    def spread(self) -> dict[str, float]:
        """The standard deviation over the seeds; {} of a single one."""
        return {name: statistics.stdev(values) for name, values in self._values() if len(values) > 1}

    @property
    def collapsed(self) -> tuple[Fitted, ...]:
        """The seeds that tell nothing apart, or came apart."""
        return tuple(one for one in self.scores if one.collapsed)

    def _values(self) -> Iterator[tuple[str, list[float]]]:
        for name in dict.fromkeys(name for one in self.scores for name in one.scores):
            values = [one.scores[name] for one in self.scores]
            yield name, [value for value in values if not math.isnan(value)]


def train(
    prepared: Prepared, folder: str | Path, seeds: int = 1, *, tell: Tell = lambda event: None, restart: bool = False,
    asked_to_stop: Callable[[], bool] = lambda: False, clock: Callable[[], float] = time.monotonic,
) -> Outcome:  # fmt: skip
    """Train so many seeds, each to its end, and leave the best one's model; what is there already is kept."""
    path = Path(folder)
    if seeds < 1:
        raise UserError(f"{seeds} seeds train nothing: choose 1 or more")
    standing.allowed(prepared, path, restart)
    try:
        with claimed(path):
            if restart:
                standing.cleared(path)
            standing.begun(prepared, path)
            return _trained(prepared, path, seeds, tell, asked_to_stop, clock)
    except (OSError, FolderError) as error:
        said = f"{error.filename or path}: {error.strerror}" if isinstance(error, OSError) and error.strerror else error
        raise RunError(f"{said}: mend that, and the same command goes on") from error


def _trained(
    prepared: Prepared, path: Path, seeds: int, tell: Tell, asked_to_stop: Callable[[], bool],
    clock: Callable[[], float],
) -> Outcome:  # fmt: skip
    ready, done = prepared.ready, list[Fitted]()
    measure = ready.task.measures[0]
    numbers = range(prepared.tuning.seed, prepared.tuning.seed + seeds)
    if prepared.tuning.mode == "features" and any(fit.finished(place(path, number)) is None for number in numbers):
        found = features.ready(ready, path, tell, asked_to_stop)
        if found is None:
            return Outcome(path, measure, (), None, {}, len(ready.dev.examples), stopped=True)
        ready = found
    for number in numbers:
        fitted = None
        if not asked_to_stop() or fit.finished(place(path, number)) is not None:
            fitted = fit.fit(ready, number, place(path, number), tell=tell, asked_to_stop=asked_to_stop, clock=clock)
        if fitted is None:
            return Outcome(path, measure, tuple(done), best(done, measure), {}, len(ready.dev.examples), stopped=True)
        done.append(fitted)
        _keep_best(path, done, measure)
    winner = best(done, measure)
    assert winner is not None
    interval = _left(prepared, path, done, winner, measure)
    hidden.forget(path)
    return Outcome(path, measure, tuple(done), winner, interval, len(ready.dev.examples))


def place(folder: Path, seed: int) -> Path:
    """Where a seed lies."""
    return folder / f"seed-{seed}"


def best(done: Iterable[Fitted], measure: str) -> Fitted | None:
    """The first of those with the highest score; one that is no number is worse than any."""
    found: Fitted | None = None
    for one in done:
        if found is None or fit.better(one.scores[measure], found.scores[measure]):
            found = one
    return found


def _keep_best(path: Path, done: Iterable[Fitted], measure: str) -> None:
    """Only the best seed so far keeps its weights."""
    winner = best(done, measure)
    for one in done:
        if one is not winner:
            (place(path, one.seed) / tensors.NAME).unlink(missing_ok=True)


def _left(
    prepared: Prepared, path: Path, done: list[Fitted], winner: Fitted, measure: str
) -> dict[str, Interval]:  # fmt: skip
    """The folder as it is to be used; scores.json last, which says that all is there."""
    home, scores = place(path, winner.seed), path / SCORES
    before = files.read_json(scores) if scores.is_file() else {}
    if before.get("seeds") == [one._asdict() for one in done] and (path / folders.OURS).is_file():
        return {name: Interval(*ends) for name, ends in before["interval"].items()}
    if (home / tensors.NAME).is_file():
        scores.unlink(missing_ok=True)  # they speak of another model from here on
        _save(prepared, path, winner)
    elif before.get("best_seed") != winner.seed:
        if len(before.get("seeds", ())) > len(done):
            raise UserError(f"{path} holds the best of {len(before['seeds'])} seeds, and {len(done)} are asked for: "
                            f"ask for as many with --seeds {len(before['seeds'])}")  # fmt: skip
        raise FolderError(f"{home} has lost its weights: delete that folder, and the same command trains it again")
    shutil.copyfile(home / PREDICTIONS, path / PREDICTIONS)
    with (home / PREDICTIONS).open(encoding="utf-8") as file:
        answers = sureness.said([json.loads(line) for line in file])
    interval = sureness.intervals(prepared.ready.task, prepared.source.dev, answers)
    values = Outcome(path, measure, tuple(done), winner, interval, len(prepared.source.dev))
    files.write_json(scores, {
        "measure": measure, "seeds": [one._asdict() for one in done], "median": values.median,
        "spread": values.spread, "best_seed": winner.seed, "collapsed": [one.seed for one in values.collapsed],
        "interval": {name: list(ends) for name, ends in interval.items()}, "dev": len(prepared.source.dev),
    })  # fmt: skip
    (home / tensors.NAME).unlink(missing_ok=True)
    return interval


def _save(prepared: Prepared, path: Path, winner: Fitted) -> None:
    """The best seed's weights as a model that answers."""
    ready, settings = prepared.ready, prepared.tuning.but(seed=winner.seed)
    state = tensors.read_file(place(path, winner.seed) / tensors.NAME)
    if settings.mode == "features":
        body = features.body_of(ready)
        made: nn.Module = featured.drawn(body, features.how_of(ready.task, body, settings), settings.seed)
    else:
        made = learner.worn(ready.start, ready.task, settings, ready.tokenizer)
    made.load_state_dict(state)
    model = learner.as_model(made.eval())
    task = _tuned(prepared, place(path, winner.seed) / PREDICTIONS)
    found = Trained(model, ready.tokenizer, task, prepared.tuning, prepared.source.name, prepared.columns)
    trained.save(found, path, prepared.data())


def _tuned(prepared: Prepared, predictions: Path) -> Task:
    """The task as it is to answer from now on: of SQuAD 2.0 with the threshold that suits the development set best."""
    task = prepared.ready.task
    settled = cast("object", task)
    if not isinstance(settled, Span) or not settled.answerable:
        return task
    with predictions.open(encoding="utf-8") as file:
        answers = sureness.said([json.loads(line) for line in file])
    made = Span.restored(settled.saved())
    dev = cast("list[Question]", prepared.source.dev)
    made.measures, made.threshold = settled.measures, settled.best_threshold(dev, answers)
    return cast("Task", made)


def as_values(outcome: Outcome) -> dict[str, Any]:
    """An outcome for a program; what is no number is null."""

    def plain(scores: Mapping[str, float]) -> dict[str, float | None]:
        return {name: None if math.isnan(value) else value for name, value in scores.items()}

    return {
        "folder": str(outcome.folder), "measure": outcome.measure, "stopped": outcome.stopped,
        "median": plain(outcome.median), "spread": plain(outcome.spread), "dev": outcome.examples,
        "best_seed": outcome.best.seed if outcome.best else None,
        "interval": {name: list(ends) for name, ends in outcome.interval.items()},
        "collapsed": {str(one.seed): one.collapsed for one in outcome.collapsed},
        "seeds": [{**one._asdict(), "scores": plain(one.scores)} for one in outcome.scores],
    }  # fmt: skip
