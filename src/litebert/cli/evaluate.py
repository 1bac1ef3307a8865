"""`litebert evaluate`: a fine-tuning held against data that it has not seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from litebert.cli import answering, console
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
from litebert.cli.stopping import stoppable
from litebert.errors import UserError

if TYPE_CHECKING:
    from litebert.tasks.judge import Judgement

_SLIPS, _LEFT = 8, 5  # shown


def evaluate(
    model: Annotated[Path, typer.Argument(help="The folder of a fine-tuning, or of a transformers model with a head.")],
    data: Annotated[Path, typer.Option(help="The folder of a benchmark, or a file with answers.")],
    task: Annotated[
        str | None, typer.Argument(help="A benchmark, or for a file of your own its kind; unsaid: as it was learnt.")
    ] = None,
    part: Annotated[str, typer.Option(help="Of a benchmark's folder: dev, test or train.")] = "dev",
    text: TextColumn = "", pair: PairColumn = "", label: LabelColumn = "", columns: Columns = None,
    delimiter: Delimiter = "", header: Header = True, several: Several = "", bad: BadRows = "",
    output: Annotated[Path | None, typer.Option(help="A .jsonl file: every example with its answer.")] = None,
    batch_tokens: Annotated[
        int, typer.Option(help="Tokens that are read at once, padding included; 0 = as suits the machine.", min=0)
    ] = 0,
    precision: Annotated[str, typer.Option(help="auto, bfloat16 or float32.")] = "auto",
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, nothing before it.")] = False,
) -> None:  # fmt: skip
    """Judge a fine-tuned model by its task's official measures, and tell how sure they are and where it errs.

    The interval holds the measure in 95 of 100 cases when other examples of the kind are drawn (bootstrap).

    [bold]litebert evaluate RUN --data GLUE[/]

    [bold]litebert evaluate RUN --data mine.csv --text review --label stars[/]
    """
    if precision not in ("auto", "bfloat16", "float32"):
        raise UserError(f"--precision {precision!r} is unknown: choose auto, bfloat16 or float32")
    if output is not None and output.suffix != ".jsonl":
        raise UserError(f"--output {output} does not end in .jsonl: name it {output.with_suffix('.jsonl')}")
    if output is not None and not output.parent.is_dir():
        raise UserError(f"{output.parent} is no folder: make it first")
    if output is not None:
        answering.refuse_same(data, output, "--data")
    from litebert.tasks import judge
    from litebert.tasks.predict import opened

    with stoppable("nothing is written"):
        predictor, remarks = opened(model, device=device, precision=precision, batch_tokens=batch_tokens)  # type: ignore[arg-type]
        given = {"text": text, "pair": pair, "label": label}
        read = reading(predictor.kind, given, columns, delimiter, header, several, bad)
        found = judge.held(predictor, data, task or "", part, read)._replace(remarks=remarks)
    for remark in found.remarks:
        typer.echo(f"litebert: {remark}", err=True)
    for one in found.left[:_LEFT]:
        typer.echo(f"litebert: left out: {one.place}: {one.why}", err=True)
    if len(found.left) > _LEFT:
        typer.echo(f"litebert: left out: {len(found.left):,} rows in all", err=True)
    if output is not None:
        _write(found, output)
    if as_json:
        console.say_json(values(found))
    else:
        _show(found, output)


def values(found: Judgement) -> dict[str, Any]:
    """A judgement for a program."""
    told = found._asdict()
    told |= {
        "intervals": {name: [round(end, 6) for end in one] for name, one in found.intervals.items()},
        "scores": {name: round(value, 6) for name, value in found.scores.items()},
        "lengths": [one._asdict() for one in found.lengths], "slips": [one._asdict() for one in found.slips],
        "left": len(found.left), "seconds": round(found.seconds, 3),
    }  # fmt: skip
    return {name: value for name, value in told.items() if name != "lines"}


def _write(found: Judgement, output: Path) -> None:
    from litebert import files

    with files.whole(output) as temporary, temporary.open("w", encoding="utf-8") as file:
        for line in found.lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _show(found: Judgement, output: Path | None) -> None:
    rows = []
    for name, value in found.scores.items():
        ends = found.intervals.get(name)
        rows.append((name, f"{value:.4f}", f"{ends.low:.4f} to {ends.high:.4f}" if ends else ""))
    if found.loss is not None:
        rows.append(("loss", f"{found.loss:.4f}", ""))
    title = f"{console.literal(found.task)}{', ' + found.part if found.part else ''}: {found.examples:,} examples"
    console.say(console.table(("measure", "value", "95 %"), rows, title=title, right=("value", "95 %")))
    if found.unanswered:
        console.say(f"{found.unanswered:,} more have no answer and were not asked")
    if found.lengths:
        groups = [(f"{one.low}–{one.high}" if one.low < one.high else str(one.low), f"{one.examples:,}",
                   f"{one.score:.4f}") for one in found.lengths]  # fmt: skip
        columns = ("real tokens", "examples", console.literal(found.measure))
        console.say(console.table(columns, groups, right=columns))
    for one in found.slips[:_SLIPS]:
        console.say(f"{one.times:,} of {one.of:,} that are {console.literal(one.right)} are said to be "
                    f"{console.literal(one.said)}")  # fmt: skip
    if len(found.slips) > _SLIPS:
        console.say(f"{len(found.slips) - _SLIPS:,} more are confused less often")
    if found.collapsed:
        console.say(f"the model {console.literal(found.collapsed)}")
    if output is not None:
        console.say(f"every answer is in {console.literal(output)}")
