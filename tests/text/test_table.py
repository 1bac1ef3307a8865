"""Does a column become documents row by row, and is every row that does not, and every damage, named?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from litebert.errors import UserError
from litebert.text import corpus, table
from litebert.text.items import Document, Reading
from litebert.text.sources import sources
from text.readings import assert_resumes, documents, problems, read, small, texts, whole

WORDS = [f"Row {i} says {'so much ' * (i % 7)}and no more." for i in range(40)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.parquet"


def write(path: Path, values: Any, kind: Any = None, name: str = "text", **how: Any) -> None:
    ids = pa.array(range(len(values)))
    pq.write_table(pa.table({"id": ids, name: pa.array(values, kind)}), path, **how)


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.dictionary(pa.int32(), pa.string())],
    ids=str,
)
@pytest.mark.parametrize("how", [{}, {"row_group_size": 7, "compression": "zstd"}, {"use_dictionary": False}], ids=str)
def test_a_row_is_a_document_whatever_the_column_is_made_of(file: Path, kind: Any, how: dict[str, Any]) -> None:
    values = [word.encode() for word in WORDS] if kind == pa.binary() else WORDS
    write(file, values, kind, **how)
    assert documents(file) == [Document(word, str(file), row) for row, word in enumerate(WORDS, 1)]


def test_the_column_is_chosen_by_name(file: Path) -> None:
    pq.write_table(pa.table({"text": ["no"], "a body": ["yes"]}), file)
    assert texts(file, field="a body") == ["yes"]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"id": [1], "title": ["x"]}, "a.parquet has no column 'text': choose one of id, title"),
        ({"text": [1], "title": ["x"]}, "a.parquet has int64 in column 'text', not text: choose one of title"),
        ({"text": [["x"]]}, r"has list<.*> in column 'text', not text: choose one of none"),
        ({"text": [{"body": "x"}]}, r"has struct<.*> in column 'text', not text"),
        ({"text": [None]}, "has null in column 'text', not text"),
    ],
)
def test_a_column_that_is_not_there_or_no_text_is_refused_with_those_that_are(
    file: Path, columns: dict[str, Any], said: str
) -> None:
    pq.write_table(pa.table(columns), file)
    with pytest.raises(UserError, match=said):
        read(file)
    with pytest.raises(UserError, match=said):  # a table that is at fault is not a row that is
        read(file, bad="skip")


def test_two_columns_of_one_name_are_refused(file: Path) -> None:
    pq.write_table(pa.table([pa.array(["a"]), pa.array(["b"])], ["text", "text"]), file)
    with pytest.raises(UserError, match=r"a\.parquet has 2 columns 'text'"):
        read(file)


def test_a_null_is_refused_by_row_or_left_out_and_counted(file: Path) -> None:
    write(file, ["a", None, "b", None], pa.string(), row_group_size=3)
    with pytest.raises(UserError, match=r"a\.parquet:2: the row is null in column 'text': fill it in, or .*--bad skip"):
        read(file)
    assert problems(file, bad="skip") == [("bad record", 2, 1), ("bad record", 4, 1)]
    assert whole(item for item, _ in read(file, bad="skip"))[::2] == [(1, "a"), (3, "b")]


def test_rows_without_text_are_counted_long_blank_ones_too(file: Path) -> None:
    write(file, ["a", "", " \n\u3000", " " * 100, "b"])
    empty = [("empty document", row, 1) for row in (2, 3, 4)]
    assert problems(file) == empty
    with small(16, 64):
        assert problems(file) == empty
        assert_resumes(file)


def test_a_table_without_rows_is_counted(file: Path) -> None:
    write(file, [], pa.string())
    assert problems(file) == [("empty file", 0, 1)]


def test_what_is_no_text_is_refused_by_row_or_replaced_and_counted(file: Path) -> None:
    write(file, [b"a", b"b\n\xff\xfe", b"c\0\0\0"], pa.binary())
    with pytest.raises(UserError, match=r"a\.parquet:2: byte 3 \(0xff\) is not UTF-8"):
        read(file)
    assert problems(file, invalid="replace") == [("invalid UTF-8", 2, 2), ("NUL bytes", 3, 3)]


def test_a_long_row_comes_in_parts_and_every_mark_resumes(file: Path) -> None:
    values = [None if i % 11 == 5 else word for i, word in enumerate(WORDS)]
    write(file, values, pa.string(), row_group_size=9)
    expected = whole(item for item, _ in read(file, bad="skip"))
    with small(20, 64):
        assert whole(item for item, _ in read(file, bad="skip")) == expected
        assert max(item.part for item, _ in read(file, bad="skip") if isinstance(item, Document)) > 2
        assert assert_resumes(file, bad="skip") > 60


def test_many_short_rows_are_read_some_at_a_time(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_ROWS", 3)
    write(file, WORDS, row_group_size=10)
    assert texts(file) == WORDS
    assert_resumes(file)
    monkeypatch.setattr(table, "BATCH", 1)
    assert texts(file) == WORDS


@pytest.mark.parametrize(
    "data", [b"", b"PAR1", b"x" * 100, json.dumps({"text": "a"}).encode(), b"PAR1" + b"\0" * 50 + b"PAR1"]
)
def test_what_is_no_parquet_file_is_refused(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    with pytest.raises(UserError, match=r"a\.parquet is no parquet file, or cut off \(.*\): copy it again") as raised:
        read(file)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_cut_off_is_refused_wherever_it_ends(file: Path) -> None:
    write(file, WORDS)
    data = file.read_bytes()
    for end in range(1, len(data), 37):
        file.write_bytes(data[:end])
        with pytest.raises(UserError, match=r"a\.parquet is no parquet file, or cut off"):
            read(file)


def test_damage_is_named_with_the_row_before_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_ROWS", 5)
    write(file, WORDS, row_group_size=20, use_dictionary=False, compression="none", write_page_checksum=True)
    data = bytearray(file.read_bytes())
    data[data.index(b"Row 25 says")] ^= 1
    file.write_bytes(data)
    found: list[str] = []
    with pytest.raises(UserError, match=r"a\.parquet is damaged after row 20 \(.*\): copy it again"):
        found.extend(item.text for item, _ in corpus.read(sources([file]), Reading()) if isinstance(item, Document))
    assert found == WORDS[:20]


def test_a_file_that_vanished_is_named(file: Path) -> None:
    write(file, WORDS)
    items = corpus.read(sources([file]), Reading())
    file.unlink()
    with pytest.raises(UserError, match=r"a\.parquet cannot be read \(.*\): check the name"):
        next(items)
