"""What does a corpus hand on, and how may it be read? Documents, problems to be counted, and the places between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from litebert.config import ConfigError, first_line, unknown_name

Kind = Literal[
    "empty file",
    "empty document",
    "NUL bytes",  # a space stands in the place of each
    "invalid UTF-8",  # U+FFFD stands in the place of each
    "bad record",  # left out, as was asked for
    "file left out",  # found in a folder, of a kind that is not read
]


class Document(NamedTuple):
    """A document, or a part of one that is too long for one piece."""

    text: str  # paragraphs, or sentences, one a line
    source: str
    place: int  # where this text begins: the line of a text file or of records, the row of a table; from 1
    part: int = 0  # 1, 2, …: it goes on with the document before it


class Problem(NamedTuple):
    """Something that is not as it should be and does not stop the reading: it is counted and named."""

    kind: Kind
    source: str
    place: int  # as in `Document`; 0 = the file as such
    detail: str
    count: int = 1  # type: ignore[assignment]  # of bytes, where the kind is about bytes; hides tuple.count


class Mark(NamedTuple):
    """A place between two items: reading from it gives what comes after it, and nothing twice."""

    source: int = 0
    record: int = 0  # lines, rows or documents before it
    byte: int = 0  # of the unpacked text; 0 in tables
    part: int = 0  # parts handed on of the document that is not finished
    item: int = 0  # items handed on of those that begin here


class Reading(BaseModel):
    """How files become documents."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    field: str = "text"  # of a record, or the column of a table
    documents: Literal["blank", "file"] = "blank"  # text files: a blank line ends a document, or the end of the file
    invalid: Literal["refuse", "replace"] = "refuse"  # what is not UTF-8
    bad: Literal["refuse", "skip"] = "refuse"  # records that are broken, or without a text in the field

    if not TYPE_CHECKING:  # the static signature stays the fields; only the error is ours

        def __init__(self, **values: Any) -> None:
            for name in values:
                if name not in type(self).model_fields:
                    raise ConfigError(unknown_name("reading field", name, type(self).model_fields))
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise ConfigError(first_line(error)) from None


# What begins at one place, in order, and the place after it. The last item of a unit is its document, if it has one.
Unit = tuple[list[Document | Problem], Mark]
