"""What is an example? One tuple for each shape that data come in; None stands where an answer is not known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from litebert.errors import UserError

Label = str | float | frozenset[str]  # a class; a score; several classes at once


class Place(NamedTuple):
    """Where an example stands, for whoever has to mend it."""

    file: str = ""
    row: int = 0  # from 1; for JSON without lines the number of the record

    def __str__(self) -> str:
        return f"{self.file}:{self.row}" if self.file else f"example {self.row}"


class Text(NamedTuple):
    """One text or a pair, and what is said of it: classify and regress."""

    text: str
    pair: str | None = None
    label: Label | None = None
    id: str = ""  # what its source calls it
    place: Place = Place()


class Words(NamedTuple):
    """A text that is cut into words already, and a tag for each: tag."""

    words: tuple[str, ...]
    tags: tuple[str, ...] | None = None
    id: str = ""
    place: Place = Place()
    spaced: bool = True  # False: the words stand without spaces between them (Chinese characters)
    text: str = ""  # as it stood before it was cut, where that is known


class Answer(NamedTuple):
    """A stretch of a context: `context[start : start + len(text)] == text`."""

    text: str
    start: int


class Question(NamedTuple):
    """A question whose answer is a stretch of its context, or not in it at all: span."""

    question: str
    context: str
    answers: tuple[Answer, ...] | None = None  # () = it cannot be answered
    id: str = ""
    group: str = ""  # the article: splits never part it
    place: Place = Place()


class Choice(NamedTuple):
    """A question with options, one of them right: choice."""

    context: str
    question: str
    options: tuple[str, ...]
    answer: int | None = None
    id: str = ""
    group: str = ""  # races are told apart by it (middle, high)
    place: Place = Place()


Example = Text | Words | Question | Choice


class Left(NamedTuple):
    """A row that was left out, and why: counted and told, never silent."""

    place: Place
    why: str


class Read(NamedTuple):
    """What a file gave."""

    examples: list[Example]
    left: list[Left] = []  # noqa: RUF012  a NamedTuple's default; nobody appends to it


Reader = Callable[..., Iterator[Example | Left]]


def collect(found: Iterator[Example | Left]) -> Read:
    """All examples, and all that was left out."""
    examples: list[Example] = []
    left: list[Left] = []
    for one in found:
        if isinstance(one, Left):
            left.append(one)
        else:
            examples.append(one)
    return Read(examples, left)


def refuse(place: Place, what: str, fix: str) -> UserError:
    """One line: where, what is wrong with it, and what to do."""
    return UserError(f"{place}: {what}: {fix}")
