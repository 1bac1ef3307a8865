"""What is a corpus known by, so that a change is noticed, and how much of it has been read? Sizes, ends and times.

Nothing here is a path of this machine: the same files in another folder are the same corpus.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from litebert.errors import UserError
from litebert.text.items import Mark
from litebert.text.sources import PYDOCS, Source

_END = 1 << 16  # bytes at the beginning and the end of a file that are looked at
_TIME = "modified"
_PACKED = 3.5  # text is so much longer than its packed form, until we know better


def known(sources: Sequence[Source]) -> list[dict[str, Any]]:
    """A line a source: its name below the folder that all share, its length, a digest of its ends, its time."""
    paths = [os.path.abspath(source.path) for source in sources if source.form != PYDOCS]
    above = os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""
    return [_line(source, above) for source in sources]


def timeless(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines without what differs between two copies of a file."""
    return [{name: value for name, value in line.items() if name != _TIME} for line in lines]


def refuse_changed(sources: Sequence[Source], lines: Sequence[dict[str, Any]]) -> None:
    """A file that was written to while it was read is an error."""
    for source, line in zip(sources, lines, strict=True):
        if not line[_TIME]:  # no file that is read
            continue
        now = os.stat(source.path) if source.path.exists() else None
        if now is None or (now.st_size, now.st_mtime_ns) != (line["bytes"], line[_TIME]):
            what = "changed while it was read" if now else "vanished while it was read"
            raise UserError(f"{source.name} {what}: begin anew with --overwrite when the corpus is at rest")


def _line(source: Source, above: str) -> dict[str, Any]:
    if source.form == PYDOCS:
        return {"name": PYDOCS, "bytes": 0, "ends": platform.python_version(), _TIME: 0}
    name = os.path.relpath(os.path.abspath(source.path), above).replace(os.sep, "/")
    if source.form == "unknown":  # is left out, and may be anything, even a pipe
        return {"name": name, "bytes": source.size, "ends": "", _TIME: 0}
    try:
        with open(source.path, "rb") as file:
            state = os.fstat(file.fileno())
            ends = hashlib.sha256(file.read(_END))
            file.seek(max(file.tell(), state.st_size - _END))
            ends.update(file.read(_END))
    except OSError:  # reading it will say what is wrong with it
        return {"name": name, "bytes": source.size, "ends": "", _TIME: 0}
    return {"name": name, "bytes": state.st_size, "ends": ends.hexdigest(), _TIME: state.st_mtime_ns}


class Share:
    """How much of the corpus has been read, of 1; an estimate within a packed file."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self._before_each = list(accumulate((source.size for source in sources), initial=0))
        self._at, self._text = 0, 0  # the source that is being read, and the bytes of text before it

    def __call__(self, mark: Mark, text: int) -> float:
        """The share at a place, after so many bytes of text."""
        total = self._before_each[-1]
        if not total or mark.source >= len(self._sources):
            return float(bool(total))
        source, done = self._sources[mark.source], self._before_each[mark.source]
        if mark.source != self._at:
            self._at, self._text = mark.source, text
        if source.form != "table" and source.packing == "none":
            return (done + min(mark.byte, source.size)) / total
        ratio = self._text / done if done and self._text else _PACKED
        return (done + min((text - self._text) / ratio, source.size)) / total
