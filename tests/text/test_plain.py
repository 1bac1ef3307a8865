"""Does a text file become its documents, whatever its line ends, blanks and length, and however it is read?"""

from __future__ import annotations

import gzip
import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litebert.errors import UserError
from litebert.text import corpus, decode, plain
from litebert.text.items import Document, Mark, Problem, Reading
from litebert.text.sources import Source
from text.readings import assert_resumes, documents, peak, problems, read, small, texts, whole

LINES = ["one\n", "two words\n", "été 中文。\n", "\n", " \t\n", "\u3000\u00a0\n", "\r\n", "end. Next\r\n", "no end"]
LONG = 48 << 20


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.txt"


@pytest.mark.parametrize("blank", ["", " ", "\t \t", "\u3000", "\u00a0 ", "\r", "\v\f", " " * 1000])
def test_a_blank_line_is_between_documents_whatever_its_blanks(file: Path, blank: str) -> None:
    file.write_bytes(f"first\nsecond line\n{blank}\nanother\n".encode())
    assert texts(file) == ["first\nsecond line", "another"]


def test_one_file_is_one_document_if_it_is_said(file: Path) -> None:
    file.write_text("\n\nfirst\n\nsecond\n \nthird\n\n")
    assert texts(file) == ["first", "second", "third"]
    assert texts(file, documents="file") == ["first\n\nsecond\n \nthird"]


def test_a_document_is_known_by_its_line(file: Path) -> None:
    file.write_bytes("\n \n\nfour\nfive\n\n\n\u3000\neight is blank, nine\r\n\r\n\r\n\u3000\n\u3000twelve".encode())
    assert [(each.text[:4], each.place) for each in documents(file)] == [("four", 4), ("eigh", 9), ("twel", 13)]
    assert [each.place for each in documents(file, documents="file")] == [4]


def test_line_ends_of_any_system_are_one(file: Path) -> None:
    file.write_bytes(b"a\r\nb\r\n\r\nc\r\n")
    assert texts(file) == ["a\nb", "c"]


def test_the_mark_of_utf_8_is_no_text_and_utf_16_is_refused(file: Path) -> None:
    file.write_bytes(decode.BOM + b"text\n")
    assert texts(file) == ["text"]
    file.write_bytes(decode.BOM)
    assert problems(file) == [("empty file", 0, 1)]
    for coding in ("utf-16", "utf-16-le"):
        file.write_bytes("\ufeff".encode("utf-16-le") * (coding == "utf-16-le") + "text\n".encode(coding))
        with pytest.raises(UserError, match=r"a\.txt is UTF-16, not UTF-8: convert it, .* iconv"):
            read(file)


@pytest.mark.parametrize(
    ("data", "detail"), [(b"", "0 bytes"), (b"\n", "it has no text"), (b" \n\n\t\r\n", "it has no text")]
)
def test_a_file_without_text_is_counted(file: Path, data: bytes, detail: str) -> None:
    file.write_bytes(data)
    assert [item for item, _ in read(file)] == [Problem("empty file", str(file), 0, detail)]


def test_what_is_not_utf_8_is_refused_by_line_and_byte_or_replaced_and_counted(file: Path) -> None:
    file.write_bytes(b"fine\n\nalso \xc3\xa9\ncaf\xe9 \xff!\n\n\xe4\xb8\n\n\xef\xbf\xbd")
    with pytest.raises(UserError, match=r"a\.txt:4: byte 4 \(0xe9\) is not UTF-8: convert the file, or have it repl"):
        read(file)
    items = [item for item, _ in read(file, invalid="replace")]
    assert [item.text for item in items if isinstance(item, Document)] == [
        "fine", "also é\ncaf\ufffd \ufffd!", "\ufffd", "\ufffd",
    ]  # fmt: skip
    assert [item for item in items if isinstance(item, Problem)] == [
        Problem("invalid UTF-8", str(file), 4, "byte 4 (0xe9) is not UTF-8", 2),
        Problem("invalid UTF-8", str(file), 6, "byte 1 (0xe4) is not UTF-8", 1),
    ]


