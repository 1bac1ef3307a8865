"""What happens between two steps? One stretch of a run in this process: it trains, evaluates, saves and writes down."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from litebert.files import write_json
from litebert.interop import folder as folders
from litebert.model.model import Model
from litebert.optim.schedule import Stopwatch
from litebert.train import checkpoint, feeding, health, loop, record, remedies, resuming
from litebert.train.loop import DivergedError, Portion, Result, Step
from litebert.train.prepared import Prepared
from litebert.train.resuming import State

Tell = Callable[[Mapping[str, Any]], None]

DIVERGED = "diverged.json"
TRUST_EVERY = 20  # steps between two records of all trust ratios
_NONE = "no checkpoint was saved before it"
_SLACK = 1e-9  # of a share of the run, which is a rounded quotient


class Session:
    """One stretch of a run, from a state on."""

    def __init__(
        self, prepared: Prepared, path: Path, checkpoints: Path, state: State, tell: Tell, clock: Callable[[], float]
    ) -> None:
        self.prepared, self.path, self.state, self._tell, self._clock = prepared, path, state, tell, clock
        self.run, self.trainer = prepared.run, prepared.trainer
        self.last: Result | None = None
        self._watch = Stopwatch(clock, state.progress.seconds)
        self._saved_at, self._saved = clock(), state.progress
        self._checkpoints = checkpoints
        self._damaged = {step for step in checkpoint.steps(checkpoints) if step > state.progress.steps}
        self._recent: deque[tuple[int, str, tuple[int, ...]]] = deque(maxlen=health.IN_A_ROW)
        self._health = health.Health(self.run, prepared.entropy, state.notes)
        self._held: list[Portion] | None = None
        leads = self.trainer.world.leads
        self._writer = checkpoint.Writer(checkpoints, self.run.training.keep) if leads else None
        self._record = record.Record(path, state.progress.steps) if leads else None
        if self._record is not None:
            (path / DIVERGED).unlink(missing_ok=True)  # it spoke of what is tried again now
            self.last = _last(self._record.kept)

    def train(self, asked_to_stop: Callable[[], bool]) -> bool:
        """Whether the end was asked for before it was reached."""
        run, trainer = self.run, self.trainer
        self._event({
            **self._where("resume" if self.state.progress.steps else "start"), "precision": trainer.precision.reason,
            "device": trainer.precision.device, "world": trainer.world.size, "floor": self.prepared.entropy,
            "vocabulary": run.model.vocab, "total": run.schedule.total, "unit": run.schedule.unit,
        })  # fmt: skip
        if self.state.evaluated < 0:
            self._evaluate()
        self._watch = Stopwatch(self._clock, self.state.progress.seconds)  # what was before it is no training
        portions = feeding.portions(
            run, self.prepared.shards, self.prepared.vocabulary, trainer.world, self.state.position, self._share
        )
        stopped, began = False, self._clock()
        with contextlib.closing(portions):  # its thread ends with it
            for step in loop.steps(trainer, portions, self.state.progress, self._watch, asked_to_stop):
                before = self._share()
                self._recent.append((step.progress.steps, step.batch, self.state.position))
                self.state = self.state._replace(progress=step.progress, position=step.position)
                self._note(step, self._clock() - began)
                better = self._crossed(before, run.training.evaluations) and self._evaluate()
                if better or self._crossed(before, run.training.saves) or self._late():
                    self.save()
                stopped = step.stopping
                began = self._clock()
        self._end(stopped)
        return stopped

    def close(self) -> None:
        """Whatever happened: what was put is written, the log is closed."""
        self._settle()
        if self._record is not None:
            self._record.close()

    def diverged(self, error: DivergedError) -> str:
        """Write down what did the harm; one line that says where to go on from."""
        good, places = self._good(error.step), {step: place for step, _, place in self._recent}
        path = str(checkpoint.path_of(self._checkpoints, good)) if good else ""
        way = f"{path} is kept, --from trains on from it in another folder" if good else _NONE
        text = str(error) if error.advises else f"{error}; {remedies.calmer(self.run)}, and begin anew"
        found = {"step": error.step, "what": error.what, "text": text, "batch": error.batch,
                 "position": list(places.get(error.step, self.state.position)),
                 "rate": self.run.schedule.at(self.state.progress), "checkpoint": path}  # fmt: skip
        self._event({"event": "diverged", **found})
        if self.trainer.world.leads:
            write_json(self.path / DIVERGED, found)
        return f"{text} with --restart; {way}; the batch is named in {self.path / DIVERGED}"

    def kept(self) -> str:
        """In words, what there is to go on from."""
        good = self._good()
        return f"the checkpoint of step {good} is kept" if good else _NONE

    def _good(self, before: int | None = None) -> int:
        """The step of the newest whole checkpoint, of those before a step, or 0; what was put is written by then."""
        self._settle()
        found = [step for step in checkpoint.steps(self._checkpoints) if step not in self._damaged]
        return max((step for step in found if before is None or step < before), default=0)

    def save(self) -> None:
        """A checkpoint of this moment, written beside the training."""
        self._saved_at, self._saved = self._clock(), self.state.progress
        if self._writer is not None and self._record is not None:
            self._record.sync()
            state = self.state._replace(notes=self._health.notes())
            kept = resuming.kept(self.trainer.model, self.trainer.optimizer, state, self.run, self.prepared.text)
            self._writer.put(self._saved.steps, *kept, protected=self.state.best_step, beside=self._note_model)
            self._damaged.discard(self._saved.steps)

    def _note_model(self, folder: Path) -> None:
        assert isinstance(self.trainer.model, Model)
        folders.note(self.trainer.model, folder)

    def _end(self, stopped: bool) -> None:
        """The last evaluation and the last checkpoint."""
        progress, trainer = self.state.progress, self.trainer
        if not stopped and self._share() < 1:  # the time was up, though the last step ended just before
            progress = progress._replace(seconds=loop.seconds(trainer.world, self._watch))
            self.state = self.state._replace(progress=progress)
        if not stopped and self.state.evaluated < progress.steps:
            self._evaluate()
        if progress != self._saved:
            self.save()
        if self._writer is not None:
            self._writer.wait()

    def _settle(self) -> None:
        """What was put is written, or has failed: that is told already, or something worse is."""
        if self._writer is not None:
            with contextlib.suppress(OSError):
                self._writer.wait()

    def _share(self) -> float:
        return self.run.schedule.share(self.state.progress)

    def _crossed(self, before: float, parts: int) -> bool:
        return bool(parts) and int(self._share() * parts + _SLACK) > int(before * parts + _SLACK)

    def _late(self) -> bool:
        """Whether the last save is longer ago than the run allows: by the leader's clock alone, as only it writes."""
        return self._clock() - self._saved_at > 60 * self.run.training.save_minutes

    def _note(self, step: Step, seconds: float) -> None:
        event: dict[str, Any] = {
            **self._where("step"), "loss": step.result.loss, "rate": step.rate, "norm": step.norm,
            "tokens_per_s": round(step.tokens / seconds, 1) if seconds > 0 else 0.0, "phase": step.position[0],
            **_by_name(step.result),
        }  # fmt: skip
        if step.progress.steps % TRUST_EVERY == 1:
            event["trust"] = self.trainer.optimizer.trust()
        self._event(event)
        self._findings(self._health.step(event))

    def _evaluate(self) -> bool:
        """Measure on the held-out split; whether it was never better."""
        prepared = self.prepared
        if not prepared.held_out.tokens or not self.run.training.evaluations:
            return False
        if self._held is None:
            self._held = feeding.held_out(self.run, prepared.held_out, prepared.vocabulary, self.trainer.world)
        result = self.last = loop.evaluate(self.trainer, iter(self._held))
        event = {**self._where("evaluation"), "loss": result.loss, **_by_name(result)}
        event |= {f"{name}_count": count for name, count in result.counts.items()}
        event |= health.predictions(self.trainer, self._held[0].micros[0])
        self._event(event)
        self._findings(self._health.evaluation(event))
        better = result.loss < self.state.best
        self.state = self.state._replace(evaluated=self.state.progress.steps)
        if better:
            self.state = self.state._replace(best=result.loss, best_step=self.state.progress.steps)
        return better

    def _findings(self, found: list[health.Finding]) -> None:
        for one in found:
            self._event({**self._where("warning"), "kind": one.kind, "text": one.text})
            if one.fatal:
                step, batch, _ = self._recent[0]
                raise DivergedError(step, "loss", batch, one.text)

    def _where(self, event: str) -> dict[str, Any]:
        progress = self.state.progress
        return {"event": event, "step": progress.steps, "tokens": progress.tokens,
                "seconds": round(progress.seconds, 3)}  # fmt: skip

    def _event(self, event: Mapping[str, Any]) -> None:
        if self._record is not None:
            self._record.write(event)
            self._tell(event)


def _last(events: Sequence[Mapping[str, Any]]) -> Result | None:
    """The result of the last evaluation in a log."""
    found = [event for event in events if event["event"] == "evaluation"]
    if not found:
        return None
    event = found[-1]
    names = [name.removesuffix("_count") for name in event if name.endswith("_count")]
    return Result(
        event["loss"], {name: event[name] for name in names}, {name: event[f"{name}_accuracy"] for name in names},
        {name: event[f"{name}_count"] for name in names},
    )  # fmt: skip


def _by_name(result: Result) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in result.losses.items():
        found |= {name: value, f"{name}_accuracy": result.accuracies[name]}
    return found
