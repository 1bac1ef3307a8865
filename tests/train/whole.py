"""How does a test train a whole run in this process, and stop it where it likes?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from litebert.bench.trial import Place
from litebert.train import checkpoint, recipe
from litebert.train.prepared import Prepared, prepare
from litebert.train.pretrain import CHECKPOINTS, Outcome, pretrain
from litebert.train.recipe import Run

SMALL = ("training.batch=6", "training.evaluation_rows=6", "training.evaluations=3", "training.saves=5")


def run_of(place: Place, total: str, *changes: str, small: bool = True) -> Run:
    """The run of the benches of faults, smaller, with changes such as `model.layers=1`."""
    return recipe.load(place.recipe(total), [*(SMALL if small else ()), *changes])


def steps_made(made: Prepared) -> float:
    """A clock that only training moves: a second a step."""
    return float(max(made.trainer.optimizer.counts.values()))


def trained(
    place: Place, run: Run, folder: Path, *, stop: int | None = None, tell: Callable[..., None] | None = None,
    before: Callable[[Prepared, int], object] = lambda made, step: None, **more: Any,
) -> Outcome:  # fmt: skip
    """Train, or go on. stop: the step after which the end is asked for. before: called before every step is made."""
    made = prepare(run, place.shards)

    def asked() -> bool:
        step = int(steps_made(made)) + 1
        before(made, step)
        return stop is not None and step >= stop

    more.setdefault("clock", lambda: steps_made(made))
    return pretrain(made, folder, tell=tell or (lambda event: None), asked_to_stop=asked, **more)


def checkpoints(folder: Path) -> list[int]:
    """The steps of a run's checkpoints."""
    return checkpoint.steps(folder / CHECKPOINTS)


def kinds(events: list[Mapping[str, Any]], *wanted: str) -> list[tuple[str, int]]:
    """What happened at which step, of some kinds."""
    return [(event["event"], event["step"]) for event in events if event["event"] in wanted]
