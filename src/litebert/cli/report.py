"""`litebert report`: a run or a fine-tuning, or several beside one another, as one page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from litebert.cli import console

PAGE = "report.html"


def report(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs or of fine-tunings, finished or not.")],
    out: Annotated[
        Path | None, typer.Option(help=f"The page to write: by default {PAGE} in the run, of several runs here.")
    ] = None,
    shards: Annotated[
        Path | None, typer.Option(help="Shards whose held-out text examples are taken from; else our own sentences.")
    ] = None,
    word: Annotated[
        list[str] | None, typer.Option(help="A word whose neighbours are shown (again for more); else frequent ones.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the sentences and words that are drawn.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Write a page that shows what training came to: one file, which needs no network.

    Of pre-training: curves of loss and accuracy against steps, tokens and time, what each layer does, hidden words
    guessed before and after training, nearest words, trust ratios, warnings and the recipe. Of a fine-tuning: its seeds
    and their curves, what is taken for what, calibration, scores by length, the worst errors and the settings. Several
    runs share one page, several fine-tunings of one task too.

    [bold]litebert report RUN --shards shards[/]   [bold]litebert report RUN OTHER --out compared.html[/]
    """
    from litebert.lab import report as reports

    target = out or (runs[0] / PAGE if len(runs) == 1 else Path(PAGE))
    written = reports.write(runs, target, shards=shards, words=word or (), seed=seed)
    size = written.stat().st_size
    if as_json:
        console.say_json({"page": str(written), "bytes": size, "runs": [str(run) for run in runs]})
    else:
        console.say(f"{console.literal(written)} ({console.short(size, 'B')}): open it in a browser")
