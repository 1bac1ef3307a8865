"""How does RACE hold its questions? A file for each passage, in folders for middle and high school."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from litebert.errors import UserError
from litebert.tasks.examples import Choice, Left, Place
from litebert.tasks.readers import records
from litebert.tasks.readers.faults import Bad, RowError, left
from litebert.tasks.readers.shapes import lettered
from litebert.tasks.readers.values import text_of

GROUPS = ("high", "middle")


def read(path: Path, *, group: str = "", labelled: bool = True, bad: Bad = "refuse") -> Iterator[Choice | Left]:
    """Every question of a folder of passages, or of the folders `middle` and `high` in it, or of one of the two.

    A place is a passage's file and the number of the question in it.
    """
    for name, folder in _folders(path, group):
        files = sorted(folder.glob("*.txt"), key=lambda file: (len(file.name), file.name))
        if not files:
            raise UserError(f"{folder} holds no passage: name a folder of RACE with a .txt file for each")
        for file in files:
            yield from _passage(file, name, labelled, bad)


def _folders(path: Path, group: str) -> list[tuple[str, Path]]:
    if not path.is_dir():
        raise UserError(f"{path} is no folder: name one of RACE, with a .txt file for each passage")
    if group and group not in GROUPS:
        raise UserError(f"unknown group {group!r} of RACE: choose one of {', '.join(GROUPS)}")
    if path.name in GROUPS and group in ("", path.name):
        return [(path.name, path)]
    found = [(name, path / name) for name in GROUPS if (path / name).is_dir() and group in ("", name)]
    if group and not found:
        raise UserError(f"{path} holds no folder {group!r}: name the folder that does")
    return found or [("", path)]


def _passage(file: Path, group: str, labelled: bool, bad: Bad) -> Iterator[Choice | Left]:
    try:
        passage = records.document(file)
        asked = _lists(passage, labelled)
    except RowError as fault:
        yield left(Place(str(file), 1), fault, bad)
        return
    except UserError as error:
        if bad == "refuse":
            raise
        yield Left(Place(str(file), 1), str(error))
        return
    name = str(passage.get("id") or f"{group}{file.name}").removesuffix(".txt")
    for number, (question, options, answer) in enumerate(asked, 1):
        place = Place(str(file), number)
        one: Choice | Left
        try:
            context = text_of(passage.get("article"), "the article")
            found = tuple(text_of(one, f"option {i}") for i, one in enumerate(options))
            right = _right(answer, len(found))
            if right is None and labelled:
                raise RowError("the question has no answer")
            one = Choice(context, text_of(question, "the question"), found, right, f"{name}-{number}", group, place)
        except RowError as fault:
            one = left(place, fault, bad)
        yield one


def _right(answer: Any, options: int) -> int | None:
    """The option that a letter tells: always a letter, as an option's text may be one too."""
    if answer is None:
        return None
    number = lettered(answer.strip()) if isinstance(answer, str) else None
    if number is None or number >= options:
        raise RowError(f"the answer {answer!r} is none of the letters A to {chr(64 + options)} of {options} options")
    return number


def _lists(passage: Any, labelled: bool) -> list[tuple[Any, Any, Any]]:
    if not isinstance(passage, dict):
        raise RowError("a passage is no object")
    questions, options = passage.get("questions"), passage.get("options")
    answers = passage.get("answers")
    if not answers and not labelled and isinstance(questions, list):
        answers = [None] * len(questions)
    if not isinstance(questions, list) or not isinstance(options, list) or not isinstance(answers, list):
        raise RowError("a passage has no lists 'questions', 'options' and 'answers'")
    if not len(questions) == len(options) == len(answers) or not all(isinstance(one, list) for one in options):
        raise RowError(f"{len(questions)} questions have {len(options)} lists of options and {len(answers)} answers")
    if not questions:
        raise RowError("a passage has no questions")
    return list(zip(questions, options, answers, strict=True))
