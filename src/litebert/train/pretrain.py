"""How does text become an encoder? Shards and a run in, a folder out; at any moment it can be stopped and gone on with.

The folder is a Hugging Face folder with the tokenizer, `recipe.toml` (every value spelt out), `log.jsonl` and the
checkpoints. Who watches gets every event as a dictionary, the same that is written into the log.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from litebert import family
from litebert.data.shards import Shards, open_shards
from litebert.data.vocabulary import Vocabulary, vocabulary
from litebert.errors import RunError, UserError
from litebert.interop import folder as folders
from litebert.model.model import Model, build
from litebert.optim.groups import treated
from litebert.optim.lamb import Lamb
from litebert.optim.schedule import Progress, Stopwatch
from litebert.text import tokenizer as tokenizers
from litebert.text.tokenizer import Tokenizer
from litebert.train import checkpoint, feeding, loop, precision, recipe, record, resuming
from litebert.train.distributed import World
from litebert.train.loop import DivergedError, Portion, Result, Step, Trainer
from litebert.train.objectives import Pretraining
from litebert.train.recipe import Run
from litebert.train.resuming import State

Tell = Callable[[Mapping[str, Any]], None]

CHECKPOINTS, RECIPE, DIVERGED = "checkpoints", "recipe.toml", "diverged.json"
TRUST_EVERY = 20  # steps between two records of all trust ratios


class Prepared(NamedTuple):
    """All that a run needs, before its first step."""

    run: Run
    shards: Shards
    held_out: Shards
    tokenizer: Tokenizer
    vocabulary: Vocabulary
    trainer: Trainer


class Outcome(NamedTuple):
    """What a run came to."""

    folder: Path
    progress: Progress
    held_out: Result | None  # the last evaluation
    stopped: bool  # before its end, because somebody asked


def prepare(run: Run, shards: str | Path, world: World = World()) -> Prepared:
    """Open the shards, make or load the model, set up its optimizer; the run comes back with every value settled."""
    tokenizer = tokenizers.load(shards)
    opened = {split: open_shards(shards, split, tokenizer) for split in ("train", "held-out")}
    if not opened["train"].tokens:
        raise UserError(f"{shards} holds no text to learn from: build it from a larger corpus")
    run, model = _model(run, tokenizer)
    model.to(world.device)
    trainer = Trainer(
        model=model, objective=Pretraining(run.model.objectives), optimizer=Lamb(treated(model), run.optimizer),
        schedule=run.schedule, precision=precision.choose(run.training.precision, world.device), world=world,
        seed=run.training.seed,
    )  # fmt: skip
    return Prepared(run, opened["train"], opened["held-out"], tokenizer, vocabulary(tokenizer), trainer)


def pretrain(
    prepared: Prepared, folder: str | Path, *, tell: Tell = lambda event: None, restart: bool = False,
    asked_to_stop: Callable[[], bool] = lambda: False, clock: Callable[[], float] = time.monotonic,
) -> Outcome:  # fmt: skip
    """Train until the run's end; a folder that holds a part of the same run is gone on with, unless `restart`."""
    run, world = prepared.run, prepared.trainer.world
    path = Path(folder)
    state = _resume(prepared, path, restart, tell)
    session = _Session(prepared, path, state, tell, clock)
    try:
        stopped = session.train(asked_to_stop)
    except DivergedError as error:
        raise RunError(session.diverged(error)) from None
    finally:
        session.close()
    if world.leads:
        _finish(prepared, path)
    return Outcome(
        path, session.state.progress, session.last, stopped and run.schedule.share(session.state.progress) < 1
    )


