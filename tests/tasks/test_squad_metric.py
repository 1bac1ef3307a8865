"""Are answers judged as the scripts of SQuAD 1.1 and 2.0 judge them?"""

from __future__ import annotations

import string
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from litebert.errors import UserError
from litebert.tasks.examples import Question, collect
from litebert.tasks.readers import squad
from litebert.tasks.squad_metric import Judged, judged, normalised, squad1, squad2

CASES = 10_000
WORDS = (
    "the",
    "The",
    "a",
    "an",
    "sea",
    "Sea",
    "sea.",
    "boat-house",
    "'s",
    ".",
    "a.m.",
    "É",
    "—",
    "theory",
    "12",
    "",
    " ",
)


def slowly_normalised(text: str) -> list[str]:
    """Character by character: lower case, no ASCII punctuation, no articles, no spare spaces."""
    kept = "".join(character for character in text.lower() if character not in string.punctuation)
    words, word = [], ""
    for character in f"{kept} ":  # what \b sees: letters, digits and _ are of a word
        if character.isalnum() or character == "_":
            word += character
        else:
            words += [" " if word in ("a", "an", "the") else word, character]
            word = ""
    return "".join(words).split()


def slowly(answer: str, gold: list[str]) -> Judged:
    """One answer by the rules of 2.0, counted by hand."""
    best = Judged(0.0, 0.0)
    for one in [text for text in gold if slowly_normalised(text)] or [""]:
        left, right = slowly_normalised(one), slowly_normalised(answer)
        same = 0
        rest = list(right)
        for word in left:
            if word in rest:
                rest.remove(word)
                same += 1
        if left and right and same:
            precision, recall = same / len(right), same / len(left)
            f1 = 2 * precision * recall / (precision + recall)
        else:
            f1 = float(left == right and not left)
        best = Judged(max(best.exact, float(left == right)), max(best.f1, f1))
    return best


def drawn(draw: np.random.Generator) -> str:
    """A text of words that the rules treat each in its own way."""
    return " ".join(draw.choice(WORDS, int(draw.integers(0, 5))))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("The Sea.", "sea"),
        ("  the\tsea \n", "sea"),
        ("U.S.A.", "usa"),
        ("a.m.", "am"),
        ("theory of a theatre", "theory of theatre"),
        ("The, an; a!", ""),
        ("“the” sea", "“ ” sea"),  # of ASCII only
        ("50–60 %", "50–60"),
        ("boat-house", "boathouse"),
        ("ÉCOLE", "école"),
        ("a_b", "ab"),
    ],
)
def test_texts_are_compared_without_case_marks_articles_and_spaces(text: str, left: str) -> None:
    assert normalised(text) == left


@pytest.mark.parametrize(
    ("answer", "gold", "exact", "f1"),
    [
        ("the sea", ["sea"], 1, 1),
        ("cold sea", ["the sea", "the cold sea."], 1, 1),
        ("a cold sea", ["sea", "cold lake by the sea"], 0, 2 / 3),  # each measure by the gold answer that suits it
        ("sea sea", ["sea"], 0, 2 / 3),  # a word counts as often as it stands there
        ("boat", ["sea"], 0, 0),
        ("", ["sea"], 0, 0),
        ("", [], 1, 1),
        ("sea", [], 0, 0),
        ("the", [], 1, 1),  # nothing is left of it
        ("", ["."], 1, 1),  # a gold answer of which nothing is left is passed over
        (".", ["sea", "the"], 0, 0),
    ],
)
def test_an_answer_is_judged_by_the_gold_one_that_suits_it(
    answer: str, gold: list[str], exact: float, f1: float
) -> None:  # fmt: skip
    assert judged(answer, gold) == pytest.approx((exact, f1))


def test_versions_part_where_normalising_leaves_nothing() -> None:
    assert judged(".", ["the"], "1.1") == (1.0, 0.0)
    assert judged(".", ["the"], "2.0") == (1.0, 1.0)
    assert judged("sea", ["the", "sea"], "1.1") == (1.0, 1.0)
    with pytest.raises(UserError, match="a question without a gold answer"):
        judged("sea", [], "1.1")


