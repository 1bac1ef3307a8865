"""`litebert tasks`: what can be learnt, from which columns or files, and with what settings it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from litebert.cli import console

if TYPE_CHECKING:
    from litebert.tasks.benchmarks import Benchmark
    from litebert.tasks.readers.columns import Kind

_KINDS = {
    "classify": "a class of a text or a pair, of two or many; or several classes at once",
    "regress": "a score of a text or a pair",
    "tag": "a tag for every word: names of persons, places",
    "span": "the stretch of a text that answers a question",
    "choice": "which of several options is right",
}  # fmt: skip
_MEANINGS = {
    "length": "tokens of a row, special pieces included", "long": "which part of a longer text is read: head, tail, "
    "head-tail, or mean of windows", "head": "tokens from the beginning with long=head-tail",
    "stride": "tokens from one window to the next", "question": "tokens of a question, or of question and option",
    "mode": "full, or features: hidden states are computed once, and only a head learns",
    "layers": "with mode=features: which are read", "network": "with mode=features: linear or bilstm",
    "freeze": "so many blocks from below stand still, the embedding with them",
    "freeze_embedding": "the embedding stands still", "unshare": "every depth gets weights of its own first",
    "layer_decay": "of the rate, per layer down", "rate": "its peak", "schedule": "how it falls after the peak",
    "warmup": "a share of the run, or from 1 on steps", "epochs": "times that every example is learnt from",
    "steps": "instead of epochs", "batch": "examples of a step",
    "micro": "tokens worked on at a time, for little memory; 0 = all of a step", "decay": "of weights, each step",
    "beta2": "of the mean of squared gradients", "clip": "longest gradient; 0 = any",
    "weights": "balanced: rare classes count more", "smoothing": "of the labels",
    "dropout": "of the body", "attention_dropout": "of who looks at whom", "head_dropout": "before the last layer",
    "seed": "the first one", "precision": "auto, bfloat16 or float32",
    "evaluations": "evenly over the run; 0 = once an epoch", "patience": "evaluations without a better score until it "
    "ends; 0 = to the end",
}  # fmt: skip
_WIDTHS = {"up to 512 wide": 1, "wider": 1 << 20}
_NEEDS = {"always": "always", "answer": "to learn", "never": "if it is there"}


def tasks(
    name: Annotated[str, typer.Argument(help="A benchmark or a kind, to see all of it; none: the list.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List what a model can be fine-tuned to: kinds of task for files of your own, and benchmarks by name.

    A kind is shown with the columns that it wants and by what names they are found; a benchmark with its measures, its
    files, and the settings that a fine-tuning begins with, for models of laptop size and for the published sizes.

    [bold]litebert tasks[/]   [bold]litebert tasks sst-2[/]   [bold]litebert tasks tag[/]
    """
    from litebert.tasks import sources
    from litebert.tasks.benchmarks import BENCHMARKS
    from litebert.tasks.readers.columns import KINDS

    if name:
        kind, benchmark = sources.named(name)
        found = _benchmark(benchmark) if benchmark else _kind(kind)
        if as_json:
            console.say_json(found)
        else:
            _show_one(found)
        return
    if as_json:
        console.say_json({"kinds": [_kind(kind) for kind in KINDS],
                          "benchmarks": [_benchmark(one) for one in BENCHMARKS.values()]})  # fmt: skip
        return
    rows = [(kind, _KINDS[kind], ", ".join(_columns(kind))) for kind in KINDS]
    console.say(console.table(("kind", "what is said of a text", "columns of your own file"), rows))
    listed = [(one.name, one.kind, one.measures[0], console.literal(one.about)) for one in BENCHMARKS.values()]
    console.say(console.table(("benchmark", "kind", "decides", "what is asked"), listed))
    console.say("litebert tasks NAME shows the columns or files that one wants, and the settings it begins with")


def _columns(kind: Kind) -> list[str]:
    """The columns of a kind; those that may be missing in brackets."""
    from litebert.tasks.readers.columns import ROLES

    roles = ROLES[kind].items()
    return [name if role.need != "never" else console.literal(f"[{name}]") for name, role in roles if name != "id"]


def _kind(kind: Kind) -> dict[str, Any]:
    from litebert.tasks.readers.columns import ROLES

    columns = {
        name: {"about": role.about, "names": list(role.names), "needed": _NEEDS[role.need]}
        for name, role in ROLES[kind].items()
    }
    return {"name": kind, "kind": kind, "about": _KINDS[kind], "columns": columns, "settings": _settings("", kind)}


def _benchmark(one: Benchmark) -> dict[str, Any]:
    files = {part: [list(names) for names in ways] for part, ways in one.files.items()}
    return {"name": one.name, "kind": one.kind, "about": one.about, "measures": list(one.measures),
            "labels": list(one.labels), "folders": list(one.folders), "files": files,
            "settings": _settings(one.name, one.kind)}  # fmt: skip


def _settings(name: str, kind: Kind) -> dict[str, dict[str, Any]]:
    """What differs from the usual settings, for both sizes of model."""
    from litebert.tasks import defaults

    return {size: defaults.changes(name, kind, width) for size, width in _WIDTHS.items()}


def _show_one(found: dict[str, Any]) -> None:
    from litebert.tasks.settings import Tuning

    console.say(f"[bold]{found['name']}[/]: {console.literal(found['about'])}")
    if "columns" in found:
        rows = [(name, one["about"], ", ".join(one["names"]), one["needed"]) for name, one in found["columns"].items()]
        console.say(console.table(("column", "what it holds", "found by the name", "needed"), rows))
        ends = {"tag": ", or .conll (a word and its tag a line)", "span": ", or SQuAD's json",
                "choice": ", or RACE's folders and C3's json"}  # fmt: skip
        console.say(f"files: csv, tsv, jsonl, json, parquet, also .gz{ends.get(found['kind'], '')}; a column that is "
                    "called otherwise: --columns NAME=COLUMN")  # fmt: skip
    else:
        console.say(f"kind {found['kind']}; measured by {', '.join(found['measures'])}, of which the first decides")
        if found["labels"]:
            console.say(f"labels: {console.literal(', '.join(found['labels'][:20]))}"
                        f"{', …' if found['labels'][20:] else ''}")  # fmt: skip
        for part, ways in found["files"].items():
            console.say(f"{part}: {', or '.join(' and '.join(names) for names in ways)}")
        console.say(f"looked for in the folder that is given, or in {' or '.join(found['folders'])} within it")
    usual, sizes = Tuning().model_dump(), found["settings"]
    names = dict.fromkeys([*usual, *(name for diff in sizes.values() for name in diff)])
    rows = [
        (name, *(_shown(diff.get(name, usual[name])) + ("" if name in diff else " ·") for diff in sizes.values()),
         _MEANINGS[name])
        for name in names
    ]  # fmt: skip
    console.say(console.table(("setting", *(f"models {size}" for size in sizes), "what it is"), rows))
    console.say("· as every task has it; change one with --set NAME=VALUE")


def _shown(value: Any) -> str:
    return "as the model" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
