"""How do the lines of a file come out, packed or not? As text without their ends, and what is not UTF-8 is noted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from litebert.errors import UserError
from litebert.tasks.readers.faults import RowError
from litebert.text import decode
from litebert.text.sources import Packing, Source
from litebert.text.unpack import BLOCK, opened

_PACKINGS: dict[str, Packing] = {".gz": "gzip", ".zst": "zstd"}


def suffix(path: Path) -> str:
    """What a file is by its name, whether it is packed or not: `.tsv` of train.tsv.gz."""
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() if last in _PACKINGS else last


class Lines:
    """The lines of a file in order. While they are read, `damaged` says which of them were not UTF-8."""

    def __init__(self, path: Path) -> None:
        self.name, self.path = str(path), path
        self.damaged: dict[int, RowError] = {}

    def __iter__(self) -> Iterator[str]:
        number = 0
        for data in _pieces(self.path):
            try:
                found = str(data, "utf-8").split("\n")
            except UnicodeDecodeError:
                found = [self._mended(line, number + i) for i, line in enumerate(data.split(b"\n"), 1)]
            if not found[-1]:
                found.pop()  # the last line has an end, or there is none
            number += len(found)
            yield from [line.removesuffix("\r") for line in found] if b"\r" in data else found

    def _mended(self, line: bytes, number: int) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            place = f"byte {error.start + 1:,} (0x{line[error.start]:02x})"
            self.damaged[number] = RowError(f"{place} is not UTF-8 (is it in another encoding?)")
            return line.decode("utf-8", "replace")


def whole(path: Path) -> str:
    """All text of a file."""
    data = b"".join(_pieces(path))
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}:{line}: byte 0x{data[error.start]:02x} is not UTF-8: convert the file") from None


def source(path: Path) -> Source:
    """A file as the readers of packed text want it."""
    size = path.stat().st_size if path.is_file() else 0
    return Source(os.fspath(path), path, "text", _PACKINGS.get(path.suffix.lower(), "none"), size)


def _pieces(path: Path) -> Iterator[bytes]:
    """All bytes but the mark of UTF-8, cut at ends of lines."""
    rest: Any = b""
    begun = False
    with opened(source(path)) as stream:
        while block := stream.read(max(BLOCK, len(rest))):  # so that no byte of a long line is copied often
            data = rest + block
            if not begun:
                data, begun = decode.unmarked(data, os.fspath(path)), True
                if b"\0" in data[:4]:
                    raise UserError(f"{path} begins with a NUL byte (is it UTF-16?): convert it to UTF-8")
            cut = data.rfind(b"\n") + 1
            rest = data[cut:]
            if cut:
                yield data[:cut]
        if rest:
            yield rest
