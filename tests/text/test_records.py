"""Do lines of JSON become documents, short and endless ones alike, and is every line that does not said to be bad?"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litebert.errors import UserError
from litebert.text.items import Document, Problem
from text.readings import assert_resumes, documents, problems, read, small, texts, whole

LONG = {"short": 1 << 20, "long": 4}  # bytes beyond which a line is not held whole


@pytest.fixture(params=LONG)
def way(request: pytest.FixtureRequest) -> int:
    """Both ways to read a line, which must agree."""
    return LONG[request.param]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


def joined(*paths: Path, **reading: Any) -> list[tuple[int, str]]:
    return whole(item for item, _ in read(*paths, **reading))


def test_a_line_is_a_document_and_blank_lines_are_none(file: Path) -> None:
    file.write_text(
        '{"text": "one\\ntwo", "id": 1}\n\n  \n{"id": {"text": 3}, "text": "thr\\u00e9e"}\r\n{"text": "no end"}'
    )
    assert documents(file) == [
        Document("one\ntwo", str(file), 1),
        Document("thrée", str(file), 4),
        Document("no end", str(file), 5),
    ]


def test_the_field_is_chosen_by_name(file: Path, way: int) -> None:
    file.write_text('{"text": "no", "body": "yes", "note": [1, {"body": "no"}, -2.5e3, null, true, "}"]}\n')
    with small(way, 64):
        assert joined(file, field="body") == [(1, "yes")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": 1, "titel": "x"}', r"has no field 'text' \(it has 'id', 'titel'\)"),
        ("{}", r"has no field 'text' \(it has none\)"),
        (json.dumps(dict.fromkeys("abcdefghij", 1)), r"has no field 'text' \(it has 'a', .*'h', …\)"),
        ('{"text": 5}', "has a number in field 'text', not a text"),
        ('{"text": -0.5e3}', "has a number in field 'text', not a text"),
        ('{"text": null}', "has null in field 'text', not a text"),
        ('{"text": true}', "has true or false in field 'text', not a text"),
        ('{"text": ["a"]}', "has a list in field 'text', not a text"),
        ('{"text": {"text": "a"}}', "has an object in field 'text', not a text"),
        ('{"text": "a", "text": "b"}', "has the field 'text' twice"),
        ('["a"]', "is a list, not an object"),
        ('"a text"', "is a text, not an object"),
        ("17", "is a number, not an object"),
        ("null", "is null, not an object"),
        ("<html>", r"is not JSON \(.*, column 1\)"),
        ('{"text": "a"} {"text": "b"}', r"is not JSON \(.*, column 15\)"),
        ('{"text": "a"', r"is not JSON \(.*, column 13\)"),
        ('{"text": "a', r"is not JSON \(.*, column \d+\)"),
        ('{"text" "a"}', r"is not JSON \(.*, column 9\)"),
        ('{"text": a}', r"is not JSON \(.*, column 10\)"),
        ('{"id": 01, "text": "a"}', r"is not JSON \("),
        ('{"text": "a\\q"}', r"is not JSON \("),
        ('{"id": ' + "[" * 100_000 + "]" * 100_000 + ', "text": "a"}', r"is not JSON .*deeply"),
        ('{"id": ' + "1" * 100_000 + ', "text": "a"}', r"is not JSON .* number"),
    ],
)
def test_a_bad_line_is_refused_by_file_and_line_or_left_out_and_counted(
    file: Path, way: int, line: str, said: str
) -> None:
    file.write_text('{"text": "before"}\n' + line + '\n{"text": "after"}\n')
    with (
        small(way, 64),
        pytest.raises(UserError, match=rf"a\.jsonl:2: the line {said}.*: mend it, or .* \(--bad skip\)"),
    ):
        read(file)
    with small(way, 64):
        items = read(file, bad="skip")
        assert [item.place for item, _ in items if isinstance(item, Problem)] == [2]
        assert [one for one in whole(item for item, _ in items) if one[0] != 2] == [(1, "before"), (3, "after")]
    assert problems(file, bad="skip") == [("bad record", 2, 1)]


@pytest.mark.parametrize("text", ["", " \n\t", "\u3000", "\0 \0"])
def test_a_document_without_text_is_counted(file: Path, way: int, text: str) -> None:
    file.write_text(json.dumps({"text": "a"}) + "\n" + json.dumps({"text": text}) + "\n")
    with small(way, 64):
        assert ("empty document", 2, 1) in problems(file)
        assert joined(file)[0] == (1, "a")


@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n \n"])
def test_a_file_without_records_is_counted(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    assert problems(file) == [("empty file", 0, 1)]


def test_what_is_no_text_is_refused_or_replaced_and_counted(file: Path, way: int) -> None:
    file.write_bytes(b'{"text": "ab"}\n{"id": "\xff", "text": "a\xffb\xfe \\ud800 c \\udc00\\ud83d\\ude00"}\n')
    with small(way, 64), pytest.raises(UserError, match=r"a\.jsonl:2: byte 9 \(0xff\) is not UTF-8"):
        read(file)
    with small(way, 64):
        assert sum(count for _, place, count in problems(file, invalid="replace") if place == 2) == 5
        items = [item for item, _ in read(file, invalid="replace") if isinstance(item, Document)]
        assert whole(items) == [(1, "ab"), (2, "a\ufffdb\ufffd\ufffdc\ufffd😀")]
    file.write_bytes(b'{"text": "half \\udead"}')
    with small(way, 64), pytest.raises(UserError, match=r"a\.jsonl:1: \\udead is half a character"):
        read(file)


def test_nul_bytes_raw_and_spelled_become_spaces_and_are_counted(file: Path, way: int) -> None:
    file.write_bytes(b'{"text": "a\0b\\u0000\\u0000c"}\n')
    with small(way, 1 << 20):
        assert sum(count for kind, _, count in problems(file) if kind == "NUL bytes") == 3
        assert "".join(item.text for item, _ in read(file) if isinstance(item, Document)).split() == ["a", "b", "c"]


def test_the_mark_of_utf_8_is_skipped_and_utf_16_refused(file: Path, way: int) -> None:
    file.write_bytes(b'\xef\xbb\xbf{"text": "a"}\n{"text": "b"}\n')
    with small(way, 64):
        assert joined(file) == [(1, "a"), (2, "b")]
        file.write_bytes('{"text": "a"}\n'.encode("utf-16"))
        with pytest.raises(UserError, match="is UTF-16"):
            read(file)


def test_a_long_text_comes_in_parts(file: Path) -> None:
    file.write_text('{"text": "One two three. Four five six.\\nSeven eight nine.", "id": 1}\n{"text": "b"}\n')
    with small(24, 32):
        assert [(each.text, each.place, each.part) for each in documents(file)] == [
            ("One two three. ", 1, 0), ("Four five six.\n", 1, 1), ("Seven eight nine.", 1, 2), ("b", 2, 0)
        ]  # fmt: skip


TEXT = st.text(st.sampled_from('ab é中😀.\n"\\\0\t\r/'), max_size=60)
RECORDS = st.lists(
    st.one_of(
        st.fixed_dictionaries({"text": TEXT}, optional={"id": st.integers(), "more": st.lists(TEXT, max_size=2)}),
        st.sampled_from([{}, {"text": 1}, [], None, {"more": {"text": "x"}}]),
    ),
    max_size=8,
)


@given(RECORDS, st.integers(8, 80), st.booleans(), st.booleans())
@settings(max_examples=150)
def test_short_and_endless_lines_are_read_alike_and_every_mark_resumes(
    tmp_path_factory: pytest.TempPathFactory, records: list[Any], part: int, ascii_only: bool, packed: bool
) -> None:
    path = tmp_path_factory.mktemp("records") / f"a.jsonl{'.gz' * packed}"
    data = "\n".join(json.dumps(record, ensure_ascii=ascii_only) for record in records).encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    expected = joined(path, bad="skip")
    good = [record["text"] for record in records if isinstance(record, dict) and isinstance(record.get("text"), str)]
    shown = ["".join(text.replace("\0", " ").split()) for text in good]
    kinds = {"bad record", "NUL bytes", "empty document", "empty file"}
    assert [text for _, text in expected if text not in kinds] == [text for text in shown if text]
    with small(part, 32):
        found = [item for item, _ in read(path, bad="skip")]
        said = [whole([item for item in found if isinstance(item, kind)]) for kind in (Document, Problem)]
        assert sorted(said[0] + sorted(set(said[1]))) == sorted(set(expected))
        assert_resumes(path, bad="skip")


def test_one_sentence_and_many_are_both_documents(file: Path) -> None:
    file.write_text('{"text": "Only one."}\n{"text": "One. Two."}\n')
    assert texts(file) == ["Only one.", "One. Two."]
