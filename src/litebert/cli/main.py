"""What does `litebert` do? It finds the verb, and turns a user's mistake into one line and exit code 2.

Exit codes: 0 done, 1 the run failed, 2 the call was wrong. Heavy libraries are imported by the verbs that need them.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from litebert import __version__
from litebert.cli import (
    bench,
    console,
    convert,
    data,
    demo,
    describe,
    embed,
    evaluate,
    fill_mask,
    finetune,
    predict,
    presets,
    pretrain,
    report,
    tasks,
    tokenizer,
)
from litebert.errors import RunError, UserError

app = typer.Typer(
    name="litebert",
    help="Your own compact text encoder, from raw text to a served model, on the machine you have.\n\n"
    "Start with [bold]litebert presets[/] to see the family and [bold]litebert describe albert-base[/] for one of it.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
app.command("presets")(presets.presets)
app.command("describe")(describe.describe)
app.command("convert")(convert.convert)
app.command("pretrain")(pretrain.pretrain)
app.command("finetune")(finetune.finetune)
app.command("tasks")(tasks.tasks)
app.command("fill-mask")(fill_mask.fill_mask)
app.command("embed")(embed.embed)
app.command("evaluate")(evaluate.evaluate)
app.command("predict")(predict.predict)
app.command("report")(report.report)
app.command("demo")(demo.demo)
app.add_typer(tokenizer.app, name="tokenizer")
app.add_typer(data.app, name="data")
app.add_typer(bench.app, name="bench")
console.explained(app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"litebert {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """The options before the verb."""


def run() -> None:
    """The console script: a mistake is one line on standard error and exit code 2, a failed run or disk exit code 1."""
    import warnings

    warnings.showwarning = lambda message, *_, **__: typer.echo(f"litebert: {message}", err=True)
    try:
        app(prog_name="litebert")
    except UserError as error:
        typer.echo(f"litebert: {error}", err=True)
        sys.exit(2)
    except (RunError, OSError) as error:
        typer.echo(f"litebert: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    run()
