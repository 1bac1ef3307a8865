"""`litebert finetune`: a model learns a task, with as many seeds as it takes to know how good it is."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from litebert.cli import console
from litebert.cli.asking import Asking
from litebert.cli.columns import (
    BadRows,
    Columns,
    Delimiter,
    Header,
    LabelColumn,
    PairColumn,
    Several,
    TextColumn,
    reading,
)
from litebert.errors import UserError

if TYPE_CHECKING:
    from litebert.tasks.prepared import Prepared
    from litebert.tasks.seeds import Outcome
    from litebert.tasks.sources import Reading
    from litebert.tasks.sweep import Swept

_DEVICES = ("auto", "cpu", "cuda")
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be learnt and what it takes, then stop.")]
_Restart = Annotated[bool, typer.Option("--restart", help="Throw away what the folder holds and begin anew.")]
_Report = Annotated[bool, typer.Option("--report/--no-report", help="Write report.html at the end.")]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object at the end, nothing before it.")]


class _Asked(NamedTuple):
    """What is to be trained, of what the options say."""

    task: str
    data: Path
    model: str
    start: str
    dev: Path | None
    out: Path | None
    changes: list[str]
    sweeps: list[str]
    random: bool
    tokenizer: str
    reading: Reading
    held_out: float
    examples: int
    device: str
    restart: bool


class _Work(NamedTuple):
    """All that stands before the first step."""

    prepared: Prepared
    folder: Path
    seeds: int
    tried: dict[str, list[Any]]  # of a sweep
    points: int


def finetune(
    task: Annotated[
        str, typer.Argument(help="A benchmark (sst-2, cola, squad-1.1, cluener, …: `litebert tasks` lists them), or a "
                            "kind with files of your own: classify, regress, tag, span, choice.")
    ],
    data: Annotated[
        Path, typer.Option(help="The folder that holds the benchmark's files, or a file: csv, tsv, jsonl, parquet.")
    ],
    model: Annotated[str, typer.Option(help="A folder with a model to begin from; with --random a preset, too.")] = "",
    start: Annotated[
        str, typer.Option("--from", help="Begin from the model of another fine-tuning: RTE from MNLI's.")
    ] = "",
    dev: Annotated[
        Path | None, typer.Option(help="What judges; else the benchmark's own file, or a share that is held out.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The folder: made, or gone on with. By default MODEL-TASK, here.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="So many times, each with another seed: 5 tell luck from skill.", min=1)]
    = 1,
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting: --set rate=1e-4 (again for more); `litebert "
                                       "tasks sst-2` lists a task's.")
    ] = None,
    sweeps: Annotated[
        list[str] | None, typer.Option("--sweep", help="Try values: --sweep rate=5e-5,1e-4 (again for combinations).")
    ] = None,
    random: Annotated[bool, typer.Option("--random", help="The model's shape alone, every weight drawn anew.")] = False,
    tokenizer: Annotated[str, typer.Option(help="Where the tokenizer lies, if it is not with the model.")] = "",
    text: TextColumn = "", pair: PairColumn = "", label: LabelColumn = "", columns: Columns = None,
    delimiter: Delimiter = "", header: Header = True, several: Several = "", bad: BadRows = "",
    held_out: Annotated[float, typer.Option(help="The share that is held out where no file judges.")] = 0.1,
    examples: Annotated[int, typer.Option(help="Learn from so many at most, drawn by the seed; 0 = all.", min=0)] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    dry: _DryRun = False, restart: _Restart = False, report: _Report = True, as_json: _Json = False,
) -> None:  # fmt: skip
    """Fine-tune an encoder: on a benchmark by its name, or on your own table by its columns.

    First shown: an example as the model reads it, what there is of each label, what was left out and why, what of the
    model learns, and an estimate of the time. Then each seed is trained and judged; the folder becomes the model of the
    best one. Ctrl-C and SIGTERM save and end with exit code 0; the same command goes on, after a `kill -9` too, and
    with more --seeds adds what is missing.

    [bold]litebert finetune sst-2 --model run --data glue --seeds 5[/]

    [bold]litebert finetune classify --model run --data reviews.csv --text review --label stars[/]

    [bold]litebert finetune mrpc --model run --data glue --sweep rate=5e-5,1e-4 --sweep batch=16,32[/]
    """
    from litebert.tasks import sources

    kind, benchmark = sources.named(task)
    read = reading(kind, {"text": text, "pair": pair, "label": label}, columns, delimiter, header, several, bad)
    sources.check(kind, benchmark, read)
    asked = _Asked(task, data, model, start, dev, out, changes or [], sweeps or [], random, tokenizer, read, held_out,
                   examples, device, restart)  # fmt: skip
    work = _settled(asked, seeds)
    if dry or not as_json:
        _before(work, as_json)
    if not dry:
        _after(_trained(work, restart, as_json), report, as_json)


def _settled(asked: _Asked, seeds: int) -> _Work:
    """Everything is checked and laid out: settings first, then the data."""
    from litebert.tasks import finetune as tuning
    from litebert.tasks import prepared as preparing
    from litebert.tasks import sources, standing
    from litebert.tasks import sweep as sweeping
    from litebert.train import distributed

    if not asked.model and not asked.start:
        raise UserError("which model? name its folder with --model, or another fine-tuning's with --from")
    if asked.model and asked.start:
        raise UserError("--model and --from both name the model to begin from: give one of them")
    if asked.device not in _DEVICES:
        raise UserError(f"device {asked.device!r} is unknown: choose auto, cpu or cuda")
    where = distributed.join({}, asked.device).device
    name = asked.model or asked.start
    folder = asked.out or tuning.usual(asked.task, name)
    (sweeping.unmixed if asked.sweeps else standing.unmixed)(folder)
    shaped = tuning.begin(name, random=asked.random, tokenizer=asked.tokenizer, finetuned=bool(asked.start))
    settings = preparing.tuning(asked.task, shaped, preparing.parsed(asked.changes))
    tried = sweeping.values(asked.sweeps)
    points = sweeping.points(shaped, settings, tried)
    found = sources.source(
        asked.task, asked.data, asked.dev, held_out=asked.held_out, reading=asked.reading, most=asked.examples,
        seed=settings.seed,
    )  # fmt: skip
    columns = asked.reading.columns
    prepared = preparing.prepare(shaped, found, points[0][1] if tried else settings, columns, where)
    if not tried:
        standing.allowed(prepared, folder, asked.restart)
    return _Work(prepared, folder, seeds, tried, len(points))


def _before(work: _Work, as_json: bool) -> None:
    from litebert.cli import tuning as shown
    from litebert.tasks.outlook import outlook

    seen = outlook(work.prepared)
    if as_json:
        console.say_json(shown.values(work.prepared, seen))
        return
    shown.show_data(work.prepared)
    shown.show_model(work.prepared, seen, work.seeds, work.points)


def _trained(work: _Work, restart: bool, quiet: bool) -> Outcome | Swept:
    from litebert.cli.watching import Watching
    from litebert.tasks import seeds as attempts
    from litebert.tasks import sweep as sweeping

    measures = work.prepared.ready.task.measures
    with Asking() as asking, Watching(measures, work.seeds, quiet) as watching:
        try:
            if work.tried:
                return sweeping.sweep(
                    work.prepared, work.folder, work.tried, work.seeds, tell=watching, restart=restart,
                    asked_to_stop=asking,
                )  # fmt: skip
            return attempts.train(
                work.prepared, work.folder, work.seeds, tell=watching, restart=restart, asked_to_stop=asking
            )
        except KeyboardInterrupt:
            typer.echo("litebert: ended at once: the same command goes on from the last checkpoint", err=True)
            raise typer.Exit(128 + signal.SIGINT) from None


def _after(done: Outcome | Swept, report: bool, as_json: bool) -> None:
    from litebert.cli import tuning as shown
    from litebert.tasks import seeds as attempts
    from litebert.tasks import sweep as sweeping

    page = _page(done) if report and not done.stopped else ""
    if as_json:
        values = sweeping.as_values(done) if isinstance(done, sweeping.Swept) else attempts.as_values(done)
        console.say_json({**values, "report": page})
        return
    if isinstance(done, sweeping.Swept):
        shown.show_swept(done)
    else:
        shown.show_outcome(done)
    if done.stopped:
        console.say("stopped and saved: go on with the same command")
    if page:
        console.say(f"the report is {console.literal(page)}")


def _page(done: Outcome | Swept) -> str:
    """The report: of a sweep its best points beside one another."""
    from litebert.lab import report as reports
    from litebert.lab.figures import COLOURS
    from litebert.tasks import sweep as sweeping

    points = done.points if isinstance(done, sweeping.Swept) else ()
    folders = [point.outcome.folder for point in points] or [done.folder]
    return str(reports.write(folders[:COLOURS], done.folder / "report.html"))
