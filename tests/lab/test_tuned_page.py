"""Does the page of a fine-tuning say what its folder says, whatever the kind, and however far it has come?"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from lab import tunings
from lab.pages import Page
from litebert.errors import UserError
from litebert.lab import report

NAMES = ["no", "yes"]
PAIRS = [("no", "no", 0.95)] * 6 + [
    ("no", "yes", 0.85),
    ("yes", "yes", 0.75),
    ("yes", "yes", 0.55),
    ("yes", "no", 0.65),
]
LINES = tunings.classified(PAIRS * 4, NAMES)
SCORES = [{"accuracy": 0.8, "matthews": 0.5}, {"accuracy": 0.9, "matthews": 0.7}, {"accuracy": 0.6, "matthews": 0.0}]
SAYS = "says 'no' of all 40 texts"
SECTIONS = ["warnings", "seeds", "curves", "answers", "calibration", "lengths", "errors", "settings"]


def written(folder: Path, *others: Path) -> Page:
    """The page of a folder, or of several."""
    return Page(report.write([folder, *others], folder.parent / f"{folder.name}.html"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for all that is made here."""
    return tmp_path_factory.mktemp("tuned")


@pytest.fixture(scope="module")
def one(place: Path) -> Path:
    """Three seeds, the last of which collapsed."""
    return tunings.folder(place / "one", LINES, SCORES, labels=NAMES, collapsed={2: SAYS}, benchmark="sst-2")


@pytest.fixture(scope="module")
def page(one: Path) -> Page:
    """Its page."""
    return written(one)


@pytest.fixture(scope="module")
def pages(place: Path) -> dict[str, Page]:
    """A page for every kind of task."""
    return {name: written(tunings.folder(place / name, **made)) for name, made in tunings.kinds().items()}


