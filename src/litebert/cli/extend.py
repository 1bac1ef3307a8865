"""`litebert tokenizer extend`: the words of a domain, for a tokenizer and for the model that reads by it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from litebert.cli import console, sampled
from litebert.cli.progress import Meter
from litebert.cli.stopping import stoppable

if TYPE_CHECKING:
    from litebert.text.extend import Extended

_EXAMPLES = 8


def extend(
    source: Annotated[Path, typer.Argument(help="A model's folder, or a tokenizer's folder or file.")],
    corpus: sampled.Corpus,
    add: Annotated[int, typer.Option(help="How many pieces.", min=1)],
    out: sampled.Out,
    more: sampled.More = None,
    least: Annotated[int, typer.Option(help="Times that a new piece stands in the sample at least.", min=1)] = 5,
    sample: sampled.Megabytes = 64,
    seed: sampled.Seed = 0,
    field: sampled.Field = "text",
    documents: sampled.Documents = "blank",
    lines: sampled.Lines = False,
    invalid: sampled.Invalid = "refuse",
    bad: sampled.Bad = "refuse",
    overwrite: sampled.Overwrite = False,
    as_json: sampled.AsJson = False,
) -> None:  # fmt: skip
    """Add the words of a domain to a tokenizer, and to the model beside it.

    Characters that were unknown and pieces that often stand together become new pieces, numbered after the old ones. A
    model gets a row for each, the mean of the rows of the pieces in its place; texts without new pieces give what they
    gave.

    [bold]litebert tokenizer extend model --corpus law.jsonl --add 2000 --out law-model[/]
    """
    from litebert.text import extend as extending
    from litebert.text.fit import fit
    from litebert.text.tokenizer import load

    sampled.refuse_full(out, overwrite, source)
    old, began = load(source), time.monotonic()
    with stoppable("nothing was written; give the same command again"), Meter("reading") as meter:
        drawn = sampled.draw([*corpus, *(more or [])], sample, seed, lines, meter, field=field, documents=documents,
                       invalid=invalid, bad=bad)  # fmt: skip
        meter.aside(f"looking for {console.number(add)} pieces in {console.short(drawn.size, 'B')}")
        done = extending.extend(old, drawn, add, least)
        form = _extend_model(source, out, done)
        done.tokenizer.save(out)
    before, after = sampled.fitted(fit(old, drawn)), sampled.fitted(fit(done.tokenizer, drawn))
    pairs = enumerate(zip(done.pieces, done.made_of, strict=True), done.first)
    new = [{"id": number, "piece": piece, "made_of": old.pieces(parts)} for number, (piece, parts) in pairs]
    report = {**sampled.report(out, done.tokenizer, drawn), "model": form, "before": before, "after": after, "new": new,
              "seconds": round(time.monotonic() - began, 3)}  # fmt: skip
    if as_json:
        console.say_json(report)
        return
    sampled.say_read(drawn)
    _say_extended(report)


def _extend_model(source: Path, out: Path, done: Extended) -> str | None:
    """The form in which the model beside the tokenizer was written; None if there is none."""
    if not any((source / name).is_file() for name in ("config.json", "litebert.json")):
        return None
    from litebert.interop import folder
    from litebert.model.pieces import with_pieces

    return folder.save(with_pieces(folder.load(source), done.first, done.made_of), out)


def _say_extended(report: dict[str, Any]) -> None:
    from rich.text import Text

    before, after = sampled.fit_rows(report["before"]), sampled.fit_rows(report["after"])
    rows = [(name, was, now) for (name, was), (_, now) in zip(before, after, strict=True)]
    console.say(console.table(("", "before", "after"), rows, right=("before", "after")))
    new = report["new"]
    shown = [
        (str(one["id"]), Text(one["piece"]), Text(" ".join(one["made_of"]) or "(was unknown)"))
        for one in (new if len(new) <= 2 * _EXAMPLES else [*new[:_EXAMPLES], *new[-_EXAMPLES:]])
    ]
    console.say(console.table(("id", "new piece", "in the place of"), shown, right=("id",)))
    with_model = "" if report["model"] is None else ", with the model"
    console.say(
        f"{console.literal(report['folder'])} written{with_model}: {console.number(report['pieces'])} pieces, "
        f"{console.number(len(new))} of them new, in {report['seconds']:.1f} s"
    )
