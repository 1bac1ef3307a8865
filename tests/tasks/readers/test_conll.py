"""Do columns of words and tags become sentences, in whatever columns they stand and however entities begin?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from litebert.tasks.examples import Words
from litebert.tasks.readers import conll
from tasks.readers.written import by, refused, whys, write

ORIGINAL = """-DOCSTART- -X- O O

EU NNP I-NP I-ORG
rejects VBZ I-VP O

Peter NNP I-NP I-PER
Blackburn NNP I-NP I-PER
"""


def tags(path: Path, **how: Any) -> list[Any]:
    return [one.tags for one in by(conll.read, path, **how).examples if isinstance(one, Words)]


def test_the_original_columns_are_read_and_their_entities_begin_with_b(tmp_path: Path) -> None:
    path = write(tmp_path / "eng.train", ORIGINAL)
    one, two = by(conll.read, path).examples
    assert one == Words(("EU", "rejects"), ("B-ORG", "O"), "", (str(path), 3))
    assert two == Words(("Peter", "Blackburn"), ("B-PER", "I-PER"), "", (str(path), 6))
    assert tags(path, tags=2) == [("NNP", "VBZ"), ("NNP", "NNP")]
    assert tags(path, tags=-2) == [("B-NP", "B-VP"), ("B-NP", "I-NP")]


@pytest.mark.parametrize("given,read", [
    ("I-X I-X B-X I-X", "B-X I-X B-X I-X"),  # as the original files part entities side by side
    ("I-X I-Y O I-Y", "B-X B-Y O B-Y"),
    ("B-X I-X O B-X", "B-X I-X O B-X"),
    ("B-X I-Y", "B-X B-Y"),
    ("B-X I-X E-X S-Y", "B-X I-X E-X S-Y"),
    ("O I-a-b I-a-b", "O B-a-b I-a-b"),
])  # fmt: skip
def test_every_entity_begins_with_b(given: str, read: str, tmp_path: Path) -> None:
    content = "".join(f"w{i} {tag}\n" for i, tag in enumerate(given.split()))
    assert tags(write(tmp_path / "a.conll", content)) == [tuple(read.split())]


def test_tabs_part_columns_where_there_are_any(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", "New York\tB-place\n\nin O\nRome\u00a0 B-place\n")
    one, two = by(conll.read, path).examples
    assert one[:2] == (("New York",), ("B-place",))
    assert two[:2] == (("in", "Rome"), ("O", "B-place"))
    path = write(tmp_path / "b.conll", "a|O\nb|B-x\n")
    assert by(conll.read, path, delimiter="|").examples[0][:2] == (("a", "b"), ("O", "B-x"))


def test_ends_of_lines_marks_and_blank_lines_are_no_words(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", "\ufeff\r\n\r\na O\r\n \r\n\r\nb O")
    assert [one[0] for one in by(conll.read, path, spaced=False).examples] == [("a",), ("b",)]
    assert [one.place.row for one in by(conll.read, path).examples] == [3, 6]


def test_words_alone_are_read_without_tags(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", "in\nRome\n")
    assert by(conll.read, path, labelled=False).examples[0][:2] == (("in", "Rome"), None)
    assert "a.conll:1: line 1 has one column for words and tags both" in refused(by, conll.read, path)


@pytest.mark.parametrize("content,why", [
    ("a O\nb\n", "1: line 2 has not as many columns (1) as the line before it (2)"),
    (b"a O\n\xff O\n", "2: byte 1 (0xff) is not UTF-8"),
    ("a O\nb\0 O\n", "1: line 2 holds a NUL"),
    ("a\tO\n\tO\n", "1: line 2 has nothing in column 1"),
])  # fmt: skip
def test_a_sentence_that_cannot_be_read_is_told_and_the_next_one_read(content: Any, why: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", (content if isinstance(content, bytes) else content.encode()) + b"\nc O\n")
    assert f"a.conll:{why}" in refused(by, conll.read, path)
    found = by(conll.read, path, bad="skip")
    assert [one[0] for one in found.examples] == [("c",)]
    assert whys(found)[0].startswith(why)


def test_columns_that_are_not_there_are_told(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", "a O\n")
    assert "line 1 has no column 3, but 2 in all" in refused(by, conll.read, path, tags=3)
    assert "line 1 has no column -4, but 2 in all" in refused(by, conll.read, path, tags=-4)
    assert "has one column for words and tags both" in refused(by, conll.read, path, words=2)
    assert "has one column for words and tags both" in refused(by, conll.read, path, words=-2, tags=1)
    assert "column 0: columns count from 1" in refused(by, conll.read, path, tags=0)
    for content in ("", "\n\n", "-DOCSTART- -X- O O\n\n"):
        assert "a.conll has no sentence" in refused(by, conll.read, write(path, content))
