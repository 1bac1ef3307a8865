"""`litebert bench predict`: prediction beside transformers' pipeline in the same run; the last line is JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from litebert.cli import console


def predict(
    data: Annotated[Path, typer.Option(help="Sentences as SST-2 has them: columns sentence and label, by tabs.")],
    tokenizer: Annotated[Path, typer.Option(help="The folder of a tokenizer.")],
    size: Annotated[str, typer.Option(help="tiny (312 × 4), small (384 × 6) or base (768 × 12).")] = "base",
    texts: Annotated[int, typer.Option(help="Sentences that we answer.", min=1)] = 20_000,
    peer_texts: Annotated[int, typer.Option(help="Sentences that the slower peer answers.", min=1)] = 1000,
    batch: Annotated[int, typer.Option(help="Of the peer: sentences at once.", min=1)] = 32,
    peer: Annotated[bool, typer.Option("--peer/--no-peer", help="Run transformers beside.")] = True,
) -> None:
    """Sentences a second from text to answer: ours, and transformers' pipeline at its defaults."""
    from litebert.bench import predict as bench

    found = bench.measure(
        data, tokenizer, size, texts=texts, peer_texts=peer_texts if peer else 0, batch=batch,
        watch=lambda line: typer.echo(line, err=True),
    )  # fmt: skip
    rows = [("ours", f"{texts:,}", f"{found['texts_per_s']:,.1f}", found["precision"], "")]
    if peer:
        other = found["peer"]
        rows.append(("transformers, pipeline", f"{found['peer_texts']:,}", f"{other['texts_per_s']:,.1f}",
                     other["precision"], f"{found['times_faster']:.2f} ×"))  # fmt: skip
    columns = ("", "sentences", "a second", "numbers", "we are faster")
    title = f"ALBERT-{size}, sentences of {found['mean_length']:.1f} tokens, {found['threads']} threads"
    console.say(console.table(columns, rows, title=title, right=("sentences", "a second", "we are faster")))
    console.say_json({"bench": "predict", **found})
