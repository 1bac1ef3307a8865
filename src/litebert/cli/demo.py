"""`litebert demo`: the family at a glance, each preset as a tiny twin that is built, run and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from litebert.cli import console


def demo(
    folder: Annotated[Path, typer.Option(help="Where the report is written.")] = Path("runs/demo"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show the whole family working on this machine, offline: about half a minute.

    Every preset is shrunk to a twin of the same kind; the twin is counted against its closed form, run by both
    attention paths, padded, saved, loaded and compared. The report is a Markdown file and a JSON file.
    """
    from litebert.lab import family as lab

    rows = []
    for twin in lab.twins():
        rows.append(twin)
        if not as_json:
            console.say(f"  {'ok    ' if twin.passed else 'FAILED'} {twin.name:<24} {twin.summary()}")
    report = lab.write_report(rows, folder)
    failed = [twin.name for twin in rows if not twin.passed]
    if as_json:
        console.say_json({"twins": len(rows), "failed": failed, "report": str(report)})
    else:
        console.say(
            f"{len(rows) - len(failed)} of {len(rows)} presets checked; the report is at {console.literal(report)}"
        )
    if failed:
        raise typer.Exit(1)
