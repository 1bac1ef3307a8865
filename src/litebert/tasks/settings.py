"""What is a fine-tuning? One frozen value: how texts are laid out, what learns, how fast and for how long."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Self

from pydantic import model_validator

from litebert.config import ConfigError
from litebert.optim.rule import Value
from litebert.optim.schedule import Kind as ScheduleKind
from litebert.train.precision import Precision

Long = Literal["head", "tail", "head-tail", "mean"]  # of a text that is too long; Sun et al. 2019 (arXiv 1905.05583)
Weights = Literal["none", "balanced"]
Mode = Literal["full", "features"]
Layers = Literal[
    "embedding", "second-to-last", "last", "sum-last-4", "weighted-last-4", "concat-last-4", "sum-all", "weighted-all",
]  # fmt: skip


class Tuning(Value):
    """How a model is fitted to a task."""

    # layout
    length: int = 128  # tokens of a row, special pieces included
    long: Long = "head"  # which part of a longer text is read; `mean`: all of it, in windows whose answers are averaged
    head: int = 128  # tokens from the beginning with long=head-tail
    stride: int = 128  # tokens from one window to the next (span, and long=mean)
    question: int = 64  # tokens of a question (span) or of question and option (choice, whose end is kept)
    # what learns
    mode: Mode = "full"  # features: hidden states are computed once, and only a head learns
    layers: Layers = "concat-last-4"  # with mode=features
    network: Literal["linear", "bilstm"] = "linear"  # with mode=features: what reads them
    freeze: int = 0  # so many blocks from below get no gradient, the embedding neither
    freeze_embedding: bool = False
    unshare: bool = False  # every depth gets weights of its own first
    layer_decay: float = 1.0  # of the rate, per layer down
    # how fast
    rate: float = 2e-5  # its peak
    schedule: ScheduleKind = "linear"
    warmup: float = 0.1  # below 1 a share of the run, from 1 on steps
    epochs: float = 3.0
    steps: int = 0  # instead of epochs
    batch: int = 32  # examples of a step
    micro: int = 0  # tokens that are worked on at a time, padding included; 0 = all of a step
    decay: float = 0.01
    beta2: float = 0.999
    clip: float = 1.0
    weights: Weights = "none"  # of the classes in the loss
    smoothing: float = 0.0  # of the labels
    dropout: float | None = None  # of the body; None = as the model has it
    attention_dropout: float | None = None
    head_dropout: float | None = None
    # how it goes
    seed: int = 0
    precision: Precision = "auto"
    evaluations: int = 0  # on the development set, evenly over the run; 0 = once an epoch
    patience: int = 0  # evaluations without a better score until it ends; 0 = to the end

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        for problem in _problems(self):
            raise ConfigError(problem)
        return self


def _problems(s: Tuning) -> Iterable[str]:
    for name in ("length", "stride", "question", "batch"):
        if getattr(s, name) < 1:
            yield f"{name} {getattr(s, name)} is too small: choose 1 or more"
    for name in ("freeze", "steps", "micro", "evaluations", "patience", "seed", "head"):
        if getattr(s, name) < 0:
            yield f"{name} {getattr(s, name)} is negative: choose 0 or more"
    for name in ("dropout", "attention_dropout", "head_dropout", "smoothing"):
        value = getattr(s, name)
        if value is not None and not 0.0 <= value < 1.0:
            yield f"{name} {value} is not a share below 1: choose 0.0 to 0.99"
    if not s.steps and not 0.0 < s.epochs < float("inf"):
        yield f"epochs {s.epochs} trains nothing: choose more than 0, or set steps"
    yield from _idle(s)
    if s.long == "head-tail" and s.head >= s.length:
        yield f"head {s.head} leaves no room for a tail in length {s.length}: choose less"


def _idle(s: Tuning) -> Iterable[str]:
    """What is set and has no meaning in this mode."""
    if s.mode == "features":
        if s.freeze or s.freeze_embedding or s.layer_decay != 1.0 or s.unshare:
            yield "mode 'features' trains no block: leave out freeze, freeze_embedding, layer_decay and unshare"
        return
    for name in ("layers", "network"):
        if getattr(s, name) != Tuning.model_fields[name].default:
            yield f"{name} {getattr(s, name)!r} is of a head on features: set mode=features, or leave it out"
