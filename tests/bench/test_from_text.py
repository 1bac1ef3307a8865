"""Does everybody learn the same task with the same settings, and does the table say who won, and by what luck?"""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.running import litebert, refused
from litebert import files
from litebert.bench import bag_of_words, from_text, trial
from litebert.bench.from_text import Contest, Learner
from litebert.config import Config
from litebert.interop import folder as folders
from litebert.model.model import build
from litebert.tasks import sources
from litebert.text import tokenizer as tokenizers

GOOD, BAD, FILLING = ("babado", "fiful"), ("kelalo", "mininaka"), ("po ri", "so tu", "gu mi", "na lo")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and its tokenizer."""
    place = trial.made(tmp_path_factory.mktemp("text"))
    folder = tmp_path_factory.mktemp("model")
    tokenizer = tokenizers.load(place.tokenizer)
    config = Config(vocab=tokenizer.size, embedding=16, hidden=32, layers=1, heads=2, ffn=32, max_positions=64)
    folders.save(build(config, ["mlm"], seed=7), folder)
    tokenizer.save(folder)
    return folder


@pytest.fixture(scope="module")
def glue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """SST-2 and STS-B of made-up words: praise and blame; how many words of a pair are the same."""
    root, draw = tmp_path_factory.mktemp("glue"), np.random.default_rng(0)

    def write(folder: str, part: str, columns: list[str], rows: list[list[str]]) -> None:
        path = root / folder / f"{part}.tsv"
        path.parent.mkdir(exist_ok=True)
        with path.open("w", newline="") as file:
            csv.writer(file, delimiter="\t", quoting=csv.QUOTE_NONE, lineterminator="\n").writerows([columns, *rows])

    def text() -> str:
        return " ".join(draw.choice(FILLING, 3).tolist())

    for part, count in (("train", 120), ("dev", 40)):
        rows = []
        for number in range(count):
            words = GOOD if number % 2 else BAD
            rows.append([f"{text()} {words[int(draw.integers(2))]} {text()}", str(number % 2)])
        write("SST-2", part, ["sentence", "label"], rows)
        rows = []
        for number in range(count):
            pair = [[f"w{draw.integers(10**6)}" for _ in range(5)] for _ in range(2)]
            pair[1][: number % 6] = pair[0][: number % 6]
            told = [str(number), "g", "f", "y", "0", "s", "s", " ".join(pair[0]), " ".join(pair[1]), str(number % 6)]
            rows.append(told)
        write("STS-B", part, ["index", "genre", "filename", "year", "old_index", "source1", "source2", "sentence1",
                              "sentence2", "score"], rows)  # fmt: skip
    return root


def test_counted_words_know_praise_from_blame(glue: Path) -> None:
    pytest.importorskip("sklearn")
    scores = bag_of_words.scored(sources.source("sst-2", glue))
    assert scores["accuracy"] == 1.0
    assert scores["matthews"] == 1.0


def test_counted_words_see_what_a_pair_has_in_common(glue: Path) -> None:
    """All words are new in the development set: only the cosine and the products of what is shared tell."""
    pytest.importorskip("sklearn")
    source = sources.source("sts-b", glue)
    assert set(bag_of_words.scored(source)) == {"pearson", "spearman"}
    same = source._replace(dev=source.train)
    assert bag_of_words.scored(same)["pearson"] > 0.95


def test_a_pair_is_the_same_read_from_either_side(glue: Path) -> None:
    pytest.importorskip("sklearn")
    train: Any = sources.source("sts-b", glue).train
    features = bag_of_words._Features(train)
    turned = [one._replace(text=one.pair, pair=one.text) for one in train]
    one, other = features.of(train).toarray(), features.of(turned).toarray()
    assert np.allclose(one, other)
    equal = features.of([one._replace(pair=one.text) for one in train]).toarray()
    assert np.allclose(equal[:, -1], 1.0)
    assert np.allclose(equal[:, : (equal.shape[1] - 1) // 2], 0.0)


def test_all_learn_and_the_same_command_goes_on(model: Path, glue: Path, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    out = tmp_path / "out"
    settings = [part for one in ("steps=3", "length=24", "random.sst-2.steps=5") for part in ("--set", one)]
    call = ["bench", "from-text", model, "--peer", model, "--data", glue, "--task", "sst-2", "--task", "sts-b",
            "--seeds", 2, *settings, "--device", "cpu", "--out", out]  # fmt: skip
    done = litebert(*call)
    assert done.code == 0, done.err
    told = done.value
    assert told == {"bench": "from-text", **json.loads((out / "from-text.json").read_text())}
    assert [told["tasks"][name]["measure"] for name in ("sst-2", "sts-b")] == ["accuracy", "pearson"]
    for name, task in told["tasks"].items():
        assert set(task["scores"]) == {"words", "pre-trained", "transformers", "random"}
        for who, one in task["scores"].items():
            assert one["seeds"] == (1 if who == "words" else 2)
            steps = {seed["steps"] for seed in one.get("each", ())}
            assert steps == (set() if who == "words" else {5} if (who, name) == ("random", "sst-2") else {3})
        # The peer is given the same weights here, so it must come to the same, and random weights to something else.
        own, peer, anew = (
            files.digest(out / name / who / "model.safetensors") for who in ("pre-trained", "transformers", "random")
        )
        assert own == peer != anew
    assert told["wins"]["sst-2"] is False
    assert "TF-IDF" in done.out
    assert "BERT-Tiny" in done.out
    stamps = {path: path.stat().st_mtime_ns for path in out.glob("*/*/seed-*/scores.json")}
    assert len(stamps) == 2 * 3 * 2
    again = litebert(*call)
    assert again.value == told
    assert {path: path.stat().st_mtime_ns for path in out.glob("*/*/seed-*/scores.json")} == stamps


def test_small_tasks_get_more_seeds_than_large_ones(
    model: Path, glue: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, int] = {}

    def learner(contest: Any, one: Any, task: str, deciding: str, seeds: int) -> dict[str, Any]:
        given[task] = seeds
        return {"measure": deciding, "median": {deciding: 0.5}, "spread": {}, "seeds": seeds, "collapsed": 0}

    monkeypatch.setattr(from_text, "_learner", learner)
    monkeypatch.setattr(from_text, "LARGE", 121)
    tasks = ("sst-2", "sts-b")
    contest = Contest([Learner("pre-trained", model)], glue, tmp_path, tasks, words=False)
    from_text.measure(contest)
    assert given == {"sst-2": 5, "sts-b": 5}
    monkeypatch.setattr(from_text, "LARGE", 120)
    from_text.measure(contest)
    assert given == {"sst-2": 3, "sts-b": 3}


def test_who_wins_is_above_all_others() -> None:
    def task(**medians: float | None) -> dict[str, Any]:
        scores = {who: {"median": {"f1": value}} for who, value in medians.items()}
        return {"measure": "f1", "scores": scores}

    found = {
        "above": task(own=0.8, other=0.7, words=0.6), "even": task(own=0.8, other=0.8), "one": task(own=0.8, words=0.9),
        "none": task(own=None, words=0.1), "alone": task(own=0.8, other=None),
    }  # fmt: skip
    wins = {"above": True, "even": False, "one": False, "none": False, "alone": True}
    assert from_text.wins(found, "own") == wins


def test_a_score_tells_its_luck() -> None:
    score = {"measure": "f1", "median": {"f1": 0.8123}, "spread": {"f1": 0.0149}, "seeds": 5, "collapsed": 0}
    assert from_text.told(score) == "81.2 ± 1.5"
    assert from_text.told({**score, "collapsed": 2}) == "81.2 ± 1.5, 2 of 5 collapsed"
    assert from_text.told({**score, "seeds": 1, "spread": {}}) == "81.2"
    assert from_text.told({**score, "median": {"f1": None}}).startswith("?")


@pytest.mark.parametrize(
    ("learner", "task", "rate"),
    [
        pytest.param("random", "cola", 3e-4, id="the last that fits"),
        pytest.param("random", "mrpc", 2e-4, id="of the learner"),
        pytest.param("pre-trained", "cola", 1e-4, id="of all"),
    ],
)
def test_settings_are_for_whom_they_are_meant(learner: str, task: str, rate: float) -> None:
    changes = ["rate=1e-4", "random.rate=2e-4", "random.cola.rate=3e-4"]
    assert math.isclose(from_text.settings(changes, learner, task)["rate"], rate)


def test_what_cannot_be_is_refused_before_anything_is_trained(model: Path, glue: Path, tmp_path: Path) -> None:
    call = ["bench", "from-text", model, "--data", glue, "--out", tmp_path / "out"]
    assert "'nobody'" in refused(*call, "--set", "nobody.rate=1")
    assert "squad-1.1 is a task of kind span" in refused(*call, "--task", "squad-1.1")
    assert "classify is a kind, not a benchmark" in refused(*call, "--task", "classify")
    assert "is a preset" in refused("bench", "from-text", "albert-base", "--data", glue)
    assert not (tmp_path / "out").exists()


def test_without_scikit_learn_the_extra_is_named(
    model: Path, glue: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bag_of_words, "find_spec", lambda name: None)
    message = refused("bench", "from-text", model, "--data", glue, "--out", tmp_path / "out")
    assert message == "TF-IDF is scikit-learn's: pip install 'litebert[peers]', or add --no-words"
