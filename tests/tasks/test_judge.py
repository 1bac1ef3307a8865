"""Is a fine-tuning judged by its task's measures, over the right examples, and is told right what it confuses?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import litebert
from litebert.errors import UserError
from litebert.tasks import judge
from litebert.tasks.examples import Answer, Example, Question, Text, Words
from litebert.tasks.judge import NOTHING, Slip
from litebert.tasks.predict import Predictor
from litebert.tasks.sources import Reading
from litebert.tasks.span import Answered
from litebert.tasks.tag import Tagged
from tasks.finished import finished, folder
from tasks.test_predict import sentences


def csv(path: Path, rows: list[tuple[str, str]], header: str = "review,stars") -> Path:
    """A table of texts and labels."""
    path.write_text("\n".join([header, *(f"{text},{label}" for text, label in rows)]) + "\n", encoding="utf-8")
    return path


def test_the_measures_are_those_of_the_answers(tmp_path: Path) -> None:
    texts = sentences(60)
    said = litebert.predict(folder("classify", tmp_path / "run"), texts)
    right = [one.prediction if i % 3 else "cold" for i, one in enumerate(said)]
    data = csv(tmp_path / "mine.csv", list(zip(texts, right, strict=True)))
    found = litebert.evaluate(tmp_path / "run", data, columns={"text": "review", "label": "stars"})
    hits = sum(one.prediction == label for one, label in zip(said, right, strict=True))
    assert found.scores["accuracy"] == hits / 60
    low, high = found.intervals["accuracy"]
    assert low <= hits / 60 <= high
    assert low < high
    assert found.loss is not None
    assert sum(slip.times for slip in found.slips) == 60 - hits
    assert all(slip.right == "cold" and slip.of == right.count("cold") for slip in found.slips)
    assert [line["prediction"] for line in found.lines] == [one.prediction for one in said]


def test_groups_of_lengths_hold_every_example_once() -> None:
    predictor = Predictor(finished("regress"))
    examples = [Text(text, label=float(len(text.split()))) for text in sentences(130, 20)]
    found = judge.judge(predictor, examples)
    assert sum(group.examples for group in found.lengths) == 130
    assert [one.high < other.low for one, other in zip(found.lengths, found.lengths[1:], strict=False)] == [True] * (
        len(found.lengths) - 1
    )
    first = found.lengths[0]
    short = [one for one in examples if isinstance(one, Text) and len(one.text.split()) + 2 <= first.high]
    assert len(short) == first.examples
    assert first.score == pytest.approx(judge.judge(predictor, short).scores["pearson"], abs=1e-3)


def test_entities_of_the_same_words_are_taken_for_one_another() -> None:
    gold: list[Example] = [Words(("a", "b", "c", "d"), ("B-sea", "I-sea", "O", "B-boat"))]
    answer = Tagged(["B-boat", "I-boat", "B-sea", "O"], 1.0, [])
    assert judge.slips(gold, [answer]) == [
        Slip("boat", NOTHING, 1, 1), Slip(NOTHING, "sea", 1, 1), Slip("sea", "boat", 1, 1),
    ]  # fmt: skip


def test_of_several_labels_the_missed_and_the_invented_are_told() -> None:
    answer = finished("multilabel").task.predictions([Text("x")], [], [[-1.0, 2.0, 2.0]])  # wind and boat
    gold: list[Example] = [Text("x", label=frozenset({"sea", "wind"}))]
    assert judge.slips(gold, answer) == [Slip(NOTHING, "boat", 1, 1), Slip("sea", NOTHING, 1, 1)]


def test_a_question_without_an_answer_that_is_given_one_is_told() -> None:
    gold: list[Example] = [Question("q", "c", ()), Question("q", "c", (Answer("c", 0),))]
    answers = [Answered("c", 0, 1, 0.5, "c", 0.1), Answered("c", 0, 1, 0.5, "c", 0.1)]
    assert judge.slips(gold, answers) == [Slip(NOTHING, "an answer", 1, 1)]


def test_a_benchmark_is_judged_by_its_own_measure_first(tmp_path: Path) -> None:
    run = folder("regress", tmp_path / "run", benchmark="sts-b")
    data = tmp_path / "STS-B"
    data.mkdir()
    rows = [f"{i}\tthe old boat\t{text}\t{i % 5}.0" for i, text in enumerate(sentences(40))]
    (data / "dev.tsv").write_text("\n".join(["index\tsentence1\tsentence2\tscore", *rows]) + "\n", encoding="utf-8")
    found = litebert.evaluate(run, tmp_path)
    assert (found.task, found.part, found.examples, found.measure) == ("sts-b", "dev", 40, "pearson")
    assert list(found.scores) == ["pearson", "spearman"]


def test_only_examples_with_an_answer_are_asked(tmp_path: Path) -> None:
    run = folder("tag", tmp_path / "run", benchmark="cluener")
    lines = [{"text": "河山", "label": {"name": {"河": [[0, 0]]}}}, {"text": "山山"}]
    for part in ("dev", "test"):
        (tmp_path / f"{part}.json").write_text("\n".join(map(json.dumps, lines[1:] if part == "test" else lines[:1])))
    with pytest.raises(UserError, match="no example whose answer is known"):
        litebert.evaluate(run, tmp_path, part="test")


@pytest.mark.parametrize(
    ("task", "rows", "wrong"),
    [
        ("rte", [("x", "calm")], "columns of its own|has no column"),
        ("regress", [("x", "1")], "fine-tuned to classify"),
        ("sst-3", [("x", "calm")], "sst-3"),
        ("classify", [("x", "calm"), ("the sea", "hot")], r"mine.csv:3: .*'hot'"),
        ("classify", [("x", "")], "mine.csv:2"),
    ],
)
def test_data_of_another_task_are_refused(task: str, rows: list[tuple[str, str]], wrong: str, tmp_path: Path) -> None:
    run = folder("classify", tmp_path / "run")
    data = csv(tmp_path / "mine.csv", rows, "text,label")
    with pytest.raises(UserError, match=wrong):
        litebert.evaluate(run, data, task)


def test_rows_that_are_no_examples_are_counted(tmp_path: Path) -> None:
    run = folder("classify", tmp_path / "run")
    data = csv(tmp_path / "mine.csv", [("x", "calm"), ("", "old"), ("the sea", "old")], "text,label")
    found = litebert.evaluate(run, data, reading=Reading(bad="skip"))
    assert found.examples == 2
    assert [one.place.row for one in found.left] == [3]
