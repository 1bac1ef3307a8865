"""Which column of a table is for what? A kind of task says what it wants, a user only what is called otherwise."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from litebert.config import unknown_name
from litebert.errors import UserError
from litebert.tasks.readers.faults import missing
from litebert.tasks.readers.tables import Table

Kind = Literal["classify", "regress", "tag", "span", "choice"]
KINDS: tuple[Kind, ...] = ("classify", "regress", "tag", "span", "choice")
AND = "+"  # between the columns of options
_ENDINGS = "ending0+ending1+ending2+ending3"  # as SWAG has them


class Role(NamedTuple):
    """What a column is for."""

    about: str
    names: tuple[str, ...]  # the column is the first of these that is there, if none is named
    need: Literal["always", "answer", "never"] = "never"  # answer: where answers are to be known


_ID = Role("what the row is called", ("id", "idx", "index", "guid"))
_TEXT = {
    "text": Role("the text", ("text", "sentence", "sentence1", "text_a", "premise", "question1", "review"), "always"),
    "pair": Role("a second text", ("pair", "sentence2", "text_b", "hypothesis", "question2")),
}
ROLES: dict[Kind, dict[str, Role]] = {
    "classify": {
        **_TEXT, "label": Role("its class, or a list of classes", ("label", "labels", "class", "category"), "answer"),
        "id": _ID,
    },
    "regress": {**_TEXT, "label": Role("its score, a number", ("label", "score"), "answer"), "id": _ID},
    "tag": {
        "words": Role("a list of words, or words parted by blanks", ("words", "tokens", "text"), "always"),
        "tags": Role("a tag for each word, alike", ("tags", "ner_tags", "labels"), "answer"),
        "id": _ID,
    },
    "span": {
        "question": Role("the question", ("question",), "always"),
        "context": Role("the text with the answer", ("context", "paragraph"), "always"),
        "answer": Role("SQuAD’s answers, or one text; empty = it cannot be answered", ("answers", "answer"), "answer"),
        "start": Role("the character at which an answer that is a text begins", ("answer_start", "start")),
        "id": _ID,
        "group": Role("its article, which a split never parts", ("title", "group")),
    },
    "choice": {
        "context": Role("the text that is asked about", ("context", "article", "passage", "sent1")),
        "question": Role("the question, or how the options begin", ("question", "query", "sent2")),
        "options": Role("a list, or columns joined by +", ("options", "choices", "choice", _ENDINGS), "always"),
        "answer": Role("the right one: its number from 0, its letter, or its text", ("answer", "label"), "answer"),
        "id": _ID,
        "group": Role("a kind of question to be told apart", ("group",)),
    },
}  # fmt: skip


def settled(
    table: Table, kind: Kind, columns: Mapping[str, str] | None = None, labelled: bool = True
) -> dict[str, str]:
    """The column of every role that has one: those named, and for the others those that are called for it."""
    columns = columns or {}
    for name in columns:
        if name not in ROLES[kind]:
            raise UserError(f"{unknown_name(f'column of {kind}', name, ROLES[kind])} (write --columns text=NAME)")
    found: dict[str, str] = {}
    named = {part for column in columns.values() for part in parts(column, table.columns)}
    for name, role in ROLES[kind].items():
        if name in columns:
            for column in parts(columns[name], table.columns):
                _check(table, column, [*columns.values()])
            found[name] = columns[name]
            continue
        there = [one for one in role.names if all(part in table.columns for part in parts(one, table.columns))]
        there = [one for one in there if one not in named and one not in found.values()]
        if there:
            found[name] = there[0]
            for column in parts(there[0], table.columns):
                _check(table, column, [])
        elif role.need == "always" or (role.need == "answer" and labelled):
            has = missing(role.names[0], table.columns).partition(" among ")[2]
            hint = table.hint([one for each in ROLES[kind].values() for one in each.names])
            fix = "" if hint else f": say which it is (--columns {name}=NAME)"
            raise UserError(f"{table.name} has no column {role.names[0]!r} for {role.about}: it has {has}{hint}{fix}")
    return found


def parts(column: str, names: Collection[str]) -> list[str]:
    """The columns that are meant: one, or several joined by +."""
    return [column] if column in names else column.split(AND)


def _check(table: Table, column: str, wanted: Sequence[str]) -> None:
    count = table.columns.count(column)
    if not count:
        hint = table.hint(wanted) or ": choose one of them"
        raise UserError(f"{table.name} has {missing(column, table.columns)}{hint}")
    if count > 1:
        raise UserError(f"{table.name} has {count} columns {column!r}: give each a name of its own")
