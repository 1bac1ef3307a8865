"""How does a text file become documents, without standing in memory whole?

A document that is longer than a part is cut in places that depend on its own bytes alone, not on the blocks in which
they are read: so reading from any mark gives the same parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from litebert.text import decode
from litebert.text.items import Document, Mark, Problem, Reading, Unit
from litebert.text.sources import Source
from litebert.text.unpack import BLOCK, Stream, opened

# The line between documents holds nothing but blanks, ideographic and unbreakable ones too, and not too many of them:
# so the bytes that decide whether a document goes on are few.
_BLANKS = 1000
_GAP = re.compile(rb"\n(?:[ \t\r\v\f]|\xc2\xa0|\xe3\x80\x80){0,%d}\n" % _BLANKS)
_AHEAD = 4 * _BLANKS
_PRINTED = ord("!")  # what comes before it in ASCII is blank


def documents(source: Source, reading: Reading, start: Mark) -> Iterator[Unit]:
    """The documents of a text file: between blank lines, or all of the file."""
    name = source.name
    file, record, byte, part, _ = start
    empty = byte == 0
    with opened(source, byte) as stream:
        for data, ends in _pieces(stream, reading.documents == "blank"):
            body = (data if byte else decode.unmarked(data, name)).strip()
            place = record + 1 + (data.count(b"\n", 0, data.find(body)) if data[0] < _PRINTED or not byte else 0)
            raw, problems = decode.decoded(body, name, place, reading)
            if len(text := raw.strip()) < len(raw):  # blanks that are not ASCII
                place += raw.count("\n", 0, raw.find(text))
            byte += len(data)
            record += data.count(b"\n")
            items: list[Document | Problem] = [*problems]
            if text:
                items.append(Document(text, name, place, part))
            part = 0 if ends else part + bool(text)
            if items:
                empty = False
                yield items, Mark(file, record, byte, part)
    if empty:
        yield [empty_file(source)], Mark(file + 1)


def empty_file(source: Source) -> Problem:
    """A file without a document."""
    return Problem("empty file", source.name, 0, "it has no text" if source.size else "0 bytes")


def _pieces(stream: Stream, blank: bool) -> Iterator[tuple[bytes, bool]]:
    """All bytes in order, cut where documents end and within long ones, and whether a document ends there."""
    rest, searched = b"", 0
    while True:
        block = stream.read(max(BLOCK, len(rest)))  # so that no byte is copied often
        buffer = rest + block
        begin = 0
        for gap in _GAP.finditer(buffer, searched) if blank else ():
            while gap.start() - begin > decode.PART:
                yield buffer[begin : begin + (size := decode.cut(memoryview(buffer)[begin:], decode.PART))], False
                begin += size
            yield buffer[begin : gap.end()], True
            begin = gap.end()
        while len(buffer) - begin > decode.PART + (_AHEAD if block else 0):
            yield buffer[begin : begin + (size := decode.cut(memoryview(buffer)[begin:], decode.PART))], False
            begin += size
        if not block:
            break
        searched = max(buffer.rfind(b"\n"), begin) - begin  # where a gap may have begun
        rest = buffer[begin:]
    if begin < len(buffer):
        yield buffer[begin:], True
