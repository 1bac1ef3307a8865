"""`litebert bench data`: masked batches a second, ours and transformers’, in one run; the last line is JSON."""

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
