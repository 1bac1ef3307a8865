"""How does a user say what is in a table's columns? The options of every verb that learns from files of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from litebert.errors import UserError

if TYPE_CHECKING:
    from litebert.tasks.readers.columns import Kind
    from litebert.tasks.sources import Reading

TextColumn = Annotated[
    str, typer.Option("--text", help="The column of texts (of words, for tag), if it is called otherwise.")
]
PairColumn = Annotated[str, typer.Option("--pair", help="The column of second texts.")]
LabelColumn = Annotated[str, typer.Option("--label", help="The column of labels, scores, tags or answers.")]
Columns = Annotated[
    list[str] | None, typer.Option("--columns", help="Any other column: --columns options=A+B+C (again for more).")
]
Delimiter = Annotated[
    str, typer.Option("--delimiter", help="What parts columns (tab for a tab), where the file's name says it wrong.")
]
Header = Annotated[
    bool, typer.Option("--header/--no-header", help="Whether the first row names the columns; else they are 1, 2, 3.")
]
Several = Annotated[
    str, typer.Option("--several", help="What parts the labels of one row, where it may have several: --several ';'.")
]
BadRows = Annotated[
    str, typer.Option("--bad", help="Rows that cannot be examples: refuse (the first one ends it), or skip.")
]
_ROLES = {"text": {"tag": "words"}, "label": {"tag": "tags", "span": "answer", "choice": "answer"}}


def reading(
    kind: Kind, given: dict[str, str], columns: list[str] | None, delimiter: str, header: bool, several: str, bad: str
) -> Reading:  # fmt: skip
    """How files are read, by the options; given: the columns of --text, --pair and --label."""
    from litebert.tasks.readers.columns import ROLES
    from litebert.tasks.sources import Reading

    known = ROLES[kind]
    found: dict[str, str] = {}
    for option, column in given.items():
        role = _ROLES.get(option, {}).get(kind, option)
        if column and role not in known:
            raise UserError(f"--{option} {column} names nothing that {kind} reads: write --columns NAME={column}, with "
                            f"one of {', '.join(known)}")  # fmt: skip
        found |= {role: column} if column else {}
    for text in columns or []:
        role, equals, column = text.partition("=")
        if not equals or not column:
            raise UserError(f"--columns {text!r} is not of the form name=column: write --columns text=review")
        found[role.strip()] = column.strip()
    if bad not in ("", "refuse", "skip"):
        raise UserError(f"--bad {bad!r} is unknown: choose refuse or skip")
    return Reading(found, parting(delimiter), header, several, bad or None)  # type: ignore[arg-type]


def parting(delimiter: str) -> str | None:
    """The character that is meant; None where none is named."""
    return {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter) or None
