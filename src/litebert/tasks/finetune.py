"""How does an encoder learn a task? `finetune("sst-2", model="run", data="glue", seeds=3)`: files in, a folder out.

What `litebert finetune` does, as one call. The folder holds the model of the best seed, which transformers loads where
it has such a class and `litebert predict` always, with its scores, answers and settings beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from litebert.errors import UserError
from litebert.files import FolderError
from litebert.tasks import prepared as preparing
from litebert.tasks import seeds as attempts
from litebert.tasks import sources
from litebert.tasks.fit import Tell
from litebert.tasks.learner import Start
from litebert.tasks.prepared import Prepared, Shaped
from litebert.tasks.seeds import Outcome
from litebert.tasks.sources import HELD_OUT, Reading
from litebert.tasks.trained import TASK
from litebert.train import distributed


def finetune(
    task: str, model: str | Path, data: str | Path, out: str | Path = "", *, dev: str | Path = "", seeds: int = 1,
    random: bool = False, tokenizer: str | Path = "", columns: Mapping[str, str] | None = None,
    reading: Reading = Reading(), held_out: float = HELD_OUT, examples: int = 0, device: str = "auto",
    restart: bool = False, tell: Tell = lambda event: None, asked_to_stop: Callable[[], bool] = lambda: False,
    **changes: Any,
) -> Outcome:  # fmt: skip
    """Fit a model to a task, with so many seeds; called again, it goes on where it was cut off.

    task: a benchmark's name, or classify, regress, tag, span, choice for files of one's own. data: a file, or a folder
    with the benchmark's files. out: by default MODEL-TASK in this folder. dev: what judges; without it the benchmark's
    development files, or a share `held_out` of the data. random: the model's shape alone. columns: which column is for
    what, `{"text": "review"}`. examples: learn from so many at most. changes: settings, `rate=1e-4, epochs=2`.
    """
    shaped = begin(model, random=random, tokenizer=tokenizer)
    settings = preparing.tuning(task, shaped, changes)
    read = reading._replace(columns={**reading.columns, **(columns or {})})
    found = sources.source(
        task, Path(data), Path(dev) if dev else None, held_out=held_out, reading=read, most=examples,
        seed=settings.seed,
    )  # fmt: skip
    made = preparing.prepare(shaped, found, settings, read.columns, distributed.join({}, device).device)
    path = Path(out) if out else usual(task, model)
    return attempts.train(made, path, seeds, tell=tell, restart=restart, asked_to_stop=asked_to_stop)


def begin(model: str | Path, *, random: bool = False, tokenizer: str | Path = "", finetuned: bool = False) -> Shaped:
    """What is begun from; finetuned: it must be another fine-tuning."""
    if finetuned and not (Path(model) / TASK).is_file():
        raise FolderError(f"{model} is not the folder of a fine-tuning (it has no {TASK}): name any other model with "
                          "--model")  # fmt: skip
    if finetuned and random:
        raise UserError("--from begins with trained weights and --random with none: leave one of them out")
    return preparing.shaped(Start(str(model), random, str(tokenizer)))


def usual(task: str, model: str | Path) -> Path:
    """Where a fine-tuning lies if nobody says."""
    return Path(f"{Path(model).resolve().name}-{task.lower()}")


__all__ = ["Outcome", "Prepared", "begin", "finetune", "usual"]