class _Session:
    """One stretch of a run in this process: trains, evaluates, saves and writes down."""

    def __init__(self, prepared: Prepared, path: Path, state: State, tell: Tell, clock: Callable[[], float]) -> None:
        self.prepared, self.path, self.state, self._tell, self._clock = prepared, path, state, tell, clock
        self.run, self.trainer = prepared.run, prepared.trainer
        self.last: Result | None = None
        self._watch = Stopwatch(clock, state.progress.seconds)
        self._saved_at, self._saved_step = clock(), state.progress.steps
        leads = self.trainer.world.leads
        self._writer = checkpoint.Writer(path / CHECKPOINTS, self.run.training.keep) if leads else None
        self._record = record.Record(path, state.progress.steps) if leads else None
        self._held: list[Portion] | None = None

    def train(self, asked_to_stop: Callable[[], bool]) -> bool:
        """Whether the end was asked for before it was reached."""
        run, state = self.run, self.state
        if not state.progress.steps:
            self._evaluate()
        portions = feeding.portions(
            run, self.prepared.shards, self.prepared.vocabulary, self.trainer.world, state.position, self._share
        )
        stopped, began = False, self._clock()
        for step in loop.steps(self.trainer, portions, state.progress, self._watch, asked_to_stop):
            before = self._share()
            self.state = self.state._replace(progress=step.progress, position=step.position)
            now = self._clock()
            self._note(step, now - began)
            if self._crossed(before, run.training.evaluations):
                self._evaluate()
            if self._crossed(before, run.training.saves) or now - self._saved_at > 60 * run.training.save_minutes:
                self._save()
            stopped = step.stopping
            began = self._clock()
        if self.state.progress.steps > self._saved_step or not self.state.progress.steps:
            self._save()
        if self._writer is not None:
            self._writer.wait()
        return stopped

    def close(self) -> None:
        """Whatever happened: what was put is written, the log is closed."""
        if self._record is not None:
            self._record.close()
        if self._writer is not None:
            self._writer.wait()

    def diverged(self, error: DivergedError) -> str:
        """Write down what did the harm; one line that says where to go on from."""
        found = {"step": error.step, "what": error.what, "batch": error.batch, "position": list(self.state.position),
                 "rate": self.run.schedule.at(self.state.progress)}  # fmt: skip
        self._event({"event": "diverged", **found})
        if self.trainer.world.leads:
            (self.path / DIVERGED).write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        return (
            f"{error}; the batch is named in {self.path / DIVERGED}, the checkpoint before it is kept: "
            f"lower schedule.peak (now {self.run.schedule.peak:g}) or raise schedule.warmup, and begin anew"
        )

    def _share(self) -> float:
        return self.run.schedule.share(self.state.progress)

    def _crossed(self, before: float, parts: int) -> bool:
        return bool(parts) and int(self._share() * parts + 1e-9) > int(before * parts + 1e-9)

    def _note(self, step: Step, seconds: float) -> None:
        event: dict[str, Any] = {
            "event": "step", "step": step.progress.steps, "tokens": step.progress.tokens,
            "seconds": round(step.progress.seconds, 3), "loss": step.result.loss, "rate": step.rate, "norm": step.norm,
            "tokens_per_s": round(step.tokens / seconds, 1) if seconds > 0 else 0.0, "phase": step.position[0],
        }  # fmt: skip
        for name, value in step.result.losses.items():
            event |= {name: value, f"{name}_accuracy": step.result.accuracies[name]}
        if step.progress.steps % TRUST_EVERY == 1:
            event["trust"] = self.trainer.optimizer.trust()
        self._event(event)

    def _evaluate(self) -> None:
        prepared = self.prepared
        if not prepared.held_out.tokens:
            return
        if self._held is None:
            self._held = feeding.held_out(self.run, prepared.held_out, prepared.vocabulary, self.trainer.world)
        result = self.last = loop.evaluate(self.trainer, iter(self._held))
        progress = self.state.progress
        if result.loss < self.state.best:
            self.state = self.state._replace(best=result.loss, best_step=progress.steps)
        event: dict[str, Any] = {"event": "evaluation", "step": progress.steps, "tokens": progress.tokens,
                                 "seconds": round(progress.seconds, 3), "loss": result.loss}  # fmt: skip
        for name, value in result.losses.items():
            event |= {name: value, f"{name}_accuracy": result.accuracies[name], f"{name}_count": result.counts[name]}
        self._event(event)

    def _save(self) -> None:
        self._saved_at, self._saved_step = self._clock(), self.state.progress.steps
        if self._writer is not None:
            kept = resuming.kept(self.trainer.model, self.trainer.optimizer, self.state, self.run, _data(self.prepared))
            self._writer.put(self._saved_step, *kept, protected=self.state.best_step)

    def _event(self, event: Mapping[str, Any]) -> None:
        if self._record is not None:
            self._record.write(event)
            self._tell(event)


def _model(run: Run, tokenizer: Tokenizer) -> tuple[Run, Model]:
    """The run's model, new or from the folder it starts from, for this tokenizer."""
    if not run.start:
        config = run.model.but(vocab=tokenizer.size, pad=tokenizer.specials.pad)
        heads = family.pretraining_heads(config)
        return run.but(model=config), build(config, heads, seed=run.training.seed)
    heads = family.pretraining_heads(run.model)
    model = folders.load(run.start, list(heads), seed=run.training.seed, objectives=run.model.objectives,
                         dropout=run.model.dropout, attention_dropout=run.model.attention_dropout)  # fmt: skip
    if model.config.vocab != tokenizer.size:
        raise UserError(
            f"{run.start} has {model.config.vocab:,} words and the shards' tokenizer {tokenizer.size:,}: "
            "build the shards with the model's own tokenizer"
        )
    return run.but(model=model.config), model.train()


def _resume(prepared: Prepared, path: Path, restart: bool, tell: Tell) -> State:
    """Where to begin: at the newest valid checkpoint of this run, or at nothing."""
    trainer, world = prepared.trainer, prepared.trainer.world
    if restart and world.leads:
        for step in checkpoint.steps(path / CHECKPOINTS):
            checkpoint.remove(checkpoint.path_of(path / CHECKPOINTS, step))
    saved = (
        None
        if restart
        else checkpoint.newest(path / CHECKPOINTS, lambda text: tell({"event": "warning", "text": text}))
    )
    state = State()
    if saved is not None:
        state = resuming.restore(saved, trainer.model, trainer.optimizer, prepared.run, _data(prepared))
    elif not restart and (path / record.NAME).is_file() and checkpoint.steps(path / CHECKPOINTS):
        raise UserError(f"{path} holds checkpoints and none is valid: copy one back, or begin anew with --restart")
    if not world.agree(float(state.progress.steps)):
        raise RunError(f"the processes read different checkpoints of {path}: give all of them the same folder")
    if world.leads:
        path.mkdir(parents=True, exist_ok=True)
        (path / RECIPE).write_text(recipe.as_toml(prepared.run), encoding="utf-8")
        prepared.tokenizer.save(path)
    tell({"event": "start", "step": state.progress.steps, "precision": trainer.precision.reason, "world": world.size})
    return state


def _finish(prepared: Prepared, path: Path) -> None:
    """The run folder as a folder of Hugging Face's, ready for use."""
    model = prepared.trainer.model
    assert isinstance(model, Model)
    folders.save(model, path)


def _data(prepared: Prepared) -> str:
    """What tells one shard set from another."""
    return str(prepared.shards.manifest.get("sha256", prepared.shards.fingerprint))


def events(folder: str | Path) -> Iterator[dict[str, Any]]:
    """Every event of a run, oldest first."""
    yield from record.read(Path(folder))
