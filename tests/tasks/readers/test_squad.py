"""Are questions with their answers read from SQuAD's form, those that cannot be answered, and CMRC's peculiarities?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from litebert.tasks.examples import Answer, Question
from litebert.tasks.readers import squad
from litebert.tasks.readers.answers import placed
from litebert.tasks.readers.faults import RowError
from tasks.readers.written import by, refused, whys, write

CONTEXT = "Ada met Bo, and Bo met Cy."


def qa(name: str, answers: Any = (), **more: Any) -> dict[str, Any]:
    """A question with answers as pairs of text and start."""
    return {"id": name, "question": f"{name}?",
            "answers": [{"text": text, "answer_start": start} for text, start in answers], **more}  # fmt: skip


def document(*questions: Any, title: Any = "t", context: Any = CONTEXT) -> dict[str, Any]:
    """A file of one paragraph."""
    return {"data": [{"title": title, "paragraphs": [{"context": context, "qas": list(questions)}]}]}


def test_answers_stand_where_they_are_said_to(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", document(qa("1", [("Bo", 16), ("Ada", 0)]), qa("2", [("Cy", 23)])))
    one, two = by(squad.read, path).examples
    assert one == Question("1?", CONTEXT, (Answer("Bo", 16), Answer("Ada", 0)), "1", "t", (str(path), 1))
    assert two[2:] == ((Answer("Cy", 23),), "2", "t", (str(path), 2))


def test_what_cannot_be_answered_has_no_answer_whatever_stands_there(tmp_path: Path) -> None:
    hints = {"plausible_answers": [{"text": "Bo", "answer_start": 8}], "is_impossible": True}
    path = write(tmp_path / "a.json", document(qa("1", **hints), qa("2", [("nowhere", 5)], is_impossible=True)))
    assert [one.answers for one in by(squad.read, path).examples if isinstance(one, Question)] == [(), ()]


def test_a_test_file_has_questions_without_known_answers(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", document(qa("1", [("", -1), ("", -1)]), {"id": "2", "question": "2?"}, qa("3")))
    assert [one.answers for one in by(squad.read, path, labelled=False).examples if isinstance(one, Question)] == [
        None
    ] * 3
    assert whys(by(squad.read, path, bad="skip")) == [f"{i}: question {i} has no answers" for i in (1, 2, 3)]


def test_articles_without_a_title_have_the_name_or_number_of_their_own(tmp_path: Path) -> None:
    articles = [
        document(qa("1", [("Bo", 8)]), title=None)["data"][0] | {"id": 77},
        document(qa("2", [("Bo", 8)]))["data"][0],
    ]
    del articles[1]["title"]
    path = write(tmp_path / "a.json", {"data": articles})
    assert [one.group for one in by(squad.read, path).examples if isinstance(one, Question)] == ["77", "2"]


@pytest.mark.parametrize("start,found", [(8, 8), (16, 16), (7, 8), (10, 8), (15, 16), (None, 8), ("16", 16), (8.0, 8)])
def test_an_answer_that_slipped_is_moved_to_where_it_stands(start: Any, found: int) -> None:
    assert placed(CONTEXT, "Bo", start) == Answer("Bo", found)


def test_an_answer_that_stands_but_once_is_found_wherever_it_is_said_to_be() -> None:
    assert placed(CONTEXT, "Cy", 0) == placed(CONTEXT, "Cy", -5) == placed(CONTEXT, "Cy", 10**9) == Answer("Cy", 23)


@pytest.mark.parametrize("text,start,why", [
    ("Di", 0, "the answer 'Di' is not in the context"),
    ("Bo", 12, "the answer 'Bo' does not stand at character 12 of the context, but at others, as 8"),
    ("Bo", -1, "does not stand at character -1"),
    ("Bo", "x", "the answer 'Bo' starts at 'x', which is no number of characters"),
    ("Bo", float("inf"), "starts at inf, which is no number"),
    ("", 0, "an answer is empty"),
    (5, 0, "an answer is a number, not text"),
    ("x" * 90, 0, f"the answer '{'x' * 40}…' is not in the context"),
])  # fmt: skip
def test_an_answer_that_is_not_there_is_told(text: Any, start: Any, why: str) -> None:
    with pytest.raises(RowError, match=r".") as caught:
        placed(CONTEXT, text, start)
    assert why in str(caught.value)


def test_two_places_as_near_are_not_chosen_between() -> None:
    with pytest.raises(RowError, match="does not stand at character 1"):
        placed("a-a", "a", 1)


def test_bad_questions_are_counted_and_good_ones_read(tmp_path: Path) -> None:
    questions = [qa("1", [("Zed", 0)]), qa("2", [("Bo", 8)]), 7, {"id": "4", "answers": []}, qa("5", [("Bo", 12)]),
                 {"id": "6", "question": " ", "answers": [{"text": "Bo", "answer_start": 8}]},
                 {"id": "7", "question": "7?", "answers": "Bo, Cy"}]  # fmt: skip
    found = by(squad.read, write(tmp_path / "a.json", document(*questions)), bad="skip")
    assert [one.id for one in found.examples] == ["2"]
    assert whys(found) == [
        "1: the answer 'Zed' is not in the context", "3: a question is no object", "4: question 4 has no answers",
        "5: the answer 'Bo' does not stand at character 12 of the context, but at others, as 8",
        "6: the question is empty", "7: the answer 'Bo, Cy' is not in the context",
    ]  # fmt: skip
    assert "a.json:1: the answer 'Zed'" in refused(by, squad.read, tmp_path / "a.json")


@pytest.mark.parametrize("content,why", [
    ({"data": []}, "has no question: it is no file in the form of SQuAD"),
    ([1], "has no list 'data' of articles: it is no file in the form of SQuAD"),
    ({"data": [5]}, "article 1 has no list 'paragraphs'"),
    ({"data": [{"paragraphs": [{"context": "a"}]}]}, "a paragraph of article 1 has no list 'qas'"),
    ('{"data": [{"paragraphs": [{"con', "a.json:1: not JSON ("),
    ("", "a.json:1: not JSON ("),
])  # fmt: skip
def test_a_file_of_another_form_is_refused(content: Any, why: str, tmp_path: Path) -> None:
    assert why in refused(by, squad.read, write(tmp_path / "a.json", content), bad="skip")
