"""How do lines of JSON become documents? One field of one object a line; what has none is refused or counted."""

from __future__ import annotations

import json
from collections.abc import Iterator

from litebert.errors import UserError
from litebert.text import decode
from litebert.text.items import Document, Mark, Problem, Reading, Unit
from litebert.text.long_json import RecordError, kind_of, missing, not_object, not_text, twice
from litebert.text.long_line import LongLine
from litebert.text.plain import empty_file
from litebert.text.sources import Source
from litebert.text.unpack import BLOCK, Stream, opened

_DECODER = json.JSONDecoder(strict=False)  # a raw tab in a string does no harm
_PAIRS = json.JSONDecoder(strict=False, object_pairs_hook=list)


def documents(source: Source, reading: Reading, start: Mark) -> Iterator[Unit]:
    """The documents of a file of JSON lines."""
    name = source.name
    file, record, byte, done, _ = start
    empty = byte == 0
    with opened(source, byte) as stream:
        for line in _lines(stream):
            if isinstance(line, bytes) and len(line) <= decode.PART:
                size = len(line)
                items = _read(line if byte else decode.unmarked(line, name), name, record + 1, reading)
            else:
                long = line if isinstance(line, LongLine) else LongLine(line)
                number = 0
                for number, part in enumerate(long.documents(name, record + 1, reading, marked=not byte), 1):
                    if number > done:
                        yield [part], Mark(file, record, byte, number)
                size, done, items = long.size, 0, [*long.problems, *_fault(long, number, name, record + 1, reading)]
                empty = empty and not number
            record += 1
            byte += size + 1
            if items:
                empty = False
                yield items, Mark(file, record, byte)
    if empty:
        yield [empty_file(source)], Mark(file + 1)


def _lines(stream: Stream) -> Iterator[bytes | LongLine]:
    rest, more = b"", True
    while more:
        block = stream.read(max(BLOCK, len(rest)))
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
        more = bool(block)
        if more and len(rest) > decode.PART:
            long = LongLine(rest, stream)
            yield long
            rest = long.rest
    if rest:
        yield rest


def _read(line: bytes, name: str, place: int, reading: Reading) -> list[Document | Problem]:
    """The document of a line, after what was wrong with it."""
    raw, problems = decode.decoded(line, name, place, reading)
    items: list[Document | Problem] = [*problems]
    if not raw or raw.isspace():
        return items
    try:
        text = _field(raw, reading.field)
    except RecordError as fault:
        return [*items, _left_out(str(fault), name, place, reading)]
    if "\\u" in raw:
        text, halves = decode.without_halves(text, name, place, reading)
        text, nuls = decode.without_nul(text, name, place)
        items += [*halves, *nuls]
    if not text or text.isspace():
        return [*items, empty_document(name, place)]
    return [*items, Document(text.replace("\r\n", "\n") if "\r" in text else text, name, place)]


def empty_document(name: str, place: int) -> Problem:
    """A record whose text is empty or blank."""
    return Problem("empty document", name, place, "it has no text")


def _field(raw: str, field: str) -> str:
    try:
        value = _DECODER.decode(raw)
    except json.JSONDecodeError as error:
        raise RecordError(f"is not JSON ({error.msg}, column {error.colno:,})") from None
    except (ValueError, RecursionError):  # a number of thousands of digits, brackets without end
        raise RecordError("is not JSON that can be read (a number too long, or nested too deeply)") from None
    if not isinstance(value, dict):
        raise not_object(kind_of(value))
    if field not in value:
        raise missing(field, value)
    text = value[field]
    if not isinstance(text, str):
        raise not_text(kind_of(text), field)
    if raw.count(f'"{field}"') > 1 and sum(name == field for name, _ in _PAIRS.decode(raw)) > 1:
        raise twice(field)
    return text


def _fault(long: LongLine, parts: int, name: str, place: int, reading: Reading) -> list[Problem]:
    if long.fault:
        return [_left_out(long.fault, name, place, reading)]
    return [] if parts else [empty_document(name, place)]


def _left_out(fault: str, name: str, place: int, reading: Reading) -> Problem:
    if reading.bad == "refuse":
        raise UserError(f"{name}:{place}: the line {fault}: mend it, or have such lines left out (--bad skip)")
    return Problem("bad record", name, place, fault)
