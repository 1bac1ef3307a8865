"""Is every defect of a table told in one line, with its file and row, and counted where rows may be left out?"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from litebert.tasks.examples import Text
from litebert.tasks.readers import own
from tasks.readers.written import refused, table, whys

LONG = "1" + "0" * 400

# what is wrong -> file, content, kind and how it is read, what is said
FILES: dict[str, tuple[str, str | bytes, dict[str, Any], str]] = {
    "a column that is not there": ("a.csv", "txt,label\nx,1\n", {},
        "a.csv has no column 'text' for the text: it has txt, "
        "label (did you mean 'txt'?): say which it is (--columns text=NAME)"),
    "no answers": ("a.csv", "text,lable\nx,1\n", {}, "it has text, lable (did you mean 'lable'?): say which it is "
        "(--columns label=NAME)"),
    "a named column that is not there": ("a.csv", "text,label\nx,1\n", {"columns": {"text": "tex"}},
        "a.csv has no column 'tex' among text, label (did you mean 'text'?): choose one of them"),
    "a role that is none": ("a.csv", "text,label\nx,1\n", {"columns": {"txt": "text"}},
        "unknown column of classify 'txt': did you mean 'text'?"),
    "columns of one name": ("a.csv", "text,label,text\nx,1,y\n", {}, "a.csv has 2 columns 'text': give each a name of"),
    "named columns of one name": ("a.tsv", "a\tb\tb\nx\t1\ty\n", {"columns": {"text": "a", "label": "b"}},
        "a.tsv has 2 columns 'b': give each a name of its own"),
    "a field that stands there twice": ("a.jsonl", '{"text": "a", "label": 1, "text": "b"}\n', {},
        "a.jsonl:1: an object has the field 'text' twice"),
    "the same in a document": ("a.json", '[\n{"text": "a", "label": 1, "text": "b"}]', {},
        "a.json: an object has the field 'text' twice: say each once"),
    "an empty file": ("a.csv", "", {}, "a.csv is empty: name a file with a line for each example"),
    "a file of blank lines": ("a.tsv", "\n\n", {}, "a.tsv is empty"),
    "an empty file of records": ("a.jsonl", "", {}, "a.jsonl is empty: name a file with a record for each example"),
    "a blank document": ("a.json", " \n ", {}, "a.json is empty"),
    "a header alone": ("a.csv", "text,label\n", {}, "a.csv has a header and no rows: name a file with a row for each"),
    "commas in place of tabs": ("a.tsv", "text,label\nx,1\n", {},
        "as its columns are parted by commas, not by tabs: name "
        "the delimiter, ','"),
    "semicolons in place of commas": ("a.csv", "text;label\nx;1\n", {}, "parted by semicolons, not by commas"),
    "tabs in place of commas": ("a.csv", "text\tlabel\nx, y\t1\n", {}, r"it has 'text\tlabel'"),
    "a delimiter that is none": ("a.csv", "text,label\nx,1\n", {"delimiter": ", "},
        "delimiter ', ' is not one character"),
    "UTF-16": ("a.csv", "text,label\nx,1\n".encode("utf-16"), {}, "a.csv is UTF-16, not UTF-8: convert it"),
    "UTF-16 without its mark": ("a.csv", "text,label\n".encode("utf-16-le"), {},
        "begins with a NUL byte (is it UTF-16?)"),
    "UTF-16 the other way round": ("a.json", '{"text": 1}'.encode("utf-16-be"), {}, "begins with a NUL byte"),
    "a first line that is not UTF-8": ("a.csv", b"te\xffxt,label\nx,1\n", {}, "a.csv:1: byte 3 (0xff) is not UTF-8"),
    "a document that is not UTF-8": ("a.json", b'[{"text": "a"},\n{"text": "\xff"}]', {},
        "a.json:2: byte 0xff is not UTF"),
    "a quote that is never closed": ("a.csv", 'text,label\nx,1\n"y,2\nz,3\n', {},
        "a.csv:3: a quote is opened and never"),
    "lines that end as on old machines": ("a.csv", "text,label\rx,1\r", {}, "a.csv:1: a carriage return stands within"),
    "the same with tabs": ("a.tsv", "text\tlabel\rx\t1\r", {}, "a.tsv:1: a carriage return stands within the line"),
    "a list that is cut off": ("a.json", '[{"text": "a", "label": 1},\n{"text": "b", "la', {}, "a.json:2: not JSON ("),
    "objects that are cut off": ("a.json", '{\n"text": "a", "label": 1}\n{"text": "b"', {}, "a.json:3: not JSON ("),
    "no object anywhere": ("a.json", '[["x", 1]]', {}, "a.json:1: the record is a list, not an object"),
    "a number alone": ("a.jsonl", "5\n", {}, "a.jsonl:1: the record is a number, not an object"),
    "brackets without end": ("a.jsonl", "[" * 100_000, {}, "a.jsonl:1: the line is not JSON that can be read"),
    "a suffix that says nothing": ("a.xls", "text,label\n", {},
        "a.xls does not say by its suffix what it is: choose one of "
        ".csv, .tsv, .txt, .jsonl, .ndjson, .json, .parquet"),
    "a packed file that is cut off": ("a.csv.gz", gzip.compress(b"text,label\nx,1\n" * 999)[:50], {},
        "is cut off or damaged"),
    "a packed file that is none": ("a.csv.gz", b"text,label\nx,1\n", {}, "is cut off or damaged"),
    "parquet that is none": ("a.parquet", b"text,label\nx,1\n", {}, "a.parquet is no parquet file, or cut off"),
    "a delimiter for JSON": ("a.jsonl", '{"text": 1}', {"delimiter": ","},
        "has names for its columns itself: leave out"),
    "a form of another kind": ("a.json", "[]", {"form": "squad"},
        "a file in form 'squad' has no examples for classify: "
        "choose table"),
    "a kind that is none": ("a.csv", "", {"kind": "clasify"},
        "unknown kind of task 'clasify': did you mean 'classify'?"),
    "columns of what is no table": ("a.conll", "a O\n", {"kind": "tag", "columns": {"words": "a"}},
        "which is no table"),
}  # fmt: skip

# the same of one row: file, content, kind, how, row, what is said
ROWS: dict[str, tuple[str, str | bytes, dict[str, Any], int, str]] = {
    "an empty text": ("a.csv", "text,label\n ,1\n", {}, 2, "column 'text' is empty"),
    "an empty label": ("a.csv", "text,label\nx,\n", {}, 2, "column 'label' is empty"),
    "an empty second text": ("a.csv", "text,pair,label\nx,,1\n", {}, 2, "column 'pair' is empty"),
    "no text": ("a.jsonl", '{"text": null, "label": 1}\n', {}, 1, "column 'text' is missing, not text"),
    "a number for a text": ("a.jsonl", '{"text": 5, "label": 1}\n', {}, 1, "column 'text' is a number, not text"),
    "a label that is unknown": ("a.csv", "text,label\nx,psitive\n", {"labels": ("positive", "negative")}, 2,
        "unknown label 'psitive': did you mean 'positive'?"),
    "a label that is no number": ("a.jsonl", '{"text": "a", "label": NaN}\n', {},
        1, "column 'label' is nan, not a label"),
    "an object for a label": ("a.jsonl", '{"text": "a", "label": {}}\n', {},
        1, "column 'label' is an object, not a label"),
    "a score that is nan": ("a.csv", "text,score\nx,nan\n", {"kind": "regress"},
        2, "column 'score' nan is not a number"),
    "a score that is a word": ("a.csv", "text,score\nx,high\n", {"kind": "regress"},
        2, "column 'score' 'high' is not a num"),
    "no score": ("a.csv", "text,score\nx,\n", {"kind": "regress"}, 2, "column 'score' is empty"),
    "a score that is true": ("a.jsonl", '{"text": "x", "score": true}\n', {"kind": "regress"},
        1, "True is not a number"),
    "a score too large": ("a.jsonl", f'{{"text": "x", "score": {LONG}}}\n', {"kind": "regress"},
        1, "a number too large"),
    "NUL": ("a.csv", "text,label\nx\0y,1\n", {}, 2, "column 'text' holds a NUL, character 2"),
    "NUL in a label": ("a.csv", "text,label\nxy,\0\n", {}, 2, "column 'label' holds a NUL"),
    "half a character": ("a.jsonl", '{"text": "a\\ud800", "label": 1}\n', {},
        1, r"column 'text' holds \ud800, which is half"),
    "bytes that are not UTF-8": ("a.csv", b"text,label\nab\xff,1\n", {}, 2, "byte 3 (0xff) is not UTF-8"),
    "the same within quotes": ("a.csv", b'text,label\n"a\nb\xff",1\n', {}, 2, "byte 2 (0xff) is not UTF-8"),
    "the same with tabs": ("a.tsv", b"text\tlabel\nab\xff\t1\n", {}, 2, "byte 3 (0xff) is not UTF-8"),
    "the same in a record": ("a.jsonl", b'{"text": "a", "label": 1}\n{"text": "\xff"}\n', {},
        2, "byte 11 (0xff) is not UTF-8"),
    "text behind a quote": ("a.csv", 'text,label\n"x"y,1\n', {}, 2, "',' expected after '\"', as quotes are read"),
    "a row that is too long": ("a.csv", "text,label\nx, y,1\n", {},
        2, "the row has 3 columns, the first one 2 (are its del"),
    "a row that is too short": ("a.tsv", "text\tlabel\nx\n", {},
        2, "the row has 1 column, the first one 2 (are its fields "),
    "a record that is cut off": ("a.jsonl", '{"text": "a", "label": 1}\n{"text": "b', {}, 2, "the line is not JSON ("),
    "a number of 5,000 digits": ("a.jsonl", '{"text": "a", "label": 1}\n' + "1" * 5000, {},
        2, "is not JSON that can be"),
    "fewer tags than words": ("a.jsonl", '{"words": ["a", "b"], "tags": ["O"]}\n', {"kind": "tag"},
        1, "1 tags for 2 words"),
    "tags that are numbers": ("a.jsonl", '{"words": ["a"], "tags": [0]}\n', {"kind": "tag"},
        1, "number 1, is a number, not t"),
    "no words": ("a.jsonl", '{"words": [], "tags": []}\n', {"kind": "tag"}, 1, "column 'words' has no words"),
    "one option": ("a.jsonl", '{"options": ["a"], "label": 0}\n', {"kind": "choice"}, 1, "fewer than two options"),
    "options that are no list": ("a.jsonl", '{"options": "a", "label": 0}\n', {"kind": "choice"},
        1, "'options' is no list"),
    "an option that is not there": ("a.jsonl", '{"options": ["x", "y"], "label": 2}\n', {"kind": "choice"}, 1,
        "column 'label' '2' is none of the 2 options (its text, A to B, or 0 to 1)"),
    "an option of another letter": ("a.jsonl", '{"options": ["x", "y"], "label": "c"}\n', {"kind": "choice"},
        1, "'c' is none"),
    "half an option": ("a.jsonl", '{"options": ["x", "y"], "label": 0.5}\n', {"kind": "choice"},
        1, "'0.5' is none of the 2"),
    "a negative option": ("a.jsonl", '{"options": ["x", "y"], "label": -1}\n', {"kind": "choice"},
        1, "'-1' is none of the 2"),
    "an answer that is not in its context": ("a.csv", "question,context,answer\nq,it is me,you\n", {"kind": "span"}, 2,
        "the answer 'you' is not in the context"),
    "an answer that stands elsewhere": ("a.csv", "question,context,answer,start\nq,me me me,me,40\n", {"kind": "span"},
        2,
        "the answer 'me' does not stand at character 40 of the context, but at others, as 0"),
}  # fmt: skip


@pytest.mark.parametrize("what", FILES)
def test_a_file_that_cannot_be_read_is_refused_even_where_rows_may_be_left_out(what: str, tmp_path: Path) -> None:
    name, content, how, said = FILES[what]
    for bad in ("refuse", "skip"):
        assert said in refused(table, tmp_path, name, content, bad=bad, **how)


@pytest.mark.parametrize("what", ROWS)
def test_a_row_that_is_no_example_is_refused_or_counted(what: str, tmp_path: Path) -> None:
    name, content, how, row, said = ROWS[what]
    message = refused(table, tmp_path, name, content, **how)
    assert message.startswith(f"{tmp_path / name}:{row}: ")
    assert said in message
    assert message.endswith("mend it, or have such rows left out (--bad skip)")
    found = table(tmp_path, name, content, bad="skip", **how)
    assert len(found.left) == 1
    assert whys(found)[0].startswith(f"{row}: ")
    assert said in whys(found)[0]


def test_what_is_around_a_bad_row_is_read(tmp_path: Path) -> None:
    content = b'text,label\na,1\n,1\n"b\nc",0\nd\xff,1\nx,y,z\n"e"f,1\ng,0\n'
    found = table(tmp_path, "a.csv", content, bad="skip")
    read = [(one.text, one.label, one.place.row) for one in found.examples if isinstance(one, Text)]
    assert read == [("a", "1", 2), ("b\nc", "0", 4), ("g", "0", 9)]
    assert [one.place.row for one in found.left] == [3, 6, 7, 8]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert "a.csv cannot be read (no such file" in refused(own.read, tmp_path / "a.csv", "classify")
