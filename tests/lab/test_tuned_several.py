"""Are fine-tunings that share a page told apart, each with its own numbers, and held against one another on one set?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab import tunings
from lab.pages import Page
from litebert.lab import agreement, judged, report, tuned
from litebert.lab.judged import Judged

NAMES = ["no", "yes"]
FIRST = [("no", "no", 0.9)] * 20 + [("yes", "no", 0.8)] * 10
SECOND = [("no", "no", 0.9)] * 18 + [("no", "yes", 0.6)] * 2 + [("yes", "yes", 0.7)] * 9 + [("yes", "no", 0.7)]
SCORES = [
    [{"accuracy": 0.7, "f1": 0.4}, {"accuracy": 0.6, "f1": 0.5}],
    [{"accuracy": 0.9, "f1": 0.3}],
    [{"accuracy": 0.5}],
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three runs: the second better, the third on other examples."""
    place, settings = tmp_path_factory.mktemp("several"), tunings.SETTINGS
    lines = [tunings.classified(pairs, NAMES) for pairs in (FIRST, SECOND, FIRST[5:])]
    made = zip(["a", "<b>", "c"], lines, SCORES, ["0.0001", "0.0002", "0.0001"], strict=True)
    return [
        tunings.folder(place / name, each, scores, labels=NAMES, settings=settings.replace("0.0001", rate),
                       collapsed={0: "says 'no'"} if name == "a" else {})
        for name, each, scores, rate in made
    ]  # fmt: skip


@pytest.fixture(scope="module")
def page(folders: list[Path]) -> Page:
    """Two of them, of the same examples."""
    return Page(report.write(folders[:2], folders[0].parent / "two.html"))


def of(folder: Path) -> list[Judged]:
    """What is known of a folder's answers."""
    return judged.judge(tuned.read(folder))


def test_the_page_stands_on_its_own_and_comes_out_the_same(page: Page, folders: list[Path]) -> None:
    page.stands_alone()
    assert report.write(folders[:2], folders[0].parent / "again.html").read_text() == page.source
    assert list(page.text_of) == [
        "warnings", "seeds", "curves", "agreement", "answers", "calibration", "lengths", "errors", "settings",
    ]  # fmt: skip


def test_a_row_for_every_run_with_the_best_of_each_measure_bold(page: Page) -> None:
    rows = re.findall(r"<tr><th>(.*?)</tr>", page.source.partition("<tbody>")[2])[:2]
    values = [[float(value) for value in re.findall(r'<data value="([^"]+)">', row)] for row in rows]
    assert values[0][:2] == [pytest.approx(0.65), pytest.approx(0.45)]
    assert values[0][2:] == [0.6, 0.7, 0.7, 0.7 - 0.0625, 0.7 + 0.03125, 1, 2, 30, 21.0, 1080.5]
    assert values[1] == [0.9, 0.3, 0.9, 0.9 - 0.0625, 0.9 + 0.03125, 0, 1, 30, 10.0, 1030.5]
    assert [re.findall(r"<b>.*?>([\d.]+) %<", row) for row in rows] == [["45.0"], ["90.0"]]
    assert "&lt;b&gt;" in rows[1]


def test_every_line_says_whose_it_is(page: Page) -> None:
    lines = set(page.drawn("Training loss in nats against steps, every seed"))
    assert lines == {"a, seed 0, collapsed", "a, seed 1", "&lt;b&gt;, seed 0"}
    assert set(page.drawn("Learning rate against steps")) == {"a", "&lt;b&gt;"}
    assert "a, seed 0: collapsed at step 20" in page.text_of["warnings"]


def test_runs_are_held_against_one_another_example_by_example(folders: list[Path]) -> None:
    both = [of(folder) for folder in folders[:2]]
    html = agreement.shown(both, ["a", "<b>"], judged.scale(tuned.read(folders[0])))
    numbers = [float(value) for value in re.findall(r'<data value="([^"]+)">', html)]
    assert numbers[0] == pytest.approx(7 / 30)
    assert numbers[1] < 7 / 30 < numbers[2]
    assert numbers[3:] == [18, 9, 2, 1]
    assert ">yes<" in html
    assert ">no<" in agreement.shown([both[0], both[0]], ["a", "b"], judged.scale(tuned.read(folders[0])))


def test_other_examples_are_not_held_against_these(folders: list[Path]) -> None:
    page = Page(report.write([folders[0], folders[2]], folders[0].parent / "other.html"))
    assert "have not answered the same examples" in page.text_of["agreement"]
    assert "—" in page.source.partition("<tbody>")[2].partition("</tbody>")[0]  # it has no F1


def test_what_differs_in_the_settings_comes_first(page: Page) -> None:
    assert page.text_of["settings"].startswith("Settingsvaluea<b>tuning.rate0.00010.0002")
    assert "tuning.length" not in page.text_of["settings"]


def test_one_that_has_just_begun_leaves_the_other_s_answers(folders: list[Path], tmp_path: Path) -> None:
    young = tunings.folder(
        tmp_path / "young", tunings.classified(FIRST, NAMES), SCORES[0][:1], labels=NAMES, young=(0,), whole=False
    )  # fmt: skip
    page = Page(report.write([young, folders[1]], tmp_path / "page.html"))
    for section in ("answers", "calibration", "errors"):
        assert page.text_of[section].count("Nothing is known of it.") == 1
    assert "Class by class" in page.text_of["answers"]
    assert "have not answered the same examples" in page.text_of["agreement"]
