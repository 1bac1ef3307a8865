"""Do lines of a pipe become the examples that a file of them would give, each under its number?"""

from __future__ import annotations

import csv

import pytest

from litebert.errors import UserError
from litebert.tasks import piped
from litebert.tasks.examples import Example, Left, Text, Words


def read(data: str | bytes, kind: str = "classify", **more: object) -> list[Example | Left]:
    """The examples of some lines."""
    lines = (data if isinstance(data, bytes) else data.encode()).splitlines(keepends=True)
    return list(piped.of_lines(lines, kind, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("form", "data"),
    [
        ("", "\ufeffthe old boat\r\nthe sea, cold\n"),
        ("", '\ufeff{"text": "the old boat", "label": [3]}\n\n{"text": "the sea, cold"}\n'),
        ("csv", '\ufeffid,sentence\n1,the old boat\n2,"the sea, cold"\n'),
        ("tsv", "sentence\tlabel\nthe old boat\tno such\nthe sea, cold\t\n"),
    ],
)
def test_every_form_gives_the_same_texts(form: str, data: str) -> None:
    """A byte order mark in the first text, carriage returns, labels that nobody asked for."""
    found = read(data, form=form)
    assert [one.text for one in found if isinstance(one, Text)] == ["the old boat", "the sea, cold"]
    assert all(isinstance(one, Text) and one.label is None for one in found)


def test_rows_keep_their_numbers_and_bad_ones_are_left_out() -> None:
    data = b'{"text": "a"}\n{"text": \n[1]\n{"text": "\xff"}\n\n{"text": " "}\n{"other": "x"}\n{"text": "b"}\n'
    found = read(data, bad="skip")
    assert [one.place.row for one in found] == [1, 2, 3, 4, 6, 7, 8]
    why = [one.why for one in found if isinstance(one, Left)]
    for said, word in zip(why, ("not JSON", "a list", "not UTF-8", "empty", "no column 'text'"), strict=True):
        assert word in said
    with pytest.raises(UserError, match="standard input:2: the line is not JSON"):
        read(data)


def test_a_quoted_field_may_go_over_lines_and_a_short_row_is_told() -> None:
    found = read('sentence,id\n"the old\nboat",7\nthe sea\nx,8\n', form="csv", bad="skip")
    assert isinstance(found[0], Text)
    assert (found[0].text, found[0].id, found[0].place.row) == ("the old\nboat", "7", 2)
    assert isinstance(found[1], Left)
    assert found[1].place.row == 4
    assert "1 columns" in found[1].why


def test_a_quoted_field_may_be_longer_than_python_reads_unasked() -> None:
    """Whoever read a file before in the same process has raised the limit: here it stands where Python has it."""
    before = csv.field_size_limit(131_072)
    try:
        found = read(f'text\n"{"x" * 140_000}"\n', form="csv")
    finally:
        csv.field_size_limit(before)
    assert isinstance(found[0], Text)
    assert len(found[0].text) == 140_000


def test_words_come_from_running_text_or_are_cut_already() -> None:
    found = read('{"text": "the sea."}\n{"tokens": ["the", "sea."]}\n', "tag")
    assert [one.words for one in found if isinstance(one, Words)] == [("the", "sea", "."), ("the", "sea.")]


def test_nothing_gives_nothing_and_a_file_s_form_is_refused() -> None:
    assert read("") == []
    with pytest.raises(UserError, match="cannot be read from a pipe"):
        read("x", form="parquet")
