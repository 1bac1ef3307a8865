"""Which finished fine-tunings do these tests ask? A small model of each kind, its weights lively and untrained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from litebert.model.model import Model
from litebert.tasks import trained
from litebert.tasks.choice import Choice
from litebert.tasks.classify import Classify
from litebert.tasks.cutting import Cut
from litebert.tasks.multilabel import Multilabel
from litebert.tasks.regress import Regress
from litebert.tasks.settings import Tuning
from litebert.tasks.span import Span
from litebert.tasks.tag import Tag
from litebert.tasks.trained import Trained
from litebert.text.tokenizer import Tokenizer
from vectors.tiny import model_of, wordpiece_of

LENGTH = 24
TASKS: dict[str, Any] = {
    "classify": Classify(["calm", "cold", "old"], Cut(LENGTH)),
    "multilabel": Multilabel(["sea", "wind", "boat"], Cut(LENGTH)),
    "regress": Regress(2.5, 1.5, Cut(LENGTH)),
    "tag": Tag(["O", "B-boat", "I-boat", "B-sea", "I-sea"], LENGTH, 8),
    "span": Span(False, LENGTH, 6, 8),
    "span-answerable": Span(True, LENGTH, 6, 8),
    "choice": Choice(Cut(LENGTH), 10),
}  # fmt: skip


def finished(
    kind: str, tokenizer: Tokenizer | None = None, preset: str = "albert-base", benchmark: str = "", **more: Any
) -> Trained:
    """A model that answers for a kind."""
    words, task = tokenizer or wordpiece_of(), TASKS[kind]
    bare = model_of(words, preset, (), **more).config
    name, head = task.spec(bare)
    model = model_of(words, preset, {name: head}, **more)
    assert isinstance(model, Model)
    return Trained(model, words, task, Tuning(length=LENGTH), benchmark)


def folder(kind: str, path: Path, **more: Any) -> Path:
    """The same, saved."""
    trained.save(finished(kind, **more), path)
    return path
