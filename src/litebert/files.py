"""How does a file appear whole or not at all, and how is it known again? Atomic writes, digests and JSON."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from litebert.errors import UserError


class FolderError(UserError):
    """A folder that cannot be used as it is; the message is one line: what, why, and the way out."""


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A name beside `path` to write to; what was written is on the disk before it takes the path's place."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Names that were just given in a folder are on the disk too, where the system can promise that."""
    if os.name != "posix":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def digest(path: Path) -> str:
    """SHA-256 of a file, or '' where there is none."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # a number of thousands of digits or brackets without end are not
        raise FolderError(f"{path} is not valid JSON ({error}): copy it again") from None
    if not isinstance(value, dict):
        what = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}.get(type(value), "a number")
        raise FolderError(f"{path} holds {what}, not an object: this is not the file it is named for")
    return value


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """A JSON object to a file, which appears whole or not at all."""
    with whole(path) as temporary:
        temporary.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def sealed(values: Mapping[str, Any]) -> bytes:
    """A JSON object with the digest of its own values: no bit of it can turn unnoticed (`read_sealed`)."""
    body = json.dumps(values, indent=1, ensure_ascii=False)
    seal = hashlib.sha256(body.encode()).hexdigest()
    return (json.dumps({**values, "sha256": seal}, indent=1, ensure_ascii=False) + "\n").encode()


def read_sealed(path: Path) -> dict[str, Any]:
    """A sealed object, every byte of which is as it was written."""
    damaged = FolderError(f"{path} is damaged, not as it was written: copy it again")
    try:
        values = read_json(path)
    except FolderError:
        raise damaged from None
    values.pop("sha256", None)
    if sealed(values) != path.read_bytes():
        raise damaged
    return values
