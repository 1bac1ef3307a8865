"""How does a finished fine-tuning lie in a folder, and come back? The model, its tokenizer, the task and the settings.

The folder is one of Hugging Face's where a class of transformers computes the same; `task.json` holds what the task was
settled with (labels in their order, how long texts are cut), `tuning.toml` the settings and where they were applied.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from litebert import __version__, files
from litebert.config import Config
from litebert.files import FolderError
from litebert.interop import folder as folders
from litebert.model.model import Model
from litebert.tasks import featured_folder
from litebert.tasks.featured import Featured
from litebert.tasks.kinds import restored
from litebert.tasks.learner import as_model
from litebert.tasks.settings import Tuning
from litebert.tasks.task import Task
from litebert.text import tokenizer as tokenizers
from litebert.text.tokenizer import Tokenizer
from litebert.train.recipe import toml_of

TASK, TUNING = "task.json", "tuning.toml"
_PROBLEMS = {"single": "single_label_classification", "multiple": "multi_label_classification"}  # as transformers says


class Trained(NamedTuple):
    """A model that answers."""

    model: Model  # in eval mode, wearing the task's head
    tokenizer: Tokenizer
    task: Task
    tuning: Tuning
    benchmark: str = ""  # its name; '' = a task of one's own
    columns: Mapping[str, str] = {}  # of one's own files, where they were named


def save(trained: Trained, folder: str | Path, data: Mapping[str, Any] | None = None) -> None:
    """Everything that `load` needs; data: where the settings were applied, for whoever reads them."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    describe(path, trained.task, trained.model.config, trained.tuning, trained.benchmark, trained.columns, data)
    trained.tokenizer.save(path)
    model: nn.Module = trained.model
    if isinstance(model, Featured):
        featured_folder.save(model, path)
    else:
        folders.save(trained.model, path, extras=_problem(trained.task.saved()))


def describe(
    folder: Path, task: Task, config: Config, tuning: Tuning, benchmark: str = "",
    columns: Mapping[str, str] | None = None, data: Mapping[str, Any] | None = None,
) -> None:  # fmt: skip
    """task.json and tuning.toml: what is known before the first step."""
    files.write_json(folder / TASK, {
        "litebert": __version__, "kind": task.kind, "benchmark": benchmark, "labels": list(task.spec(config)[1].names),
        "measures": list(task.measures), "columns": dict(columns or {}), "task": task.saved(),
    })  # fmt: skip
    with files.whole(folder / TUNING) as temporary:
        temporary.write_text(as_toml(tuning, data or {}), encoding="utf-8")


def load(folder: str | Path, device: str | torch.device = "cpu") -> Trained:
    """A finished fine-tuning, ready to answer: `load("run").model`."""
    path = Path(folder)
    if not (path / TASK).is_file():
        if swept := sorted(path.glob(f"*=*/{TASK}")):
            raise FolderError(f"{path} is a sweep: name the fine-tuning of one of its points, as {swept[0].parent}")
        what = f"holds no {TASK}" if path.is_dir() else "is no folder"
        raise FolderError(f"{path} {what}: name the folder of a fine-tuning, as `litebert finetune` writes it")
    values, tuning = files.read_json(path / TASK), read_tuning(path / TUNING)
    try:
        task = restored(values["task"])
        task.measures = tuple(map(str, values["measures"]))  # a benchmark may have another one decide
        benchmark, columns = str(values["benchmark"]), {str(k): str(v) for k, v in values["columns"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise FolderError(f"{path / TASK} is not as litebert writes it ({error}): copy the folder again") from None
    if not (path / folders.OURS).is_file():
        raise FolderError(f"{path} holds no model yet: let the fine-tuning come to its end, by the same command")
    if featured_folder.is_one(path):
        model = as_model(featured_folder.load(path, device))
        return Trained(model, tokenizers.load(path), task, tuning, benchmark, columns)
    model = folders.load(path, device=str(device), dtype=torch.float32)
    name, head = task.spec(model.config)
    if name not in model.specs or model.specs[name].labels != head.labels:
        raise FolderError(f"the model of {path} does not wear the head that {TASK} speaks of: copy the folder again")
    return Trained(model, tokenizers.load(path), task, tuning, benchmark, columns)


def read_tuning(path: Path) -> Tuning:
    """The settings of a fine-tuning."""
    if not path.is_file():
        raise FolderError(f"{path} is missing: copy the folder of the fine-tuning again")
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise FolderError(f"{path} is not valid TOML ({error}): mend that line") from None
    if not isinstance(tables.get("tuning"), dict):
        raise FolderError(f"{path} has no table [tuning]: copy the folder of the fine-tuning again")
    return Tuning(**tables["tuning"])


def as_toml(tuning: Tuning, data: Mapping[str, Any]) -> str:
    """The settings, every value spelt out but those that are left to the model."""
    tables: dict[str, Mapping[str, Any]] = {"data": data, "tuning": tuning.model_dump(mode="json")}
    lines = []
    for table, values in tables.items():
        lines += [
            f"[{table}]",
            *(f"{name} = {toml_of(value)}" for name, value in values.items() if value is not None),
            "",
        ]
    return "\n".join(lines)


def _problem(saved: Mapping[str, Any]) -> dict[str, Any]:
    """What transformers calls the question, so that its own training asks the same."""
    if saved.get("kind") == "regress":
        return {"problem_type": "regression"}
    return {"problem_type": _PROBLEMS[saved["problem"]]} if saved.get("problem") in _PROBLEMS else {}
