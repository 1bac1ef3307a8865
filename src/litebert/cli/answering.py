"""Where do the examples of `litebert predict` come from, and where do its answers go? Files, folders and pipes."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from litebert.errors import UserError

if TYPE_CHECKING:
    from litebert.tasks.benchmarks import Benchmark, Part
    from litebert.tasks.examples import Example, Left
    from litebert.tasks.readers.columns import Kind
    from litebert.tasks.readers.faults import Bad

STDIN = STDOUT = "-"
_BLOCK = 1 << 16
_LINES = (".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".json")  # whose rows are, but for few, their lines


class Asked(NamedTuple):
    """What is read."""

    examples: Iterator[Example | Left]
    total: int | None = None  # rows, as far as is known beforehand
    waiting: bool = True  # False: more comes when it comes


def asked(
    source: str, kind: Kind, benchmark: Benchmark | None, part: Part, columns: Mapping[str, str], form: str, bad: Bad,
    delimiter: str | None = None,
) -> Asked:  # fmt: skip
    """The examples of a file, of a part of a benchmark's folder, or of a pipe."""
    from litebert.tasks import given, piped

    path = Path(source)
    if source == STDIN or path.is_fifo():
        if source == STDIN and sys.stdin.isatty():
            typer.echo("litebert: texts are read from the terminal, one a line; Ctrl-D ends", err=True)
        if delimiter:
            raise UserError(f"--delimiter {delimiter!r} is for files: name one with --input, or say --format tsv")
        lines = _lines(os.open(path, os.O_RDONLY) if source != STDIN else sys.stdin.fileno())
        return Asked(piped.of_lines(lines, kind, columns, form=form, bad=bad), None, False)
    if not path.exists():
        raise UserError(f"{path} does not exist: name a file with texts, or - for standard input")
    if benchmark is None and path.is_dir() and kind != "choice":
        raise UserError(f"{path} is a folder: name a file, or the benchmark whose files it holds with --task")
    if benchmark is None:
        return Asked(given.of_file(path, kind, columns, form=form, bad=bad, delimiter=delimiter), _rows([path]))
    if columns or form or delimiter:
        raise UserError(f"{benchmark.name} has a form of its own: leave out columns, format and delimiter, or --task")
    paths = benchmark.where(path, part) if path.is_dir() else [path]
    if not paths:
        raise UserError(f"{path} holds no {part} files of {benchmark.name}: {benchmark.wanted(part)}")
    read = (benchmark.reader(one, **benchmark.options, labelled=False, bad=bad) for one in paths)
    return Asked(map(_unanswered, chain.from_iterable(read)), _rows(paths))


def refuse_same(source: str | Path, output: str | Path, option: str) -> None:
    """Whoever writes into what is read has lost it."""
    piped = STDIN in (str(source), str(output))
    if not piped and Path(output).is_file() and Path(source).is_file() and Path(output).samefile(source):
        raise UserError(f"--output {output} is the file that {option} reads: name another")


@contextlib.contextmanager
def sink(output: str) -> Iterator[Callable[[str], None]]:
    """What takes text to a file or to standard output, whole lines at a time, whoever presses Ctrl-C meanwhile."""
    if output == STDOUT:
        yield lambda text: _undisturbed(lambda: typer.echo(text, nl=False))
        return
    try:
        file = Path(output).open("w", encoding="utf-8", newline="")  # noqa: SIM115  closed below
    except OSError as error:
        raise UserError(
            f"{output} cannot be written ({error.strerror}): name a file in a folder that is there"
        ) from None

    def put(text: str) -> None:
        file.write(text)
        file.flush()

    with file:
        yield lambda text: _undisturbed(lambda: put(text))


def nobody_reads() -> None:
    """Standard output goes nowhere from here on: whoever read it has seen enough."""
    with contextlib.suppress(OSError, ValueError):  # in a test it may be no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unanswered(one: Example | Left) -> Example | Left:
    from litebert.tasks import given
    from litebert.tasks.examples import Left

    return one if isinstance(one, Left) else given.unanswered(one)


def _lines(descriptor: int) -> Iterator[bytes]:
    """Lines as soon as they are there. Not by Python's buffer: a thread that waits would hold its lock at the exit."""
    begun: list[bytes] = []
    while data := os.read(descriptor, _BLOCK):
        first, *others = data.split(b"\n")
        begun.append(first)
        if others:
            yield b"".join(begun)
            *whole, last = others
            yield from whole
            begun = [last]
    if any(begun):
        yield b"".join(begun)


def _rows(paths: Iterable[Path]) -> int | None:
    """About how many rows files have; None where only reading them would tell."""
    from litebert.tasks.readers.lines import suffix

    total = 0
    for path in paths:
        if path.is_file() and path.suffix == ".parquet":
            import pyarrow.parquet as parquet

            with contextlib.suppress(Exception):  # what is wrong with it is told where it is read
                total += parquet.read_metadata(path).num_rows
        elif path.is_file() and path.suffix == suffix(path) and path.suffix in _LINES:
            with path.open("rb") as file:
                total += sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
        else:
            return None
    return total or None


def _undisturbed(put: Callable[[], None]) -> None:
    """Ctrl-C and SIGTERM wait until it is written; a second one does not."""
    heard: list[int] = []

    def hear(number: int, _: object) -> None:
        if heard:
            raise KeyboardInterrupt
        heard.append(number)

    before = {number: signal.signal(number, hear) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        put()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if heard:
        signal.raise_signal(heard[0])
