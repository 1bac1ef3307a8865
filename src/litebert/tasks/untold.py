"""What does a model answer that says nothing of its task? A folder of transformers is asked what its class says.

Its labels are those of `id2label`; how long texts were when it learnt, nobody says: they are read as far as the model
reads, up to 512 tokens. Everything that is assumed is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from litebert.config import Head
from litebert.errors import UserError
from litebert.files import FolderError
from litebert.interop import folder as folders
from litebert.interop import hf
from litebert.tasks import entities
from litebert.tasks.choice import Choice
from litebert.tasks.classify import Classify
from litebert.tasks.cutting import Cut
from litebert.tasks.multilabel import Multilabel
from litebert.tasks.regress import Regress
from litebert.tasks.settings import Tuning
from litebert.tasks.span import Span
from litebert.tasks.tag import Tag
from litebert.tasks.task import Task
from litebert.tasks.trained import TASK, Trained
from litebert.text import tokenizer as tokenizers

LENGTH = 512  # tokens of a row at most
_HEADS = ("classify", "tag", "span", "span-answerable", "choice")
_SEVERAL, _SCORE = "multi_label_classification", "regression"


def is_foreign(folder: Path) -> bool:
    """Whether a folder holds a model, but not of which task it is."""
    return (folder / "config.json").is_file() and not (folder / TASK).is_file()


def load(folder: Path, device: torch.device) -> tuple[Trained, list[str]]:
    """The model with the task that its head is made for, and in words what was assumed."""
    if not (folder / "tokenizer.json").is_file():
        raise FolderError(f"{folder} has no tokenizer.json: make one of its vocab.txt or spiece.model by litebert "
                          "tokenizer import, and put it there")  # fmt: skip
    model = folders.load(folder, device=str(device), dtype=torch.float32)
    names = [name for name in _HEADS if name in model.specs]
    if len(names) != 1:
        worn = ", ".join(names or model.specs) or "none"
        raise FolderError(f"{folder} says no task ({TASK}), and its heads ({worn}) do not either: name the folder of a "
                          "fine-tuning, or of a model of transformers for one task")  # fmt: skip
    tokenizer = tokenizers.load(folder)
    limit = model.config.max_positions
    length = min(limit or LENGTH, LENGTH)
    task, said = _task(names[0], model.specs[names[0]], hf.fields(folder), length)
    remarks = [f"{folder} does not say its task: {said}", f"texts are read up to {length} tokens"]
    return Trained(model, tokenizer, task, Tuning(length=length)), remarks


def _task(name: str, head: Head, values: dict[str, Any], length: int) -> tuple[Task, str]:
    """The task of a head, and how it is told."""
    names, cut = head.names or tuple(f"LABEL_{i}" for i in range(head.labels)), Cut(length)
    unnamed = "" if head.names else ", whose names its config does not say"
    problem = values.get("problem_type")
    made: Any
    match name:
        case "classify" if problem == _SCORE or (head.labels == 1 and problem is None):
            if head.labels != 1:
                raise FolderError(f"problem_type {problem!r} with {head.labels} labels: litebert predicts one score")
            made, said = Regress(cut=cut), "it has one output, taken for a score"
        case "classify" if problem == _SEVERAL:
            made, said = Multilabel(names, cut), f"any of {head.labels} labels{unnamed}"
        case "classify":
            made, said = Classify(names, cut), f"one of {head.labels} classes{unnamed}"
        case "tag":
            _check_tags(names)
            made, said = Tag(names, length), f"a tag of {head.labels} for each word{unnamed}"
        case "choice":
            made, said = Choice(cut, length // 4), "one of the options of a question"
        case _:
            answerable = name == "span-answerable"
            made = Span(answerable, length, max(1, length // 3), min(64, length // 4))
            said = "the answer to a question within a context" + (", if there is one" if answerable else "")
    return made, said


def _check_tags(names: Sequence[str]) -> None:
    """Raise where no entities can be read off them."""
    for name in names:
        try:
            entities.parsed(name)
        except UserError as error:
            raise FolderError(f"its config names its tags {', '.join(names[:4])} …: {error} (id2label)") from None
