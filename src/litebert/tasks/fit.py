"""How is one seed trained? The loop over rows of like length; between steps it evaluates, keeps the best and saves.

A seed's folder holds its log, its checkpoints while it runs, and in the end the model of its best evaluation, what that
one answered, and its scores: who finds the scores need not train it again.
"""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from litebert import files
from litebert.data.stream import Position
from litebert.interop import tensors
from litebert.optim.schedule import Progress, Stopwatch
from litebert.tasks import batches
from litebert.tasks.batches import Steps, Table
from litebert.tasks.evaluation import Asked
from litebert.tasks.examples import Example
from litebert.tasks.learner import Learner, Start, described, learner
from litebert.tasks.settings import Tuning
from litebert.tasks.task import Task
from litebert.text.tokenizer import Tokenizer
from litebert.train import checkpoint, loop, record
from litebert.train.loop import DivergedError, Step

Tell = Callable[[Mapping[str, Any]], None]

CHECKPOINTS, SCORES, PREDICTIONS = "checkpoints", "scores.json", "predictions.jsonl"
SAVE_MINUTES, KEEP = 5.0, 2


class Ready(NamedTuple):
    """What all seeds have in common."""

    start: Start
    task: Task
    tuning: Tuning
    tokenizer: Tokenizer
    examples: Sequence[Example]  # of the training part
    train: Table
    dev: Asked
    device: torch.device = torch.device("cpu")
    learns: Callable[[Tuning, int], Learner] | None = None  # in so many steps, where it is not the whole model

    @property
    def epoch(self) -> int:
        """Steps of an epoch."""
        return self.steps(0).count

    @property
    def total(self) -> int:
        """Steps of a seed's training."""
        return self.tuning.steps or max(1, math.ceil(self.tuning.epochs * self.epoch - 1e-9))

    def steps(self, seed: int) -> Steps:
        """The steps of a seed."""
        return Steps(self.train.widths, self.tuning.batch, seed)

    def due(self) -> frozenset[int]:
        """The steps after which the development set is asked; the last one is among them."""
        count, total = self.tuning.evaluations, self.total
        times = [total * (i + 1) // count for i in range(count)] if count else range(self.epoch, total, self.epoch)
        return frozenset({*times, total} - {0})

    def learner(self, seed: int) -> Learner:
        """The model of a seed before its first step."""
        tuning = self.tuning.but(seed=seed)
        if self.learns is not None:
            return self.learns(tuning, self.total)
        return learner(self.start, self.task, tuning, self.tokenizer, self.total, self.device)


class Fitted(NamedTuple):
    """What a seed came to: the evaluation that was best."""

    seed: int
    scores: dict[str, float]
    best_step: int
    steps: int
    seconds: float
    collapsed: str = ""  # in words, if it tells nothing apart or came apart


class State(NamedTuple):
    """Everything but tensors."""

    progress: Progress = Progress()
    place: Position = Position(0, 0)
    evaluated: int = 0  # the step of the last evaluation
    stale: int = 0  # evaluations since the best one
    best_step: int = 0
    scores: Mapping[str, float] = {}  # of the best one
    collapsed: str = ""  # of the best one


def fit(
    ready: Ready, seed: int, folder: Path, *, tell: Tell = lambda event: None,
    asked_to_stop: Callable[[], bool] = lambda: False, clock: Callable[[], float] = time.monotonic,
) -> Fitted | None:  # fmt: skip
    """Train a seed to its end, or go on with what its folder holds of it; None if somebody asked for the end before."""
    done = finished(folder)
    if done is not None:
        shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
        return done
    session = Session(ready, seed, folder, tell, clock)
    try:
        return session.finish() if session.train(asked_to_stop) else None
    finally:
        session.close()


def finished(folder: Path) -> Fitted | None:
    """What a seed came to, if it was trained to its end."""
    path = folder / SCORES
    return Fitted(**files.read_json(path)) if path.is_file() else None


class Session:
    """One stretch of a seed's training in this process."""

    def __init__(self, ready: Ready, seed: int, folder: Path, tell: Tell, clock: Callable[[], float]) -> None:
        self.ready, self.seed, self._folder, self._tell, self._clock = ready, seed, folder, tell, clock
        self.learner, self.state = ready.learner(seed), State()
        self._best: dict[str, Tensor] = {}
        self._root, self._apart = folder / CHECKPOINTS, ""
        warnings = self._restore()
        self._watch = Stopwatch(clock, self.state.progress.seconds)
        self._saved_at, self._saved = clock(), self.state.progress.steps
        self._writer = checkpoint.Writer(self._root, KEEP)
        self._record = record.Record(folder, self.state.progress.steps)
        for text in warnings:
            self._event({**self._where("warning"), "kind": "checkpoint", "text": text})

    def train(self, asked_to_stop: Callable[[], bool]) -> bool:
        """Whether the end was reached, and not asked for before."""
        ready, trainer, due = self.ready, self.learner.trainer, self.ready.due()
        self._event({
            **self._where("resume" if self.state.progress.steps else "start"), "total": ready.total,
            "precision": trainer.precision.reason, "device": trainer.precision.device, "examples": len(ready.examples),
            **({"frozen": described(self.learner.frozen)} if self.learner.frozen.resting else {}),
        })  # fmt: skip
        rows = batches.portions(
            ready.train, ready.steps(self.seed), ready.task, ready.tuning.micro, self.state.place
        )  # fmt: skip
        try:
            began, self._watch = self._clock(), Stopwatch(self._clock, self.state.progress.seconds)
            made = () if self._over() else loop.steps(trainer, rows, self.state.progress, self._watch, asked_to_stop)
            for step in made:
                self.state = self.state._replace(progress=step.progress, place=Position(*step.position))
                self._note(step, self._clock() - began)
                if step.progress.steps in due:
                    self._evaluate()
                    self.save()
                elif self._clock() - self._saved_at > 60 * SAVE_MINUTES:
                    self.save()
                if step.stopping or self._over():
                    break
                began = self._clock()
        except DivergedError as error:
            self._came_apart(error)
        if not self._over() and self._saved < self.state.progress.steps:
            self.save()
        return self._over()

    def finish(self) -> Fitted:
        """The best model, and the scores that say that the seed is done."""
        self._writer.wait()
        state = self.state
        tensors.write_file(self._folder / tensors.NAME, self._best)
        done = Fitted(self.seed, dict(state.scores), state.best_step, state.progress.steps,
                      round(state.progress.seconds, 3), self._apart or state.collapsed)  # fmt: skip
        if not any(event["event"] == "end" for event in self._record.kept):  # told before a crash kept its scores
            self._event({**self._where("end"), "best_step": done.best_step, "collapsed": done.collapsed, **done.scores})
        self._record.sync()
        files.write_json(self._folder / SCORES, done._asdict())
        shutil.rmtree(self._root, ignore_errors=True)
        return done

    def close(self) -> None:
        """Whatever happened: what was put is written, the log is closed."""
        try:
            self._writer.wait()
        finally:
            self._record.close()

    def save(self) -> None:
        """A checkpoint of this moment, written beside the training; the best weights so far are in it."""
        self._saved_at, self._saved = self._clock(), self.state.progress.steps
        self._record.sync()
        means, counts = self.learner.trainer.optimizer.state_dict()
        groups: dict[str, Mapping[str, Tensor]] = {"model": self.learner.model.state_dict(), "optimizer": means}
        if self._best and self.state.best_step != self._saved:
            groups["best"] = self._best
        self._writer.put(self._saved, groups, {**self.state._asdict(), "counts": counts})

    def _restore(self) -> list[str]:
        """Put the newest checkpoint in place; what is damaged is told. Without a valid one the seed begins anew."""
        warnings: list[str] = []
        checkpoint.recover(self._root)
        saved = checkpoint.newest(self._root, warnings.append)
        if saved is None:
            shutil.rmtree(self._root, ignore_errors=True)
            return warnings
        self.learner.model.load_state_dict(saved.tensors["model"])
        values = dict(saved.state)
        self.learner.trainer.optimizer.load_state_dict(saved.tensors["optimizer"], values.pop("counts"))
        steps, tokens, seconds = values.pop("progress")
        place = Position(*values.pop("place"))
        self.state = State(Progress(int(steps), int(tokens), float(seconds)), place, **values)
        if self.state.scores:
            self._best = saved.tensors.get("best") or saved.tensors["model"]
        return warnings

    def _over(self) -> bool:
        """Whether there is nothing left to train."""
        patience = self.ready.tuning.patience
        tired = bool(patience) and self.state.stale >= patience
        return tired or bool(self._apart) or self.state.progress.steps >= self.ready.total

    def _came_apart(self, error: DivergedError) -> None:
        """The step was not made: the seed ends here, and is counted with those that learnt nothing."""
        numbers = self.ready.steps(self.seed).items(self.state.place)
        items = self.ready.train.items
        places = [str(self.ready.examples[items[number].example].place) for number in numbers[:3].tolist()]
        self._apart = f"{error} ({', '.join(places)} …)"
        self._event({**self._where("warning"), "kind": "diverged", "text": self._apart})
        if not self.state.scores:
            self._evaluate()

    def _note(self, step: Step, seconds: float) -> None:
        rate = round(step.tokens / seconds, 1) if seconds > 0 else 0.0
        self._event({**self._where("step"), "loss": step.result.loss, "rate": step.rate, "norm": step.norm,
                     "tokens_per_s": rate})  # fmt: skip

    def _evaluate(self) -> None:
        """Ask the development set; the best weights and their answers are kept."""
        state, model, asked, task = self.state, self.learner.model, self.ready.dev, self.ready.task
        found = asked.answers(model, self.learner.trainer.precision)
        scores, words = task.score(asked.examples, found.predictions), task.collapsed(found.predictions)
        self._event({**self._where("evaluation"), "loss": found.loss, **scores})
        if words:
            self._event({**self._where("warning"), "kind": "collapsed", "text": words})
        main, step = task.measures[0], state.progress.steps
        self.state = state._replace(evaluated=step, stale=state.stale + 1)
        if not state.scores or better(scores[main], state.scores[main]):
            self.state = self.state._replace(best_step=step, stale=0, scores=scores, collapsed=words)
            self._best = {name: one.detach().to("cpu", copy=True) for name, one in model.state_dict().items()}
            with files.whole(self._folder / PREDICTIONS) as temporary, temporary.open("w", encoding="utf-8") as file:
                for line in asked.lines(found.predictions):
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _where(self, event: str) -> dict[str, Any]:
        progress = self.state.progress
        return {"event": event, "step": progress.steps, "tokens": progress.tokens,
                "seconds": round(progress.seconds, 3)}  # fmt: skip

    def _event(self, event: Mapping[str, Any]) -> None:
        self._record.write(event)
        self._tell({**event, "seed": self.seed})


def better(one: float, other: float) -> bool:
    """Whether a score is the better one; what is no number is worse than any."""
    return one > other or (math.isnan(other) and not math.isnan(one))
