"""What is an encoder worth that began as raw text? Fine-tuned beside others on small tasks, and beside counted words.

Every learner is given the same examples, settings and seeds: a folder of ours, one of transformers pre-trained for the
same time, our shape from random weights, and TF-IDF. The same call goes on where it was cut off.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from litebert import files
from litebert.bench import bag_of_words
from litebert.errors import UserError
from litebert.tasks import prepared as preparing
from litebert.tasks import seeds as attempts
from litebert.tasks import sources
from litebert.tasks.benchmarks import Benchmark
from litebert.tasks.finetune import begin, finetune

TASKS = ("sst-2", "cola", "mrpc", "sts-b")
LARGE = 10_000  # training examples, from which on fewer seeds tell enough
SEEDS, FEW = 5, 3
# google-research/bert on its smallest model (2 layers, 128 wide): of the tests, which nobody else can ask.
PUBLISHED: dict[str, dict[str, float]] = {
    "sst-2": {"accuracy": 0.832}, "mrpc": {"f1": 0.811, "accuracy": 0.711},
    "sts-b": {"pearson": 0.743, "spearman": 0.736},
}  # fmt: skip
NAMES = ("pre-trained", "transformers", "random", "words")


class Learner(NamedTuple):
    """What is fine-tuned."""

    name: str
    folder: Path
    random: bool = False  # its shape alone


class Contest(NamedTuple):
    """Who learns what, from where."""

    learners: Sequence[Learner]
    data: Path
    out: Path
    tasks: Sequence[str] = TASKS
    words: bool = True
    seeds: int = 0  # 0 = as many as the size of the task asks for
    changes: Sequence[str] = ()  # name=value; behind a task or a learner, task.name=value, for that alone
    device: str = "auto"


def measure(contest: Contest, watch: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """Scores of all learners on all tasks: medians over the seeds, spread, and how many collapsed."""
    _check(contest)
    found: dict[str, Any] = {}
    for name in contest.tasks:
        source = sources.source(name, contest.data)
        deciding = _benchmark(name).measures[0]
        scores: dict[str, Any] = {}
        if contest.words:
            scores["words"] = _words(source, contest.out / name, deciding)
            watch(f"{name}, words: {told(scores['words'])}")
        seeds = contest.seeds or (FEW if len(source.train) >= LARGE else SEEDS)
        for one in contest.learners:
            scores[one.name] = _learner(contest, one, name, deciding, seeds)
            watch(f"{name}, {one.name}: {told(scores[one.name])}")
        found[name] = {"measure": deciding, "examples": len(source.train), "dev": len(source.dev), "scores": scores,
                       "published": PUBLISHED.get(name, {})}  # fmt: skip
    result = {"tasks": found, "wins": wins(found, contest.learners[0].name)}
    files.write_json(contest.out / "from-text.json", result)
    return result


def told(score: Mapping[str, Any]) -> str:
    """A score as a line: the median, the spread and the collapsed."""
    text = (
        f"{100 * score['median'][score['measure']]:.1f}" if score["median"].get(score["measure"]) is not None else "?"
    )
    if score["seeds"] > 1:
        text += f" ± {100 * score['spread'].get(score['measure'], 0.0):.1f}"
    return text + (f", {score['collapsed']} of {score['seeds']} collapsed" if score["collapsed"] else "")


def wins(found: Mapping[str, Any], first: str) -> dict[str, bool]:
    """On which tasks a learner is better than every other."""
    result = {}
    for name, task in found.items():
        medians = {who: one["median"].get(task["measure"]) for who, one in task["scores"].items()}
        own = medians.pop(first)
        result[name] = own is not None and all(other is None or own > other for other in medians.values())
    return result


def settings(changes: Sequence[str], learner: str, task: str) -> dict[str, Any]:
    """The changes that are meant for a learner on a task."""
    chosen = []
    for text in changes:
        where, equals, value = text.partition("=")
        *owners, field = where.strip().split(".")
        for owner in owners:
            if owner not in (*NAMES, *TASKS):
                raise UserError(f"--set {text!r} is for {owner!r}, which is no task and no learner: choose of "
                                f"{', '.join((*TASKS, *NAMES))}")  # fmt: skip
        if all(owner in (learner, task) for owner in owners):
            chosen.append(f"{field}{equals}{value}")
    return preparing.parsed(chosen)


def _check(contest: Contest) -> None:
    """What can be known before anything is trained."""
    if not contest.learners:
        raise UserError("nobody learns: name the folder of a model")
    for task in contest.tasks:
        kind = _benchmark(task).kind
        if kind not in ("classify", "regress"):
            raise UserError(f"{task} is a task of kind {kind}: choose of {', '.join(TASKS)}")
    for one in contest.learners:
        shaped = begin(one.folder, random=one.random)
        for task in contest.tasks:
            preparing.tuning(task, shaped, settings(contest.changes, one.name, task))
    if contest.words:
        bag_of_words.check()


def _benchmark(task: str) -> Benchmark:
    benchmark = sources.named(task)[1]
    if benchmark is None:
        raise UserError(f"{task} is a kind, not a benchmark: choose of {', '.join(TASKS)}")
    return benchmark


def _learner(contest: Contest, one: Learner, task: str, deciding: str, seeds: int) -> dict[str, Any]:
    outcome = finetune(
        task, one.folder, contest.data, contest.out / task / one.name, seeds=seeds, random=one.random,
        device=contest.device, **settings(contest.changes, one.name, task),
    )  # fmt: skip
    values = attempts.as_values(outcome)
    return {
        "measure": deciding, "median": values["median"], "spread": values["spread"], "seeds": len(outcome.scores),
        "collapsed": len(outcome.collapsed), "best": values["best_seed"], "each": values["seeds"],
        "seconds": round(statistics.fmean(fitted.seconds for fitted in outcome.scores), 1),
    }  # fmt: skip


def _words(source: sources.Source, folder: Path, deciding: str) -> dict[str, Any]:
    """Counted words know no luck: one run, kept for the next call."""
    kept = folder / "words.json"
    digest = source.fingerprint
    if kept.is_file() and (found := files.read_json(kept)).get("texts") == digest:
        return found
    scores = bag_of_words.scored(source)
    found = {"measure": deciding, "median": scores, "spread": {}, "seeds": 1, "collapsed": 0, "texts": digest}
    folder.mkdir(parents=True, exist_ok=True)
    files.write_json(kept, found)
    return found
