"""Is the text in a JSON object found from pieces of it, only if it is one, without holding what is not asked for?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import repeat
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litebert.text.long_json import RecordError, text_of
from text.readings import peak

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
RECORDS = st.builds(
    lambda before, text, after: {**before, "body": text, **after},
    st.dictionaries(st.text(max_size=5), VALUES, max_size=3),
    st.text(),
    st.dictionaries(st.text(max_size=5), VALUES, max_size=3),
).filter(lambda record: isinstance(record["body"], str))
CHUNKS, MOST = 2000, 400_000  # of a thousand characters; bytes to be held of those two million


def chunks(text: str, size: int) -> Iterator[str]:
    return (text[i : i + size] for i in range(0, len(text), size))


@given(RECORDS, st.integers(1, 9), st.booleans(), st.sampled_from([None, 2]))
def test_the_text_is_what_json_says(record: dict[str, Any], size: int, ascii_only: bool, indent: int | None) -> None:
    line = json.dumps(record, ensure_ascii=ascii_only, indent=indent)
    assert "".join(text_of(chunks(line, size), "body")) == record["body"]


@given(RECORDS, st.data())
def test_no_beginning_of_a_record_is_a_record(record: dict[str, Any], data: st.DataObject) -> None:
    line = json.dumps(record)
    end = data.draw(st.integers(0, len(line) - 1))
    with pytest.raises(RecordError):
        list(text_of(chunks(line[:end], 7), "body"))


@given(st.text(st.sampled_from('{}[]":,\\ub1e-.tn body'), max_size=30), st.integers(1, 5))
def test_what_json_reads_is_read_and_never_more_than_its_text(tail: str, size: int) -> None:
    line = '{"body": "x", ' + tail
    try:
        value = json.loads(line)
    except ValueError:
        return
    if isinstance(value["body"], str) and line.count('"body"') == 1:
        assert "".join(text_of(chunks(line, size), "body")) == value["body"]


@pytest.mark.parametrize(
    "line",
    [
        '{"body": "x",}', '{,"body": "x"}', '{"body": "x" "a": 1}', '{"body" : }', '{"a": 1.}', '{"a": .5}',
        '{"a": +1, "body": "x"}', '{"a": ١, "body": "x"}', '{"a": nul, "body": "x"}', '{"a": [1}, "body": "x"}',
        '{"body": "\\u12"}', '{"body": "\\x41"}', "{'body': 'x'}", '{body: "x"}', "", " ", '{"body": "x"}]',
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 100])
def test_what_is_no_json_is_refused(line: str, size: int) -> None:
    with pytest.raises(RecordError, match=r"is not JSON \(.*, column [\d,]+\)"):
        list(text_of(chunks(line, size), "body"))


def test_the_column_of_a_fault_is_counted_over_all_chunks() -> None:
    line = '{"a": "' + "x" * 2000 + '", "b": '
    with pytest.raises(RecordError, match=rf"\(a value is missing, column {len(line) + 1:,}\)"):
        list(text_of(chunks(line + "}", 64), "body"))


@pytest.mark.parametrize(
    ("begin", "again", "said"),
    [
        ('{"a": ', "[" * 1000, "nested too deeply"),
        ('{"a": ', "1" * 1000, "a number is too long"),
        ('{"', "name" * 1000, "a string is not closed"),
        ("{", '"a": 1, ' + " " * 992, '" is missing'),
        (" ", " " * 1000, "a value is missing"),
        ('{"a": "', "\\u00e9" * 200, "a string is not closed"),
    ],
)
def test_what_has_no_end_is_not_held(begin: str, again: str, said: str) -> None:
    def work() -> None:
        with pytest.raises(RecordError, match=said):
            list(text_of(iter([begin, *repeat(again, CHUNKS)]), "body"))

    assert peak(work) < MOST
