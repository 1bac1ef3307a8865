"""Do rows of one's own become examples of each kind by the names of their columns, from text, JSON and parquet?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from litebert.tasks.examples import Answer, Choice, Question, Text, Words
from litebert.tasks.readers import own
from litebert.tasks.readers.columns import KINDS, ROLES, Kind
from tasks.readers.written import refused, table, whys, write

RECORDS: dict[Kind, list[dict[str, Any]]] = {
    "classify": [{"text": "good", "pair": "bad", "label": "x", "id": "7"}, {"text": "é", "pair": "ü", "label": "y"}],
    "regress": [{"sentence1": "a", "sentence2": "b", "score": 2.5, "index": 3}],
    "tag": [{"tokens": ["in", "Rome"], "ner_tags": ["O", "B-place"]}],
    "span": [{"question": "who?", "context": "it is me", "answers": {"text": ["me"], "start": [6]}, "group": "t"},
             {"question": "why?", "context": "it is me", "answers": {"text": [], "answer_start": []}, "group": "t"}],
    "choice": [{"article": "a", "question": "q", "options": ["x", "y", "z"], "answer": "C", "id": 9}],
}  # fmt: skip
WANTED: dict[Kind, list[tuple[Any, ...]]] = {
    "classify": [("good", "bad", "x", "7"), ("é", "ü", "y", "")],
    "regress": [("a", "b", 2.5, "3")],
    "tag": [(("in", "Rome"), ("O", "B-place"), "")],
    "span": [("who?", "it is me", (Answer("me", 6),), "", "t"), ("why?", "it is me", (), "", "t")],
    "choice": [("a", "q", ("x", "y", "z"), 2, "9", "")],
}


def in_json(path: Path, records: list[dict[str, Any]]) -> Path:
    return write(path.with_suffix(".json"), records)


def in_lines(path: Path, records: list[dict[str, Any]]) -> Path:
    return write(path.with_suffix(".jsonl"), "".join(json.dumps(one) + "\n" for one in records))


def spread(path: Path, records: list[dict[str, Any]]) -> Path:
    return write(path.with_suffix(".json"), "\n".join(json.dumps(one, indent=2) for one in records))


def in_parquet(path: Path, records: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(records), path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("written", [in_json, in_lines, spread, in_parquet])
def test_a_record_is_the_same_example_in_each_form(kind: Kind, written: Any, tmp_path: Path) -> None:
    found = own.read(written(tmp_path / "a", RECORDS[kind]), kind)
    assert [tuple(one)[: len(wanted)] for one, wanted in zip(found.examples, WANTED[kind], strict=True)] == WANTED[kind]
    assert found.left == []


def test_columns_of_other_names_are_named(tmp_path: Path) -> None:
    content = "review,stars,text\nfine,5,12\n"
    (one,) = table(tmp_path, "a.csv", content, columns={"text": "review", "label": "stars"}).examples
    assert one[:3] == ("fine", None, "5")
    (one,) = table(tmp_path, "a.csv", "text,sentence,label\na,b,1\n", columns={"pair": "text"}).examples
    assert one[:3] == ("b", "a", "1")  # what is named for the one is not taken for the other too


def test_a_label_is_the_same_word_from_text_and_from_numbers(tmp_path: Path) -> None:
    found = table(tmp_path, "a.jsonl", "".join(f'{{"text": "t", "label": {label}}}\n' for label in
                                              ('" 1 "', "1", "1.0", "0.5", "true", '"true"')))  # fmt: skip
    assert [one.label for one in found.examples if isinstance(one, Text)] == ["1", "1", "1", "0.5", "true", "true"]


def test_several_labels_are_a_list_or_parted(tmp_path: Path) -> None:
    found = table(tmp_path, "a.csv", "text,label\na,x|y\nb,\nc,y | y\n", several="|")
    labels = [one.label for one in found.examples if isinstance(one, Text)]
    assert labels == [frozenset("xy"), frozenset(), frozenset("y")]
    found = table(tmp_path, "a.jsonl", '{"text": "a", "labels": ["x", "y"]}\n{"text": "b", "labels": []}\n')
    assert [one.label for one in found.examples if isinstance(one, Text)] == [frozenset("xy"), frozenset()]


def test_without_answers_rows_have_none(tmp_path: Path) -> None:
    given: dict[Kind, str] = {
        "classify": "text\na\n", "regress": "text\na\n", "tag": "text\na b\n", "span": "question,context\nq,c\n",
        "choice": "ending0,ending1,ending2,ending3\na,b,c,d\n",
    }  # fmt: skip
    for kind, empty in given.items():
        assert "has no column" in refused(table, tmp_path, "a.csv", empty, kind)
        (one,) = table(tmp_path, "a.csv", empty, kind, labelled=False).examples
        known = {Text: "label", Words: "tags", Question: "answers", Choice: "answer"}[type(one)]
        assert getattr(one, known) is None


def test_an_answer_of_a_table_stands_where_it_is_said_or_first(tmp_path: Path) -> None:
    content = "question,context,answer,start\na,me and me,me,7\nb,me and me,me,\nc,me and me,,\nd,it is me,me,5\n"
    found = table(tmp_path, "a.csv", content, "span")
    answers = [one.answers for one in found.examples if isinstance(one, Question)]
    assert answers == [(Answer("me", 7),), (Answer("me", 0),), (), (Answer("me", 6),)]  # the last was off by one


def test_an_option_is_told_by_text_letter_or_number(tmp_path: Path) -> None:
    rows = "".join(f"q,up,down,B,7,{answer}\n" for answer in ("down", "A", "d", "B", "7", "1"))
    found = table(tmp_path, "a.csv", f"question,ending0,ending1,ending2,ending3,label\n{rows}", "choice")
    # B and 7 are options' texts, which come first
    assert [one.answer for one in found.examples if isinstance(one, Choice)] == [1, 0, 3, 2, 3, 1]
    found = table(tmp_path, "b.csv", "q,x,y,a\nwhat?,one,two,1\n", "choice",
                  columns={"question": "q", "options": "x+y", "answer": "a"})  # fmt: skip
    assert found.examples[0][:4] == ("", "what?", ("one", "two"), 1)


def test_fields_that_the_first_record_lacks_are_columns_too(tmp_path: Path) -> None:
    content = '{"text": "a", "label": 1}\n{"text": "b", "label": 1, "pair": "c"}\n'
    found = table(tmp_path, "a.jsonl", content, bad="skip")
    assert whys(found) == ["1: column 'pair' is missing, not text"]
    assert len(found.examples) == 1


def test_the_form_of_a_file_is_seen(tmp_path: Path) -> None:
    qa = {"id": "1", "question": "q", "answers": [{"text": "b", "answer_start": 2}]}
    squad = {"version": "1", "data": [{"title": "t", "paragraphs": [{"context": "a b", "qas": [qa]}]}]}
    for content in (squad, json.dumps(squad, indent=4), {"data": squad["data"]}):
        (one,) = own.read(write(tmp_path / "a.json", content), "span").examples
        assert one[:5] == ("q", "a b", (Answer("b", 2),), "1", "t")
    c3 = [[["a", "b"], [{"question": "q", "choice": ["x", "y"], "answer": "y"}], "n"]]
    for content in (c3, json.dumps(c3, indent=2)):
        (one,) = own.read(write(tmp_path / "b.json", content), "choice").examples
        assert one[:5] == ("a\nb", "q", ("x", "y"), 1, "n-1")
    passage = {"article": "a", "questions": ["q"], "options": [["x", "y"]], "answers": ["B"], "id": "high7.txt"}
    write(tmp_path / "folder" / "7.txt", passage)
    (one,) = own.read(tmp_path / "folder", "choice").examples
    assert one[:5] == ("a", "q", ("x", "y"), 1, "high7-1")
    (one,) = own.read(write(tmp_path / "a.bio", "in O\nRome B-place\n"), "tag").examples
    assert one[:2] == (("in", "Rome"), ("O", "B-place"))


def test_parquet_in_groups_of_rows_keeps_its_numbers(tmp_path: Path) -> None:
    rows = [{"text": f"t{i}" if i != 2500 else "", "label": i % 2} for i in range(5000)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet", row_group_size=700)
    found = own.read(tmp_path / "a.parquet", "classify", bad="skip")
    assert whys(found) == ["2501: column 'text' is empty"]
    assert [one.place.row for one in found.examples] == [i + 1 for i in range(5000) if i != 2500]


def test_parquet_with_what_is_no_text_is_told(tmp_path: Path) -> None:
    bad = pa.array([b"fine", b"\xff\xfe"]).view(pa.string())
    pq.write_table(pa.table({"text": bad, "label": ["1", "2"]}), tmp_path / "a.parquet")
    found = own.read(tmp_path / "a.parquet", "classify", bad="skip")
    assert [one[:3] for one in found.examples] == [("fine", None, "1")]
    assert whys(found)[0].startswith("2: a value cannot be read ('utf-8' codec can't decode byte 0xff")
    pq.write_table(pa.table({"text": [b"bytes"], "label": ["1"]}), tmp_path / "b.parquet")
    assert "b.parquet:1: column 'text' is bytes, not text" in refused(own.read, tmp_path / "b.parquet", "classify")
    pq.write_table(
        pa.table({"text": pa.array([], pa.string()), "label": pa.array([], pa.string())}), tmp_path / "c.parquet"
    )
    assert "c.parquet is empty" in refused(own.read, tmp_path / "c.parquet", "classify")
    pq.write_table(pa.table([["a"], ["b"], ["c"]], ["text", "label", "text"]), tmp_path / "d.parquet")
    assert "d.parquet has 2 columns 'text'" in refused(own.read, tmp_path / "d.parquet", "classify")


def test_every_role_says_what_it_is_for() -> None:
    for kind, roles in ROLES.items():
        assert any(role.need == "always" for role in roles.values()), kind
        for role in roles.values():
            assert role.about
            assert role.names
