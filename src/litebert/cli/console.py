"""How does the command line speak? Tables for a person, JSON for a program, one line for a mistake."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text


def say(text: Any = "") -> None:
    """A line, or a rich table, on standard output; plain and unwrapped where that is no terminal."""
    console = Console(highlight=False, soft_wrap=True)
    if console.is_terminal:
        console.print(text)
        return
    console.width = 200
    with console.capture() as captured:
        console.print(text)
    lines = [line.rstrip() for line in captured.get().splitlines()]
    typer.echo("\n".join(line for line in lines if line or not isinstance(text, Table)))


def literal(text: object) -> str:
    """A name or path for `say`, where square brackets would be markup."""
    return escape(str(text))


def say_json(value: Any) -> None:
    """One JSON object as one line, the last thing a measuring verb prints."""
    typer.echo(json.dumps(value, ensure_ascii=False))


def table(
    columns: Iterable[str], rows: Iterable[Iterable[str | Text]], title: str = "", right: Iterable[str] = ()
) -> Table:
    """A plain table; columns named in `right` hold numbers."""
    numbers = set(right)
    made = Table(title=title or None, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for column in columns:
        made.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def explained(app: typer.Typer) -> typer.Typer:
    """The app with every verb's help in whole paragraphs, which then wrap as the terminal is wide.

    Typer would keep the line breaks of the source. A paragraph with an indented line is a list, and stays.
    """
    for verb in app.registered_commands:
        paragraphs = (inspect.getdoc(verb.callback) or "").split("\n\n")
        verb.help = verb.help or "\n\n".join(p if "\n " in p else p.replace("\n", " ") for p in paragraphs)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            explained(group.typer_instance)
    return app


def number(value: float) -> str:
    """A count for a person: 11,683,584."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.0f}"


def short(value: float, unit: str = "") -> str:
    """A size for a person: 11.7 M, 48.3 G."""
    for scale, letter in ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= scale:
            return f"{value / scale:.3g} {letter}{unit}"
    return f"{value:.3g} {unit}".rstrip()
