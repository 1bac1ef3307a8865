"""How does C3 hold its questions? A list of documents: paragraphs or turns, questions, a name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from litebert.errors import UserError
from litebert.tasks.examples import Choice, Left, Place
from litebert.tasks.readers import records
from litebert.tasks.readers.faults import Bad, RowError, left
from litebert.tasks.readers.shapes import chosen
from litebert.tasks.readers.values import id_of, text_of

_GROUPS = {"m": "mixed", "d": "dialogue"}  # c3-m-train.json, d-dev.json


def read(path: Path, *, labelled: bool = True, bad: Bad = "refuse") -> Iterator[Choice | Left]:
    """Every question of a file; a place is the number of the document, the group what the file's name says of it."""
    documents = records.document(path)
    if not isinstance(documents, list) or not documents:
        raise UserError(f"{path} is no list of documents: it is no file in the form of C3")
    group = next((_GROUPS[part] for part in path.name.split("-")[:-1] if part in _GROUPS), "")
    for number, document in enumerate(documents, 1):
        place = Place(str(path), number)
        if not _is_document(document):
            yield left(place, RowError("the document is no list of paragraphs, questions and a name"), bad)
            continue
        name = id_of(document[2]) if len(document) > 2 else str(number)
        for count, qa in enumerate(document[1], 1):
            one: Choice | Left
            try:
                one = _choice(document[0], qa, f"{name}-{count}", group, place, labelled)
            except RowError as fault:
                one = left(place, fault, bad)
            yield one


def _choice(paragraphs: list[Any], qa: Any, name: str, group: str, place: Place, labelled: bool) -> Choice:
    if not isinstance(qa, dict) or not isinstance(qa.get("choice"), list):
        raise RowError("a question has no list 'choice'")
    context = "\n".join(text_of(one, f"paragraph {i}") for i, one in enumerate(paragraphs, 1))
    options = tuple(text_of(one, f"option {i}") for i, one in enumerate(qa["choice"]))
    if len(options) < 2:
        raise RowError("fewer than two options leave no choice")
    answer = qa.get("answer")
    if answer is None and labelled:
        raise RowError("the question has no answer")
    if answer is not None and answer not in options:
        raise RowError(f"the answer {answer!r} is none of the options")
    right = None if answer is None else chosen(answer, options, "the answer")
    return Choice(context, text_of(qa.get("question"), "the question"), options, right, id_of(qa.get("id")) or name,
                  group, place)  # fmt: skip


def _is_document(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and isinstance(value[0], list) and isinstance(value[1], list)
