"""What may be asked about? Python values, and files that need no answers, as examples of a kind of task.

A file is a table (`readers.tables`), or in `.txt` a text on each line. Answers that it has are passed over. A text that
is to be tagged is cut into words here, and `spans` says where in it each of them stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from litebert.errors import UserError
from litebert.tasks.examples import Choice, Example, Left, Place, Question, Text, Words, refuse
from litebert.tasks.readers import own, records, shapes, tables, values
from litebert.tasks.readers.columns import ROLES, Kind
from litebert.tasks.readers.faults import Bad, RowError, left
from litebert.tasks.readers.lines import Lines, suffix
from litebert.tasks.readers.tables import DELIMITERS, Table
from litebert.text.pieces import has_spaceless

FORMS = ("txt", "jsonl", "json", "csv", "tsv", "parquet")  # of a file; without one its suffix says it
PLACE = "text"  # what a text that is given in Python is called where it is refused

_WORD = re.compile(r"\w+(?:['’.\-]\w+)*|\S")  # a mark is a word of its own, but not within one
_RAW = "text"  # the column that holds running text; others hold words already


def of_file(
    path: Path, kind: Kind, columns: Mapping[str, str] | None = None, *, form: str = "", bad: Bad = "refuse",
    delimiter: str | None = None,
) -> Iterator[Example | Left]:  # fmt: skip
    """Every row of a file as an example without its answer, or left out. delimiter: None = by form or name."""
    if form and form not in FORMS:
        raise UserError(f"format {form!r} is none: choose {', '.join(FORMS)}")
    if not delimiter and (form == "txt" or (not form and suffix(path) == ".txt" and not columns)):
        return _lines(path, kind, bad)
    shape = "table" if form or delimiter else own.form_of(path, kind)
    if shape != "table":
        read = own.read(path, kind, columns, form=shape, labelled=False, bad=bad)
        return chain(map(unanswered, read.examples), read.left)
    opened = tables.opened(path, delimiter=delimiter) if delimiter else _opened(path, form)
    table = _asking(opened, kind, columns or {})
    return _examples(table, kind, columns or {}, bad)


def of_values(given: Any, kind: Kind) -> list[Example]:
    """What a program gives: one text, or a list of them, as examples.

    A text is a str, or a dict with the columns of its kind (`litebert tasks`); a pair, or question and context, is a
    tuple of two; words are a list of str. An example of `litebert.tasks.examples` stays as it is.
    """
    single = isinstance(given, str | Mapping | tuple) or not isinstance(given, Iterable)  # a tuple: examples, too
    return [_of_value(one, kind, number) for number, one in enumerate([given] if single else given, 1)]


def unanswered(example: Example) -> Example:
    """The example without what is known of its answer."""
    match example:
        case Text():
            return example._replace(label=None)
        case Words():
            return example._replace(tags=None)
        case Question():
            return example._replace(answers=None)
        case Choice():
            return example._replace(answer=None)


def words(text: str, place: Place = Place(), name: str = "") -> Words:
    """A text cut into words: at blanks and marks, or where its script has no spaces into characters."""
    if has_spaceless(text):
        return Words(tuple(one for one in text if not one.isspace()), None, name, place, spaced=False, text=text)
    return Words(tuple(_WORD.findall(text)), None, name, place, text=text)


def text_of(example: Words) -> str:
    """The text that the words were cut from, or that they make."""
    return example.text or (" " if example.spaced else "").join(example.words)


def spans(example: Words) -> list[tuple[int, int]]:
    """Where in its text each word stands: from which character to which, the last one excluded."""
    found, text, at = [], text_of(example), 0
    for word in example.words:
        begin = text.index(word, at)
        at = begin + len(word)
        found.append((begin, at))
    return found


def _opened(path: Path, form: str) -> Table:
    """A table by its form, or by its suffix."""
    if not form or f".{form}" == suffix(path):
        return tables.opened(path)
    if f".{form}" in DELIMITERS:
        return tables.opened(path, delimiter=DELIMITERS[f".{form}"], quotes=form == "csv")
    if form == "parquet":
        raise UserError(f"{path} is read as parquet only by its name: call it {path.name}.parquet")
    return records.opened(path)


def _asking(table: Table, kind: Kind, columns: Mapping[str, str]) -> Table:
    """The table without the columns of answers, which may hold anything here."""
    answers = {name for role in ROLES[kind].values() if role.need == "answer" for name in role.names}
    answers |= set(ROLES[kind]["start"].names) if "start" in ROLES[kind] else set()
    named = {part for column in columns.values() for part in column.split("+")} | set(columns.values())
    return table._replace(columns=tuple(one for one in table.columns if one not in answers - named))


def _examples(table: Table, kind: Kind, columns: Mapping[str, str], bad: Bad) -> Iterator[Example | Left]:
    if kind == "tag" and columns.get("words", _RAW) == _RAW and _RAW in table.columns:
        return _running(table, bad)
    return shapes.examples(table, kind, columns, labelled=False, bad=bad)


def _lines(path: Path, kind: Kind, bad: Bad) -> Iterator[Example | Left]:
    """A text on each line."""
    if kind in ("span", "choice"):
        wanted = ", ".join(name for name, role in ROLES[kind].items() if role.need == "always")
        raise UserError(
            f"{path} has a text on each line, and {kind} asks for {wanted}: name a table with these columns"
        )
    lines = Lines(path)
    for number, line in enumerate(lines, 1):
        place = Place(str(path), number)
        one: Example | Left
        try:
            if lines.damaged and number in lines.damaged:
                raise lines.damaged.pop(number)
            text = values.text_of(line, "the line")
            one = words(text, place) if kind == "tag" else Text(text, place=place)
        except RowError as fault:
            one = left(place, fault, bad)
        yield one


def _running(table: Table, bad: Bad) -> Iterator[Example | Left]:
    """The column `text` of a table, cut into words where it is not cut yet."""
    column = next((name for name in ROLES["tag"]["id"].names if name in table.columns), None)
    for number, found in table.rows([_RAW, column]):
        place = Place(table.name, number)
        one: Example | Left
        try:
            if isinstance(found, RowError):
                raise found
            text, name = found
            if isinstance(text, list | tuple):
                one = Words(tuple(values.list_of(text, "column 'text'")), None, values.id_of(name), place)
            else:
                one = words(values.text_of(text, "column 'text'"), place, values.id_of(name))
        except RowError as fault:
            one = left(place, fault, bad)
        yield one


def of_row(one: Any, kind: Kind, columns: Mapping[str, str] | None = None) -> Example:
    """A text, or a mapping of columns, as an example; RowError where it is none."""
    if isinstance(one, Mapping):
        return _of_mapping(one, kind, columns or {})
    if kind == "tag":
        found = one if isinstance(one, str) else values.list_of(one, "the text")
        return words(values.text_of(found, "the text")) if isinstance(found, str) else Words(tuple(found))
    if kind in ("classify", "regress"):
        first, second = (one, None) if isinstance(one, str) else _two(one, "text and pair")
        return Text(values.text_of(first, "the text"), None if second is None else values.text_of(second, "its pair"))
    if kind == "span":
        asked, context = _two(one, "question and context")
        return Question(values.text_of(asked, "its question"), values.text_of(context, "its context"))
    raise RowError(
        f"{type(one).__name__} is no question with options: give an object, {{'context': …, 'options': […]}}"
    )


def _of_value(one: Any, kind: Kind, number: int) -> Example:
    if isinstance(one, Text | Words | Question | Choice):
        return unanswered(one)
    place = Place(PLACE, number)
    try:
        return of_row(one, kind)._replace(place=place)
    except RowError as fault:
        raise refuse(place, str(fault), "mend it, or leave it out") from None


def _two(one: Any, what: str) -> Sequence[Any]:
    if not isinstance(one, tuple | list) or len(one) != 2:
        raise RowError(f"{type(one).__name__} is not {what}: it takes a tuple of two, or a dict")
    return one


def _of_mapping(one: Mapping[str, Any], kind: Kind, columns: Mapping[str, str]) -> Example:
    """A mapping as the one row of a table."""
    table = _asking(Table(PLACE, tuple(one), lambda _: iter(())), kind, columns)
    asked = table._replace(rows=lambda wanted: iter([(1, [None if c is None else one[c] for c in wanted])]))
    try:
        example = next(_examples(asked, kind, columns, "skip"))
    except UserError as error:
        raise RowError(str(error).removeprefix(f"{PLACE} ")) from None
    if isinstance(example, Left):
        raise RowError(example.why)
    return example
