"""How do records of JSON become rows? One a line, or all in a list, or one behind the other over many lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from litebert.errors import UserError
from litebert.tasks.readers.faults import RowError
from litebert.tasks.readers.lines import Lines, suffix, whole
from litebert.tasks.readers.tables import Rows, Table
from litebert.text.long_json import kind_of

_EARLY = 100  # records whose fields are the columns
_BLANK = " \t\r\n"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, none of whose names stands there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise RowError(f"an object has the field {max(names, key=names.count)!r} twice")
    return found


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_once)  # a raw tab in a string does no harm


def opened(path: Path) -> Table:
    """A table of records, whose columns are the fields of the first hundred."""
    records = objects(path)
    early = list(islice(records, _EARLY))
    if not early:
        raise UserError(f"{path} is empty: name a file with a record for each example")
    if all(isinstance(record, RowError) for _, record in early):
        raise UserError(f"{path}:{early[0][0]}: {early[0][1]}: name a file with an object for each example")
    names = dict.fromkeys(name for _, record in early if isinstance(record, dict) for name in record)
    begun = [chain(early, records)]  # to be read on, once

    def rows(columns: Sequence[str | None]) -> Rows:
        for number, record in begun.pop() if begun else objects(path):
            yield number, record if isinstance(record, RowError) else [_field(record, column) for column in columns]

    return Table(str(path), tuple(names), rows)


def objects(path: Path) -> Iterator[tuple[int, dict[str, Any] | RowError]]:
    """Every object of a file with its number: of the line where there is one for each, else of the record."""
    for number, value in values(path):
        if isinstance(value, RowError | dict):
            yield number, value
        else:
            yield number, RowError(f"the record is {kind_of(value)}, not an object")


def values(path: Path) -> Iterator[tuple[int, Any]]:
    """Every value of a file: streamed where it stands in lines, else from the whole text."""
    lines = Lines(path)
    if suffix(path) in (".jsonl", ".ndjson") or _in_lines(lines):
        return _from_lines(lines)
    text = whole(path)
    return enumerate(_from_text(text, str(path)), 1)


def document(path: Path) -> Any:
    """The one value of a file."""
    text = whole(path)
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise _broken(str(path), error) from None


def _in_lines(lines: Lines) -> bool:
    """Whether the first line that is not blank is a record by itself."""
    first = next((line for line in lines if line.strip()), "")
    lines.damaged.clear()
    try:
        return isinstance(_DECODER.decode(first), dict)
    except (ValueError, RecursionError):
        return False


def _from_lines(lines: Lines) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines, 1):
        if number in lines.damaged:
            yield number, lines.damaged.pop(number)
        elif line and not line.isspace():
            try:
                yield number, _DECODER.decode(line)
            except RowError as fault:
                yield number, fault
            except json.JSONDecodeError as error:
                yield number, RowError(f"the line is not JSON ({error.msg}, column {error.colno:,})")
            except (ValueError, RecursionError) as error:  # a number of thousands of digits, brackets without end
                yield number, RowError(f"the line is not JSON that can be read ({error})")


def _from_text(text: str, name: str) -> Iterator[Any]:
    at = _skipped(text, 0)
    try:
        if text[at : at + 1] == "[":
            yield from _DECODER.decode(text)
            return
        while at < len(text):
            value, at = _DECODER.raw_decode(text, at)
            yield value
            at = _skipped(text, at)
    except (ValueError, RecursionError) as error:
        raise _broken(name, error) from None


def _skipped(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _broken(name: str, error: Exception) -> UserError:
    if isinstance(error, json.JSONDecodeError):
        return UserError(f"{name}:{error.lineno}: not JSON ({error.msg}, column {error.colno:,}): copy the file again")
    if isinstance(error, RowError):
        return UserError(f"{name}: {error}: say each once")
    return UserError(f"{name} is not JSON that can be read ({error}): copy it again")


def _field(record: dict[str, Any], column: str | None) -> Any:
    return None if column is None else record.get(column)
