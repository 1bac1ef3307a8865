"""How do bytes become text, and where may a long text be cut? UTF-8 only; what is not, is refused or replaced."""

from __future__ import annotations

import re

from litebert.errors import UserError
from litebert.text.items import Problem, Reading

PART = 1 << 20  # bytes: a longer text is handed on in parts of at most this size, which a cache can hold
BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_REPLACEMENT = "\ufffd"
_LONE = re.compile(r"[\ud800-\udfff]")
_ENDS = (b"\n\n", b"\n", b". ", "。".encode(), b" ")  # where a part may end, the best first
_WAY_OUT = "convert the file, or have it replaced (--invalid replace)"


def decoded(
    data: bytes | memoryview, source: str, place: int, reading: Reading, *, lines: bool = True, before: int = 0
) -> tuple[str, list[Problem]]:
    """The text of bytes, and what had to be changed in it.

    They begin on line `place`, `before` bytes into it; or, without `lines`, all of them are in row `place`.
    """
    problems: list[Problem] = []
    try:
        text = str(data, "utf-8")
    except UnicodeDecodeError as error:
        data = bytes(data)
        start = data.rfind(b"\n", 0, error.start) + 1 if lines else 0
        line, column = place + data.count(b"\n", 0, start), error.start - start + 1 + (0 if start else before)
        what = f"byte {column:,} (0x{data[error.start]:02x}) is not UTF-8"
        if reading.invalid == "refuse":
            raise UserError(f"{source}:{line}: {what}: {_WAY_OUT}") from None
        text = data.decode("utf-8", "replace")
        count = text.count(_REPLACEMENT) - data.count(_REPLACEMENT.encode())
        problems.append(Problem("invalid UTF-8", source, line, what, count))
    if "\0" in text:
        first = place + (text.count("\n", 0, text.index("\0")) if lines else 0)
        text, found = without_nul(text, source, first)
        problems += found
    return (text.replace("\r\n", "\n") if "\r" in text else text), problems


def without_nul(text: str, source: str, place: int) -> tuple[str, list[Problem]]:
    """The text with a space for every NUL."""
    if "\0" not in text:
        return text, []
    return text.replace("\0", " "), [Problem("NUL bytes", source, place, "a space stands for each", text.count("\0"))]


def without_halves(text: str, source: str, place: int, reading: Reading) -> tuple[str, list[Problem]]:
    """The text without halves of characters, which JSON can spell (\\ud83d) and UTF-8 cannot hold."""
    lone = _LONE.search(text)
    if not lone:
        return text, []
    what = f"\\u{ord(lone[0]):04x} is half a character, which is not UTF-8"
    if reading.invalid == "refuse":
        raise UserError(f"{source}:{place}: {what}: {_WAY_OUT}")
    text, count = _LONE.subn(_REPLACEMENT, text)
    return text, [Problem("invalid UTF-8", source, place, what, count)]


def unmarked(data: bytes, source: str) -> bytes:
    """The first bytes of a file without the mark of UTF-8."""
    if data.startswith(_UTF16):
        raise UserError(f"{source} is UTF-16, not UTF-8: convert it, for example with iconv -f UTF-16 -t UTF-8")
    return data.removeprefix(BOM)


def cut(data: bytes | bytearray | memoryview, size: int) -> int:
    """Where the first part of a longer text ends, at most `size` bytes on: at a line, sentence or word, or anywhere."""
    head = bytes(data[:size])
    for end in _ENDS:
        place = head.rfind(end, size // 2)
        if place >= 0:
            return place + len(end)
    return whole_characters(head)


def whole_characters(data: bytes) -> int:
    """How many bytes of the beginning of a text surely end with a character: the last one may go on."""
    place = len(data) - 1
    while place > max(0, len(data) - 4) and data[place] & 0xC0 == 0x80:
        place -= 1
    return max(place, 0)