def test_every_kind_has_a_page_that_stands_on_its_own(pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        page.stands_alone()
        sections = [each for each in SECTIONS if (name, each) != ("regress", "calibration")]
        assert list(page.text_of) == sections, name
        assert [value[1:] for tag, key, value in page.attributes if (tag, key) == ("a", "href")] == sections
        assert all(len(text) > 30 for text in page.text_of.values()), "a section without content"


def test_the_same_folder_gives_the_same_page(one: Path, page: Page, place: Path) -> None:
    assert report.write([one], place / "again.html").read_text() == page.source


def test_the_numbers_at_the_top_are_those_of_the_folder(page: Page) -> None:
    accuracy = [each["accuracy"] for each in SCORES]
    speed = statistics.median(1000.0 + step + 100 * seed for seed in range(3) for step in range(1, tunings.STEPS + 1))
    assert page.numbers[: page.numbers.index(speed) + 1] == [
        0.8, 0.6, 0.9, statistics.stdev(accuracy),
        0.9, 41, 60, 0.9 - 0.0625, 0.9 + 0.03125,
        0.5, 0.0, 0.7,
        1, 3,
        40, 0.7, 33.0, speed,
    ]  # fmt: skip
    text = page.text
    assert "Accuracy, median of 3 seeds80.0 %60.0 to 90.0, standard deviation 15.3" in text
    assert "Best: seed 190.0 %at step 41 of 60; 95 % interval 83.8 to 93.1" in text
    assert "Fine-tuning · sst-2" in text
    assert "It sorts texts into 2 classes, begun from run, with 1,234 examples. " in text
    assert "3 seeds: 3 epochs, 16 examples a step, peak rate 0.0001, 64 tokens at most." in text


def test_the_table_has_every_seed_and_names_the_best_and_the_collapsed(page: Page) -> None:
    rows = [[seed, *each.values(), 40 + seed, 60, 10.0 + seed] for seed, each in enumerate(SCORES)]
    deviations = [statistics.stdev(each[name] for each in SCORES) for name in SCORES[0]]
    assert page.numbers_of("seeds") == [*chain.from_iterable(rows), 0.8, 0.5, 33.0, *deviations]
    assert "1 best" in page.text_of["seeds"]
    assert "2 collapsed" in page.text_of["seeds"]
    assert page.text_of["seeds"].count(SAYS) == 1


def test_a_collapse_is_warned_of_unless_it_passed(page: Page) -> None:
    assert f"seed 2: collapsed at step 20 and 40 and 60: {SAYS}" in page.text_of["warnings"]
    assert "says 'none' yet" not in page.text


def test_curves_lie_where_the_log_says(page: Page) -> None:
    steps = range(1, tunings.STEPS + 1)
    lines = page.drawn("Training loss in nats against steps, every seed")
    assert set(lines) == {"seed 0", "seed 1", "seed 2, collapsed"}
    for seed, points in enumerate(lines[name] for name in sorted(lines)):
        expected = [(step, tunings.loss(seed, step)) for step in steps]
        assert points == [(pytest.approx(x, abs=0.1), pytest.approx(y, abs=0.01)) for x, y in expected]
    asked = page.drawn("Accuracy in % against steps, every seed")["seed 1"]
    expected = [(step, 100 * tunings.told(1, step, 0.9)) for step in (20, 40, 60)]
    assert asked == [(pytest.approx(x, abs=0.1), pytest.approx(y, abs=0.1)) for x, y in expected]
    matthews = page.drawn("Matthews against steps, every seed")["seed 1"]
    assert matthews[-1] == (pytest.approx(60, abs=0.1), pytest.approx(0.7, abs=0.005))
    assert page.drawn("Learning rate against steps")["every seed"][-1] == (60, pytest.approx(6e-5, rel=0.01))
    assert "always “no” 70.0 %" in page.text_of["curves"]


def test_the_settings_are_there_word_for_word(page: Page) -> None:
    assert tunings.SETTINGS.strip() in page.text_of["settings"]


def test_one_seed_is_no_spread(place: Path) -> None:
    page = written(tunings.folder(place / "alone", LINES, SCORES[:1], labels=NAMES))
    assert "Accuracy, seed 080.0 %at step 40 of 60; 95 % interval" in page.text
    assert "None: no seed collapsed or came apart." in page.text
    for word in ("median", "deviation", "Best: seed", "seeds together"):
        assert word not in page.text


def test_what_goes_on_has_the_page_of_what_is_there(place: Path) -> None:
    made = tunings.folder(place / "going", LINES, SCORES, labels=NAMES, young=(1, 2), whole=False)
    page = written(made)
    assert "Accuracy, seed 080.0 %at step 40 of 60" in page.text  # the only one that ended
    assert page.text_of["seeds"].count("goes on") == 2
    assert len(page.drawn("Training loss in nats against steps, every seed")["seed 2"]) == 50
    assert list(page.text_of) == SECTIONS  # with the answers of the seed that is best so far
    young = written(tunings.folder(place / "young", LINES, SCORES[:1], labels=NAMES, young=(0,), whole=False))
    assert list(young.text_of) == ["warnings", "seeds", "curves", "answers", "settings"]
    assert "No answers are in the folder yet" in young.text_of["answers"]
    (place / "bare").mkdir()
    (place / "bare" / "task.json").write_bytes((made / "task.json").read_bytes())
    assert list(written(place / "bare").text_of) == ["warnings", "answers", "settings"]


def test_more_seeds_than_colours_keep_the_best_apart(place: Path) -> None:
    scores = [{"accuracy": 0.5 + seed / 100} for seed in range(11)]
    page = written(tunings.folder(place / "many", LINES, scores, labels=NAMES))
    looks = {value for tag, name, value in page.attributes if (tag, name) == ("polyline", "class")}
    assert looks == {"line thin c0", "line thin c7", "line bold c0", "line bold c7"}  # the last is the rate
    assert page.text_of["curves"].startswith("Curvesbest seedother seeds")


def test_names_and_texts_are_escaped_and_long_ones_cut(place: Path) -> None:
    nasty = '<script>alert("1")</script></div> & \ud800'
    names = ['<b>"a"</b>', "b & c"]
    lines = tunings.classified([(names[0], names[1], 0.9)] * 30, names, nasty)
    lines[3] |= {"text": "x" * 1_000_000, "pair": "word " * 200_000, "tokens": 300_000}
    lines[4] |= {"text": "مرحبا بالعالم", "pair": "这部电影真的很好看。"}
    for line in lines:
        line["text"] = line["text"].encode("utf-8", "replace").decode()
    made = tunings.folder(
        place / 'odd & <b>"run"', lines, SCORES[:1], labels=names, benchmark="<i>", collapsed={0: nasty[:-1]}
    )
    with (made / "predictions.jsonl").open("a") as file:
        file.write(json.dumps({**lines[0], "text": nasty}) + "\n")  # half a character, as JSON may hold it
    page = written(made)
    assert page.source.count("<script>") == 1
    assert nasty[:-1] in page.text
    assert 'odd & <b>"run"' in page.text
    assert len(page.source) < 150_000
    assert "[… 999,400 characters …]" in page.text_of["errors"]
    assert 'dir="auto">مرحبا' in page.source


def test_two_hundred_classes_have_no_matrix(place: Path) -> None:
    names = [f"c{i:03d}" for i in range(200)]
    pairs = [(name, names[(i + (i % 4 == 0)) % 200], 0.5) for i, name in enumerate(names)] * 2
    page = written(tunings.folder(place / "wide", tunings.classified(pairs, names), SCORES[:1], labels=names))
    assert "matrix" not in page.source.partition("<main>")[2]
    assert page.numbers_of("answers")[:3] == [2, 1.0, 2]  # c000 is said to be c001, both times
    assert "30 more pairs are confused less often." in page.text_of["answers"]


BROKEN: list[tuple[str, Callable[[Path], Any], str]] = [
    ("task.json", lambda path: path.write_text("{"), "not valid JSON"),
    ("task.json", lambda path: path.write_text('{"labels": 3}'), "not as litebert writes it"),
    ("scores.json", lambda path: path.write_text('{"seeds": [{"scores": {}}]}'), "KeyError: 'seed'"),
    ("scores.json", lambda path: path.write_text('{"interval": {"accuracy": [1]}}'), "IndexError"),
    ("predictions.jsonl", lambda path: path.write_text("{}\n{"), "jsonl:2 is not JSON"),
    ("predictions.jsonl", lambda path: path.write_text("3\n"), "jsonl:1 is no object"),
    ("predictions.jsonl", lambda path: path.write_text('{"label": "no"}\n'), "has no field 'prediction'"),
    ("predictions.jsonl", lambda path: path.write_text('{"label": "no", "prediction": 3}\n'), "prediction 3 do not go"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "spoil", "message"), BROKEN)
def test_a_broken_folder_is_one_line(
    tmp_path: Path, name: str, spoil: Callable[[Path], Any], message: str
) -> None:  # fmt: skip
    made = tunings.folder(tmp_path / "x", LINES, SCORES, labels=NAMES)
    spoil(made / name)
    with pytest.raises(UserError) as caught:
        written(made)
    assert message in str(caught.value)
    assert str(made) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "x.html").exists()