def test_nul_bytes_become_spaces_and_are_counted(file: Path) -> None:
    file.write_bytes(b"a\nb\0\0c\0\n\n\0\n\nd")
    assert problems(file) == [("NUL bytes", 2, 3), ("NUL bytes", 4, 1)]
    assert [item.text for item, _ in read(file) if isinstance(item, Document)] == ["a\nb  c", "d"]


def test_a_long_document_comes_in_parts_cut_where_something_ends(file: Path) -> None:
    file.write_text("One two three. Four five six.\nSeven eight nine. Ten eleven twelve.\n\nshort\n")
    with small(40, 64):
        found = documents(file)
    assert [(each.text, each.part) for each in found] == [
        ("One two three. Four five six.", 0),
        ("Seven eight nine. Ten eleven twelve.", 1),
        ("short", 0),
    ]
    assert [each.place for each in found] == [1, 2, 4]


def test_a_blank_line_that_a_block_cuts_ends_the_document_all_the_same(file: Path) -> None:
    for blanks in (1, 40, 1000):
        file.write_text("x" * 48 + "\n" + " " * blanks + "\n" + "y")
        for block in (49, 50, 55, 60, 2000):
            with small(50, block):
                assert [(each.text, each.part) for each in documents(file)] == [("x" * 48, 0), ("y", 0)]


def test_a_part_never_ends_within_a_character(file: Path) -> None:
    for size, character in itertools.product(range(8, 13), ("é", "中", "😀")):
        file.write_text("x" + character * 40)
        with small(size, 16):
            found = texts(file)
        assert "".join(found) == "x" + character * 40
        assert max(len(each.encode()) for each in found) <= size


@given(st.lists(st.sampled_from(LINES), max_size=40), st.integers(8, 60), st.sampled_from(["blank", "file"]))
@settings(max_examples=150)
def test_blocks_and_parts_lose_nothing_and_every_mark_resumes(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], part: int, documents: str
) -> None:
    path = tmp_path_factory.mktemp("plain") / "a.txt"
    text = "".join(lines)
    path.write_bytes(text.encode())
    expected = whole(item for item, _ in read(path, documents=documents))
    assert "".join(each for place, each in expected if place) == "".join(text.split())
    cuts = set()
    for block in (7, 64, 4096):
        with small(part, block):
            items = read(path, documents=documents)
            cuts.add(tuple(items))
            assert whole(item for item, _ in items) == expected
    assert len(cuts) == 1, "where a document is cut depends on the blocks"
    with small(part, 64):
        assert_resumes(path, documents=documents)


@given(st.lists(st.tuples(st.sampled_from(["word ", "\n", "longer", " \n", "中"]), st.integers(1, 900)), max_size=14))
@settings(max_examples=60)
def test_where_a_document_is_cut_does_not_depend_on_blocks_where_blank_lines_are_long(
    tmp_path_factory: pytest.TempPathFactory, runs: list[tuple[str, int]]
) -> None:
    path = tmp_path_factory.mktemp("plain") / "a.txt"
    path.write_bytes("".join(text * count for text, count in runs).encode())
    found = set()
    for block in (100, 5000, 1 << 20):
        with small(50, block):
            found.add(tuple(read(path)))
    assert len(found) == 1
    marks = [mark for _, mark in next(iter(found))]
    with small(50, 333):
        for mark in marks[:: max(1, len(marks) // 10)]:
            assert read(path, start=mark) == list(next(iter(found)))[marks.index(mark) + 1 :]


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_without_end_is_read_in_constant_memory(tmp_path: Path, packed: bool) -> None:
    sentence = b"All of it stands on a single line. "
    path = tmp_path / ("a.txt.gz" if packed else "a.txt")
    with gzip.open(path, "wb", 1) if packed else path.open("wb") as file:
        for _ in range(64):
            file.write(sentence * (LONG // 64 // len(sentence)))
    [source] = corpus.sources([path])
    size = 0

    def count(source: Source = source) -> None:
        nonlocal size
        for items, _ in plain.documents(source, Reading(), Mark()):
            size += sum(len(item.text) + 1 for item in items if isinstance(item, Document))

    assert peak(count) < 12 << 20
    assert size == LONG // 64 // len(sentence) * len(sentence) * 64
