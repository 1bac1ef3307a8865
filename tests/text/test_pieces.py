"""Is the beginning of a word known for any piece, whatever its tokenizer writes for it?"""

from __future__ import annotations

import pytest

from litebert.text import pieces


@pytest.mark.parametrize(
    ("piece", "begins"),
    [
        ("▁the", True), ("▁", True), ("s", False), ("é", False), ("ж", False), ("2", False),
        ("-", True), ("。", True), ("中", True), ("中国", True), ("ひ", True), ("カ", True),
        ("한", False), ("\u0301", False),
    ],
)  # fmt: skip
def test_a_piece_begins_a_word_by_its_mark_or_by_what_cannot_go_on(piece: str, begins: bool) -> None:
    """google-research/albert takes é and ж for beginnings, and so masks halves of words in most languages."""
    assert pieces.begins([piece], "▁").tolist() == [begins]


def test_wordpiece_marks_what_goes_on() -> None:
    assert pieces.begins_unless(["un", "##do", "中", "-", "##-"], "##").tolist() == [True, False, True, True, False]


@pytest.mark.parametrize(
    ("text", "first"), [("a", "a"), ("é", "é"), ("中", "中"), ("😀", "😀"), (" x", " "), ("\n", "\n"), ("€x", "€")]
)
def test_bytes_are_read_back_as_characters(text: str, first: str) -> None:
    letters = {byte: letter for letter, byte in pieces._BYTES.items()}
    piece = "".join(letters[byte] for byte in text.encode())
    assert pieces.first_character(piece) == first
    assert pieces.characters(piece) == text


def test_of_a_character_in_pieces_the_first_one_begins() -> None:
    """Where 中 is cut into bytes, its later pieces belong to the word of the first one."""
    letters = {byte: letter for letter, byte in pieces._BYTES.items()}
    one, two, three = (letters[byte] for byte in "中".encode())
    found = pieces.begins([one, one + two, two, two + three, three], "Ġ", pieces.first_character)
    assert found.tolist() == [True, True, False, False, False]
    assert pieces.characters(one + two) == ""


def test_scripts_without_spaces_are_known() -> None:
    assert [each for each in "a中ひㄅ𠀀한é，" if pieces.is_spaceless(each)] == list("中ひㄅ𠀀")
    assert [each for each in ("abc", "é", "a中") if pieces.has_spaceless(each)] == ["a中"]