def test_what_shares_no_page_is_refused(one: Path, place: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "log.jsonl").write_text('{"event": "start", "step": 0}\n')
    other = tunings.folder(tmp_path / "other", **tunings.kinds()["regress"])
    cases: list[tuple[list[Path], dict[str, Any], str]] = [
        ([tmp_path / "run", one], {}, "one is a fine-tuning and .*run a run of pre-training"),
        ([one, tmp_path / "nothing"], {}, "nothing is no folder"),
        ([one, other], {}, r"not of one task \(kind 'classify' and 'regress'\)"),
        ([one / "seed-1"], {}, "seed-1 is one seed of a fine-tuning: name the folder that it lies in, .*one$"),
        ([one], {"shards": "shards"}, "shards is for runs of pre-training"),
        ([one], {"words": ["mill"]}, "words is for runs of pre-training"),
        ([one] * 9, {}, "9 runs do not fit"),
    ]
    for folders, more, message in cases:
        with pytest.raises(UserError, match=message):
            report.write(folders, place / "none.html", **more)
    assert not (place / "none.html").exists()


def test_the_best_seed_may_have_collapsed(place: Path) -> None:
    made = tunings.folder(place / "odd", LINES, SCORES, labels=NAMES, collapsed={1: SAYS})
    with (made / "seed-1" / "log.jsonl").open("a") as file:
        file.write(json.dumps({"event": "warning", "step": 60, "kind": "collapsed", "text": SAYS}) + "\n")
    page = written(made)
    assert "1 best collapsed" in page.text_of["seeds"]
    assert f"at step 20 and 40 and 60 and once more: {SAYS}" in page.text_of["warnings"]
    assert "1 of 3" in page.text.replace("\n", "")
