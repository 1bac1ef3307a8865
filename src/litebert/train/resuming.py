"""What does a run need to go on exactly? Weights, the optimizer's means, three counts, a place in the text."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from torch import nn

from litebert.errors import UserError
from litebert.optim.lamb import Lamb
from litebert.optim.schedule import Progress
from litebert.train.checkpoint import Checkpoint, Tensors
from litebert.train.recipe import Run


class State(NamedTuple):
    """Everything but tensors."""

    progress: Progress = Progress()
    position: tuple[int, ...] = (0, 0, 0)
    best: float = float("inf")  # lowest held-out loss
    best_step: int = 0
    notes: Mapping[str, Any] = MappingProxyType({})  # what the health report remembers
    evaluated: int = -1  # the step of the last evaluation


def kept(model: nn.Module, optimizer: Lamb, state: State, run: Run, data: str) -> tuple[Tensors, dict[str, Any]]:
    """A checkpoint's tensors and its JSON."""
    means, counts = optimizer.state_dict()
    values = {
        "progress": list(state.progress), "position": list(state.position),
        "best": state.best if state.best < float("inf") else None, "best_step": state.best_step,
        "evaluated": state.evaluated,
        "notes": dict(state.notes),
        "counts": counts, "run": run.model_dump(mode="json"), "data": data,
    }  # fmt: skip
    return {"model": model.state_dict(), "optimizer": means}, values


def restore(saved: Checkpoint, model: nn.Module, optimizer: Lamb, run: Run, data: str) -> State:
    """Put a checkpoint's tensors in place; another run's is refused, with the first value that differs."""
    refuse_another(saved, run, data)
    model.load_state_dict(saved.tensors["model"])
    values = saved.state
    optimizer.load_state_dict(saved.tensors["optimizer"], values["counts"])
    steps, tokens, seconds = values["progress"]
    return State(
        Progress(int(steps), int(tokens), float(seconds)), tuple(values["position"]),
        float("inf") if values["best"] is None else float(values["best"]), int(values["best_step"]), values["notes"],
        int(values["evaluated"]),
    )  # fmt: skip


def refuse_another(saved: Checkpoint, run: Run, data: str) -> None:
    """An error that names the first value in which a checkpoint's run is not this one."""
    change = "go on with the values it was begun with, name another run folder, or begin anew with --restart"
    if saved.state["data"] != data:
        raise UserError(f"{saved.path} was trained on other shards: {change}")
    difference = _difference(saved.state["run"], run.model_dump(mode="json"))
    if difference:
        name, before, now = difference
        raise UserError(f"{saved.path} was trained with {name} {before!r}, not {now!r}: {change}")


def _difference(before: Mapping[str, Any], now: Mapping[str, Any], name: str = "") -> tuple[str, Any, Any] | None:
    for key in [*before, *(k for k in now if k not in before)]:
        one, other, where = before.get(key), now.get(key), f"{name}.{key}".lstrip(".")
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            found = _difference(one, other, where)
            if found:
                return found
        elif one != other and where not in _FREE:
            return where, one, other
    return None


# What may change between two stretches of a run without changing what is learnt.
_FREE = ("training.micro", "training.save_minutes", "training.saves", "training.keep", "training.evaluations",
         "training.evaluation_rows")  # fmt: skip
