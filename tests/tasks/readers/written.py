"""What does a reader make of a file with this content? Its examples, or the one line with which it is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from litebert.errors import UserError
from litebert.tasks.examples import Read, Reader, collect
from litebert.tasks.readers import own
from litebert.tasks.readers.columns import Kind


def write(path: Path, content: str | bytes | list[Any] | dict[str, Any]) -> Path:
    """The file, with its folders; what is no text is JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(content, str | bytes):
        content = json.dumps(content, ensure_ascii=False)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def table(folder: Path, name: str, content: str | bytes, kind: Kind = "classify", **how: Any) -> Read:
    """The examples of a file of one's own."""
    return own.read(write(folder / name, content), kind, **how)


def by(reader: Reader, path: Path, **how: Any) -> Read:
    """The examples that a reader finds."""
    return collect(reader(path, **how))


def refused(call: Any, *args: Any, **how: Any) -> str:
    """The one line that is said instead."""
    with pytest.raises(UserError) as caught:
        call(*args, **how)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    return message


def whys(read: Read) -> list[str]:
    """Row and reason of all that was left out."""
    return [f"{one.place.row}: {one.why}" for one in read.left]
