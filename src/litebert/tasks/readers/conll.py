"""How do columns of words and tags become sentences? A word a line, a blank line behind a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from litebert.errors import UserError
from litebert.tasks.examples import Left, Place, Words
from litebert.tasks.readers.faults import Bad, RowError, left
from litebert.tasks.readers.lines import Lines

_BETWEEN = "-DOCSTART-"
_Lines = list[tuple[int, str]]


def read(
    path: Path, *, words: int = 1, tags: int = -1, delimiter: str = "", spaced: bool = True, labelled: bool = True,
    bad: Bad = "refuse",
) -> Iterator[Words | Left]:  # fmt: skip
    """Every sentence of a file; a place is its first line.

    Columns count from 1, and from the end as -1, -2. Unsaid, a tab parts them in a sentence that has one in its first
    line, else blanks. Entities that begin with I- (as in the original files of CoNLL-2003) begin with B- here.
    """
    if words == 0 or tags == 0:
        raise UserError("column 0: columns count from 1, or from the end as -1")
    lines = Lines(path)
    empty = True
    for sentence in _sentences(lines):
        empty = False
        place = Place(str(path), sentence[0][0])
        one: Words | Left
        try:
            for number, _ in sentence:
                if number in lines.damaged:
                    place = place._replace(row=number)
                    raise lines.damaged.pop(number)
            found = _columns(sentence, delimiter, (words, tags) if labelled else (words,))
            marks = tuple(_begun(found[1])) if labelled else None
            one = Words(tuple(found[0]), marks, "", place, spaced)
        except RowError as fault:
            one = left(place, fault, bad)
        yield one
    if empty:
        raise UserError(f"{path} has no sentence: name a file with a word and its tag a line, blank lines between")


def _sentences(lines: Lines) -> Iterator[_Lines]:
    sentence: _Lines = []
    for number, line in enumerate(lines, 1):
        if line and not line.isspace() and not line.startswith(_BETWEEN):
            sentence.append((number, line))
        elif sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _columns(sentence: _Lines, delimiter: str, columns: tuple[int, ...]) -> list[list[str]]:
    delimiter = delimiter or ("\t" if "\t" in sentence[0][1] else "")
    found: list[list[str]] = [[] for _ in columns]
    width = 0
    for number, line in sentence:
        fields = line.split(delimiter) if delimiter else line.split()
        width = width or len(fields)
        if "\0" in line:
            raise RowError(f"line {number} holds a NUL: nothing that was written as text")
        if len(fields) != width:
            raise RowError(f"line {number} has not as many columns ({len(fields)}) as the line before it ({width})")
        if max(max(columns), -min(columns)) > width:
            raise RowError(f"line {number} has no column {max(columns, key=abs)}, but {width} in all")
        for column, into in zip(columns, found, strict=True):
            value = fields[column - 1 if column > 0 else column].strip()
            if not value:
                raise RowError(f"line {number} has nothing in column {column}")
            into.append(value)
    if len({column % (width + 1) for column in columns}) < len(columns):  # -1 is the last one
        raise RowError(f"line {sentence[0][0]} has one column for words and tags both")
    return found


def _begun(tags: list[str]) -> Iterator[str]:
    """The tags, every entity of which begins with B-: a no-op where that is so (BIO, BIOES)."""
    before = "O"
    for tag in tags:
        inside = tag.startswith("I-") and before[:2] in ("B-", "I-") and before[2:] == tag[2:]
        yield "B-" + tag[2:] if tag.startswith("I-") and not inside else tag
        before = tag
