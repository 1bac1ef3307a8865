"""Are CLUE's tasks read, each with fields of its own, and rows without an agreed label counted?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from litebert.tasks.examples import Text, Words
from litebert.tasks.readers import clue
from tasks.readers.written import by, refused, whys, write

PAIR = {"sentence1": "雨", "sentence2": "水"}
WINOGRAD = {
    "target": {"span1_text": "小明", "span1_index": 0, "span2_text": "他", "span2_index": 5},
    "text": "小明说了，他累了。",
}
# task -> a record, and the text, pair, label and id that it gives
RECORDS: dict[str, tuple[dict[str, Any], tuple[Any, ...]]] = {
    "ocnli": ({**PAIR, "label": "neutral", "id": 0, "label0": None}, ("雨", "水", "neutral", "0")),
    "cmnli": ({**PAIR, "label": "entailment"}, ("雨", "水", "entailment", "")),
    "afqmc": ({**PAIR, "label": "1"}, ("雨", "水", "1", "")),
    "tnews": ({"label": "102", "label_desc": "news", "sentence": "新闻", "keywords": ""}, ("新闻", None, "102", "")),
    "iflytek": ({"label": "11", "label_des": "x", "sentence": "应用"}, ("应用", None, "11", "")),
    "csl": ({"id": 1, "abst": "摘要", "keyword": ["甲", "乙"], "label": "0"}, ("甲、乙", "摘要", "0", "1")),
    "cluewsc": ({**WINOGRAD, "idx": 0, "label": "true"}, ("_小明_说了，[他]累了。", None, "true", "")),
}


def lines(*records: Any) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


@pytest.mark.parametrize("task", RECORDS)
def test_a_task_is_read_by_its_fields(task: str, tmp_path: Path) -> None:
    record, wanted = RECORDS[task]
    path = write(tmp_path / "train.json", lines(record, record))
    assert [tuple(one)[:4] for one in by(clue.read, path, task=task).examples] == [wanted] * 2
    asked = {name: value for name, value in record.items() if name != "label"}
    (one,) = by(clue.read, write(tmp_path / "test.json", lines(asked)), task=task, labelled=False).examples
    assert isinstance(one, Text)
    assert one.label is None
    assert "test.json:1: the record has no label" in refused(by, clue.read, tmp_path / "test.json", task=task)


def test_rows_that_annotators_did_not_agree_on_are_counted_and_no_fault(tmp_path: Path) -> None:
    path = write(tmp_path / "dev.json", lines({**PAIR, "label": "-"}, {**PAIR, "label": "neutral"}))
    found = by(clue.read, path, task="ocnli", bad="refuse")
    assert len(found.examples) == 1
    assert whys(found) == ["1: label '-': the annotators did not agree"]


@pytest.mark.parametrize("task,record,why", [
    ("ocnli", {**PAIR, "label": "neutrl"}, "unknown label 'neutrl': did you mean 'neutral'?"),
    ("ocnli", {"sentence1": "a", "label": "neutral"}, "sentence2 is missing, not text"),
    ("tnews", {"sentence": "a", "label": "105"}, "unknown label '105'"),
    ("csl", {"abst": "a", "keyword": "甲", "label": "1"}, "the record has no list 'keyword'"),
    ("cluewsc", {"text": "a", "label": "true"}, "the record has no object 'target'"),
    ("cluewsc", {**WINOGRAD, "text": "他说，小明累了", "label": "true"}, "span 1 ('小明') does not stand at char"),
])  # fmt: skip
def test_a_record_that_is_no_example_is_told(task: str, record: dict[str, Any], why: str, tmp_path: Path) -> None:
    path = write(tmp_path / "dev.json", lines(RECORDS[task][0], record, [1]))
    assert f"dev.json:2: {why}" in refused(by, clue.read, path, task=task)
    found = by(clue.read, path, task=task, bad="skip")
    assert len(found.examples) == 1
    assert whys(found)[1] == "3: the record is a list, not an object"


def test_marks_of_spans_side_by_side_are_not_crossed(tmp_path: Path) -> None:
    beside = {"target": {"span1_text": "b", "span1_index": 1, "span2_text": "c", "span2_index": 2}, "text": "abcd"}
    turned = {"target": {"span1_text": "c", "span1_index": 2, "span2_text": "b", "span2_index": 1}, "text": "abcd"}
    path = write(tmp_path / "dev.json", lines(*({**one, "label": "true"} for one in (beside, turned))))
    assert [one[0] for one in by(clue.read, path, task="cluewsc").examples] == ["a_b_[c]d", "a[b]_c_d"]


def test_an_empty_file_and_a_task_that_is_none_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "dev.json", "")
    assert "dev.json is empty" in refused(by, clue.read, path, task="ocnli")
    assert "dev.json is empty" in refused(by, clue.entities, path)
    assert refused(by, clue.read, path, task="ocnl") == "unknown CLUE task 'ocnl': did you mean 'ocnli'?"


def entity(text: str, **kinds: Any) -> dict[str, Any]:
    return {"text": text, "label": kinds}


@pytest.mark.parametrize("indent", [None, 2])
def test_entities_become_characters_with_tags(indent: int | None, tmp_path: Path) -> None:
    records = [entity("张三在北京，张三", name={"张三": [[0, 1], [6, 7]]}, address={"北京": [[3, 4]]}), entity("没有")]
    content = "\n".join(json.dumps(one, ensure_ascii=False, indent=indent) for one in records)
    one, two = by(clue.entities, write(tmp_path / "train.json", content)).examples
    assert isinstance(one, Words)
    assert one.words == tuple("张三在北京，张三")
    assert one.tags == ("B-name", "I-name", "O", "B-address", "I-address", "O", "B-name", "I-name")
    assert not one.spaced
    assert two[:2] == (("没", "有"), ("O", "O"))


def test_of_entities_that_overlap_the_longer_one_is_kept_and_the_other_counted(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.json", lines(entity("北京大学", address={"北京": [[0, 1]]}, organization={"北京大学": [[0, 3]]}))
    )
    found = by(clue.entities, path, bad="refuse")
    assert found.examples[0][1] == ("B-organization", "I-organization", "I-organization", "I-organization")
    assert whys(found) == ["1: address '北京' overlaps a longer entity (its sentence is kept)"]


@pytest.mark.parametrize("record,why", [
    (entity("北京", address={"南京": [[0, 1]]}), "'南京' does not stand at characters 0 to 1 of the text"),
    (entity("北京", address={"北京": [[0, 2]]}), "'北京' does not stand at characters 0 to 2"),
    (entity("北京", address={"": [[0, -1]]}), "'' does not stand at characters 0 to -1"),
    (entity("北京", address={"北京": [0, 1]}), "the place of '北京' is not a first and a last character"),
    (entity("北京", adress={"北京": [[0, 1]]}), "unknown kind of entity 'adress': did you mean 'address'?"),
    (entity("北京", address=["北京"]), "its label is no object of kinds"),
    ({"text": "北京"}, "the record has no label"),
    ({"label": {}}, "its text is missing, not text"),
])  # fmt: skip
def test_an_entity_that_is_not_there_is_told(record: dict[str, Any], why: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", lines(record, entity("好")))
    assert f"a.json:1: {why}" in refused(by, clue.entities, path)
    found = by(clue.entities, path, bad="skip")
    assert len(found.examples) == len(found.left) == 1


def test_a_test_file_has_no_tags(tmp_path: Path) -> None:
    (one,) = by(clue.entities, write(tmp_path / "test.json", lines({"id": 3, "text": "好"})), labelled=False).examples
    assert one[:3] == (("好",), None, "3")
