"""`litebert bench`: our speed beside the peer's, in one run; the last line is JSON."""

from __future__ import annotations

from typing import Annotated

import typer

from litebert.cli import (
    bench_data,
    bench_faults,
    bench_finetune,
    bench_from_text,
    bench_learning,
    bench_predict,
    bench_train,
    console,
)

app = typer.Typer(no_args_is_help=True, help="Measure this machine, and us beside a peer in the same run.")
app.command("train")(bench_train.train)
app.command("finetune")(bench_finetune.finetune)
app.command("predict")(bench_predict.predict)
app.command("learning")(bench_learning.learning)
app.command("from-text")(bench_from_text.from_text)
app.command("data")(bench_data.data)
app.command("build")(bench_data.build)
app.command("faults")(bench_data.faults)
app.command("kills")(bench_faults.kills)
app.command("elastic")(bench_faults.elastic)


@app.command("forward")
def forward(
    size: Annotated[str, typer.Option(help="tiny, small, base or large (ALBERT's shapes), or any preset.")] = "base",
    batch: Annotated[int, typer.Option(help="Texts at once.", min=1)] = 8,
    length: Annotated[int, typer.Option(help="Tokens a text.", min=1)] = 128,
    rounds: Annotated[int, typer.Option(help="Times that both are measured, in turn; medians are told.", min=1)] = 9,
    changes: Annotated[list[str] | None, typer.Option("--set", help="Change a field first: --set layers=6.")] = None,
    peer: Annotated[bool, typer.Option("--peer/--no-peer", help="Run transformers beside.")] = True,
) -> None:
    """Forward pass in float32 and bfloat16: us, transformers, and the share of the measured matrix-product rate."""
    from litebert.bench import forward as bench
    from litebert.cli.describe import look

    name = f"albert-{size}" if size in ("tiny", "small", "base", "large", "xlarge", "xxlarge") else size
    config, _ = look(name, changes or [])
    result = bench.measure(config, batch, length, rounds, peer)
    columns = ("dtype", "ours ms", "tokens/s", "of GEMM", "transformers ms", "times faster")
    rows = [
        (
            kind, f"{r['ours_ms']:.1f}", console.number(r["tokens_per_s"]), f"{r['share_of_gemm']:.0%}",
            f"{r['peer_ms']:.1f}" if peer else "", f"{r['ratio']:.2f}" if peer else "",
        )
        for kind, r in result["dtypes"].items()
    ]  # fmt: skip
    title = f"{console.literal(name)}, {batch} × {length}, {result['threads']} threads"
    console.say(console.table(columns, rows, title=title))
    console.say_json({"bench": "forward", "model": name, **result})
