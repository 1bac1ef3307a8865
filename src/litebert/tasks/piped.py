"""What comes through a pipe? Lines as they arrive, each a text, or a row with the columns of its kind of task."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from litebert.errors import UserError
from litebert.tasks import given
from litebert.tasks.examples import Example, Left, Place
from litebert.tasks.readers.columns import Kind
from litebert.tasks.readers.delimited import LONGEST
from litebert.tasks.readers.faults import Bad, RowError, left
from litebert.text.long_json import kind_of

FORMS = ("txt", "jsonl", "csv", "tsv")
NAME = "standard input"
_MARK = "\ufeff"

_Rows = Iterator[tuple[int, Any]]


def of_lines(
    lines: Iterable[bytes], kind: Kind, columns: Mapping[str, str] | None = None, *, form: str = "", name: str = NAME,
    bad: Bad = "refuse",
) -> Iterator[Example | Left]:  # fmt: skip
    """Every line as an example, or left out; without a form the first line says whether they are JSON or texts."""
    if form and form not in FORMS:
        raise UserError(f"format {form!r} cannot be read from a pipe: choose {', '.join(FORMS)}, or name a file")
    rows = _decoded(lines)
    if not form:
        first = next(rows, None)
        if first is None:
            return
        form = "jsonl" if isinstance(first[1], str) and first[1].lstrip().startswith("{") else "txt"
        rows = chain([first], rows)
    found = {"txt": _texts, "jsonl": _objects, "csv": _quoted, "tsv": _plain}[form](rows)
    for number, value in found:
        place = Place(name, number)
        one: Example | Left
        try:
            if isinstance(value, RowError):
                raise value
            one = given.of_row(value, kind, columns)._replace(place=place)
        except RowError as fault:
            one = left(place, fault, bad)
        yield one


def _decoded(lines: Iterable[bytes]) -> _Rows:
    """The lines as text, without their ends and the mark of UTF-8."""
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode().removesuffix("\n").removesuffix("\r")
            yield number, text.removeprefix(_MARK) if number == 1 else text
        except UnicodeDecodeError as error:
            yield number, RowError(f"byte {error.start + 1:,} (0x{line[error.start]:02x}) is not UTF-8")


def _texts(rows: _Rows) -> _Rows:
    return rows


def _objects(rows: _Rows) -> _Rows:
    for number, line in rows:
        if isinstance(line, RowError):
            yield number, line
        elif line.strip():
            try:
                value = json.loads(line, strict=False)
                wrong = None if isinstance(value, dict) else f"the record is {kind_of(value)}, not an object"
            except (ValueError, RecursionError) as error:
                value, wrong = None, f"the line is not JSON that can be read ({error})"
            yield number, RowError(wrong) if wrong else value


def _plain(rows: _Rows) -> _Rows:
    return _named((number, line if isinstance(line, RowError) else line.split("\t")) for number, line in rows)


def _quoted(rows: _Rows) -> _Rows:
    damaged: dict[int, RowError] = {}

    def texts() -> Iterator[str]:
        for number, line in rows:
            if isinstance(line, RowError):
                damaged[number] = line
            yield ("" if isinstance(line, RowError) else line) + "\n"

    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
    reader = csv.reader(texts(), strict=True)

    def fields() -> _Rows:
        while True:
            begin = reader.line_num + 1
            found: Any
            try:
                found = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                found = RowError(f"{error}, as quotes are read")
            for number in range(begin, reader.line_num + 1) if damaged else ():
                found = damaged.pop(number, found)
            if found or begin == 1:
                yield begin, found

    return _named(fields())


def _named(rows: Iterable[tuple[int, Any]]) -> _Rows:
    """Fields by the names of the first line."""
    names: Sequence[str] | None = None
    for number, found in rows:
        if names is None:
            if isinstance(found, RowError):
                raise UserError(f"{NAME}:{number}: {found}: mend the first line, which names the columns")
            names = [field.strip() for field in found]
        elif isinstance(found, RowError):
            yield number, found
        elif len(found) != len(names):
            yield number, RowError(f"the row has {len(found)} columns, the first one {len(names)}")
        else:
            yield number, dict(zip(names, found, strict=True))
