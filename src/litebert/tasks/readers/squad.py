"""How does SQuAD hold its questions? Articles, paragraphs, questions; 2.0 has some that cannot be answered.

CMRC 2018 and DRCD have the same shape. The test file of CLUE's CMRC has answers without text: they are not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from litebert.errors import UserError
from litebert.tasks.examples import Answer, Left, Place, Question
from litebert.tasks.readers import records
from litebert.tasks.readers.answers import answers_of
from litebert.tasks.readers.faults import Bad, RowError, left
from litebert.tasks.readers.values import id_of, text_of


def read(path: Path, *, labelled: bool = True, bad: Bad = "refuse") -> Iterator[Question | Left]:
    """Every question of a file; its place is its number in the file, its group the article."""
    document = records.document(path)
    articles = document.get("data") if isinstance(document, dict) else None
    if not isinstance(articles, list):
        raise UserError(f"{path} has no list 'data' of articles: it is no file in the form of SQuAD")
    row = 0
    for number, article in enumerate(articles, 1):
        group = _group(article, number)
        for context, qa in _questions(article, str(path), number):
            row += 1
            place = Place(str(path), row)
            one: Question | Left
            try:
                one = _question(context, qa, group, place, labelled)
            except RowError as fault:
                one = left(place, fault, bad)
            yield one
    if not row:
        raise UserError(f"{path} has no question: it is no file in the form of SQuAD")


def _questions(article: Any, name: str, number: int) -> Iterator[tuple[Any, Any]]:
    paragraphs = article.get("paragraphs") if isinstance(article, dict) else None
    if not isinstance(paragraphs, list):
        raise UserError(f"{name}: article {number} has no list 'paragraphs': it is no file in the form of SQuAD")
    for paragraph in paragraphs:
        if not isinstance(paragraph, dict) or not isinstance(paragraph.get("qas"), list):
            raise UserError(f"{name}: a paragraph of article {number} has no list 'qas': copy the file again")
        for qa in paragraph["qas"]:
            yield paragraph.get("context"), qa


def _question(context: Any, qa: Any, group: str, place: Place, labelled: bool) -> Question:
    if not isinstance(qa, dict):
        raise RowError("a question is no object")
    text = text_of(context, "its context")
    name = id_of(qa.get("id"))
    if qa.get("is_impossible", False):
        answers: tuple[Answer, ...] | None = ()
    elif _unknown(qa):
        answers = None
    else:
        answers = answers_of(text, qa.get("answers")) or None  # version 1.1 knows no question without an answer
    if answers is None and labelled:
        raise RowError(f"question {name or '?'} has no answers")
    return Question(text_of(qa.get("question"), "the question"), text, answers, name, group, place)


def _unknown(qa: dict[str, Any]) -> bool:
    """Whether the answers stand there and say nothing."""
    answers = qa.get("answers")
    return (
        isinstance(answers, list) and bool(answers) and all(isinstance(a, dict) and not a.get("text") for a in answers)
    )


def _group(article: Any, number: int) -> str:
    """What an article is called; CMRC has a title for every paragraph, some of them twice."""
    return (id_of(article.get("title")) or id_of(article.get("id")) if isinstance(article, dict) else "") or str(number)
