"""`litebert predict`: what a fine-tuning says of texts, from any file or a pipe, in the order in which they come."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from litebert.cli import answering, console
from litebert.cli.answering import STDIN, STDOUT, Asked
from litebert.cli.columns import Delimiter, parting
from litebert.cli.progress import Meter
from litebert.cli.stopping import stoppable
from litebert.errors import UserError

if TYPE_CHECKING:
    from litebert.tasks.benchmarks import Benchmark
    from litebert.tasks.examples import Example, Left
    from litebert.tasks.predict import Predictor, Said

_SHOWN = 5  # rows left out that are named


def predict(
    model: Annotated[Path, typer.Argument(help="The folder of a fine-tuning, or of a transformers model with a head.")],
    source: Annotated[
        str, typer.Option("--input", help="Texts: .jsonl, .csv, .tsv, .parquet, or .txt with one a line; a benchmark's "
                          "folder; - for standard input.")
    ] = STDIN,
    output: Annotated[
        str, typer.Option(help="Where answers go: .jsonl, .csv or .tsv; - for standard output; with --submission a "
                          "folder.")
    ] = STDOUT,
    text: Annotated[str, typer.Option(help="The column of the text, where it is not called so.")] = "",
    pair: Annotated[str, typer.Option(help="The column of the second text.")] = "",
    columns: Annotated[
        list[str] | None, typer.Option(help="Any column: --columns context=passage (`litebert tasks` lists them).")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="Of the input, where its name does not say: txt, jsonl, csv, tsv.")
    ] = "",
    delimiter: Delimiter = "",
    output_form: Annotated[str, typer.Option(help="Of standard output: jsonl, csv or tsv.")] = "",
    task: Annotated[str, typer.Option(help="The benchmark whose files are read; of a folder, unsaid: the model's own.")]
    = "",
    part: Annotated[str, typer.Option(help="Of a benchmark's folder: test, dev or train.")] = "test",
    submission: Annotated[str, typer.Option(help="Write what a leaderboard wants: glue or squad.")] = "",
    bad: Annotated[str, typer.Option(help="A row that is no example: refuse, or skip it and tell.")] = "refuse",
    echo: Annotated[bool, typer.Option("--echo", help="Repeat the texts beside the answers.")] = False,
    batch_tokens: Annotated[
        int, typer.Option(help="Tokens that are read at once, padding included; 0 = as suits the machine.", min=0)
    ] = 0,
    precision: Annotated[str, typer.Option(help="auto, bfloat16 or float32.")] = "auto",
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="With an output file: one JSON object of what was done.")]
    = False,
) -> None:  # fmt: skip
    """Ask a fine-tuned model: classes, scores, tags, answers or options, with their probabilities.

    A file needs no labels; those that it has are passed over. Answers come in the order of the rows and name them,
    in bounded memory, however long the input; from a pipe as soon as texts arrive. Every line is written whole.

    [bold]litebert predict RUN --input reviews.csv --output answers.jsonl[/]

    [bold]tail -f log.txt | litebert predict RUN --input - | grep urgent[/]

    [bold]litebert predict RUN --input GLUE --submission glue --output submission[/]
    """
    _check(bad, precision, output, output_form, submission)
    answering.refuse_same(source, output, "--input")
    from litebert.tasks import benchmarks
    from litebert.tasks import predict as predicting

    named = benchmarks.named(task) if task else None
    answers, remarks = predicting.opened(model, device=device, precision=precision, batch_tokens=batch_tokens)  # type: ignore[arg-type]
    for remark in remarks:
        typer.echo(f"litebert: {remark}", err=True)
    own = answers.trained.benchmark
    if named is None and own and (submission or (source != STDIN and Path(source).is_dir())):
        named = benchmarks.named(own)
    if named is not None and named.kind != answers.kind:
        raise UserError(f"{named.name} is a task to {named.kind}, and {model} was fine-tuned to {answers.kind}: "
                        "name another")  # fmt: skip
    if part not in benchmarks.PARTS:
        raise UserError(f"part {part!r} is none: choose {', '.join(benchmarks.PARTS)}")
    wanted = _columns(answers, text, pair, columns or [], named)
    asked = answering.asked(source, answers.kind, named, part, wanted, form, bad, parting(delimiter))  # type: ignore[arg-type]
    with stoppable("what was answered until then is written, in whole lines"):
        if submission:
            _submit(answers, asked, submission, named, Path(output))
        else:
            _answer(answers, asked, output, output_form, echo, as_json)


def _check(bad: str, precision: str, output: str, output_form: str, submission: str) -> None:
    """Before anything is loaded."""
    choices: dict[str, tuple[str, tuple[str, ...]]] = {
        "bad": (bad, ("refuse", "skip")), "precision": (precision, ("auto", "bfloat16", "float32")),
        "output-form": (output_form, ("", "jsonl", "csv", "tsv")), "submission": (submission, ("", "glue", "squad")),
    }  # fmt: skip
    for name, (value, known) in choices.items():
        if value not in known:
            raise UserError(f"--{name} {value!r} is unknown: choose {', '.join(filter(None, known))}")
    if submission and output == STDOUT:
        raise UserError(f"--submission {submission} writes files: name a folder for them with --output")
    if submission or output == STDOUT:
        return
    suffix = Path(output).suffix.removeprefix(".")
    if suffix not in ("jsonl", "csv", "tsv") and not output_form:
        raise UserError(f"--output {output} does not say what it is: call it .jsonl, .csv or .tsv")


def _columns(
    answers: Predictor, text: str, pair: str, columns: Sequence[str], benchmark: Benchmark | None
) -> dict[str, str]:  # fmt: skip
    """What is for what: as the model learnt it, unless it is said here."""
    from litebert.tasks.readers.columns import ROLES

    roles = ROLES[answers.kind]
    learnt = {} if benchmark else answers.trained.columns
    found = {name: column for name, column in learnt.items() if name in roles and roles[name].need != "answer"}
    said = {"text": text, "pair": pair}
    for one in columns:
        name, equals, column = one.partition("=")
        if not equals or not name or not column:
            raise UserError(f"--columns {one!r} is not of the form role=column: write --columns text=review")
        said[name] = column
    main = next(iter(roles)) if "text" not in roles else "text"
    renamed = {main if name == "text" and answers.kind == "tag" else name: one for name, one in said.items() if one}
    return found | renamed


def _answer(answers: Predictor, asked: Asked, output: str, output_form: str, echo: bool, as_json: bool) -> None:
    """Line by line, as they come."""
    from litebert.tasks import written

    write = written.writer(output_form or (Path(output).suffix.removeprefix(".") if output != STDOUT else "jsonl"))
    left: list[Left] = []
    rows = tokens = 0
    began = time.perf_counter()
    try:
        with answering.sink(output) as put, Meter("predicting") as meter:
            for window in _windows(answers, asked, left, meter):
                rows, tokens = rows + len(window), tokens + sum(said.tokens for said in window)
                put(write(written.values(said, echo) for said in window))
    except BrokenPipeError:
        answering.nobody_reads()
        raise typer.Exit from None
    _tell_left(left)
    if output != STDOUT:
        seconds = time.perf_counter() - began
        _tell(output, rows, tokens, seconds, left, as_json)


def _submit(answers: Predictor, asked: Asked, board: str, benchmark: Benchmark | None, folder: Path) -> None:
    """Files for a leaderboard, which wants every row."""
    from litebert import files
    from litebert.tasks import submission

    submission.check(board, benchmark)
    left: list[Left] = []
    with Meter("predicting") as meter:
        said = [one for window in _windows(answers, asked, left, meter) for one in window]
    if left:
        raise UserError(f"{left[0].place}: {left[0].why}: a leaderboard wants every row, mend it")
    made = submission.files(board, benchmark, said)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        with files.whole(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
        console.say(f"{console.literal(folder / name)} written: {len(said):,} answers")


def _windows(answers: Predictor, asked: Asked, left: list[Left], meter: Meter) -> Iterator[list[Said]]:
    """The answers, a window at a time, and how far they are."""
    done = tokens = 0
    meter(0.0 if asked.total else None, {"texts": 0, "tokens": 0})
    with closing(answers.windows(_kept(asked, left), waiting=asked.waiting)) as windows:
        for window in windows:
            yield window
            done, tokens = done + len(window), tokens + sum(said.tokens for said in window)
            share = min(1.0, (done + len(left)) / asked.total) if asked.total else None
            meter(share, {"texts": done, "tokens": tokens})


def _kept(asked: Asked, left: list[Left]) -> Iterator[Example]:
    """The examples; what is left out is put aside."""
    from litebert.tasks.examples import Left

    for one in asked.examples:
        if isinstance(one, Left):
            left.append(one)
        else:
            yield one


def _tell_left(left: Sequence[Left]) -> None:
    for one in left[:_SHOWN]:
        typer.echo(f"litebert: left out: {one.place}: {one.why}", err=True)
    if len(left) > _SHOWN:
        typer.echo(f"litebert: left out: {len(left):,} rows in all", err=True)


def _tell(output: str, rows: int, tokens: int, seconds: float, left: Sequence[Left], as_json: bool) -> None:
    if as_json:
        told: Mapping[str, Any] = {
            "output": output, "answers": rows, "left_out": len(left), "tokens": tokens, "seconds": round(seconds, 3),
            "texts_per_s": round(rows / seconds, 1),
        }  # fmt: skip
        console.say_json(told)
        return
    out = f", {len(left):,} rows left out" if left else ""
    console.say(f"{rows:,} answers written to {console.literal(output)} in {seconds:.1f} s "
                f"({console.short(rows / seconds)} texts/s){out}")  # fmt: skip
