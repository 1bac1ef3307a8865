"""`litebert bench from-text`: an encoder of your own beside others on small tasks; the last line is JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from litebert.cli import console

_TITLES = {"pre-trained": "pre-trained", "transformers": "transformers, pre-trained", "random": "random weights",
           "words": "TF-IDF"}  # fmt: skip
_PUBLISHED = "BERT-Tiny (published, of the tests)"


def from_text(
    model: Annotated[Path, typer.Argument(help="The folder of a pre-trained encoder: what litebert pretrain wrote.")],
    data: Annotated[Path, typer.Option(help="The folder that holds SST-2, CoLA, MRPC and STS-B of GLUE.")],
    peer: Annotated[
        Path | None, typer.Option(help="Another folder: what litebert bench learning left of transformers.")
    ] = None,
    random: Annotated[bool, typer.Option("--random/--no-random", help="The same shape from random weights beside.")]
    = True,
    words: Annotated[bool, typer.Option("--words/--no-words", help="TF-IDF with linear models of scikit-learn beside.")]
    = True,
    task: Annotated[
        list[str] | None, typer.Option(help="sst-2, cola, mrpc or sts-b (again for more); all of them without it.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Seeds of each; 0 = 5, and 3 from 10,000 training examples on.", min=0)]
    = 0,
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting: rate=1e-4; for some alone: "
                                       "random.sst-2.rate=5e-4.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the fine-tuned models go; the same command goes on.")]
    = Path("from-text"),
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
) -> None:  # fmt: skip
    """Is pre-training worth it? Your encoder fine-tuned beside transformers', random weights and counted words.

    All have the same examples, settings and seeds; medians over the seeds are told, with the standard deviation and the
    number of seeds that collapsed. A seed's score is that of its best evaluation on the development set.
    """
    from litebert.bench import from_text as bench

    learners = [bench.Learner("pre-trained", model)]
    if peer is not None:
        learners.append(bench.Learner("transformers", peer))
    if random:
        learners.append(bench.Learner("random", model, random=True))
    contest = bench.Contest(
        learners, data, out, tuple(task or bench.TASKS), words=words, seeds=seeds, changes=tuple(changes or ()),
        device=device,
    )  # fmt: skip
    found = bench.measure(contest, lambda line: typer.echo(line, err=True))
    _told(found)
    console.say_json({"bench": "from-text", **found})


def _told(found: dict[str, Any]) -> None:
    from litebert.bench import from_text as bench

    tasks = found["tasks"]
    rows = []
    for name, title in _TITLES.items():
        scores = [task["scores"].get(name) for task in tasks.values()]
        if any(scores):
            rows.append((title, *(bench.told(one) if one else "" for one in scores)))
    published = [task["published"].get(task["measure"]) for task in tasks.values()]
    if any(published):
        rows.append((_PUBLISHED, *("" if one is None else f"{100 * one:.1f}" for one in published)))
    columns = [f"{name}, {task['measure']}" for name, task in tasks.items()]
    title = "of the development sets, in percent: median ± standard deviation over the seeds"
    console.say(console.table(("", *columns), rows, title=title, right=columns))
