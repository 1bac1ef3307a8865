"""`litebert demo`: everything that litebert does, once, on this machine and offline; it ends with a page to look at."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from litebert.cli import console

if TYPE_CHECKING:
    from litebert.lab.demo import Blank, Folder


def demo(
    folder: Annotated[Path, typer.Option(help="Where everything is put; what an earlier demo left is replaced.")]
    = Path("runs/demo"),
    span: Annotated[str, typer.Option("--for", help="How long the encoder is trained: '4 minutes', '50 steps'.")]
    = "4 minutes",
    only_family: Annotated[
        bool, typer.Option("--family", help="Only check the presets: half a minute, and no training.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:  # fmt: skip
    """Check the whole family, then make an encoder from nothing: about six minutes, offline.

    Every preset is shrunk to a twin that is counted against its closed form, run by both attention paths, padded,
    saved, loaded and compared. Then the documentation of the Python that runs becomes a tokenizer, shards, and a small
    ALBERT whose report says what it has learnt.
    """
    began = time.monotonic()
    found = _family(folder, as_json)
    if not found["failed"] and not only_family:
        found |= _whole_way(folder, span, as_json)
    found["seconds"] = round(time.monotonic() - began, 1)
    if as_json:
        console.say_json(found)
    if found["failed"]:
        raise typer.Exit(1)


def _family(folder: Path, quiet: bool) -> dict[str, Any]:
    from litebert.lab import family as lab

    rows = []
    for twin in lab.twins():
        rows.append(twin)
        if not quiet:
            console.say(f"  {'ok    ' if twin.passed else 'FAILED'} {twin.name:<24} {twin.summary()}")
    report = lab.write_report(rows, folder)
    failed = [twin.name for twin in rows if not twin.passed]
    if not quiet:
        console.say(f"{len(rows) - len(failed)} of {len(rows)} presets checked: {console.literal(report)}")
    return {"twins": len(rows), "failed": failed, "family": str(report)}


def _whole_way(folder: Path, span: str, quiet: bool) -> dict[str, Any]:
    from litebert.cli import before
    from litebert.cli.asking import Asking
    from litebert.cli.live import Live
    from litebert.lab import demo as lab
    from litebert.train.pretrain import pretrain

    place = lab.Folder(folder)
    text = lab.text(place)
    if not quiet:
        _say_text(place, text)
    prepared = lab.ready(place, span)
    if not quiet:
        before.show_model(prepared)
        before.show_example(prepared)
    with Asking() as asking, Live(prepared, place.run, quiet) as live:
        outcome = pretrain(prepared, place.run, tell=live, restart=True, asked_to_stop=asking)
    page, blanks = lab.page(place), lab.blanks(prepared, outcome)
    told = before.outcome(prepared, outcome)
    if not quiet:
        _say_learnt(place, told, blanks)
        console.say(f"the report is {console.literal(page)}")
    answers = [{"text": one.text, "before": one.before.best, "after": one.after.best} for one in blanks]
    return {"text": text, "run": told, "blanks": answers, "report": str(page)}


def _say_text(place: Folder, text: dict[str, float]) -> None:
    console.say()
    console.say(
        f"{console.number(text['documents'])} documents of Python's own documentation, "
        f"{console.short(text['bytes'], 'B')}: {console.number(text['pieces'])} pieces in "
        f"{console.literal(place.tokenizer)}, "
        f"{console.number(text['tokens'])} tokens in {console.literal(place.shards)}"
    )


def _say_learnt(place: Folder, told: dict[str, Any], blanks: list[Blank]) -> None:
    from litebert.cli import before

    console.say()
    before.show_outcome(told)
    for one in blanks:
        guesses = "  ".join(f"{console.literal(guess.word)} {guess.probability:.0%}" for guess in one.after.masks[0])
        new = console.literal(one.before.masks[0][0].word)
        console.say(f"{console.literal(one.text)}")
        console.say(f"    [bold]{guesses}[/]   [dim](untrained: {new})[/]")
    console.say()
    console.say("try it:")
    console.say(f'  litebert fill-mask {console.literal(place.run)} "Return the [MASK] of items in the list."'.replace(
        "[MASK]", "\\[MASK]"))  # fmt: skip
    console.say(f"  litebert data show {console.literal(place.shards)} --recipe albert")
