"""What have the verbs in common that look at a sample of a corpus? Options, the draw, and what is told of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from litebert.cli import console, spell
from litebert.cli.progress import Meter
from litebert.errors import UserError

if TYPE_CHECKING:
    from litebert.text.fit import Fit
    from litebert.text.sample import Sample
    from litebert.text.tokenizer import Tokenizer

Corpus = Annotated[
    list[str],
    typer.Option(help="Folder, file, pattern (.txt, .jsonl, .parquet, also .gz and .zst) or the word pydocs."),
]
Out = Annotated[Path, typer.Option(help="The folder to write.")]
More = Annotated[
    list[str] | None, typer.Argument(help="More of the corpus: what a shell makes of --corpus wiki/*.txt.")
]
Megabytes = Annotated[
    int, typer.Option("--sample", help="Megabytes of the corpus, drawn from all of it, that are looked at.", min=1)
]
Seed = Annotated[int, typer.Option(help="Of that draw.")]
Field = Annotated[str, typer.Option(help="The field or column of records that holds the text.")]
Documents = Annotated[str, typer.Option(help="A .txt file holds documents between blank lines, or one: blank, file.")]
Lines = Annotated[bool, typer.Option("--lines", help="Every line is a sentence already.")]
Invalid = Annotated[str, typer.Option(help="Bytes that are not UTF-8: refuse or replace.")]
Bad = Annotated[str, typer.Option(help="Records that are broken or lack the field: refuse or skip.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Write into a folder that is not empty.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def draw(corpus: list[str], megabytes: int, seed: int, lines: bool, meter: Meter, **reading: str) -> Sample:
    """The sample, with progress."""
    from litebert.data.origin import Share
    from litebert.text import sample
    from litebert.text.items import Mark, Reading
    from litebert.text.sources import sources

    found = sources(corpus)
    share, how = Share(found), Reading(**reading)  # type: ignore[arg-type]

    def watch(mark: Mark, text: int) -> None:
        meter(share(mark, text), {"B": text})

    return sample.draw(found, how, size=megabytes << 20, seed=seed, one_per_line=lines, watch=watch)


def refuse_full(out: Path, overwrite: bool, source: Path | None = None) -> None:
    """Refuse a folder that holds something, or is where the source lies."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file: name a folder to write")
    if source is not None and source.exists() and out.resolve() in (source.resolve(), source.resolve().parent):
        raise UserError(f"{out} is where the old one lies: choose another folder")
    if out.exists() and any(out.iterdir()) and not overwrite:
        raise UserError(f"{out} exists and is not empty: choose another folder, or add --overwrite")


def report(out: Path, made: Tokenizer, drawn: Sample) -> dict[str, Any]:
    """What was made of what, for JSON."""
    return {
        "folder": str(out), **spell.values(made),
        "corpus": {"documents": drawn.documents, "bytes": drawn.read, "sample": drawn.size},
        "problems": drawn.problems.counts, "places": drawn.problems.lines(),
    }  # fmt: skip


def fitted(found: Fit) -> dict[str, Any]:
    """How a tokenizer fits, for JSON."""
    return {
        **found._asdict(), "characters_a_token": round(found.characters_a_token, 4),
        "tokens_a_word": round(found.tokens_a_word, 4), "unknown_share": round(found.unknown_share, 7),
    }  # fmt: skip


def fit_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The same for a person."""
    return [
        ("characters a token", f"{found['characters_a_token']:.2f}"),
        ("tokens a word", f"{found['tokens_a_word']:.2f}"),
        ("unknown", f"{found['unknown_share']:.3%} of tokens"),
    ]


def say_read(drawn: Sample) -> None:
    """What was read, and what was wrong with it."""
    for line in drawn.problems.lines():
        console.say(f"  {console.literal(line)}")
    console.say(
        f"{console.number(drawn.documents)} documents, {console.short(drawn.read, 'B')} of text, of which "
        f"{console.short(drawn.size, 'B')} were looked at"
    )
