"""Do texts come from where they were given, one a line, and is a wrong source named?"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from litebert.cli import texts
from litebert.errors import UserError


def typed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """Put bytes on standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_arguments_are_texts_as_they_stand() -> None:
    assert texts.given(["one\ntwo", ""], None) == ["one\ntwo", ""]


def test_lines_of_a_file_are_texts_empty_ones_too(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes("\ufeffone\r\n\r\nзöö 山\n".encode())
    assert texts.given([], tmp_path / "x.txt") == ["one", "", "зöö 山"]


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_standard_input_is_read_where_nothing_is_given(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, b"one\ntwo")
    assert texts.given(arguments, None) == ["one", "two"]


def test_only_a_line_feed_ends_a_text(tmp_path: Path) -> None:
    """Or row and line numbers would part where a text holds a form feed or another of Unicode's separators."""
    (tmp_path / "x.txt").write_bytes("one\u2028\x0c\x85still one\ntwo\n\n".encode())
    assert texts.given([], tmp_path / "x.txt") == ["one\u2028\x0c\x85still one", "two", ""]


REFUSED = {
    "two sources": (["one"], b"x\n", r"texts and a file \(.*\): give one of them"),
    "standard input and a file": (["-"], b"x\n", r"standard input and a file"),
    "an empty file": ([], b"", r"holds no text: put one on each line"),
    "not UTF-8": ([], b"one\ntwo \xff\n", r"x\.txt:2: byte 0xff is not UTF-8: convert the text"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_gives_no_text_is_refused_in_a_line(name: str, tmp_path: Path) -> None:
    arguments, data, message = REFUSED[name]
    (tmp_path / "x.txt").write_bytes(data)
    with pytest.raises(UserError, match=message):
        texts.given(arguments, tmp_path / "x.txt")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.txt is no file"):
        texts.given([], tmp_path / "none.txt")


def test_nobody_waits_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, b"")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    with pytest.raises(UserError, match="no text: give it as an argument"):
        texts.given([], None)


def test_a_run_that_is_none_is_named(tmp_path: Path) -> None:
    for name, message in (("none", "does not exist"), ("file", "is a file")):
        (tmp_path / "file").touch()
        with pytest.raises(UserError, match=rf"{message}: name the folder of a run, which holds a trained model"):
            texts.opened(tmp_path / name)
