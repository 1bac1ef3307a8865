"""Are lines put together that a page has broken, and left alone where their ends mean something?"""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from litebert.text.layout import paragraphs

PROSE = (
    "The mill stood by the river for three hundred years before anybody asked who had built it, and by then nobody "
    "who could have answered was left. Its wheel had been taken away in the war, its roof let in the rain, and the "
    "swallows had it to themselves. In the spring of that year a well-dressed stranger came up the path. He knocked."
)
CHINESE = "河边的磨坊已经有三百年的历史了，没有人记得是谁建造了它。它的轮子在战争中被拆走，只有燕子住在里面。" * 2
VERSE = """The wheel is gone, the wall is cold,
The door hangs from its hinge,
And nobody is left to hold
The river by its fringe.
But when the swallows come in May
The water starts to sing,
And what it sang it sings to-day
To no one listening."""
WHAT = ("mill", "river", "wheel", "war", "rain")
LIST = "\n".join(f"Part {number}, which is about the {word}" for number, word in enumerate(WHAT))


@pytest.mark.parametrize("width", [40, 72, 100])
@pytest.mark.parametrize("how", [{}, {"initial_indent": "   "}, {"subsequent_indent": "  "}])
def test_what_a_page_has_broken_is_put_together(width: int, how: dict[str, str]) -> None:
    text = "\n\n".join(textwrap.fill(each, width, break_on_hyphens=True, **how) for each in [PROSE] * 4)
    assert [each.strip() for each in paragraphs(text)] == [PROSE] * 4


def test_scripts_without_spaces_are_put_together_without_one() -> None:
    text = "\n".join(textwrap.wrap(CHINESE, 34))
    assert paragraphs(text, "wrapped") == [CHINESE]


@pytest.mark.parametrize("text", [VERSE, LIST], ids=["verse", "list"])
def test_verse_and_lists_stay_in_lines(text: str) -> None:
    assert paragraphs(text) == text.split("\n")
    assert paragraphs(f"{text}\n\n{text}") == text.split("\n") * 2


def test_verse_within_a_book_of_prose_stays_in_lines() -> None:
    text = "\n\n".join([textwrap.fill(PROSE, 70), VERSE, textwrap.fill(PROSE, 70)])
    assert paragraphs(text) == [PROSE, *VERSE.split("\n"), PROSE]


def test_lines_that_are_paragraphs_stay_so() -> None:
    text = f"A heading\n{PROSE}\n{PROSE}\n\nAnother heading\n{PROSE}"
    assert [each for each in paragraphs(text) if each] == [
        "A heading", PROSE, PROSE, "Another heading", PROSE
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "\n", "x", "x\n", " \n\n ", "-\n-", "a-\n\nb"])
@pytest.mark.parametrize("lines", ["auto", "paragraph", "wrapped", "sentence"])
def test_nothing_is_lost_in_texts_of_a_word(text: str, lines: str) -> None:
    found = paragraphs(text, lines)  # type: ignore[arg-type]
    assert "".join("".join(found).split()) == "".join(text.split())


def test_words_broken_at_a_hyphen_keep_it_and_lose_the_blank() -> None:
    assert paragraphs("the well-\nknown mill -\nand the river", "wrapped") == ["the well-known mill - and the river"]


def test_real_books_come_out_as_prose_and_verse(shared_data: Path) -> None:
    """Characters a paragraph: a broken line has some 70 at most in prose, a verse fewer."""
    lengths = {}
    for name in ("austen-emma", "milton-paradise", "chesterton-thursday"):
        text = (shared_data / "text" / "gutenberg" / f"{name}.txt").read_text(errors="replace")
        found = sorted(len(each) for each in paragraphs(text) if each)
        assert "".join("".join(paragraphs(text)).split()) == "".join(text.split())
        lengths[name] = found[len(found) // 2]
    assert lengths["austen-emma"] > 150
    assert lengths["chesterton-thursday"] > 100
    assert lengths["milton-paradise"] < 50
