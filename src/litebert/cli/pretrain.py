"""`litebert pretrain`: shards become an encoder; stopped at any moment, it goes on with the same command."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from litebert.cli import console
from litebert.cli.asking import Asking
from litebert.errors import UserError

if TYPE_CHECKING:
    from litebert.train.prepared import Prepared
    from litebert.train.pretrain import Outcome


_DEVICES = ("auto", "cpu", "cuda")


def _list(wanted: bool) -> None:
    if wanted:
        from litebert.train import recipe as runs

        rows = [(console.literal(name), console.literal(runs.told(name))) for name in runs.named()]
        console.say(console.table(("recipe", "what it is"), rows))
        raise typer.Exit


def pretrain(
    shards: Annotated[Path, typer.Argument(help="A folder that `litebert data build` wrote.")],
    out: Annotated[Path, typer.Option(help="The run folder: made, or gone on with if it holds a part of this run.")],
    recipe: Annotated[
        str, typer.Option(help="A TOML file, or a shipped recipe: `litebert pretrain --recipes` lists them.")
    ] = "albert-laptop",
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="Change a value first: --set model.layers=6 (again for more).")
    ] = None,
    start: Annotated[
        str, typer.Option("--from", help="Train this folder's model on, instead of a new one: your own domain.")
    ] = "",
    span: Annotated[str, typer.Option("--for", help="How long: '10 minutes', '2000 steps', '2e8 tokens'.")] = "",
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    dry: Annotated[bool, typer.Option("--dry-run", help="Show what would be trained and what it takes, then stop.")]
    = False,
    restart: Annotated[bool, typer.Option("--restart", help="Throw this folder's checkpoints away and begin anew.")]
    = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html at the end.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end, nothing before it.")]
    = False,
    recipes: Annotated[
        bool, typer.Option("--recipes", callback=_list, is_eager=True, help="List the shipped recipes, and end.")
    ] = False,
) -> None:  # fmt: skip
    """Pre-train an encoder: by recipe, in the time or steps you give it, exact after any crash.

    First shown: a masked example, what is trained, and an estimate of time, memory and disk. Ctrl-C and SIGTERM save
    and end with exit code 0; the same command goes on, after a `kill -9` or a power cut too. Several processes:
    [bold]torchrun --nproc-per-node 2 -m litebert pretrain …[/], with the same batches as one.

    [bold]litebert pretrain shards --recipe albert-laptop --out run[/]
    """
    from litebert.train import distributed
    from litebert.train import recipe as runs
    from litebert.train.claim import unmixed, writable
    from litebert.train.prepared import prepare

    wanted = [*(changes or []), *([f"schedule.total={span}"] if span else []), *([f"start={start}"] if start else [])]
    run = runs.load(recipe, wanted)
    if device not in _DEVICES:
        raise UserError(f"device {device!r} is unknown: choose auto, cpu or cuda")
    writable(out)
    unmixed(out)
    if distributed.again(os.environ):  # torchrun starts all anew when one died: that is going on, not beginning
        restart = False
    world = distributed.join(os.environ, device)
    try:
        prepared = prepare(run, shards, world)
        quiet = as_json or not world.leads
        if dry or not as_json:
            _before(prepared, out, restart, quiet, as_json)
        if dry:
            return
        outcome = _trained(prepared, out, restart, quiet)
        if world.leads:
            _after(prepared, outcome, shards, report, as_json)
    finally:
        distributed.leave()


def _before(prepared: Prepared, out: Path, restart: bool, quiet: bool, as_json: bool) -> None:
    """What is trained and what it takes; every process takes part in the rehearsal."""
    from litebert.cli import before
    from litebert.optim.schedule import Progress
    from litebert.train.estimate import estimate
    from litebert.train.feeding import START
    from litebert.train.pretrain import standing

    progress, position = (Progress(), START) if restart else standing(prepared, out)
    if not quiet:
        before.show_model(prepared)
        before.show_example(prepared)
    found = estimate(prepared, progress, position)
    if as_json:
        console.say_json(before.values(prepared, found))
    elif not quiet:
        before.show_estimate(prepared, found, progress)


def _trained(prepared: Prepared, out: Path, restart: bool, quiet: bool) -> Outcome:
    from litebert.cli.live import Live
    from litebert.train.pretrain import pretrain as train

    with Asking() as asking, Live(prepared, out, quiet) as live:
        try:
            return train(prepared, out, tell=live, restart=restart, asked_to_stop=asking)
        except KeyboardInterrupt:
            typer.echo("litebert: ended at once: the same command goes on from the last checkpoint", err=True)
            raise typer.Exit(128 + signal.SIGINT) from None


def _after(prepared: Prepared, outcome: Outcome, shards: Path, report: bool, as_json: bool) -> None:
    from litebert.cli import before

    page = ""
    if report and not outcome.stopped:
        from litebert.lab import report as reports

        page = str(reports.write([outcome.folder], outcome.folder / "report.html", shards=shards))
    found = before.outcome(prepared, outcome)
    if as_json:
        console.say_json({**found, "report": page})
        return
    before.show_outcome(found)
    if page:
        console.say(f"the report is {console.literal(page)}")
    if outcome.stopped:
        console.say("stopped and saved: go on with the same command")
