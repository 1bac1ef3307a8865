"""Who writes into a run folder? One process at a time, and what a killed one left half-written is taken away."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from litebert.errors import UserError
from litebert.train import record

_OF_A_RUN = ("recipe.toml", "checkpoints", record.NAME)  # what a run writes first
_UNLOCKABLE = (errno.ENOLCK, errno.EOPNOTSUPP)  # a network disk without locks: there is nobody to ask


@contextlib.contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Within, the folder is there and no other run writes into it; the system ends the claim of a killed process."""
    writable(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        for left in _left(folder):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)
        yield


def writable(folder: Path) -> None:
    """An error unless the folder is one that we may write into, or can be made."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    why = "not a folder" if not place.is_dir() else "" if os.access(place, os.W_OK | os.X_OK) else "not yours to write"
    if why:
        raise UserError(f"{folder} cannot be a run folder, as {place} is {why}: name another one with --out")


def unmixed(folder: Path) -> None:
    """An error where a run would lie among files that are not its own: somebody's documents, shards, another model."""
    found = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    others = [name for name in found if not name.startswith(".")]
    if others and not set(others) & set(_OF_A_RUN):
        raise UserError(f"{folder} holds other files ({others[0]}) and no run: name another folder with --out")


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    if os.name != "posix":
        yield
        return
    import fcntl

    opened = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"another process trains in {folder}: wait for its end, stop it, or name another run folder"
            ) from None
        except OSError as error:
            if error.errno not in _UNLOCKABLE:
                raise
        yield
    finally:
        os.close(opened)


def _left(folder: Path) -> list[Path]:
    """Temporary names of ours (`.NAME.PROCESS`): of files in the folder, and of the whole folder beside it."""
    inside = [path for path in folder.iterdir() if re.fullmatch(r"\..+\.\d+", path.name) and path.is_file()]
    whole = folder.resolve()
    beside = whole.parent.glob(f".{glob.escape(whole.name)}.*")
    return inside + [path for path in beside if path.suffix[1:].isdigit() and path.is_dir()]
