"""How does text become an encoder? Shards and a run in, a folder out; at any moment it can be stopped and gone on with.

The folder is a Hugging Face folder with the tokenizer, `recipe.toml` (every value spelt out), `log.jsonl` and the
checkpoints. Who watches gets every event as a dictionary, the same that is written into the log.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from litebert.errors import RunError, UserError
from litebert.files import FolderError
from litebert.interop import folder as folders
from litebert.model.model import Model
from litebert.optim.schedule import Progress
from litebert.train import checkpoint, recipe, record, resuming
from litebert.train.checkpoint import Checkpoint
from litebert.train.claim import claimed
from litebert.train.feeding import START
from litebert.train.loop import DivergedError, Result
from litebert.train.prepared import Prepared, prepare
from litebert.train.resuming import State
from litebert.train.session import Session, Tell

__all__ = ["Outcome", "Prepared", "events", "prepare", "pretrain", "standing"]

CHECKPOINTS, RECIPE = "checkpoints", "recipe.toml"


class Outcome(NamedTuple):
    """What a run came to."""

    folder: Path
    progress: Progress
    held_out: Result | None  # the last evaluation
    stopped: bool  # before its end, because somebody asked


def pretrain(
    prepared: Prepared, folder: str | Path, *, tell: Tell = lambda event: None, restart: bool = False,
    asked_to_stop: Callable[[], bool] = lambda: False, clock: Callable[[], float] = time.monotonic,
) -> Outcome:  # fmt: skip
    """Train until the run's end; a folder that holds a part of the same run is gone on with, unless `restart`."""
    path, world = Path(folder), prepared.trainer.world
    with claimed(path) if world.leads else contextlib.nullcontext():
        try:
            state = resume(prepared, path, restart, tell)
            session = Session(prepared, path, path / CHECKPOINTS, state, tell, clock)
        except OSError as error:
            raise RunError(_failed(error, path)) from None
        try:
            stopped = session.train(asked_to_stop)
            if world.leads:
                finish(prepared, path)
        except DivergedError as error:
            raise RunError(session.diverged(error)) from None
        except (OSError, FolderError) as error:
            raise RunError(_failed(error, path, session.kept())) from None
        finally:
            session.close()
    done = prepared.run.schedule.share(session.state.progress) >= 1
    return Outcome(path, session.state.progress, session.last, stopped and not done)


def resume(prepared: Prepared, path: Path, restart: bool, tell: Tell) -> State:
    """Where to begin: at the newest valid checkpoint of this run, or at nothing."""
    trainer, world = prepared.trainer, prepared.trainer.world
    root = path / CHECKPOINTS
    if world.leads:
        checkpoint.recover(root)
    if restart and world.leads:
        for step in checkpoint.steps(root):
            checkpoint.remove(checkpoint.path_of(root, step))
    world.meet()  # nobody looks while another takes away
    saved = _newest(root, lambda text: tell({"event": "warning", "kind": "checkpoint", "text": text}))
    state = State()
    if saved is not None:
        state = resuming.restore(saved, trainer.model, trainer.optimizer, prepared.run, prepared.text)
    if not world.agree(float(state.progress.steps)):
        raise RunError(f"the processes read different checkpoints of {path}: give all of them the same folder")
    if world.leads:
        recipe.save(prepared.run, path / RECIPE)
        prepared.tokenizer.save(path)
    return state


def standing(prepared: Prepared, folder: str | Path) -> tuple[Progress, tuple[int, ...]]:
    """How far a run has come in its folder, and where its text goes on; a folder of another run is refused."""
    saved = _newest(Path(folder) / CHECKPOINTS, lambda text: None)
    if saved is None:
        return Progress(), START
    resuming.refuse_another(saved, prepared.run, prepared.text)
    steps, tokens, seconds = saved.state["progress"]
    return Progress(int(steps), int(tokens), float(seconds)), tuple(saved.state["position"])


def finish(prepared: Prepared, path: Path) -> None:
    """The run folder as a folder of Hugging Face's, ready for use."""
    model = prepared.trainer.model
    assert isinstance(model, Model)
    folders.save(model, path)


def events(folder: str | Path) -> Iterator[Mapping[str, Any]]:
    """Every event of a run, oldest first."""
    yield from record.read(Path(folder))


def _newest(root: Path, warn: Callable[[str], None]) -> Checkpoint | None:
    """The newest valid checkpoint of a run folder, or none where there is none at all."""
    saved = checkpoint.newest(root, warn)
    if saved is None and checkpoint.steps(root):
        way = "copy one back, or begin anew with --restart"
        raise UserError(f"{root.parent} holds checkpoints and none is valid: {way}")
    return saved


def _failed(error: Exception, path: Path, kept: str = "") -> str:
    """What a disk had to say, where, and what is left."""
    said = f"{error.filename or path}: {error.strerror}" if isinstance(error, OSError) and error.strerror else error
    return f"{said}{'; ' if kept else ''}{kept}: mend that, and the same command goes on"
