"""What learns a task? A model with the task's head; what of it stands still or moves slower is said by the tuning."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import nn

from litebert import presets
from litebert.config import Config, Head
from litebert.errors import UserError
from litebert.interop import folder as folders
from litebert.model import init, reshape
from litebert.model.model import Model
from litebert.optim import freezing
from litebert.optim.freezing import Frozen
from litebert.optim.groups import treated
from litebert.optim.lamb import Lamb
from litebert.optim.rule import rule
from litebert.optim.schedule import Schedule
from litebert.tasks.featured import Featured
from litebert.tasks.settings import Tuning
from litebert.tasks.task import Fed, Task
from litebert.text.tokenizer import Tokenizer
from litebert.train import allocation, precision
from litebert.train.cross_entropy import Sums
from litebert.train.distributed import World
from litebert.train.loop import Trainer


class Start(NamedTuple):
    """Which model is begun from."""

    model: str
    random: bool = False  # its shape alone: every weight is drawn from the seed
    tokenizer: str = ""  # where the tokenizer lies, if it is not with the model

    def check(self) -> None:
        """Raise where there is nothing to begin from."""
        if Path(self.model).is_dir():
            return
        if self.model not in presets.names():
            raise UserError(presets.nowhere(Path(self.model)))
        if not self.random:
            raise UserError(
                f"{self.model} is a preset, which has no weights: name a folder that holds a trained model, or train "
                "its shape from random weights with --random"
            )

    def shape(self, tokenizer: Tokenizer) -> tuple[Config, dict[str, Head]]:
        """The config, and the heads that are there."""
        self.check()
        if Path(self.model).is_dir():
            return folders.describe(Path(self.model))
        return presets.preset(self.model).but(vocab=tokenizer.size, pad=tokenizer.specials.pad), {}


class Learning:
    """A task as the loop asks for it (`train.loop.Objective`)."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def counts(self, micro: Fed) -> Mapping[str, float]:
        """Targets of a micro-batch."""
        return self._task.counts(micro)

    def sums(self, model: nn.Module, micro: Fed) -> Mapping[str, Sums]:
        """What guessing them cost."""
        return self._task.sums(as_model(model), micro)


class Learner(NamedTuple):
    """All that a seed's training needs but its rows."""

    trainer: Trainer
    frozen: Frozen

    @property
    def model(self) -> Model:
        """The model that learns."""
        return as_model(self.trainer.model)


def as_model(module: nn.Module) -> Model:
    """A model, or a head on a body that stands still, which a task asks in the same two ways."""
    assert isinstance(module, Model | Featured)
    return cast(Model, module)


def learner(
    start: Start, task: Task, tuning: Tuning, tokenizer: Tokenizer, steps: int, device: torch.device
) -> Learner:  # fmt: skip
    """The model of a seed, its optimizer and its schedule over so many steps."""
    allocation.keep()
    model = worn(start, task, tuning, tokenizer).to(device)
    frozen = freezing.freeze(model, tuning.freeze, tuning.freeze_embedding)
    _hold(model, frozen)
    schedule = Schedule(kind=tuning.schedule, peak=tuning.rate, warmup=tuning.warmup, total=float(steps))
    moves = rule("adamw", decay=tuning.decay, beta2=tuning.beta2, clip=tuning.clip)
    trainer = Trainer(
        model=model, objective=Learning(task), optimizer=Lamb(treated(model, tuning.layer_decay), moves),
        schedule=schedule, precision=precision.choose(tuning.precision, device), world=World(device=device),
        seed=tuning.seed,
    )  # fmt: skip
    return Learner(trainer, frozen)


def worn(start: Start, task: Task, tuning: Tuning, tokenizer: Tokenizer) -> Model:
    """The model with the task's head, every weight it lacks drawn from the tuning's seed."""
    config, present = start.shape(tokenizer)
    name, head = task.spec(config)
    check(config, start, tuning, tokenizer)
    dropouts: dict[str, Any] = {
        "dropout": tuning.dropout, "attention_dropout": tuning.attention_dropout,
        "classifier_dropout": tuning.head_dropout,
    }  # fmt: skip
    changes = {field: value for field, value in dropouts.items() if value is not None}
    source: str | Config = config if start.random else start.model
    model = folders.load(source, {name: head}, seed=tuning.seed, dtype=torch.float32, **changes)
    if name in present and present[name].names != head.names:  # it answers another question
        mine = [tensor for tensor, _ in model.named_parameters() if tensor.startswith(f"heads.{name}.")]
        init.fill(model, model.config, tuning.seed, only=mine)
    if tuning.unshare:
        model = reshape.reshare(model, "none")
    _leave_out(model, head)
    return model


def check(config: Config, start: Start, tuning: Tuning, tokenizer: Tokenizer) -> None:
    """Whether model, tokenizer and tuning go together."""
    if tokenizer.size > config.vocab:
        raise UserError(
            f"the tokenizer has {tokenizer.size:,} words and {start.model} {config.vocab:,}: name the model's own with "
            "--tokenizer"
        )
    if config.max_positions and tuning.length > config.max_positions:
        raise UserError(
            f"length {tuning.length} exceeds the {config.max_positions} positions of {start.model}: "
            f"--set length={config.max_positions}, or less"
        )


def described(frozen: Frozen) -> dict[str, Any]:
    """What stands still, as JSON."""
    return {"blocks": frozen.blocks, "resting": list(frozen.resting), "remarks": list(frozen.remarks)}


def _hold(model: Model, frozen: Frozen) -> None:
    """Whoever calls the model, its first blocks pass no gradient, and what is all frozen drops nothing."""
    if not frozen.blocks and not frozen.resting:
        return

    def told(
        module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:  # fmt: skip
        if module.training:
            frozen.train(model)
        return given, {**named, "frozen": frozen.blocks}

    model.register_forward_pre_hook(told, with_kwargs=True)


def _leave_out(model: Model, head: Head) -> None:
    """What this head does not read gets no gradient, and is not said to learn: a pooler, the query stream's vector."""
    read = head.kind in ("classify", "choice") and head.source == "pooled"
    for name, tensor in model.named_parameters():
        if name == "query_vector" or (name.startswith("pooler.") and not read):
            tensor.requires_grad_(False)
