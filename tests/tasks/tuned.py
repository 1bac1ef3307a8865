"""What do these tests fine-tune? The small model, on sentences with and without a boat; and it may be killed."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litebert import files
from litebert.tasks.finetune import finetune
from litebert.tasks.seeds import Outcome
from litebert.train import record
from tasks.toy import saved_model, texts

SETTINGS: dict[str, Any] = {"batch": 8, "length": 32, "rate": 5e-3, "epochs": 2.0, "precision": "float32"}
CLOCKS = ("seconds",)


def place(folder: Path, train: int = 45, dev: int = 20) -> Path:
    """A folder with a model in `model`, and train.csv and dev.csv in `data`."""
    saved_model(folder / "model")
    (folder / "data").mkdir()
    for name, count, seed in (("train", train, 0), ("dev", dev, 1)):
        table(folder / "data" / f"{name}.csv", count, seed)
    return folder


def table(path: Path, count: int, seed: int = 0) -> Path:
    """Rows of text and label."""
    rows = [f"{one.text},{one.label}" for one in texts(count, seed)]
    path.write_text("\n".join(["text,label", *rows]) + "\n")
    return path


def tuned(where: Path, out: Path, seeds: int = 1, **more: Any) -> Outcome:
    """The call."""
    return finetune("classify", where / "model", where / "data", out, seeds=seeds, device="cpu", **{**SETTINGS, **more})


def everything(out: Path) -> dict[str, Any]:
    """All that a fine-tuning left, clocks and how often it was begun aside."""
    found: dict[str, Any] = {}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if path.name == record.NAME:
            events = [record.timeless(event) for event in record.read(path.parent)]
            found[name] = [event for event in events if event["event"] not in ("start", "resume")]
        elif path.name == "scores.json":
            values = files.read_json(path)
            found[name] = {**values, "seconds": 0, "seeds": [{**one, "seconds": 0} for one in values.get("seeds", ())]}
        elif path.is_file():
            found[name] = files.digest(path)
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def killed_at(where: Path, out: Path, seeds: int, seed: int, event: str, step: int) -> None:
    """The same call in a process of its own, which is killed as soon as an event has happened."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tasks.tuned"])
    process = context.Process(target=_doomed, args=(where, out, seeds, seed, event, step))
    process.start()
    process.join(120)
    assert process.exitcode == -signal.SIGKILL, process.exitcode


def _doomed(where: Path, out: Path, seeds: int, seed: int, event: str, step: int) -> None:
    def tell(said: Mapping[str, Any]) -> None:
        if (said["seed"], said["event"], said["step"]) == (seed, event, step):
            os.kill(os.getpid(), signal.SIGKILL)

    tuned(where, out, seeds, tell=tell)
