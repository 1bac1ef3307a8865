"""Is a saved task the same when it comes back, does every kind learn what can be learnt, and is misuse told?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from litebert import rng
from litebert.errors import UserError
from litebert.tasks import kinds
from litebert.tasks.batches import Table
from litebert.tasks.evaluation import Asked
from litebert.tasks.examples import Answer, Choice, Example, Place, Question, Text, Words
from litebert.tasks.fit import PREDICTIONS, Ready, fit
from litebert.tasks.learner import Start
from litebert.tasks.settings import Tuning
from tasks.laid import answered, laid
from tasks.toy import saved_model
from vectors.tiny import WORDS, wordpiece_of

PLAIN = [word for word in WORDS if word not in ("boat", "bird", "lake")]


def of_kind(name: str, count: int, seed: int = 0) -> list[Example]:
    """Examples whose answer one word of their text gives away."""
    draw, found = rng.generator(seed, "kinds"), []
    for number in range(count):
        words = [PLAIN[i] for i in draw.integers(len(PLAIN), size=int(draw.integers(3, 7)))]
        which = int(draw.integers(3))
        at = int(draw.integers(len(words)))
        words[at] = ("boat", "bird", "lake")[which]
        found.append(_example(name, words, which, at, Place("made", number + 1)))
    return found


def _example(name: str, words: list[str], which: int, at: int, place: Place) -> Example:
    text = " ".join(words)
    match name:
        case "binary":
            return Text(text, None, ("none", "boat")[which == 0], place=place)
        case "pair":
            return Text("a cold sea", text, ("boat", "bird", "lake")[which], place=place)
        case "several":
            return Text(text, None, frozenset((("boat", "sails"), ("bird",), ())[which]), place=place)
        case "regress":
            return Text(text, None, (0.0, 40.0, 100.0)[which], place=place)
        case "tag":
            return Words(tuple(words), tuple("B-X" if i == at else "O" for i in range(len(words))), place=place)
        case "span":
            start = len(" ".join(words[:at])) + (at > 0)
            return Question("is it", text, (Answer(words[at], start),), place=place)
    options = ("boat", "bird", "lake")[: 2 + (which == 2)]
    return Choice(text, "the _", options, which, place=place)


KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "binary": ("classify", {"weights": "balanced", "smoothing": 0.1}), "pair": ("classify", {"long": "mean"}),
    "several": ("classify", {"weights": "balanced"}), "regress": ("regress", {"long": "tail"}),
    "tag": ("tag", {"stride": 9}), "span": ("span", {"stride": 9}), "choice": ("choice", {"smoothing": 0.1}),
}  # fmt: skip
LENGTH = {"length": 32, "question": 8}


@pytest.mark.parametrize("name", KINDS)
def test_a_task_that_was_saved_comes_back_the_same(name: str) -> None:
    kind, tuning = KINDS[name]
    examples = of_kind(name, 24)
    task = kinds.settled(kind, examples, Tuning(**LENGTH, **tuning))
    again = kinds.restored(json.loads(json.dumps(task.saved())))
    assert again.saved() == task.saved()
    assert (type(again), again.kind, again.measures) == (type(task), kind, task.measures)
    one, other = laid(task, examples), laid(again, examples)
    assert one.model.specs == other.model.specs
    assert {n: float(s.loss.detach()) for n, s in task.sums(one.model, one.micro).items()} == {
        n: float(s.loss.detach()) for n, s in again.sums(one.model, other.micro).items()
    }
    assert answered(task, examples, one.model) == answered(again, examples, one.model)


@pytest.mark.parametrize("name", KINDS)
def test_what_can_be_learnt_is_learnt(name: str, model: Path, tmp_path: Path) -> None:
    kind, tuning = KINDS[name]
    parts = [of_kind(name, 300), of_kind(name, 40, seed=1)]
    settled = Tuning(**LENGTH, **tuning, batch=8, rate=6e-3, epochs=3.0, precision="float32", dropout=0.0)
    task, tokenizer = kinds.settled(kind, parts[0], settled), wordpiece_of()
    tables = [Table(task.items(part, tokenizer), tokenizer.specials.pad) for part in parts]
    asked = Asked(task, parts[1], tables[1])
    done = fit(Ready(Start(str(model)), task, settled, tokenizer, parts[0], tables[0], asked), 0, tmp_path)
    assert done is not None
    assert done.collapsed == ""
    assert done.scores[task.measures[0]] > 0.9
    assert set(task.measures) == set(done.scores)
    assert len((tmp_path / PREDICTIONS).read_text().splitlines()) == 40


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model to begin from."""
    return saved_model(tmp_path_factory.mktemp("model"))


def test_a_classifier_is_for_several_labels_where_one_example_has_a_list() -> None:
    mixed: Sequence[Example] = [Text("a", None, frozenset(["x", "y"])), Text("b", None, "x")]
    saved = kinds.settled("classify", mixed, Tuning()).saved()
    assert (saved["problem"], saved["names"]) == ("multiple", ["x", "y"])


@pytest.mark.parametrize(
    ("kind", "examples", "labels", "said"),
    [
        ("classfy", of_kind("binary", 3), None, "unknown kind of task 'classfy': did you mean 'classify'?"),
        ("classify", [], None, "there is no training example for classify: give at least one"),
        ("choice", of_kind("binary", 3), None, "made:1: a text is nothing that choice learns from: give a choice"),
        ("regress", of_kind("regress", 3), ["a"], "regress has no labels, but 1 are given: leave them out"),
        ("regress", of_kind("binary", 3), None, "made:1: score "),
    ],
    ids=["unknown kind", "nothing", "another kind's", "labels without meaning", "classes as scores"],
)
def test_what_settles_no_task_is_told(kind: Any, examples: Any, labels: Any, said: str) -> None:
    with pytest.raises(UserError) as error:
        kinds.settled(kind, examples, Tuning(), labels)
    assert str(error.value).startswith(said)


@pytest.mark.parametrize(
    ("saved", "said"),
    [
        ({"kind": "rank"}, "unknown kind of task 'rank'"),
        ({}, "unknown kind of task ''"),
        ({"kind": "regress", "mean": 1.0}, "what was saved of a regress task is damaged (KeyError('spread'))"),
        ({"kind": "span", "width": 3}, "what was saved of a span task is damaged (TypeError("),
    ],
)
def test_what_was_not_saved_by_a_task_is_told(saved: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as error:
        kinds.restored(saved)
    assert str(error.value).startswith(said)
