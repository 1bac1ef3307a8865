"""`litebert bench finetune`: fine-tuning beside transformers' Trainer in the same run; the last line is JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from litebert.cli import console


def finetune(
    data: Annotated[Path, typer.Option(help="Sentences as SST-2 has them: columns sentence and label, by tabs.")],
    tokenizer: Annotated[Path, typer.Option(help="The folder of a tokenizer.")],
    size: Annotated[str, typer.Option(help="tiny (312 × 4), small (384 × 6) or base (768 × 12).")] = "base",
    batch: Annotated[int, typer.Option(help="Sentences a step.", min=1)] = 32,
    steps: Annotated[int, typer.Option(help="Steps that are timed in a round.", min=1)] = 24,
    rounds: Annotated[int, typer.Option(help="Times that all are measured, in turn; medians are told.", min=1)] = 2,
    mode: Annotated[list[str] | None, typer.Option(help="The peer's flags: default, best (again for both).")] = None,
    peer: Annotated[bool, typer.Option("--peer/--no-peer", help="Run transformers beside.")] = True,
) -> None:
    """Real tokens a second of fine-tuning on single sentences: ours and transformers', padding not counted."""
    from litebert.bench import finetune as bench

    found = bench.measure(
        data, tokenizer, size, batch=batch, steps=steps, rounds=rounds,
        modes=(mode or bench.MODES) if peer else (), watch=lambda line: typer.echo(line, err=True),
    )  # fmt: skip
    rows = [("ours", *_cells(found), "", "")]
    for name, one in found["peers"].items():
        rows.append(
            (f"transformers, {name}", *_cells(one), f"{one['times_faster']:.2f} ×", f"{one['memory']:.2f} ×")
        )  # fmt: skip
    columns = ("", "real tokens/s", "padding", "memory", "we are faster", "our memory")
    title = f"ALBERT-{size}, {batch} sentences of {found['mean_length']:.1f} tokens, {found['threads']} threads"
    console.say(console.table(columns, rows, title=title, right=columns[1:]))
    console.say_json({"bench": "finetune", **found})


def _cells(one: dict[str, float]) -> tuple[str, str, str]:
    return console.number(one["real_tokens_per_s"]), f"{one['padding']:.1%}", f"{one['peak_rss_gb']:.2f} GB"
