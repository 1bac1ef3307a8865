"""How do lines become rows of fields? By a delimiter; every row that is longer or shorter than the first is named."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from litebert.errors import UserError
from litebert.tasks.readers.faults import RowError
from litebert.tasks.readers.lines import Lines
from litebert.tasks.readers.tables import NAMES, Rows, Table

LONGEST = 2**31 - 1  # characters of a field: Python's own bound of 131,072 is shorter than a long document
_RETURN = "a carriage return stands within the line: end lines with \\n or \\r\\n"
_Records = Iterator[tuple[int, Sequence[str] | RowError]]


def opened(path: Path, delimiter: str, quotes: bool, header: bool) -> Table:
    """A table of delimited text."""
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise UserError(f"delimiter {delimiter!r} is not one character that parts columns: choose , ; | or a tab")
    lines = Lines(path)
    records = _quoted(lines, delimiter) if quotes else _plain(lines, delimiter)
    first = next(records, None)
    if first is None:
        raise UserError(f"{path} is empty: name a file with a line for each example")
    number, fields = first
    if isinstance(fields, RowError):
        raise UserError(f"{path}:{number}: {fields}: mend the first line")
    names = tuple(name.strip() for name in fields) if header else tuple(str(i + 1) for i in range(len(fields)))
    begun = [records if header else chain([first], records)]  # to be read on, once

    def rows(columns: Sequence[str | None]) -> Rows:
        if not begun:
            return opened(path, delimiter, quotes, header).rows(columns)
        places = [None if column is None else names.index(column) for column in columns]
        return _picked(begun.pop(), places, len(names), quotes)

    return Table(str(path), names, rows, lambda wanted: _parted_elsewhere(delimiter.join(fields), delimiter, wanted))


def _picked(records: _Records, places: list[int | None], width: int, quotes: bool) -> Rows:
    for number, fields in records:
        if isinstance(fields, RowError):
            yield number, fields
        elif len(fields) != width:
            yield number, _ragged(len(fields), width, quotes)
        else:
            yield number, [None if place is None else fields[place] for place in places]


def _plain(lines: Lines, delimiter: str) -> _Records:
    for number, line in enumerate(lines, 1):
        if lines.damaged and number in lines.damaged:
            yield number, lines.damaged.pop(number)
        elif line:
            yield number, line.split(delimiter) if "\r" not in line else RowError(_RETURN)


def _quoted(lines: Lines, delimiter: str) -> _Records:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
    reader: Any = csv.reader((line + "\n" for line in lines), delimiter=delimiter, strict=True)
    while True:
        begin = reader.line_num + 1
        found: Sequence[str] | RowError
        try:
            found = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "end of data" in str(error):  # nobody knows what the rest of the file is
                raise UserError(f"{lines.name}:{begin}: a quote is opened and never closed: close it") from None
            why = f"{str(error).strip()}, as quotes are read (is it a table without quotes?)"
            found = RowError(_RETURN if "new-line" in why else why)
        for number in range(begin, reader.line_num + 1) if lines.damaged else ():
            found = lines.damaged.pop(number, found)
        if found:
            yield begin, found


def _ragged(count: int, width: int, quotes: bool) -> RowError:
    columns = f"{count} column{'s' if count > 1 else ''}"
    held = "are its delimiters within quotes?" if quotes else "are its fields held together by quotes?"
    return RowError(f"the row has {columns}, the first one {width} ({held})")


def _parted_elsewhere(line: str, delimiter: str, wanted: Sequence[str]) -> str:
    """A hint where the columns would be found with another delimiter."""
    for other, name in NAMES.items():
        names = [field.strip().strip('"') for field in line.split(other)]
        if other != delimiter and len(names) > 1 and (any(one in names for one in wanted) or delimiter not in line):
            here = NAMES.get(delimiter, repr(delimiter))
            return f", as its columns are parted by {name}, not by {here}: name the delimiter, {other!r}"
    return ""
