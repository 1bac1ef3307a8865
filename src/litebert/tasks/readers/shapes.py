"""How do the rows of a table become examples? A kind of task says what may stand in its columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from litebert.errors import UserError
from litebert.tasks.examples import Choice, Example, Left, Place, Question, Text, Words
from litebert.tasks.readers import columns as roles_of
from litebert.tasks.readers import values
from litebert.tasks.readers.answers import answers_of
from litebert.tasks.readers.columns import AND, ROLES, Kind
from litebert.tasks.readers.faults import Bad, RowError, left
from litebert.tasks.readers.tables import Table
from litebert.tasks.readers.values import id_of, text_of


def examples(
    table: Table, kind: Kind, columns: Mapping[str, str] | None = None, *, labels: Collection[str] = (),
    labelled: bool = True, several: str = "", bad: Bad = "refuse",
) -> Iterator[Example | Left]:  # fmt: skip
    """Every row as an example of a kind, or left out."""
    roles = roles_of.settled(table, kind, columns, labelled)
    options = roles_of.parts(roles["options"], table.columns) if "options" in roles else []
    wanted = [None if name == "options" else roles.get(name) for name in ROLES[kind]]
    form = Form({name: f"column {column!r}" for name, column in roles.items()}, labelled, labels, several, len(wanted))
    make = _MAKERS[kind]
    number = 0
    for number, found in table.rows([*wanted, *options]):
        place = Place(table.name, number)
        one: Example | Left
        try:
            if isinstance(found, RowError):
                raise found
            one = make(form, place, found)
        except RowError as fault:
            one = left(place, fault, bad)
        yield one
    if not number:
        raise UserError(f"{table.name} has a header and no rows: name a file with a row for each example")


class Form(NamedTuple):
    """How rows are to be read."""

    told: Mapping[str, str]  # what a message calls the column of a role; only roles that have one
    labelled: bool  # every example must have its answer
    labels: Collection[str]  # () = any
    several: str  # what parts the labels of one example
    roles: int  # so many values of a row stand for roles; those behind them are options


def _text(form: Form, place: Place, row: Sequence[Any]) -> Text:
    text, pair, value, name = row
    told = form.told
    what = told.get("label", "label")
    label: str | frozenset[str] | None
    if form.several or isinstance(value, list | tuple):
        label = values.labels_of(value, what, form.labels, form.several)
    else:
        label = values.label_of(value, what, form.labels)
    if label is None and form.labelled:
        raise RowError(f"{what} is empty")
    second = text_of(pair, told["pair"]) if "pair" in told else None
    return Text(text_of(text, told["text"]), second, label, id_of(name), place)


def _scored(form: Form, place: Place, row: Sequence[Any]) -> Text:
    text, pair, value, name = row
    told = form.told
    what = told.get("label", "score")
    score = values.score_of(value, what)
    if score is None and form.labelled:
        raise RowError(f"{what} is empty")
    second = text_of(pair, told["pair"]) if "pair" in told else None
    return Text(text_of(text, told["text"]), second, score, id_of(name), place)


def _words(form: Form, place: Place, row: Sequence[Any]) -> Words:
    found, tags, name = row
    words = values.list_of(found, form.told["words"])
    if not words:
        raise RowError(f"{form.told['words']} has no words")
    if tags is None:
        if form.labelled:
            raise RowError(f"{form.told.get('tags', 'tags')} is empty")
        return Words(tuple(words), None, id_of(name), place)
    marks = values.list_of(tags, form.told["tags"])
    if len(marks) != len(words):
        raise RowError(f"{len(marks)} tags for {len(words)} words")
    return Words(tuple(words), tuple(marks), id_of(name), place)


def _question(form: Form, place: Place, row: Sequence[Any]) -> Question:
    question, context, value, start, name, group = row
    context = text_of(context, form.told["context"])
    answers = answers_of(context, value, start)
    if answers is None and form.labelled:
        raise RowError(f"{form.told.get('answer', 'answer')} is missing")
    return Question(text_of(question, form.told["question"]), context, answers, id_of(name), id_of(group), place)


def _choice(form: Form, place: Place, row: Sequence[Any]) -> Choice:
    context, question, _, value, name, group = row[: form.roles]
    told, found = form.told, list(row[form.roles :])
    if len(found) == 1:
        if not isinstance(found[0], list | tuple):
            raise RowError(f"{told['options']} is no list: join columns by {AND}")
        found = list(found[0])
    options = tuple(text_of(one, f"option {i}") for i, one in enumerate(found))
    if len(options) < 2:
        raise RowError("fewer than two options leave no choice")
    answer = chosen(value, options, told.get("answer", "answer"))
    if answer is None and form.labelled:
        raise RowError(f"{told.get('answer', 'answer')} is empty")
    before = text_of(context, told["context"]) if "context" in told else ""
    asked = text_of(question, told["question"]) if "question" in told else ""
    return Choice(before, asked, options, answer, id_of(name), id_of(group), place)


def chosen(value: Any, options: Sequence[str], what: str) -> int | None:
    """Which option is right: by its text, its letter or its number from 0. None where nothing is said."""
    label = values.label_of(value, what)
    if label is None:
        return None
    texts = [option.strip() for option in options]
    if isinstance(value, str) and label in texts:
        return texts.index(label)
    number = int(label) if label.isdecimal() else lettered(label) if isinstance(value, str) else None
    if number is None or number >= len(options):
        raise RowError(f"{what} {label[:40]!r} is none of the {len(options)} options (its text, A to "
                    f"{chr(64 + len(options))}, or 0 to {len(options) - 1})")  # fmt: skip
    return number


def lettered(label: str) -> int | None:
    """The number from 0 of an option that is told by its letter."""
    return ord(label.upper()) - ord("A") if len(label) == 1 and label.isalpha() and label.isascii() else None


_MAKERS: dict[Kind, Callable[[Form, Place, Sequence[Any]], Example]] = {
    "classify": _text, "regress": _scored, "tag": _words, "span": _question, "choice": _choice,
}  # fmt: skip
