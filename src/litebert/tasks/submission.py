"""What do the leaderboards of GLUE and SQuAD want? Files of their names, with every question once and labels as theirs.

GLUE: for each task a table of `index` and `prediction`. SQuAD: an object from a question's id to its answer, and for
2.0 another from the id to how likely it has none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from litebert.config import unknown_name
from litebert.errors import RunError, UserError
from litebert.tasks.benchmarks import Benchmark
from litebert.tasks.predict import Said

Board = Literal["glue", "squad"]
BOARDS: tuple[Board, ...] = get_args(Board)
GLUE = {
    "cola": "CoLA", "sst-2": "SST-2", "mrpc": "MRPC", "sts-b": "STS-B", "qqp": "QQP", "mnli": "MNLI-m",
    "mnli-mm": "MNLI-mm", "qnli": "QNLI", "rte": "RTE", "wnli": "WNLI", "ax": "AX",
}  # fmt: skip
_LOWEST, _HIGHEST = 0.0, 5.0  # of STS-B


def check(board: str, benchmark: Benchmark | None) -> None:
    """Raise where a leaderboard does not know the task."""
    if board not in BOARDS:
        raise UserError(unknown_name("leaderboard", board, BOARDS))
    if benchmark is None:
        raise UserError(f"submission {board} needs to know the benchmark: name it with --task")
    if board == "glue" and benchmark.name not in GLUE:
        raise UserError(f"GLUE has no task {benchmark.name}: it has {', '.join(GLUE)}")
    if board == "squad" and benchmark.kind != "span":
        raise UserError(f"{benchmark.name} does not ask for an answer within a context, as SQuAD does: choose glue")


def files(board: str, benchmark: Benchmark | None, found: Iterable[Said]) -> dict[str, str]:
    """The text of every file of a submission, by its name."""
    check(board, benchmark)
    assert benchmark is not None
    said = list(found)
    names = _names(said, counted=board == "glue")
    if board == "squad":
        return _squad(names, said)
    lines = [f"{name}\t{_label(benchmark, one)}" for name, one in zip(names, said, strict=True)]
    return {f"{GLUE[benchmark.name]}.tsv": "\n".join(["index\tprediction", *lines]) + "\n"}


def _names(said: Sequence[Said], counted: bool) -> list[str]:
    """What the leaderboard calls every example: its id, or where no example has one and they are counted its number."""
    names = [one.example.id for one in said]
    if counted and not any(names):
        names = [str(number) for number in range(len(said))]
    seen: set[str] = set()
    for name, one in zip(names, said, strict=True):
        if not name or name in seen:
            what = f"id {name!r} comes a second time" if name else "no id"
            raise UserError(f"{one.example.place}: {what}: a leaderboard wants every example once, by its id")
        seen.add(name)
    return names


def _label(benchmark: Benchmark, one: Said) -> str:
    """A prediction as GLUE spells it."""
    said = one.answer.prediction
    if benchmark.kind == "regress":
        if not isinstance(said, float) or said != said:
            raise RunError(f"{one.example.place}: the model says {said!r}, which is no score between 0 and 5")
        return f"{min(_HIGHEST, max(_LOWEST, said)):.3f}"
    if said not in benchmark.labels:
        raise UserError(f"the model says {said!r}, and {benchmark.name} knows {', '.join(benchmark.labels)}: name a "
                        "model that was fine-tuned on it")  # fmt: skip
    return str(said)


def _squad(names: Sequence[str], said: Sequence[Said]) -> dict[str, str]:
    answers = {name: one.answer.prediction for name, one in zip(names, said, strict=True)}
    found = {"predictions.json": json.dumps(answers, ensure_ascii=False) + "\n"}
    if any(one.answer.no_answer is not None for one in said):
        absent = {name: one.answer.no_answer for name, one in zip(names, said, strict=True)}
        found["na_prob.json"] = json.dumps(absent) + "\n"
    return found
