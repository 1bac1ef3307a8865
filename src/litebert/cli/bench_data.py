"""`litebert bench data`, `build`, `faults`: how fast data is made, and whether it is the same; JSON comes last."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from litebert.cli import console


def data(
    shards: Annotated[Path | None, typer.Argument(help="A folder of `data build`; random text without.")] = None,
    recipe: Annotated[str, typer.Option(help="How it is fed: albert, bert, roberta, spanbert, xlnet, …")] = "albert",
    changes: Annotated[list[str] | None, typer.Option("--set", help="Change a field of the recipe first.")] = None,
    length: Annotated[int, typer.Option(help="Tokens a row.", min=8)] = 128,
    batch: Annotated[int, typer.Option(help="Rows a batch.", min=1)] = 64,
    batches: Annotated[int, typer.Option(help="Batches a round.", min=1)] = 400,
    rounds: Annotated[int, typer.Option(help="Times that both are measured, in turn; medians are told.", min=1)] = 5,
    tokens: Annotated[int, typer.Option(help="Size of the random text.", min=1000)] = 10_000_000,
    peer: Annotated[bool, typer.Option("--peer/--no-peer", help="Run transformers' collator beside.")] = True,
) -> None:
    """From shards to masked, packed, labelled batches: real tokens per second, one process, no model.

    Told too: the seconds from nothing to a first batch at a random place of a later epoch.
    """
    from litebert.bench import data as bench
    from litebert.data import recipe as recipes
    from litebert.data.shards import open_shards
    from litebert.data.vocabulary import vocabulary
    from litebert.text.tokenizer import load

    chosen = recipes.override(recipes.recipe(recipe, length=length), changes or [])
    opened = None if shards is None else open_shards(shards)
    known = None if shards is None else vocabulary(load(shards))
    result = bench.measure(chosen, opened, known, batch=batch, batches=batches, rounds=rounds, tokens=tokens, peer=peer)
    rows = [(f"{recipe}, {batch} × {chosen.length}", console.number(result["tokens_per_s"]), "")]
    if peer:
        rows.append(("transformers, single tokens", console.number(result["peer_tokens_per_s"]), ""))
        rows[0] = (*rows[0][:2], f"{result['ratio']:.2f}")
    columns = ("batches", "tokens/s", "times faster")
    console.say(console.table(columns, rows, right=columns[1:]))
    corpus = console.short(result["corpus_tokens"])
    console.say(f"first batch at a random place of {corpus} tokens after {result['first_batch_s']:.3f} s")
    console.say_json({"bench": "data", "recipe": recipe, **result})


def build(
    corpus: Annotated[list[Path], typer.Argument(help="Folders or files of text, as `data build` reads them.")],
    tokenizer: Annotated[Path, typer.Option(help="A folder with a tokenizer.json, or that file.")],
    rounds: Annotated[int, typer.Option(help="Times that both are measured, in turn; medians are told.", min=1)] = 3,
    field: Annotated[str, typer.Option(help="The field or column of records that holds the text.")] = "text",
    peer: Annotated[bool, typer.Option("--peer/--no-peer", help="Run the bare tokenizer engine beside.")] = True,
) -> None:
    """From files to shards, beside the bare tokenizer engine on the same text and the same cores: MB of text a second.

    Told too: the most memory that the build and its workers held together. For fewer cores run it under taskset.
    """
    from litebert.bench import build as bench
    from litebert.data.options import Options
    from litebert.text.items import Reading

    result = bench.measure(corpus, tokenizer, rounds, Options(reading=Reading(field=field)), peer=peer)
    rows = [(f"data build, {result['workers']} workers", f"{result['mb_per_s']:.2f}", "")]
    if peer:
        rows[0] = (*rows[0][:2], f"{result['ratio']:.2f}")
        rows += [
            ("encode_batch", f"{result['peer_batch_mb_per_s']:.2f}", ""),
            ("encode_batch_fast", f"{result['peer_batch_fast_mb_per_s']:.2f}", ""),
        ]
    columns = (f"{result['megabytes']:.0f} MB of text", "MB/s", "times the faster peer")
    console.say(console.table(columns, rows, right=columns[1:]))
    console.say(f"{console.short(result['tokens_per_s'])} tokens/s; at most {result['peak_rss_gb']:.2f} GB resident")
    console.say_json({"bench": "build", **result})


def faults(
    corpus: Annotated[list[Path], typer.Argument(help="Folders or files of text, as `data build` reads them.")],
    tokenizer: Annotated[Path, typer.Option(help="A folder with a tokenizer.json, or that file.")],
    kills: Annotated[int, typer.Option(help="How often a build is killed, at random moments.", min=0)] = 20,
    shard_tokens: Annotated[int, typer.Option(help="Tokens a shard: so much is lost at most.", min=1)] = 1 << 20,
    field: Annotated[str, typer.Option(help="The field or column of records that holds the text.")] = "text",
    seed: Annotated[int, typer.Option(help="Of the moments.")] = 0,
) -> None:
    """Build the same shards with 1, 2 and 4 workers, and killed again and again; exit code 1 if a byte differs.

    Every kill is a SIGKILL to all processes of the build, which is begun again by the same call.
    """
    from litebert.bench import faults as bench
    from litebert.data.options import Options
    from litebert.text.items import Reading

    options = Options(reading=Reading(field=field), shard_tokens=shard_tokens)
    result = bench.measure(corpus, tokenizer, kills, options, seed=seed, watch=lambda line: typer.echo(line, err=True))
    rows = [(name, digest) for name, digest in result["sets"].items()]
    console.say(console.table(("built by", "SHA-256 of the set"), rows))
    console.say("all the same" if result["same"] else "[bold red]NOT the same[/]")
    console.say_json({"bench": "faults", **result})
    if not result["same"]:
        raise typer.Exit(1)
