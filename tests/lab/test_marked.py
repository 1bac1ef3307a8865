"""Is what is marked in a text exactly that, with enough around it and not all of a book?"""

from __future__ import annotations

import re

from litebert.lab import marked
from litebert.lab.marked import Mark

TEXT = "the boat lies on the river"


def plain(html: str) -> str:
    """What a reader sees."""
    return re.sub("<[^>]*>", "", html).replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")


def test_a_mark_is_its_characters_and_its_name_stands_behind_it() -> None:
    html = marked.text(TEXT, [Mark(4, 8, "gold", "thing")])
    assert html == 'the <mark class="gold">boat<small>thing</small></mark> lies on the river'


def test_marks_that_overlap_are_both_seen_where_they_do() -> None:
    html = marked.text(TEXT, [Mark(14, 20, "said"), Mark(17, 26, "gold", "place")])
    assert html == (
        'the boat lies <mark class="said">on </mark><mark class="said gold">the</mark>'
        '<mark class="gold"> river<small>place</small></mark>'
    )


def test_marks_outside_the_text_are_left_out() -> None:
    assert marked.text(TEXT, [Mark(-1, 3, "a"), Mark(20, 99, "b"), Mark(5, 5, "c")]) == TEXT


def test_what_is_far_from_a_mark_is_left_out_at_words() -> None:
    whole = "before " * 100 + "<boat> " + "between " * 100 + "river " + "after " * 100
    html = marked.text(whole, [Mark(whole.index("<boat>"), whole.index("<boat>") + 6, "gold"),
                               Mark(whole.index("river"), whole.index("river") + 5, "said")], around=30)  # fmt: skip
    assert plain(html).split() == [
        "…", *["before"] * 5, "<boat>", *["between"] * 4, "…", *["between"] * 4, "river", *["after"] * 5, "…",
    ]  # fmt: skip


def test_marks_that_are_near_share_what_is_around_them() -> None:
    whole = "far " * 100 + "one two three" + " far" * 100
    html = marked.text(whole, [Mark(400, 403, "a"), Mark(408, 413, "b")], around=20)
    assert html.count("…") == 2
    assert plain(html).count("two") == 1


def test_a_text_without_spaces_is_cut_where_it_must() -> None:
    html = marked.text("字" * 1000, [Mark(500, 502, "gold")], around=40)
    assert plain(html) == f"… {'字' * 82} …"


def test_a_long_text_loses_its_middle_at_words_and_a_short_one_nothing() -> None:
    assert marked.short("word " * 120) == "word " * 120
    html = marked.short("word " * 1000)
    cut = re.search(r"\[… ([\d,]+) characters …\]", html)
    assert cut
    left = len(plain(html)) - len(cut[0])
    assert left + int(cut[1].replace(",", "")) == 5000 + 2  # a space on either side of the note
    assert plain(html).partition(" [")[0].endswith(" word")
    assert 590 < left < 640
