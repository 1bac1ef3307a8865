"""Is a line that cannot be held read as it comes, and does reading go on right after it?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from litebert.errors import UserError
from litebert.text import corpus
from litebert.text.items import Document, Problem, Reading
from text.readings import peak, problems, read, small

LINE = 48 << 20


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


@pytest.mark.parametrize("field", ["text", "other"])
def test_a_line_without_end_is_read_in_constant_memory(file: Path, field: str) -> None:
    sentence = "A record of which the text has no end. "
    with file.open("w") as out:
        out.write('{"text": "first"}\n{"id": [1, 2], "' + field + '": "')
        for _ in range(64):
            out.write(sentence * (LINE // 64 // len(sentence)))
        out.write('"}\n{"text": "last"}\n')
    found: list[Problem] = []
    sizes: dict[int, int] = {}

    def count() -> None:
        for item, _ in corpus.read(corpus.sources([file]), Reading(bad="skip")):
            if isinstance(item, Problem):
                found.append(item)
            else:
                sizes[item.place] = sizes.get(item.place, 0) + len(item.text)

    assert peak(count) < 20 << 20
    whole = LINE // 64 // len(sentence) * len(sentence) * 64
    if field == "text":
        assert (sizes, found) == ({1: 5, 2: whole, 3: 4}, [])
    else:
        assert (sizes, [problem.place for problem in found]) == ({1: 5, 3: 4}, [2])


@pytest.mark.parametrize("block", [16, 50, 1 << 20])
def test_what_stands_behind_it_is_read_next(file: Path, block: int) -> None:
    lines = [{"text": "x " * 40}, {"text": "after"}, {"id": "y" * 90, "text": "z"}, {"text": "last"}]
    file.write_text("\n".join(map(json.dumps, lines)))
    with small(20, block):
        found: dict[int, str] = {}
        for item, _ in read(file):
            assert isinstance(item, Document)
            found[item.place] = found.get(item.place, "") + item.text
    assert found == {number: line["text"] for number, line in enumerate(lines, 1)}


def test_what_is_wrong_with_it_is_said_once_a_kind_with_its_count(file: Path) -> None:
    file.write_bytes(b'{"text": "' + b"a\xff\0 " * 40 + b'"}\n')
    with small(20, 16):
        assert problems(file, invalid="replace") == [("invalid UTF-8", 1, 40), ("NUL bytes", 1, 40)]
        with pytest.raises(UserError, match=r"a\.jsonl:1: byte 12 \(0xff\) is not UTF-8"):
            read(file)
        file.write_bytes(b'{"text": "' + b"a" * 1000 + b"\xff" + b'"}\n')
        with pytest.raises(UserError, match=r"a\.jsonl:1: byte 1,011 \(0xff\) is not UTF-8"):
            read(file)


def test_a_character_that_is_cut_by_the_blocks_is_one(file: Path) -> None:
    for block in range(5, 12):
        file.write_text('{"text": "' + "😀é中" * 20 + '"} 😀\n')
        with small(20, block), pytest.raises(UserError, match="something stands after the object"):
            read(file)


def test_a_fault_after_parts_were_handed_on_says_how_many(file: Path) -> None:
    file.write_text('{"text": "' + "x y " * 20 + '", "more": ]}\n{"text": "b"}\n')
    with small(20, 16):
        items = [item for item, _ in read(file, bad="skip")]
        said = [item.detail for item in items if isinstance(item, Problem)]
        assert len(said) == 1
        assert said[0].startswith("is not JSON (a value is missing, column 102); 3 parts of its text were read before")
        assert isinstance(items[-1], Document)
        assert items[-1].text == "b"
