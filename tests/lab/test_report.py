"""Does the page say what the log says, stand on its own, and keep its shape whatever a run is called or has come to?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from data import corpora
from lab import runs
from lab.pages import Page
from litebert.data.build import build
from litebert.errors import UserError
from litebert.lab import report
from litebert.text.tokenizer import Tokenizer

NASTY = 'odd & <b>"run"'
WARNING = {"event": "warning", "step": 30, "kind": "plateau", "text": "loss <7.1> & flat: raise schedule.peak"}
SECTIONS = ["warnings", "curves", "layers", "words", "neighbours", "trust", "recipe"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for all that is made here."""
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """The pieces of all runs here."""
    return runs.reader()


@pytest.fixture(scope="module")
def shards(place: Path, tokenizer: Tokenizer) -> Path:
    """Text with a held-out split."""
    corpora.corpus(place / "corpus")
    return build([place / "corpus"], tokenizer, place / "shards", corpora.OPTIONS, workers=1).folder


@pytest.fixture(scope="module")
def one(place: Path, tokenizer: Tokenizer) -> tuple[Path, list[dict[str, Any]]]:
    """A finished run and the events of its log."""
    more = [WARNING, {**WARNING, "step": 50}, {**WARNING, "step": 51, "kind": "order", "text": "a coin"}]
    return place / NASTY, runs.run(place / NASTY, tokenizer, more=more)


@pytest.fixture(scope="module")
def page(place: Path, one: tuple[Path, Any], shards: Path) -> Page:
    """Its page."""
    return Page(report.write([one[0]], place / "page.html", shards=shards))


@pytest.fixture(scope="module")
def several(place: Path, one: tuple[Path, Any], tokenizer: Tokenizer, shards: Path) -> tuple[Page, list[Any]]:
    """Three runs on a page: one of them by AdamW, one not finished."""
    logs = [one[1], runs.run(place / "b", tokenizer, seed=1, rule="adamw", layers=2),
            runs.run(place / "c", tokenizer, seed=2, finished=False, positions="rotary")]  # fmt: skip
    written = report.write([one[0], place / "b", place / "c"], place / "new" / "several.html", shards=shards)
    return Page(written), logs


def test_the_page_stands_on_its_own(page: Page, several: tuple[Page, Any]) -> None:
    for each in (page, several[0]):
        each.stands_alone()


def test_every_section_is_there_and_linked(page: Page) -> None:
    assert list(page.text_of) == SECTIONS
    assert [value[1:] for tag, name, value in page.attributes if (tag, name) == ("a", "href")] == SECTIONS


def test_the_numbers_at_the_top_are_those_of_the_log(page: Page, one: tuple[Path, list[dict[str, Any]]]) -> None:
    events = one[1]
    final, steps = runs.last(events, "evaluation"), [event for event in events if event["event"] == "step"]
    speeds, shares = (sorted(event[name] for event in steps) for name in ("tokens_per_s", "share_of_peak"))
    expected = [
        final["mlm"], runs.FLOOR - final["mlm"], runs.FLOOR, final["mlm_accuracy"], 0.0625, final["sop_accuracy"],
        100.0 * runs.STEPS, runs.STEPS, 2.5 * runs.STEPS, (speeds[29] + speeds[30]) / 2, (shares[29] + shares[30]) / 2,
    ]  # fmt: skip
    assert page.numbers[: len(expected)] == expected
    assert f"{final['mlm']:.3f} nats" in page.text
    assert f"{100 * final['sop_accuracy']:.1f} %" in page.text
    assert "321 asked" in page.text
    assert "3 layers of width 16 with 2 heads, all of them one block" in page.text


def test_the_curves_are_drawn_three_times_with_what_they_are_held_against(page: Page) -> None:
    assert page.text_of["curves"].count("unigram floor 3.21") == 3
    assert page.text_of["curves"].count("always the most frequent piece 6.2 %") == 3
    assert page.text_of["curves"].count("a coin 0.693") == 3
    labels = [value for tag, name, value in page.attributes if (tag, name) == ("svg", "aria-label")]
    for by in ("by steps", "by tokens", "by time"):
        assert sum(label.endswith(by) for label in labels) == 8
    assert [label for label in labels if "layer" in label] == [
        "How far it moves: L2 distance between the input and the output of each layer",
        "How far it turns: degrees between the input and the output of each layer",
    ]
    assert page.lines().count("held-out") == 3 * 5
    assert page.lines().count("training") == 3 * 7


