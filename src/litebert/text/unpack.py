"""How do the bytes of a file come out, packed or not? One stream, which knows how far it came when it breaks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Protocol

import pyarrow as pa

from litebert.errors import UserError
from litebert.text.sources import Source, unreadable

BLOCK = 1 << 20


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Stream:
    """Bytes of the unpacked text, from `at` on."""

    def __init__(self, source: Source, file: _Readable) -> None:
        self.source, self.at, self._file = source, 0, file

    def read(self, size: int = BLOCK) -> bytes:
        """The next bytes, b'' at the end. A file that is cut off or damaged is an error, never an end."""
        try:
            data = self._file.read(size)
        except (OSError, pa.ArrowException) as error:
            name, packing = self.source.name, self.source.packing
            if packing == "none":
                raise unreadable(f"{name} (from byte {self.at:,} on)", error) from None
            raise UserError(
                f"{name} is cut off or damaged: its {packing} stream breaks after {self.at:,} bytes of text "
                f"({flat(error)}): copy it again, or unpack what can be saved"
            ) from None
        self.at += len(data)
        return data

    def skip(self, bytes_: int) -> None:
        """Go on to a place further on by reading up to it."""
        while self.at < bytes_ and self.read(min(BLOCK, bytes_ - self.at)):
            continue


def flat(error: Exception) -> str:
    """What a library says in several lines, in one."""
    return " ".join(str(error).split())


@contextlib.contextmanager
def opened(source: Source, at: int = 0) -> Iterator[Stream]:
    """The unpacked text of a source from byte `at` on; in a file that is not packed, getting there costs nothing."""
    with contextlib.ExitStack() as stack:
        try:
            raw = stack.enter_context(source.path.open("rb", buffering=0))
        except OSError as error:
            raise unreadable(source.name, error) from None
        if source.packing == "none":
            raw.seek(at)
            stream = Stream(source, raw)
            stream.at = at
        else:
            stream = Stream(source, stack.enter_context(_unpacked(raw, source)))
            stream.skip(at)
        yield stream


def _unpacked(raw: object, source: Source) -> pa.CompressedInputStream:
    if not pa.Codec.is_available(source.packing):
        raise UserError(
            f"{source.name} is packed by {source.packing}, which this build of pyarrow cannot unpack: "
            "install pyarrow from PyPI, or unpack the file"
        )
    # several members or frames one after another are one text, as gzip and zstd themselves have it
    return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), source.packing)