def test_ten_thousand_random_answers_are_judged_as_by_hand() -> None:
    draw = np.random.default_rng(0)
    exact = 0.0
    for _ in range(CASES):
        answer, gold = drawn(draw), [drawn(draw) for _ in range(int(draw.integers(0, 4)))]
        wanted = slowly(answer, gold)
        found = judged(answer, gold)
        assert found.exact == wanted.exact, (answer, gold)
        assert abs(found.f1 - wanted.f1) < 1e-12, (answer, gold)
        exact += wanted.exact
    assert 0.1 < exact / CASES < 0.6


def test_the_best_threshold_is_that_of_a_search_through_all() -> None:
    draw = np.random.default_rng(1)
    for _ in range(200):
        count = int(draw.integers(1, 20))
        gold = [["sea"] if has else [] for has in draw.random(count) < 0.5]
        answers = [str(one) for one in draw.choice(["sea", "boat", "sea boat", ""], count)]
        absent = draw.random(count).tolist()
        found = squad2(answers, gold, absent)
        for name in ("exact", "f1"):
            reached = {at: squad2(answers, gold, absent, at)[name] for at in [-1.0, *absent]}
            assert found[f"best_{name}"] == pytest.approx(max(reached.values()))
            at = found[f"best_{name}_thresh"]
            assert squad2(answers, gold, absent, at)[name] == pytest.approx(found[f"best_{name}"])


def test_parts_are_counted_apart() -> None:
    report = squad2(["sea", "", "boat"], [["sea"], [], []], [0.1, 0.9, 0.8], 0.85)
    assert {name: report[name] for name in report if not name.startswith("best")} == pytest.approx({
        "exact": 2 / 3, "f1": 2 / 3, "total": 3, "HasAns_exact": 1, "HasAns_f1": 1, "HasAns_total": 1,
        "NoAns_exact": 0.5, "NoAns_f1": 0.5, "NoAns_total": 2,
    })  # fmt: skip
    assert (report["best_f1"], report["best_f1_thresh"]) == (1.0, 0.1)


def test_a_score_that_is_no_number_is_named() -> None:
    with pytest.raises(UserError, match="no-answer score nan of question 2 is not finite: the model has diverged"):
        squad2(["a", "b"], [[], []], [0.0, float("nan")])
    with pytest.raises(UserError, match="1 no-answer scores for 2 questions"):
        squad2(["a", "b"], [[], []], [0.0])


def test_the_development_set_of_version_1_gives_its_figures(shared_data: Path) -> None:
    read = collect(squad.read(shared_data / "squad" / "dev-v1.1.json")).examples
    gold = [[answer.text for answer in one.answers or ()] for one in read if isinstance(one, Question)]
    assert len(gold) == 10_570
    own = squad1([one[-1] for one in gold], gold)  # one answer is an article, of which F1 finds no word
    assert own == pytest.approx({"exact": 1.0, "f1": 1 - 1 / 10_570, "total": 10_570.0})
    dressed = [f" The {one[0].upper()}!" for one in gold]
    assert squad1(dressed, gold)["exact"] > 0.998  # an upper-case ß is not one letter any more
    assert squad1([""] * len(gold), gold)["f1"] == 0.0


def test_who_never_answers_gets_the_known_half_of_version_2(shared_data: Path) -> None:
    read = collect(squad.read(shared_data / "squad" / "dev-v2.0.json")).examples
    gold = [[answer.text for answer in one.answers or ()] for one in read if isinstance(one, Question)]
    report = squad2([""] * len(gold), gold)
    assert report == pytest.approx({
        "exact": 0.5007159, "f1": 0.5007159, "total": 11_873, "HasAns_exact": 0, "HasAns_f1": 0, "HasAns_total": 5_928,
        "NoAns_exact": 1, "NoAns_f1": 1, "NoAns_total": 5_945,
    })  # fmt: skip
    first = squad2([one[0] if one else "x" for one in gold], gold, [float(not one) for one in gold])
    assert (first["best_exact"], first["best_f1"]) == (1.0, 1.0)
    assert Counter(map(bool, gold)) == {True: 5_928, False: 5_945}
