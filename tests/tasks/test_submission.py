"""Are the leaderboards' files as they want them: names, labels, every example once?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from litebert.errors import UserError
from litebert.tasks import submission
from litebert.tasks.benchmarks import named
from litebert.tasks.classify import Classified
from litebert.tasks.examples import Place, Question, Text
from litebert.tasks.predict import Said
from litebert.tasks.regress import Scored
from litebert.tasks.span import Answered


def said(*answers: Any, ids: tuple[str, ...] = ()) -> list[Said]:
    """Answers to texts, or to questions with these ids."""
    names = ids or ("",) * len(answers)
    return [
        Said(
            Question("q", "c", None, name, place=Place("x", i)) if isinstance(answer, Answered) else Text("t", id=name),
            answer,
            1,
        )
        for i, (answer, name) in enumerate(zip(answers, names, strict=True), 1)
    ]


def label(name: str) -> Classified:
    return Classified(name, 1.0, {name: 1.0})


@pytest.mark.parametrize(
    ("task", "answers", "file", "lines"),
    [
        ("sst-2", [label("1"), label("0")], "SST-2.tsv", ["0\t1", "1\t0"]),
        ("rte", [label("not_entailment")], "RTE.tsv", ["0\tnot_entailment"]),
        ("qnli", [label("entailment")], "QNLI.tsv", ["0\tentailment"]),
        ("mnli", [label("neutral")], "MNLI-m.tsv", ["0\tneutral"]),
        ("mnli-mm", [label("contradiction")], "MNLI-mm.tsv", ["0\tcontradiction"]),
        ("ax", [label("neutral")], "AX.tsv", ["0\tneutral"]),
        ("cola", [label("1")], "CoLA.tsv", ["0\t1"]),
        ("sts-b", [Scored(5.31), Scored(-0.2), Scored(2.7184)], "STS-B.tsv", ["0\t5.000", "1\t0.000", "2\t2.718"]),
    ],
)
def test_glue_gets_its_own_names_and_labels(task: str, answers: list[Any], file: str, lines: list[str]) -> None:
    found = submission.files("glue", named(task), said(*answers))
    assert found == {file: "\n".join(["index\tprediction", *lines]) + "\n"}


def test_an_index_of_the_file_is_kept() -> None:
    found = submission.files("glue", named("qqp"), said(label("0"), label("1"), ids=("17", "4")))
    assert found["QQP.tsv"].splitlines()[1:] == ["17\t0", "4\t1"]


def test_squad_gets_an_answer_an_id_and_how_likely_there_is_none() -> None:
    answers = [Answered("Kiel", 3, 7, 0.9, "Kiel", 0.2), Answered("", -1, -1, 0.1, "Kiel", 0.8)]
    found = submission.files("squad", named("squad-2.0"), said(*answers, ids=("a", "b")))
    assert json.loads(found["predictions.json"]) == {"a": "Kiel", "b": ""}
    assert json.loads(found["na_prob.json"]) == {"a": 0.2, "b": 0.8}
    one = submission.files("squad", named("squad-1.1"), said(answers[0]._replace(no_answer=None), ids=("a",)))
    assert list(one) == ["predictions.json"]


@pytest.mark.parametrize(
    ("board", "task", "answers", "ids", "wrong"),
    [
        ("glue", "rte", [label("0")], (), "knows entailment, not_entailment"),
        ("glue", "sst-2", [label("0"), label("1")], ("4", "4"), "id '4' comes a second time"),
        ("glue", "sst-2", [label("0"), label("1")], ("4", ""), "no id"),
        ("squad", "squad-1.1", [Answered("x", 0, 1, 1.0, "x", None)], ("",), "no id"),
        ("glue", "c3", [], (), "GLUE has no task c3"),
        ("squad", "rte", [], (), "choose glue"),
        ("glue", "", [], (), "name it with --task"),
        ("glu", "rte", [], (), "did you mean"),
    ],
)
def test_what_a_leaderboard_would_refuse_is_refused_here(
    board: str, task: str, answers: list[Any], ids: tuple[str, ...], wrong: str
) -> None:
    with pytest.raises(UserError, match=wrong):
        submission.files(board, named(task) if task else None, said(*answers, ids=ids))
