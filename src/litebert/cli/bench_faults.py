"""`litebert bench kills` and `bench elastic`: is a harmed run the unharmed one? Exit code 1 if not; JSON comes last."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from litebert.cli import console

Folder = Annotated[
    Path | None, typer.Option(help="Keep the made-up text, its tokenizer and its shards in this new folder.")
]


def kills(
    count: Annotated[int, typer.Option("--kills", help="How often a run is killed, at random moments.", min=1)] = 200,
    seed: Annotated[int, typer.Option(help="Of the moments.")] = 0,
    folder: Folder = None,
) -> None:
    """Kill `litebert pretrain` again and again, and go on by the same command: is it the run that nobody killed?

    Every kill is a SIGKILL, during saves too. Compared by SHA-256: weights, optimizer, state and every logged value but
    clock times; of runs by steps and of runs by tokens, on text made up here.
    """
    from litebert.bench import kills as bench

    result = bench.measure(count, seed=seed, folder=_new(folder), watch=_watch)
    rows = [
        (total, console.number(one["kills"]), console.number(one["in_saves"]), console.number(one["runs"]),
         console.number(one["resumed"]), console.number(one["damaged"]), console.number(one["survived"]))
        for total, one in result["schedules"].items()
    ]  # fmt: skip
    columns = ("run of", "kills", "during a save", "runs", "gone on with", "damaged checkpoints", "survived")
    console.say(console.table(columns, rows, right=columns[1:]))
    console.say(f"{result['survived']}/{result['kills']} kills led to the same end")
    _end("kills", result, "no checkpoint was damaged, no value differs")


def elastic(
    sizes: Annotated[str, typer.Option(help="Numbers of processes, one after the other.")] = "1,2,4,1",
    lost: Annotated[int, typer.Option(help="Processes of a run that loses one of them; 0 = no such run.", min=0)] = 2,
    folder: Folder = None,
) -> None:
    """Train one run by 1, 2, 4 and 1 processes in turn, by torchrun: the same text, and losses equal to 1e-6?

    Another run loses one of its processes by SIGKILL; torchrun begins all of them anew, and they go on.
    """
    from litebert.bench import elastic as bench
    from litebert.errors import UserError

    parts = [part.strip() for part in sizes.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise UserError(f"sizes {sizes!r} are not numbers of processes: write for example 1,2,4,1")
    result = bench.measure([int(part) for part in parts], lost=lost, folder=_new(folder), watch=_watch)
    rows = [
        (name, ", ".join(f"{size} from step {step}" for size, step in one["begun"]), "yes" if one["text"] else "no",
         f"{one['difference']:.1e}")
        for name, one in result.items() if isinstance(one, dict)
    ]  # fmt: skip
    console.say(console.table(("run", "processes", "same text", "loss differs by"), rows))
    _end("elastic", result, "losses are those of one process")


def _new(folder: Path | None) -> Path | None:
    from litebert.errors import UserError

    if folder is not None and folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty: name a new folder")
    return folder


def _watch(line: str) -> None:
    typer.echo(line, err=True)


def _end(name: str, result: dict[str, Any], good: str) -> None:
    console.say(good if result["same"] else "[bold red]NOT the same[/]")
    console.say_json({"bench": name, **result})
    if not result["same"]:
        raise typer.Exit(1)