def test_names_and_warnings_are_escaped(page: Page) -> None:
    assert NASTY in page.text
    assert '<b>"run"' not in page.source
    told = page.text_of["warnings"]
    assert "plateau at step 30 and 50: loss <7.1> & flat: raise schedule.peak" in told
    assert "order at step 51: a coin" in told
    assert told.index("plateau") < told.index("order")


def test_hidden_words_and_neighbours_are_shown_before_and_after(page: Page) -> None:
    words = page.text_of["words"]
    assert "the held-out sentences of shards" in words
    assert words.count("before (random weights, seed 0)") == words.count("after training")
    assert words.count("after training") >= 7
    assert len([1 for tag, name, value in page.attributes if (tag, name) == ("mark", "")]) == 0
    assert page.source.count("<mark>") == words.count("after training") - 1
    assert page.lines().count("before (random weights, seed 0)") == 2
    assert "nearest" in page.text_of["neighbours"]
    assert any(word in page.text_of["neighbours"] for word in ("river", "stone", "ground", "bends"))


def test_trust_ratios_are_those_of_the_log(page: Page, one: tuple[Path, list[dict[str, Any]]]) -> None:
    recorded = [event["trust"] for event in one[1] if "trust" in event]
    scaled = [name for name in recorded[0] if recorded[0][name] != 1.0]
    section = page.source[page.source.index('<section id="trust">') : page.source.index('<section id="recipe">')]
    names = re.findall(r'<span class="name">([^<]+)</span>', section)
    assert names == scaled
    numbers = [float(value) for value in re.findall(r'<data value="([^"]+)">', section)]
    for row, name in enumerate(names):
        ratios = [each[name] for each in recorded]
        assert numbers[4 * row : 4 * row + 4] == [sorted(ratios)[1], ratios[-1], min(ratios), max(ratios)]
    assert f"{len(recorded[0]) - len(scaled)} tensors are left as they are by rule" in page.text_of["trust"]


def test_the_recipe_is_there_word_for_word(page: Page, one: tuple[Path, Any]) -> None:
    assert (one[0] / "recipe.toml").read_text().strip() in page.text_of["recipe"]


def test_the_same_runs_give_the_same_page(one: tuple[Path, Any], page: Page, place: Path, shards: Path) -> None:
    again = report.write([one[0]], place / "again.html", shards=shards)
    assert again.read_text() == page.source


def test_several_runs_stand_beside_one_another(several: tuple[Page, list[Any]]) -> None:
    page, logs = several
    assert "3 runs compared" in page.text
    finals = [runs.last(log, "evaluation") for log in logs]
    rows = re.findall(r"<tr><th>(.*?)</tr>", page.source.partition("<tbody>")[2])[:3]
    for row, final in zip(rows, finals, strict=True):
        values = [float(value) for value in re.findall(r'<data value="([^"]+)">', row)]
        assert values[:4] == [final["mlm"], final["mlm_accuracy"], final["sop_accuracy"], runs.FLOOR - final["mlm"]]
    best = min(final["mlm"] for final in finals)
    assert [f'<b><data value="{final["mlm"]!r}">' in row for row, final in zip(rows, finals, strict=True)] == [
        final["mlm"] == best for final in finals
    ]
    assert {NASTY, f"{NASTY}, training", "b", "b, training", "c", "c, training"} == set(page.lines())
    recipe = page.text_of["recipe"]
    assert "training.seed012" in recipe
    assert "model.layers323" in recipe
    assert "model.hidden" not in recipe.partition("[model]")[0]
    assert "Every ratio is 1" in page.text_of["trust"]


