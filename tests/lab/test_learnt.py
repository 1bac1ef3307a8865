"""Is what was seen in models shown as it was: hits counted, the surest first, the right word marked?"""

from __future__ import annotations

import re

from litebert.lab import learnt
from litebert.lab.examples import Answer, Question
from litebert.lab.layers import Layers
from litebert.lab.learnt import Seen
from litebert.vectors.fill import Guess
from litebert.vectors.neighbours import Neighbour

NONE = Layers([], [], 0)


def answer(place: int, share: float, *words: str) -> Answer:
    """Guesses of which the first has a share, the others less and less; the right one at a place."""
    named = words or ("one", "two", "three", "four", "five")
    return Answer(tuple(Guess(word, share / 2**i, i, True) for i, word in enumerate(named)), place)


def seen(name: str, *answers: Answer, **near: list[Neighbour]) -> Seen:
    """A model of which this was seen."""
    return Seen(name, NONE, list(answers), near)


ASKED = [
    Question(f"q{i} ", word, ".")
    for i, word in enumerate(["a", "b", "c", "d", "e", "f", "same", "Same", "other", "last"])
]
ANSWERS = [*[answer(-1, 0.5)] * 6, answer(0, 0.7), answer(0, 0.9), answer(0, 0.8), answer(3, 0.2)]


def test_hits_are_counted_of_all_questions() -> None:
    html = learnt.guesses([seen("after", *ANSWERS)], seen("before", *[answer(4, 0.1)] * 10), ASKED)
    rows = re.findall(r"<tr><th>(\w+)</th>(.*?)</tr>", html)
    values = {name: re.findall(r'<data value="([^"]+)">', row) for name, row in rows}
    assert values == {"before": ["0.0", "1.0"], "after": ["0.3", "0.4"]}


def test_the_surest_come_first_and_no_word_twice() -> None:
    html = learnt.guesses([seen("after", *ANSWERS)], None, ASKED)
    right, wrong = html.split("<h3>Surest and right</h3>")[1].split("<h3>Surest and wrong</h3>")
    assert re.findall(r"<mark>(\w+)</mark>", right) == ["Same", "other"]
    assert re.findall(r"<mark>(\w+)</mark>", wrong) == ["last"]
    assert re.findall(r"<mark>(\w+)</mark>", html)[:6] == list("abcdef")


def test_the_right_word_is_marked_and_shares_are_drawn() -> None:
    html = learnt.guesses([seen("after", *[answer(1, 0.5, "<b>", "two")] * 10)], None, ASKED)
    assert html.count("✓") == html.count("right-one") == 6 + 3
    assert '<li style="--share:50.0%"><span>&lt;b&gt;</span><span><data value="0.5">50.0 %</data></span></li>' in html
    assert '<li class="right-one" style="--share:25.0%"><span>two ✓</span>' in html


def test_a_piece_that_goes_on_with_a_word_is_shown_as_such() -> None:
    pieces = (Guess("ing", 0.5, 1, False), Guess(".", 0.2, 2, False), Guess("", 0.1, 3, False))
    html = learnt.guesses([seen("after", *[Answer(pieces, -1)] * 10)], None, ASKED)
    assert re.findall(r"<li[^>]*><span>([^<]*)</span>", html)[:3] == ["·ing", ".", "␣"]


def test_of_many_models_each_card_takes_the_whole_width() -> None:
    two, three = [seen(str(i), *ANSWERS) for i in range(2)], [seen(str(i), *ANSWERS) for i in range(3)]
    assert '"examples broad"' not in learnt.guesses(two, None, ASKED)
    assert '"examples broad"' in learnt.guesses(three, None, ASKED)
    assert "Surest and right of 0" in learnt.guesses(three, None, ASKED)


def test_models_that_guess_no_words_are_left_out() -> None:
    assert "No model here guesses words" in learnt.guesses([seen("after")], None, ASKED)
    assert "No model here guesses words" in learnt.guesses([seen("after", *ANSWERS)], None, [])
    assert "<h4>b</h4>" not in learnt.guesses([seen("b"), seen("c", *ANSWERS)], None, ASKED)


def test_neighbours_stand_in_a_column_for_every_run() -> None:
    one = seen("one", lake=[Neighbour("sea", 0.75), Neighbour("river", 0.5)])
    other = seen("<i>", lake=[Neighbour("boat", 0.25)], wind=[])
    html = learnt.neighbour_table([one, other])
    assert re.findall(r"<th[^>]*>([^<]*)</th>", html) == ["word", "one", "&lt;i&gt;", "lake", "wind"]
    assert re.findall(r'<data value="([^"]+)">([^<]+)', html) == [("0.75", "0.75"), ("0.5", "0.50"), ("0.25", "0.25")]
    assert html.count("—") == 2
    assert "None of the words" in learnt.neighbour_table([seen("one")])


def test_layers_of_all_models_are_drawn_over_one_another() -> None:
    deep = Seen("deep", Layers([3.0, 2.0, 1.0], [30.0, 20.0, 10.0], 7), [], {})
    flat = Seen("flat", Layers([1.0, 1.0], [5.0, 5.0], 7), [], {})
    html = learnt.layer_figure([deep, flat], Seen("before", Layers([0.5], [1.0], 7), [], {}))
    assert re.findall(r'class="line (\w+) (c\d)" data-name="(\w+)"', html) == [
        ("dashed", "c7", "before"), ("bold", "c0", "deep"), ("bold", "c1", "flat"),
    ] * 2  # fmt: skip
    assert re.findall(r"</svg>(\w+)</li>", html) == ["before", "deep", "flat"]
