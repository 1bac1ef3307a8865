"""Do the tasks write what the page reads? What a task's own answers become in a folder, for every kind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lab.pages import Page
from litebert import presets
from litebert.lab import judged, report, tuned
from litebert.tasks import evaluation, kinds, trained
from litebert.tasks.choice import Chosen
from litebert.tasks.classify import Classified
from litebert.tasks.examples import Answer, Choice, Place, Question, Text, Words
from litebert.tasks.fit import Fitted
from litebert.tasks.multilabel import Labelled
from litebert.tasks.regress import Scored
from litebert.tasks.settings import Tuning
from litebert.tasks.span import Answered
from litebert.tasks.tag import Tagged

PLACE = Place("dev.tsv", 2)
CONTEXT = "the boat lies on the river"
CASES: dict[str, tuple[str, list[Any], list[Any]]] = {
    "classify": (
        "classify",
        [Text("one", None, "no", "a", PLACE), Text("two", "three", "yes", "b", PLACE)],
        [Classified("no", 0.75, {"no": 0.75, "yes": 0.25}), Classified("no", 0.5, {"no": 0.5, "yes": 0.5})],
    ),
    "several": (
        "classify",
        [Text("one", None, frozenset({"x", "y"}), "a", PLACE), Text("two", None, frozenset(), "b", PLACE)],
        [Labelled(["x", "y"], {"x": 0.75, "y": 0.75}), Labelled(["y"], {"x": 0.25, "y": 0.5})],
    ),
    "regress": (
        "regress", [Text("one", None, 1.5, "a", PLACE), Text("two", None, 2.5, "b", PLACE)], [Scored(1.5), Scored(2.0)],
    ),
    "tag": (
        "tag",
        [Words(("a", "boat"), ("O", "B-thing"), "a", PLACE), Words(("b", "c"), ("O", "O"), "b", PLACE, spaced=False)],
        [Tagged(["O", "B-thing"], 0.5, []), Tagged(["B-thing", "O"], 0.5, [])],
    ),
    "span": (
        "span",
        [Question("where?", CONTEXT, (Answer("the river", 17),), "a", "g", PLACE),
         Question("who?", CONTEXT, (), "b", "g", PLACE)],
        [Answered("the river", 17, 26, 0.5, "the river", 0.25), Answered("boat", 4, 8, 0.5, "boat", 0.25)],
    ),
    "choice": (
        "choice",
        [Choice(CONTEXT, "where?", ("sea", "river"), 1, "a", "middle", PLACE),
         Choice(CONTEXT, "who?", ("x", "y"), 0, "b", "high", PLACE)],
        [Chosen(1, 0.75, [0.25, 0.75]), Chosen(1, 0.5, [0.5, 0.5])],
    ),
}  # fmt: skip


def folder(place: Path, kind: str, examples: Sequence[Any], predictions: Sequence[Any]) -> Path:
    """The folder of a fine-tuning, by the functions that write one."""
    task = kinds.settled(kind, examples, Tuning(length=128))
    home = place / "seed-0"
    home.mkdir(parents=True)
    trained.describe(place, task, presets.preset("albert-tiny"), Tuning(), "", {}, {"model": "run", "examples": 7})
    told = [{**evaluation.told(one), **answer._asdict(), "tokens": 9 + i}
            for i, (one, answer) in enumerate(zip(examples, predictions, strict=True))]  # fmt: skip
    fitted = Fitted(0, task.score(examples, predictions), 3, 4, 5.0)
    (home / "predictions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in told))
    (home / "scores.json").write_text(json.dumps(fitted._asdict()))
    return place


@pytest.mark.parametrize("name", CASES)
def test_what_a_task_writes_is_what_the_page_reads(name: str, tmp_path: Path) -> None:
    made = folder(tmp_path / name, *CASES[name])
    run = tuned.read(made)
    found = judged.judge(run)
    assert [one.right for one in found] == [True, False]
    assert [one.tokens for one in found] == [9, 10]
    assert (run.kind, run.several) == (CASES[name][0], name == "several")
    assert all((one.confidence is None) == (name in ("regress", "several")) for one in found)
    page = Page(report.write([made], tmp_path / "page.html"))
    assert "answers" in page.text_of
    assert "Nothing" not in page.text_of["errors"]
    scores = json.loads((made / "seed-0" / "scores.json").read_text())["scores"]
    assert [value for value in page.numbers if value in scores.values()]
    assert "begun from run, with 7 examples" in page.text


def test_the_score_of_the_page_is_that_of_the_task(tmp_path: Path) -> None:
    for name in ("classify", "span", "choice"):
        made = folder(tmp_path / name, *CASES[name])
        scores = json.loads((made / "seed-0" / "scores.json").read_text())["scores"]
        found = judged.judge(tuned.read(made))
        mean = sum(one.score for one in found) / len(found)
        assert mean == pytest.approx(scores.get("accuracy", scores.get("f1")))
