"""Are Chinese answers judged as the script of CMRC 2018 judges them?"""

from __future__ import annotations

import numpy as np
import pytest

from litebert.tasks.cmrc_metric import cmrc, english, judged, longest_run, pieces


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("北京大学", "北 京 大 学"),
        ("北京，大学。", "北 京 大 学"),
        ("1998年3月", "1998 年 3 月"),
        ("NBA球员Kobe Bryant", "nba 球 员 kobe bryant"),
        ("《红楼梦》", "红 楼 梦"),
        ("10-20%", "1020 %"),  # a hyphen goes before the words are told
        ("", ""),
        ("…", "…"),
    ],
)
def test_chinese_is_cut_into_characters_and_what_stands_between_into_words(text: str, found: str) -> None:
    assert pieces(text) == found.split()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("it's", "it 's"),
        ("don't go", "do n't go"),
        ("we'll see", "we 'll see"),
        ("the end.", "the end ."),
        ("one. two.", "one . two ."),
        ("so it is. then", "so it is . then"),
        ("3.5 %", "3.5 %"),
        ("1,000 boats, two", "1,000 boats , two"),
        ('say "sea" (cold)', "say `` sea '' ( cold )"),
        ("cannot", "can not"),
    ],
)
def test_english_is_cut_as_the_penn_treebank_has_it(text: str, found: str) -> None:
    assert english(text) == found.split()


def test_the_longest_run_is_that_of_a_search_through_all() -> None:
    draw = np.random.default_rng(0)
    for _ in range(10_000):
        one, other = ("".join(draw.choice(list("abc"), int(draw.integers(0, 8)))) for _ in range(2))
        runs = {one[i:j] for i in range(len(one)) for j in range(i, len(one) + 1)}
        assert longest_run(one, other) == max((len(run) for run in runs if run in other), default=0)


@pytest.mark.parametrize(
    ("answer", "gold", "exact", "f1"),
    [
        ("北京大学。", ["北京大学"], 1, 1),
        ("北京", ["北京大学"], 0, 2 * 2 / 6),
        ("大北京学", ["北京大学"], 0, 2 * 2 / 8),  # a run, not how many characters they share
        ("学", ["北京", "大学"], 0, 2 * 1 / 3),
        ("NBA", ["nba"], 1, 1),
        ("上海", ["北京"], 0, 0),
        ("", ["北京"], 0, 0),
        ("。", ["，"], 1, 0),  # exact match compares what is left, F1 of no pieces is 0
    ],
)
def test_an_answer_is_judged_by_the_gold_one_that_suits_it(
    answer: str, gold: list[str], exact: float, f1: float
) -> None:  # fmt: skip
    assert judged(answer, gold) == pytest.approx((exact, f1))


def test_means_are_taken_over_all_questions() -> None:
    found = cmrc(["北京", "上海"], [["北京大学"], ["上海"]])
    assert found == pytest.approx({"exact": 0.5, "f1": (2 / 3 + 1) / 2, "average": (0.5 + 5 / 6) / 2, "total": 2})
