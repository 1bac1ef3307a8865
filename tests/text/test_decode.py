"""Where may a long text be cut, and what is said of bytes that are no text?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litebert.errors import UserError
from litebert.text import decode
from litebert.text.items import Reading

REPLACE = Reading(invalid="replace")


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (
            "the first lines\n\nand\nmore. More",
            "the first lines\n\n",
        ),  # though a line ends later
        ("some words here\nand. More words that", "some words here\n"),
        ("some words here. And more words that", "some words here. "),
        ("他走了很久很久。然后他就回家了吧", "他走了很久很久。"),
        ("some words here and more words that", "some words here and more "),
        ("x" * 40, "x" * 25),
    ],
)
def test_the_first_part_ends_at_the_best_place(text: str, first: str) -> None:
    assert text.encode()[: decode.cut(text.encode(), 26)].decode() == first


@given(st.text(min_size=1, max_size=60).filter(lambda text: len(text.encode()) > 4), st.integers(5, 30))
def test_a_cut_goes_on_and_leaves_whole_characters(text: str, size: int) -> None:
    data = text.encode()
    for view in (data, bytearray(data), memoryview(data)):
        end = decode.cut(view, size)
        assert 0 < end <= size
        assert data[:end].decode() + data[end:].decode() == text


@given(st.lists(st.sampled_from([b"a", b"\n", b"\xc3\xa9", b"\xff", b"\xe4\xb8", b"\xef\xbf\xbd", b"\0"]), max_size=12))
def test_every_byte_that_is_no_text_is_counted(parts: list[bytes]) -> None:
    data = b"".join(parts)
    text, problems = decode.decoded(data, "f", 5, REPLACE)
    counts = {problem.kind: problem.count for problem in problems}
    assert text == data.decode(errors="replace").replace("\0", " ")
    assert counts.get("NUL bytes", 0) == data.count(b"\0")
    assert counts.get("invalid UTF-8", 0) == text.count("\ufffd") - parts.count(b"\xef\xbf\xbd")


@given(st.text(max_size=9), st.integers(0, 40))
def test_a_beginning_ends_with_a_character_and_at_most_one_is_left(text: str, size: int) -> None:
    data = text.encode()[:size]
    end = decode.whole_characters(data)
    assert text.startswith(data[:end].decode())
    assert len(data) - end <= 4


def test_a_row_has_no_lines_and_a_line_may_have_begun_before() -> None:
    with pytest.raises(UserError, match=r"f:5: byte 4 \(0xff\)"):
        decode.decoded(b"a\nb\xff", "f", 5, Reading(), lines=False)
    with pytest.raises(UserError, match=r"f:6: byte 2 \(0xff\)"):
        decode.decoded(b"a\nb\xff", "f", 5, Reading(), before=10)
    with pytest.raises(UserError, match=r"f:5: byte 1,012 \(0xff\)"):
        decode.decoded(b"b\xff", "f", 5, Reading(), before=1010)


def test_halves_of_characters_are_no_text() -> None:
    text = "a\ud83d b\ude00"
    with pytest.raises(UserError, match=r"f:3: \\ud83d is half a character, which is not UTF-8: convert the file, or"):
        decode.without_halves(text, "f", 3, Reading())
    found, [problem] = decode.without_halves(text, "f", 3, REPLACE)
    assert (found, problem.kind, problem.count) == ("a\ufffd b\ufffd", "invalid UTF-8", 2)
