"""What does a fine-tuning's folder hold already, and is it the same one? Another is refused, with what differs.

Where files lie may change, and how many seeds are wanted: what is learnt is known by the digests of weights, tokenizer
and examples.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from litebert.errors import UserError
from litebert.files import FolderError
from litebert.interop import folder as folders
from litebert.tasks import hidden, trained
from litebert.tasks.fit import PREDICTIONS, SCORES
from litebert.tasks.prepared import Prepared
from litebert.tasks.trained import TASK, TUNING
from litebert.train.claim import writable

_FREE = ("model", "tokenizer")  # of [data]: where something lies, which its digest knows better
_TOLD = {"weights": "weights to begin from", "pieces": "a tokenizer", "texts": "examples"}
_CHANGE = "go on with what it was begun with, name another folder with --out, or begin anew with --restart"


def allowed(prepared: Prepared, folder: Path, restart: bool = False) -> None:
    """Raise unless this fine-tuning may lie in the folder."""
    writable(folder)
    unmixed(folder)
    if not restart:
        for difference in differences(prepared, folder):
            raise UserError(f"{folder} holds another fine-tuning, {difference}: {_CHANGE}")


def unmixed(folder: Path) -> None:
    """Raise where a fine-tuning would lie among files that are not its own."""
    found = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    others = [name for name in found if not name.startswith(".")]
    if others and TASK not in others and TUNING not in others:
        raise UserError(f"{folder} holds other files ({others[0]}) and no fine-tuning: name another folder with --out")


def differences(prepared: Prepared, folder: Path) -> Iterator[str]:
    """In words, what of this fine-tuning is not as the folder has it."""
    path = folder / TUNING
    if not path.is_file():
        return
    try:
        before = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise FolderError(f"{path} is not valid TOML ({error}): mend that line, or begin anew with --restart") from None
    now: Mapping[str, Any] = tomllib.loads(trained.as_toml(prepared.tuning, prepared.data()))
    for table in ("data", "tuning"):
        one, other = before.get(table, {}), now[table]
        for name in sorted({*one, *other} - set(_FREE if table == "data" else ()), key=_first):
            if one.get(name) != other.get(name):
                if name in _TOLD:
                    yield f"with other {_TOLD[name].removeprefix('a ')}"
                else:
                    yield f"with {name} {_shown(one.get(name))}, not {_shown(other.get(name))}"


def begun(prepared: Prepared, folder: Path) -> None:
    """What is known before the first step is written, once."""
    if not (folder / TUNING).is_file():  # written last
        trained.describe(
            folder, prepared.ready.task, prepared.shaped.config, prepared.tuning, prepared.source.name,
            prepared.columns, prepared.data(),
        )  # fmt: skip


def cleared(folder: Path) -> None:
    """What a fine-tuning left is taken away."""
    for seed in folder.glob("seed-*"):
        shutil.rmtree(seed, ignore_errors=True)
    hidden.forget(folder)
    for name in (folders.OURS, SCORES, PREDICTIONS, TASK, TUNING):
        (folder / name).unlink(missing_ok=True)


def _first(name: str) -> tuple[bool, str]:
    """Digests last: a name that differs says more."""
    return name in _TOLD, name


def _shown(value: Any) -> str:
    return "left to the model" if value is None else repr(value)
