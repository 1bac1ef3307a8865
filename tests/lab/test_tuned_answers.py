"""Are answers counted as they stand in predictions.jsonl, drawn where their values lie, and the worst shown first?"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from lab import tunings
from litebert.lab import (
    answered,
    cards,
    chosen,
    confusion,
    errors_shown,
    judged,
    lengths,
    regressed,
    reliability,
    tagged,
    tuned,
)
from litebert.lab.judged import Judged
from litebert.lab.tuned import Tuned


def known(place: Path, **made: Any) -> tuple[Tuned, list[Judged]]:
    """A folder and what is known of its answers."""
    run = tuned.read(tunings.folder(place / "x", **made))
    return run, judged.judge(run)


def numbers(html: str) -> list[float]:
    """What stands in `<data>`."""
    return [float(value) for value in re.findall(r'<data value="([^"]+)">', html)]


def sorted_into(pairs: list[tuple[str, str, float]], names: list[str]) -> dict[str, Any]:
    """A folder of a classifier."""
    return {"lines": tunings.classified(pairs, names), "scores": [{"accuracy": 0.5}], "labels": names}


def test_a_matrix_counts_what_is_taken_for_what_in_the_model_s_order(tmp_path: Path) -> None:
    pairs = [("b", "a", 0.9), ("b", "b", 0.8), ("a", "a", 0.8), ("a", "a", 0.7), ("b", "new", 0.5)]
    html = confusion.shown(*known(tmp_path, **sorted_into(pairs, ["b", "a"])))
    assert re.findall(r"<th[^>]*>([^<]+)</th>", html.partition("</thead>")[0]) == [
        "is ↓ said →",
        "b",
        "a",
        "new",
        "all",
    ]
    matrix, _, table = html.partition("Class by class")
    assert numbers(matrix) == [1, 1 / 3, 1, 1 / 3, 1, 1 / 3, 3, 2, 1.0, 2, 0, 1, 3, 1, 5]
    rows = dict(re.findall(r"<tr><th>(\w+)</th>(.*?)</tr>", table.partition("<tbody>")[2]))
    assert list(rows) == ["b", "a", "new"]
    assert numbers(rows["b"]) == [1, 2, 0, 1.0, 1 / 3, 0.5]
    assert numbers(rows["a"]) == [2, 0, 1, 2 / 3, 1.0, 0.8]


def test_several_labels_are_counted_each(tmp_path: Path) -> None:
    run, some = known(tmp_path, **tunings.kinds()["several"])
    rows = dict(re.findall(r"<tr><th>(\w+)</th>(.*?)</tr>", confusion.shown(run, some)))
    assert {name: numbers(row)[:3] for name, row in rows.items() if name != "label"} == {
        "a": [12, 0, 6], "b": [0, 0, 6], "c": [0, 12, 0],
    }  # fmt: skip
    share, holds, what = reliability.asked(run, some)
    assert (len(share), sum(holds), what) == (72, 24, "labels")
    assert some[1].loss == pytest.approx(-math.log(0.75 * 0.75 * 0.125))


def test_calibration_is_how_far_sureness_and_truth_lie_apart(tmp_path: Path) -> None:
    pairs = [("no", "no", 0.875)] * 3 + [("yes", "no", 0.875)] + [("yes", "yes", 0.625)] * 4
    run, some = known(tmp_path, **sorted_into(pairs, ["no", "yes"]))
    html = reliability.shown(run, some)
    assert numbers(html)[:6] == [0.75, 0.875, 8, (0.125 + 0.375) / 2, 0.375, 4]
    assert "not sure enough" in html
    bars = re.findall(r'<rect class="bar" x="([\d.]+)" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"', html)
    assert [float(height) for _, _, height in bars[:2]] == [202.0, 151.5]  # 100 and 75 % of what the axes enclose
    assert [float(x) for x, _, _ in bars[:2]] == [287.0, 367.0]  # the bins from 60 and 80 %
    assert bars[2:] == [("287.0", "12.0", "202.0"), ("367.0", "12.0", "202.0")]  # four of each


def test_lengths_are_told_with_counts_and_intervals(tmp_path: Path) -> None:
    pairs = [("no", "no", 0.9)] * 12 + [("no", "yes", 0.9)] * 12
    run, some = known(tmp_path, **sorted_into(pairs, ["no", "yes"]))  # of 5 to 28 tokens
    html = lengths.by_length([some], ["x"], judged.scale(run))
    rows = re.findall(r"<tr><th>(.*?)</th>(.*?)</tr>", html.partition("<tbody>")[2])
    assert [(name, numbers(row)[:2]) for name, row in rows] == [("5–16", [12, 1.0]), ("17–28", [12, 0.0])]
    assert numbers(rows[0][1])[2:] == [pytest.approx(0.7575, abs=1e-4), pytest.approx(1.0)]  # Wilson's
    places = [float(y) for y in re.findall(r'<circle class="dot" cx="[\d.]+" cy="([\d.]+)"', html)]
    assert places == [12.0, 214.0]
    beside = lengths.by_length([some, some[:10]], ["x", "<y>"], judged.scale(run))
    assert "&lt;y&gt;" in beside
    assert numbers(beside)[:8] == [1.0, *numbers(rows[0][1])[2:], 12, 1.0, numbers(beside)[5], pytest.approx(1.0), 10]


def test_lengths_are_joined_until_each_group_has_enough() -> None:
    groups = lengths.grouped([5] * 50 + [30] * 3 + [60] * 40 + [5000] * 40)
    assert [(group.low, group.high) for group in groups] == [(5, 5), (30, 60), (5000, 5000)]
    assert lengths.grouped([7] * 30) == [(7, 7)]
    assert lengths.grouped([]) == []


def test_scores_are_points_and_bands(tmp_path: Path) -> None:
    made = tunings.kinds()["regress"]
    made["lines"][5] |= {"label": 9.0, "prediction": float("nan")}  # is told of by the seed's scores
    run, some = known(tmp_path, **made)
    assert len(some) == 31
    html = regressed.shown(some)
    circles = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', html)
    assert len(circles) == 31
    assert circles[-1] == ("446.0", "12.0")  # both axes end at 3.875, the highest of right scores and predicted ones
    assert float(circles[0][0]) == pytest.approx(46 + 0.25 / 4.125 * 400, abs=0.06)  # and begin at -0.25
    assert circles[0][1] == "214.0"
    bands = re.findall(r"<tr><th>(.*?)</th>(.*?)</tr>", html.partition("<tbody>")[2])
    assert [name for name, _ in bands] == ["0 to 0.8", "0.8 to 1.6", "1.6 to 2.4", "2.4 to 3.2", "3.2 to 4"]
    assert sum(numbers(row)[0] for _, row in bands) == 31
    assert run.median("pearson") == 0.9


def test_entities_that_are_wrong_are_wrong_in_some_way(tmp_path: Path) -> None:
    made = tunings.kinds()["tag"]
    gold = ["B-a", "I-a", "O", "B-b", "I-b", "O", "B-a", "O", "B-b", "O", "O"]
    said = ["B-b", "I-b", "O", "B-b", "O", "O", "O", "O", "B-a", "I-a", "B-a"]
    made["lines"] = [{**made["lines"][0], "label": gold, "prediction": said}] * 2
    _, some = known(tmp_path, **made)
    assert tagged.mistakes(some) == {"type": 2, "edge": 2, "missed": 2, "both": 2, "invented": 2}
    html = tagged.shown(some)
    assert numbers(html)[:6] == [0, 8, 8, 0.0, 0.0, 0.0]
    assert html.count("20.0 %") == 5


def test_answers_are_told_apart_by_whether_there_is_one(tmp_path: Path) -> None:
    run, some = known(tmp_path, **tunings.kinds()["span"])
    table, _, matrix = answered.shown(some).partition("Is there an answer?")
    rows = {name: numbers(row) for name, row in re.findall(r"<tr><th>([\w ]+)</th>(.*?)</tr>", table)[1:]}
    assert {name: (row[0], row[1]) for name, row in rows.items()} == {
        "all": (24, 4 / 24), "has an answer": (12, 0.0), "has none": (12, 4 / 12),
    }  # fmt: skip
    assert rows["has an answer"][4] == pytest.approx(8 / 12 * 2 / 3)  # F1 of "on river" beside "river"
    assert numbers(matrix) == [8, 8 / 12, 4, 4 / 12, 12, 8, 8 / 12, 4, 4 / 12, 12, 16, 8, 24]
    sure = {one.confidence for one in some}
    assert sure == {0.75, 0.75 * 0.5}  # that there is none; that there is one, and this
    chinese = tuned.read(tunings.folder(tmp_path / "zh", **tunings.kinds()["span"] | {"task": {"judge": "cmrc"}}))
    assert judged.judge(chinese)[1].score == pytest.approx(2 * 2 / 5)  # a run of 2 in 2 + 3 words
    assert run.judge == "squad"


def test_options_are_told_by_letters_and_groups(tmp_path: Path) -> None:
    _, some = known(tmp_path, **tunings.kinds()["choice"])
    matrix, _, groups = chosen.shown(some).partition("By group")
    assert re.findall(r"<tr><th>(\w+)</th>", matrix) == ["A", "B", "C"]
    assert numbers(matrix)[:5] == [4, 0.5, 4, 0.5, 8]
    rows = re.findall(r"<tr><th>(\w+)</th>(.*?)</tr>", groups)[1:]
    assert [(name, numbers(row)[:2]) for name, row in rows] == [("high", [12, 1 / 3]), ("middle", [12, 1 / 3])]


def test_the_worst_comes_first_and_what_is_right_is_not_shown(tmp_path: Path) -> None:
    names = ["a", "b", "c"]
    pairs = [("a", "b", 0.5 + i / 100) for i in range(10)] + [("a", "a", 0.99)] * 5
    made = sorted_into(pairs, names)
    for line, share in zip(made["lines"], [0.2, 0.01, 0.3, 0.4, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1], strict=False):
        line["probabilities"]["a"] = share
    run, some = known(tmp_path, **made)
    worst, surest = errors_shown.picked("classify", some, 3)
    assert [one.line["id"] for one in worst] == ["q1", "q4", "q5"]
    assert [one.line["id"] for one in surest] == ["q9", "q8", "q7"]
    assert errors_shown.shown(run, some[10:]) == '<p class="note">Nothing: every answer is right.</p>'
    assert errors_shown.shown(run, some).count("case") == 8 + 2


def test_cards_show_what_is_right_beside_what_was_said(tmp_path: Path) -> None:
    pages, some = {}, {}
    for name, made in tunings.kinds().items():
        run = tuned.read(tunings.folder(tmp_path / name, **made))
        some[name] = judged.judge(run)
        pages[name] = errors_shown.shown(run, some[name])
    assert f'<p class="sentence" dir="auto">{tunings.TEXT} 1</p>' in pages["classify"]
    assert "dev.tsv:3 · " in re.sub("<.*?>", "", pages["classify"])
    assert "a, c" in pages["several"]
    assert "0.25</data> too high" in pages["regress"]
    assert '<mark class="said">on </mark><mark class="gold said">the river</mark>' in cards.card(
        "span", some["span"][1]
    )
    assert "<i>no answer in the text</i>" in pages["span"]
    assert "A. sea ✓" in pages["choice"]
    assert "B. river ✗" in pages["choice"]
    river = '<mark class="missed">river<small>place</small></mark>'
    assert f'the <mark class="gold">boat<small>thing</small></mark> lies on the {river} and' in pages["tag"]
    assert 'the <mark class="said">boat<small>thing</small></mark> lies' in pages["tag"]
    assert 'on <mark class="invented">the river<small>place</small></mark>' in pages["tag"]


def test_nothing_known_is_nothing_shown(tmp_path: Path) -> None:
    lines = [{**line, "label": None} for line in tunings.kinds()["classify"]["lines"]]
    run, some = known(tmp_path, lines=lines, scores=[{"accuracy": 0.5}], labels=["no", "yes"])
    assert some == []
    assert confusion.shown(run, some) == ""
    assert reliability.shown(run, some) == ""
    assert lengths.by_length([some], ["x"], judged.scale(run)) == ""


def test_of_many_classes_the_pairs_confused_most_come_first(tmp_path: Path) -> None:
    names = [f"c{i:02d}" for i in range(13)]
    pairs = [("c01", "c02", 0.5)] * 2 + [("c03", "c04", 0.5)] * 5 + [(name, name, 0.5) for name in names]
    html = confusion.shown(*known(tmp_path, **sorted_into(pairs, names))).partition("Class by class")[0]
    assert numbers(html) == [5, 5 / 6, 6, 2, 2 / 3, 3]
    assert "matrix" not in html


def test_a_share_lies_where_wilson_says() -> None:
    assert lengths.wilson(0.5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert lengths.wilson(0.0, 20) == pytest.approx((0.0, 0.1611), abs=1e-4)


def test_the_highest_score_is_in_the_last_band_and_a_distance_is_shown(tmp_path: Path) -> None:
    made = tunings.kinds()["regress"]
    made["lines"] = [{**made["lines"][0], "label": float(i % 6), "prediction": 2.25} for i in range(12)]
    run, some = known(tmp_path, **made)
    bands = re.findall(r"<tr><th>(.*?)</th>(.*?)</tr>", regressed.shown(some).partition("<tbody>")[2])
    assert (bands[-1][0], numbers(bands[-1][1])) == ("4 to 5", [4, 4.5, 2.25, 2.25])
    assert sum(numbers(row)[0] for _, row in bands) == 12
    first = errors_shown.shown(run, some).partition("too low")[0]
    assert numbers(first) == [5.0, 2.25, 2.75]  # is, said, how far off


def test_an_entity_beside_another_does_not_touch_it(tmp_path: Path) -> None:
    made = tunings.kinds()["tag"]
    line = {**made["lines"][0], "words": ["a", "b"], "text": "a b"}
    made["lines"] = [{**line, "label": ["B-x", "O"], "prediction": ["O", "B-x"]}]
    assert tagged.mistakes(known(tmp_path, **made)[1]) == {"invented": 1, "missed": 1}
