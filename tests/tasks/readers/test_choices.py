"""Are the exams of RACE and C3 read, a question each with the right option, and what is wrong with one told?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from litebert.tasks.examples import Choice
from litebert.tasks.readers import c3, race
from tasks.readers.written import by, refused, whys, write


def passage(**changed: Any) -> dict[str, Any]:
    """A passage of RACE with two questions."""
    return {"article": "A text.", "questions": ["Which?", "It is _ ."], "answers": ["B", "D"], "id": "middle12.txt",
            "options": [["a", "b", "c", "d"], ["B", "D", "C", "A"]], **changed}  # fmt: skip


def test_the_questions_of_both_schools_are_read_in_one_order(tmp_path: Path) -> None:
    write(tmp_path / "train/middle/12.txt", passage())
    write(tmp_path / "train/middle/3.txt", passage(id="", answers=["A", "A"]))
    write(tmp_path / "train/high/7.txt", passage(id="high7.txt"))
    found = by(race.read, tmp_path / "train").examples
    assert [(one.id, one.group) for one in found if isinstance(one, Choice)] == [
        ("high7-1", "high"), ("high7-2", "high"), ("middle3-1", "middle"), ("middle3-2", "middle"),
        ("middle12-1", "middle"), ("middle12-2", "middle"),
    ]  # fmt: skip
    file = tmp_path / "train/middle/12.txt"
    assert found[4] == Choice("A text.", "Which?", ("a", "b", "c", "d"), 1, "middle12-1", "middle", (str(file), 1))
    # the letter tells the place, though another option reads as that letter
    assert found[5] == Choice("A text.", "It is _ .", ("B", "D", "C", "A"), 3, "middle12-2", "middle", (str(file), 2))
    assert len(by(race.read, tmp_path / "train", group="middle").examples) == 4
    assert len(by(race.read, tmp_path / "train/high").examples) == 2


def test_a_test_without_answers_is_asked(tmp_path: Path) -> None:
    path = write(tmp_path / "1.txt", passage(answers=None)).parent
    assert [one.answer for one in by(race.read, path, labelled=False).examples if isinstance(one, Choice)] == [
        None,
        None,
    ]
    assert "1.txt:1: a passage has no lists" in refused(by, race.read, path)


@pytest.mark.parametrize("changed,why", [
    ({"answers": ["B", "E"]}, "2: the answer 'E' is none of the letters A to D of 4 options"),
    ({"answers": ["b", "it"]}, "2: the answer 'it' is none of the letters A to D"),
    ({"answers": ["B"]}, "1: 2 questions have 2 lists of options and 1 answers"),
    ({"questions": 5}, "1: a passage has no lists 'questions', 'options' and 'answers'"),
    ({"questions": [], "options": [], "answers": []}, "1: a passage has no questions"),
    ({"questions": ["q", ""]}, "2: the question is empty"),
    ({"article": None}, "1: the article is missing, not text"),
    ({"options": [["a", "b"], ["a", None]], "answers": ["A", "A"]}, "2: option 1 is missing, not text"),
])  # fmt: skip
def test_what_is_wrong_with_a_passage_is_counted(changed: dict[str, Any], why: str, tmp_path: Path) -> None:
    write(tmp_path / "1.txt", passage(**changed))
    write(tmp_path / "2.txt", passage())
    found = by(race.read, tmp_path, bad="skip")
    assert why in "\n".join(whys(found))
    assert [one.id for one in found.examples][-2:] == ["middle12-1", "middle12-2"]
    assert f"1.txt:{why[0]}: " in refused(by, race.read, tmp_path)


def test_a_passage_that_is_no_json_is_named_or_counted(tmp_path: Path) -> None:
    write(tmp_path / "1.txt", "{")
    write(tmp_path / "2.txt", passage())
    assert "1.txt:1: not JSON" in refused(by, race.read, tmp_path)
    found = by(race.read, tmp_path, bad="skip")
    assert (len(found.examples), len(found.left)) == (2, 1)


def test_a_folder_without_passages_is_refused(tmp_path: Path) -> None:
    assert "holds no passage" in refused(by, race.read, tmp_path)
    assert "is no folder" in refused(by, race.read, tmp_path / "none")
    assert "holds no folder 'high'" in refused(by, race.read, tmp_path, group="high")
    assert "unknown group 'low' of RACE: choose one of high, middle" in refused(by, race.read, tmp_path, group="low")


def c3_question(answer: Any = "走路", **changed: Any) -> dict[str, Any]:
    return {"question": "怎么去?", "choice": ["坐车", "走路"], "answer": answer, **changed}


def test_dialogues_and_texts_of_c3_are_told_apart(tmp_path: Path) -> None:
    documents = [[["男：走吧。", "女：好。"], [c3_question(), c3_question("坐车", id=508)], "47-275"],
                 [["一段话。"], [c3_question()]]]  # fmt: skip
    path = write(tmp_path / "c3-d-train.json", documents)
    found = by(c3.read, path).examples
    assert found[0] == Choice(
        "男：走吧。\n女：好。", "怎么去?", ("坐车", "走路"), 1, "47-275-1", "dialogue", (str(path), 1)
    )
    assert found[1][3:] == (0, "508", "dialogue", (str(path), 1))
    assert found[2][3:] == (1, "2-1", "dialogue", (str(path), 2))
    groups = [by(c3.read, write(tmp_path / name, documents)).examples[0][5] for name in ("m-dev.json", "dev.json")]
    assert groups == ["mixed", ""]


def test_what_is_wrong_with_a_question_of_c3_is_counted(tmp_path: Path) -> None:
    bad = [c3_question("飞"), c3_question(None), c3_question(choice=["走路"]), c3_question(choice=5), 6]
    documents = [[["文"], bad, "n"], {"not": "a document"}, [[""], [c3_question()], "n"]]
    path = write(tmp_path / "dev.json", documents)
    assert whys(by(c3.read, path, bad="skip")) == [
        "1: the answer '飞' is none of the options", "1: the question has no answer",
        "1: fewer than two options leave no choice", "1: a question has no list 'choice'",
        "1: a question has no list 'choice'", "2: the document is no list of paragraphs, questions and a name",
        "3: paragraph 1 is empty",
    ]  # fmt: skip
    assert "dev.json:1: the answer '飞' is none of the options" in refused(by, c3.read, path)
    assert by(c3.read, path, labelled=False, bad="skip").examples[0][3] is None
    for content in ({}, []):
        assert "is no list of documents" in refused(by, c3.read, write(tmp_path / "dev.json", content))
