"""`litebert bench train`: training beside transformers' Trainer in the same run; the last line is JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from litebert.cli import console


def train(
    size: Annotated[str, typer.Option(help="tiny (312 × 4), small (384 × 6) or base (768 × 12).")] = "base",
    seq: Annotated[int, typer.Option(help="Tokens a row.", min=8)] = 128,
    batch: Annotated[int, typer.Option(help="Rows a step.", min=1)] = 16,
    steps: Annotated[int, typer.Option(help="Steps that are timed in a round.", min=1)] = 8,
    rounds: Annotated[int, typer.Option(help="Times that all are measured, in turn; medians are told.", min=1)] = 2,
    mode: Annotated[
        list[str] | None, typer.Option(help="The peer's flags: default, bf16, best (again for more).")
    ] = None,
    shards: Annotated[Path | None, typer.Option(help="Real text of at most 30,000 pieces; else words by Zipf.")] = None,
    compiled: Annotated[bool, typer.Option("--compile", help="Our blocks through torch.compile: needs a C++ compiler.")]
    = False,
    peer: Annotated[bool, typer.Option("--peer/--no-peer", help="Run transformers beside.")] = True,
) -> None:  # fmt: skip
    """Tokens a second of masked-word training: ours, transformers', and our share of the matrix-product rate."""
    from litebert.bench import train as bench
    from litebert.data.shards import open_shards

    text = None if shards is None else open_shards(shards)
    modes = (mode or ["default", "best"]) if peer else []
    found = bench.measure(
        size, length=seq, batch=batch, steps=steps, rounds=rounds, modes=modes, shards=text, compiled=compiled,
        watch=lambda line: typer.echo(line, err=True),
    )  # fmt: skip
    rows = [("ours", console.number(found["tokens_per_s"]), f"{found['peak_rss_gb']:.2f} GB", "", "")]
    for name, one in found["peers"].items():
        rows.append((f"transformers, {name}", console.number(one["tokens_per_s"]), f"{one['peak_rss_gb']:.2f} GB",
                     f"{one['times_faster']:.2f} ×", f"{one['memory']:.2f} ×"))  # fmt: skip
    columns = ("", "tokens/s", "memory", "we are faster", "our memory")
    title = (f"ALBERT-{size}, {batch} × {seq}, {found['threads']} threads: {found['gemm_share']:.0%} of the "
             f"{found['gemm_gflops']:,.0f} GFLOP/s that products reach")  # fmt: skip
    console.say(console.table(columns, rows, title=title, right=columns[1:]))
    console.say_json({"bench": "train", **found})
