"""Are words found as the engine finds them, in many sentences at once?"""

from __future__ import annotations

import json

import pytest

from litebert.text import spaced, words
from text.tiny import odd, trained

RULES = words.rules(trained("wordpiece"), json.loads(trained("wordpiece").text))


def test_words_stand_between_spaces() -> None:
    """Empty words between two spaces have no ids."""
    assert RULES is not None
    found = spaced.split(["ba Do", "", " x ", "山川"], RULES).to_pylist()
    assert [[word for word in sentence if word] for sentence in found] == [["ba", "do"], [], ["x"], ["山", "川"]]


def test_what_could_be_misread_is_one_odd_word() -> None:
    """A line feed within a sentence would make two of it, and every sentence after it would have another's ids."""
    assert RULES is not None
    assert spaced.split(["a b", "c\nd", "e"], RULES).to_pylist() == [["a", "b"], [spaced.ODD], ["e"]]
    assert spaced.split(["a \x01b", "c"], RULES).to_pylist() == [[spaced.ODD], ["c"]]


def test_a_first_word_is_marked_where_it_is_cut_otherwise() -> None:
    assert RULES is not None
    found = spaced.split(["ba do", "ki"], RULES._replace(lead=False)).to_pylist()
    assert found == [[spaced.FIRST + "ba", "do"], [spaced.FIRST + "ki"]]


@pytest.mark.parametrize("text", ["", "a", "山", "a山b", "山川", "x\U00020000y 山", *odd(50)])
def test_chinese_characters_stand_apart(text: str) -> None:
    """Beyond what is surely Chinese to the engine, text is as it was."""
    expected = "".join(f" {each} " if _is_chinese(each) else each for each in text)
    assert [w for w in spaced.chinese_apart(text).split(" ") if w] == [w for w in expected.split(" ") if w]


def _is_chinese(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in spaced._CHINESE)
