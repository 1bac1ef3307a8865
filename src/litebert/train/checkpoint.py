"""How is a run kept so that nothing is lost? Folders that appear whole, with a digest of every file in them.

A checkpoint is written to a hidden folder, synced, sealed by a manifest, and only then given its name. Reading starts
from the newest; one that is not as it was written is named and passed over. Tensors lie in safetensors, all else in
JSON: no pickle.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from safetensors.torch import load_file
from torch import Tensor

from litebert import files
from litebert.files import FolderError
from litebert.interop.tensors import write_file

MANIFEST = "manifest.json"
STATE = "state.json"
FORMAT = "litebert-checkpoint-2"
_PREFIX, _HIDDEN = "step-", ".writing-"

Tensors = Mapping[str, Mapping[str, Tensor]]  # file -> name -> tensor


class Checkpoint(NamedTuple):
    """What was read back."""

    path: Path
    tensors: dict[str, dict[str, Tensor]]
    state: dict[str, Any]


def path_of(root: Path, step: int) -> Path:
    """Where the checkpoint of a step lies."""
    return root / f"{_PREFIX}{step:09d}"


def write(
    root: Path, step: int, tensors: Tensors, state: Mapping[str, Any], beside: Callable[[Path], None] | None = None
) -> Path:  # fmt: skip
    """A checkpoint, whole or not at all; one of the same step is replaced. beside: writes more into its folder."""
    path, stage, old = path_of(root, step), root / f"{_HIDDEN}{step:09d}", root / f"{_HIDDEN}old-{step:09d}"
    root.mkdir(parents=True, exist_ok=True)
    for left in (stage, old):
        shutil.rmtree(left, ignore_errors=True)
    stage.mkdir()
    try:
        for name, group in tensors.items():
            write_file(stage / f"{name}.safetensors", group)
        files.write_json(stage / STATE, state)
        if beside is not None:
            beside(stage)
        written = {file.name: _vouched(file) for file in sorted(stage.iterdir())}
        _write_synced(stage / MANIFEST, files.sealed({"format": FORMAT, "step": step, "files": written}))
        files.sync_folder(stage)
        if path.exists():  # a folder cannot be replaced in one move; what is there was passed over as damaged
            os.replace(path, old)
        os.replace(stage, path)
        files.sync_folder(root)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return path


def read(path: Path) -> Checkpoint:
    """A checkpoint, every byte of which is as it was written."""
    if not (path / MANIFEST).is_file():
        raise FolderError(f"{path} is not finished (no {MANIFEST})")
    values = files.read_sealed(path / MANIFEST)
    if values.get("format") != FORMAT:
        raise FolderError(f"{path} has format {values.get('format')!r}, not {FORMAT!r}")
    for name, entry in values["files"].items():
        file = path / name
        found = file.stat().st_size if file.is_file() else -1
        if found != entry["bytes"]:
            raise FolderError(f"{file} is missing" if found < 0 else f"{file} has {found} bytes, not {entry['bytes']}")
        if files.digest(file) != entry["sha256"]:
            raise FolderError(f"{file} is damaged, not as it was written")
    tensors = {name.removesuffix(".safetensors"): load_file(path / name)
               for name in values["files"] if name.endswith(".safetensors")}  # fmt: skip
    return Checkpoint(path, tensors, files.read_json(path / STATE))


def steps(root: Path) -> list[int]:
    """The steps that have a checkpoint, oldest first; whether they are valid is not asked."""
    found = (p.name.removeprefix(_PREFIX) for p in root.glob(f"{_PREFIX}*") if p.is_dir()) if root.is_dir() else ()
    return sorted(int(name) for name in found if name.isdigit())


def newest(root: Path, warn: Callable[[str], None]) -> Checkpoint | None:
    """The newest valid checkpoint; each damaged or unreadable one is told to `warn` and passed over."""
    for step in reversed(steps(root)):
        try:
            return read(path_of(root, step))
        except (FolderError, OSError) as error:
            warn(f"{error}: passed over, an older checkpoint is looked for")
    return None


def recover(root: Path) -> None:
    """Give a checkpoint its name back that was to be replaced by one of the same step when the process was killed."""
    for old in root.glob(f"{_HIDDEN}old-*"):
        path = path_of(root, int(old.name.rpartition("-")[2]))
        if not path.exists():
            os.replace(old, path)


def sweep(root: Path, keep: int, step: int, protected: int | None = None) -> None:
    """All but the last `keep` up to a step, and the protected one, are removed; so is what a crash left half-way.

    A later one was passed over as damaged: it neither counts as kept, nor is it removed before the run has come so far.
    """
    for old in [found for found in steps(root) if found <= step][: -keep or None]:
        if old != protected:
            remove(path_of(root, old))
    for left in root.glob(f"{_HIDDEN}*"):
        shutil.rmtree(left, ignore_errors=True)


class Writer:
    """Writes checkpoints beside the training: `put` copies and returns, the disk is waited for by the next `put`.

    An error of the disk reaches the trainer at the next `put` or `close`; exactness is kept, as what is written is a
    copy made between two steps.
    """

    def __init__(self, root: Path, keep: int) -> None:
        self.root, self.keep = root, keep
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def put(
        self, step: int, tensors: Tensors, state: Mapping[str, Any], protected: int | None = None,
        beside: Callable[[Path], None] | None = None,
    ) -> None:  # fmt: skip
        """Copy what is to be kept of this step, and write it in the background."""
        self.wait()
        copied = {group: dict(_copies(named)) for group, named in tensors.items()}

        def work() -> None:
            try:
                write(self.root, step, copied, state, beside)
                sweep(self.root, self.keep, step, protected)
            except BaseException as error:  # handed to the trainer's thread, which raises it
                self._error = error

        self._thread = threading.Thread(target=work, name="checkpoint", daemon=False)
        self._thread.start()

    def wait(self) -> None:
        """Until what was put is on the disk; raises what went wrong there."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._error is not None:
            error, self._error = self._error, None
            raise error


def _copies(named: Mapping[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    for name, tensor in named.items():
        yield name, tensor.detach().to("cpu", copy=True).contiguous()


def _vouched(file: Path) -> dict[str, Any]:
    return {"bytes": file.stat().st_size, "sha256": files.digest(file)}


def _write_synced(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def remove(path: Path) -> None:
    """Take a checkpoint away; renamed first, as a folder that is half gone must not look like one."""
    hidden = path.with_name(f"{_HIDDEN}gone-{path.name}")
    shutil.rmtree(hidden, ignore_errors=True)
    os.replace(path, hidden)
    shutil.rmtree(hidden, ignore_errors=True)
