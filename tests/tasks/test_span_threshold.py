"""Does a finished fine-tuning of SQuAD 2.0 answer with the threshold that suited its development set?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from litebert import files
from litebert.tasks import judge
from litebert.tasks.examples import Question
from litebert.tasks.finetune import finetune
from litebert.tasks.span import Span
from litebert.tasks.trained import load
from tasks.test_span import drawn
from tasks.toy import saved_model


def written(path: Path, questions: list[Question]) -> Path:
    """A file in the form of SQuAD 2.0."""
    paragraphs = [
        {
            "context": one.context,
            "qas": [{
                "id": one.id, "question": one.question, "is_impossible": not one.answers,
                "answers": [{"text": text, "answer_start": start} for text, start in one.answers or ()],
            }],
        }
        for one in questions
    ]  # fmt: skip
    path.write_text(json.dumps({"version": "v2.0", "data": [{"title": "t", "paragraphs": paragraphs}]}))
    return path


def test_the_folder_answers_with_the_best_threshold(tmp_path: Path) -> None:
    model = saved_model(tmp_path / "model")
    train = written(tmp_path / "train.json", drawn(40, 12, absent=0.5))
    dev = written(tmp_path / "dev.json", drawn(30, 12, seed=1, absent=0.5))
    done = finetune("span", model, train, tmp_path / "out", dev=dev, length=32, question=6, stride=16, steps=4, batch=8,
                    rate=1e-3, precision="float32")  # fmt: skip
    assert done.best is not None
    task = load(tmp_path / "out").task
    assert isinstance(task, Span)
    scores = judge.evaluate(tmp_path / "out", dev, precision="float32").scores
    assert scores["f1"] == pytest.approx(scores["best_f1"])
    assert scores["best_f1"] == pytest.approx(done.best.scores["best_f1"])
    assert done.best.scores["f1"] < scores["f1"]  # else nothing was tuned here
    assert files.read_json(tmp_path / "out" / "task.json")["task"]["threshold"] == task.threshold != 0.5
