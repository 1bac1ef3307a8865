"""`litebert data`: text becomes shards, and what is in them is told."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from litebert.cli import console, look
from litebert.cli.progress import Meter
from litebert.cli.stopping import stoppable

if TYPE_CHECKING:
    from litebert.data.build import Built, Progress
    from litebert.text.tally import Tally

app = typer.Typer(no_args_is_help=True, help="From text to what the model is fed: build shards, and look into them.")
app.command("show")(look.show)
app.command("audit")(look.audit)


@app.command("build")
def build(
    corpus: Annotated[
        list[str],
        typer.Option(help="Folder, file, pattern (.txt, .jsonl, .parquet, also .gz and .zst) or the word pydocs."),
    ],
    tokenizer: Annotated[Path, typer.Option(help="A folder with a tokenizer.json, or that file.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    more: Annotated[
        list[str] | None, typer.Argument(help="More of the corpus: what a shell makes of --corpus wiki/*.txt.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes that encode; 0 = one a core. The bytes do not depend on it.",
                                         min=0)] = 0,
    field: Annotated[str, typer.Option(help="The field or column of records that holds the text.")] = "text",
    documents: Annotated[str, typer.Option(help="A .txt file holds documents between blank lines, or one: blank, file.")
                         ] = "blank",
    lines: Annotated[bool, typer.Option("--lines", help="Every line is a sentence already.")] = False,
    invalid: Annotated[str, typer.Option(help="Bytes that are not UTF-8: refuse or replace.")] = "refuse",
    bad: Annotated[str, typer.Option(help="Records that are broken or lack the field: refuse or skip.")] = "refuse",
    words: Annotated[str, typer.Option(help="What begins a word: the tokenizer's pieces, or jieba (Chinese).")]
    = "pieces",
    held_out: Annotated[float, typer.Option(help="Share of the documents kept for validation, 0 = none.")] = 0.01,
    shard_tokens: Annotated[int, typer.Option(help="A shard is closed when it holds so many tokens.")] = 1 << 23,
    seed: Annotated[int, typer.Option(help="Of the choice of held-out documents.")] = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Begin anew where another build, or other files, are in the way.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:  # fmt: skip
    """Encode a corpus into shards: in constant memory, and the same bytes from any number of workers.

    Stopped or killed at any moment, it goes on with the same command after the last finished shard.

    [bold]litebert data build --corpus wiki/*.parquet --tokenizer tok --out shards --workers 4[/]
    """
    from litebert.data.build import build as building
    from litebert.data.options import Options
    from litebert.text.items import Reading
    from litebert.text.tally import Tally
    from litebert.text.tokenizer import load

    reading = Reading(field=field, documents=documents, invalid=invalid, bad=bad)  # type: ignore[arg-type]
    options = Options(
        seed=seed, held_out=held_out, shard_tokens=shard_tokens, lines=lines, words=words, reading=reading,  # type: ignore[arg-type]
    )  # fmt: skip
    found, began = Tally(), time.monotonic()
    with stoppable("go on with the same command, finished shards are kept"), Meter("encoding") as meter:

        def watch(now: Progress) -> None:
            for problem in now.problems:
                found.add(problem)
            meter(now.share, {"B": now.bytes, "tokens": now.tokens})

        built = building(
            [*corpus, *(more or [])], load(tokenizer), out, options, workers=workers, overwrite=overwrite, watch=watch
        )
    _tell(built, found, time.monotonic() - began, as_json)


@app.command("stats")
def stats(
    shards: Annotated[Path, typer.Argument(help="A folder that `data build` wrote.")],
    top: Annotated[int, typer.Option(help="How many of the most frequent pieces to list.", min=0)] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Documents, sentences, tokens, unknowns, lengths, and the entropy of single tokens, the loss to break."""
    from litebert.data.stats import stats as counted

    found = counted(shards, top)
    if as_json:
        console.say_json(found)
        return
    _show_splits(found)
    _show_lengths(found)
    if found["frequent"]:
        total = found["splits"]["train"]["tokens"]
        rows = [
            (console.literal(one["piece"]), console.number(one["id"]), console.number(one["count"]),
             f"{one['count'] / total:.2%}")
            for one in found["frequent"]
        ]  # fmt: skip
        console.say(console.table(("most frequent", "id", "count", "share"), rows, right=("id", "count", "share")))
    for kind, count in found["problems"].items():
        console.say(f"  {kind}: {console.number(count)}")


def _tell(built: Built, found: Tally, seconds: float, as_json: bool) -> None:
    manifest = built.manifest
    splits = {
        split: {name: sum(entry[name] for entry in entries) for name in ("tokens", "sentences", "documents")}
        | {"shards": len(entries)}
        for split, entries in manifest["splits"].items()
    }
    if as_json:
        console.say_json({
            "folder": str(built.folder), "already": built.already, "resumed": built.resumed,
            "seconds": round(seconds, 3), "corpus": manifest["counts"], "problems": manifest["problems"],
            "places": found.lines(), "splits": splits, "fingerprint": manifest["tokenizer"]["fingerprint"],
        })  # fmt: skip
        return
    for line in found.lines():
        console.say(f"  {console.literal(line)}")
    counts = manifest["counts"]
    console.say(
        f"{console.number(counts['documents'])} documents, {console.short(counts['bytes'], 'B')} of text: "
        f"{console.number(counts['tokens'])} tokens in {console.number(counts['sentences'])} sentences"
    )
    _hint(counts, manifest)
    empty = {"documents": counts["empty_documents"], "sentences": counts["empty_sentences"]}
    if any(empty.values()):
        left = ", ".join(f"{console.number(count)} {what}" for what, count in empty.items())
        console.say(f"  not stored, without a token: {left}")
    rows = [(split, *(console.number(n) for n in each.values())) for split, each in splits.items()]
    console.say(console.table(("split", *splits["train"]), rows, right=tuple(splits["train"])))
    if built.already:
        console.say(f"{console.literal(built.folder)} was complete already")
        return
    again = f", after {console.number(built.resumed)} steps that were finished before" if built.resumed else ""
    console.say(f"{console.literal(built.folder)} written in {seconds:.1f} s{again}")


def _hint(counts: dict[str, Any], manifest: dict[str, Any]) -> None:
    """Pairs need documents of several sentences: whoever parts paragraphs by blank lines has few of them."""
    alone, all_of_them = counts["one_sentence_documents"], counts["documents"]
    parted = manifest["options"]["reading"]["documents"] == "blank"
    texts = any(".txt" in str(source.get("name", "")) for source in manifest["corpus"])
    if parted and texts and alone > all_of_them / 3:
        console.say(
            f"  {console.number(alone)} of them are one sentence: if blank lines part paragraphs here, not documents, "
            "build with --documents file"
        )


def _show_splits(found: dict[str, Any]) -> None:
    names = ("documents", "sentences", "tokens", "shards", "bytes", "unknown", "pieces_used")
    parts = found["splits"]
    rows = [(name.replace("_", " "), *(console.number(part[name]) for part in parts.values())) for name in names]
    rows += [
        ("unknown share", *(f"{part['unknown_share']:.3%}" for part in parts.values())),
        ("tokens a sentence", *(f"{part['sentence_tokens'].get('mean', 0):.1f}" for part in parts.values())),
        ("unigram entropy, nats", *(f"{part['entropy']:.4f}" for part in parts.values())),
    ]
    console.say(console.table(("", *parts), rows, right=tuple(parts)))
    corpus = found["corpus"]
    console.say(
        f"read: {console.number(corpus['documents'])} documents ({console.number(corpus['empty_documents'])} without a "
        f"token, {console.number(corpus['one_sentence_documents'])} of one sentence), "
        f"{console.short(corpus['bytes'], 'B')} of text; on disk {console.short(found['bytes'], 'B')}"
    )


def _show_lengths(found: dict[str, Any]) -> None:
    train = found["splits"]["train"]
    for what, octaves in (("sentences", train["sentence_octaves"]), ("documents", train["document_octaves"])):
        most = max(octaves, default=0)
        shortest = next((i for i, n in enumerate(octaves) if n), 0)
        rows = [
            (f"{1 << i:,}" + (f" to {(2 << i) - 1:,}" if i else ""), console.number(n), "█" * round(30 * n / most))
            for i, n in enumerate(octaves)
            if i >= shortest
        ]
        console.say(console.table((f"tokens a {what[:-1]}", what, ""), rows, right=(what,)))