def test_a_run_that_is_not_finished_has_its_curves(place: Path, several: tuple[Page, Any]) -> None:
    page = Page(report.write([place / "c"], place / "c.html"))
    assert "No model is in the folder yet" in page.text_of["layers"]
    assert list(page.text_of) == ["warnings", "curves", "layers", "trust", "recipe"]
    assert "None: the health report had nothing to say." in page.text_of["warnings"]
    assert page.lines().count("held-out") == 3 * 5
    assert all(name not in several[0].text_of["words"] for name in ("\nc\n", ">c<"))


def test_a_run_that_has_just_begun_has_a_page(place: Path, tokenizer: Tokenizer) -> None:
    runs.run(place / "young", tokenizer, finished=False, log=runs.events(steps=0)[:1])
    page = Page(report.write([place / "young"], place / "young.html"))
    assert "0 % of its schedule" in page.text
    assert page.lines() == []


def test_a_run_without_held_out_text_shows_its_last_steps(place: Path, tokenizer: Tokenizer) -> None:
    log = [event for event in runs.events() if event["event"] != "evaluation"]
    runs.run(place / "unheld", tokenizer, log=log)
    page = Page(report.write([place / "unheld"], place / "unheld.html"))
    assert "Masked words, last steps of training loss" in page.text
    recent = [event["mlm"] for event in log if event["event"] == "step"][-20:]
    assert page.numbers[0] == pytest.approx(sum(recent) / 20)
    assert "held-out" not in page.lines()


def test_a_run_that_diverged_and_went_on_says_so(place: Path, tokenizer: Tokenizer) -> None:
    more = [{"event": "resume", "step": 3}, {"event": "diverged", "step": 61, "what": "loss", "batch": "examples 1"}]
    runs.run(place / "burst", tokenizer, more=more)
    page = Page(report.write([place / "burst"], place / "burst.html"))
    assert "Diverged at step 61: the loss was no number any more; the batch was examples 1" in page.text
    assert "It was interrupted and gone on with once." in page.text


def test_a_recipe_that_cannot_be_read_leaves_the_rest(place: Path, tokenizer: Tokenizer) -> None:
    runs.run(place / "old", tokenizer)
    (place / "old" / "recipe.toml").write_text("[model]\nhiden = 3\n")
    page = Page(report.write([place / "old"], place / "old.html"))
    assert "unknown field 'hiden'" in page.text_of["recipe"]
    assert "hiden = 3" in page.text_of["recipe"]
    assert "3 layers of width 16" in page.text
    assert "before (" not in page.text_of["words"]


def test_a_run_that_went_on_from_a_folder_is_held_against_it(place: Path, tokenizer: Tokenizer, shards: Path) -> None:
    runs.run(place / "base", tokenizer)
    runs.run(place / "domain", tokenizer, seed=5, start=str(place / "base"))
    page = Page(report.write([place / "domain"], place / "domain.html", shards=shards))
    assert "before (base)" in page.text_of["words"]
    assert f"from the weights of {place / 'base'}" in page.text
    (place / "base").rename(place / "gone")
    page = Page(report.write([place / "domain"], place / "domain.html", shards=shards))
    assert "before (" not in page.text_of["words"]


def test_words_of_ones_own_are_shown_with_their_neighbours(place: Path, one: tuple[Path, Any], shards: Path) -> None:
    page = Page(report.write([one[0]], place / "own.html", shards=shards, words=["river", "mill", "zebra"]))
    rows = re.findall(r"<tr><th>(\w+)</th>", page.source.partition('<section id="neighbours">')[2])
    assert rows == ["word", "river", "mill", "tensor"]


def test_runs_of_one_name_are_told_by_their_paths(place: Path, tokenizer: Tokenizer) -> None:
    for folder in ("x", "y"):
        runs.run(place / folder / "run", tokenizer, finished=False)
    page = Page(report.write([place / "x" / "run", place / "y" / "run"], place / "xy.html"))
    assert {str(place / "x" / "run"), str(place / "y" / "run")} <= set(page.lines())


def test_what_is_no_run_is_refused_and_nothing_is_written(place: Path, one: tuple[Path, Any]) -> None:
    for folders, message in (([], "0 runs do not fit"), ([one[0]] * 9, "9 runs do not fit"), ([place], "holds no log")):
        with pytest.raises(UserError, match=message):
            report.write(folders, place / "none.html")
    assert not (place / "none.html").exists()
