"""How does a page of HTML come together that needs nothing but itself? Small pieces; every text is escaped.

Numbers stand in `<data value="…">` as they were measured, whatever the reader is shown of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources
from pathlib import Path

from litebert import files


def text(value: object) -> str:
    """A text as HTML."""
    return escape(str(value))


def number(value: float, shown: str) -> str:
    """A number, exact for programs and short for people."""
    return f'<data value="{value!r}">{text(shown)}</data>'


def swatch(colour: int) -> str:
    """The colour that a run has in every chart."""
    return f'<span class="swatch c{colour}"></span>'


def tile(what: str, value: str, note: str = "") -> str:
    """One number that matters, and what it is to be held against; both are HTML."""
    below = f'<p class="note">{note}</p>' if note else ""
    return f'<div class="tile"><div class="what">{text(what)}</div><div class="value">{value}</div>{below}</div>'


def figure(caption: str, unit: str, drawing: str) -> str:
    """A chart with its name; '' for a chart that is empty."""
    if not drawing:
        return ""
    return f"<figure><figcaption><b>{text(caption)}</b> {text(unit)}</figcaption>{drawing}</figure>"


def legend(entries: Iterable[tuple[str, str]]) -> str:
    """What lines stand for: (drawing of the line, text)."""
    each = "".join(f"<li>{drawing}{text(words)}</li>" for drawing, words in entries)
    return f'<ul class="legend">{each}</ul>'


def figures(drawn: Iterable[str]) -> str:
    """Charts side by side, as many as fit."""
    return f'<div class="figures">{"".join(drawn)}</div>'


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = (), tall: bool = False) -> str:
    """A table of HTML cells, the first of a row its name; the columns in `right` hold numbers."""
    numbers = set(right)

    def cell(tag: str, place: int, content: str) -> str:
        look = ' class="right"' if place in numbers else ""
        return f"<{tag}{look}>{content}</{tag}>"

    head = "".join(cell("th", place, text(name)) for place, name in enumerate(columns))
    body = "".join(
        "<tr>" + "".join(cell("td" if place else "th", place, each) for place, each in enumerate(row)) + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide{" tall" if tall else ""}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def tabs(name: str, panels: Sequence[tuple[str, str]]) -> str:
    """Panels of which one is seen, chosen without a script."""
    heads = "".join(
        f'<input type="radio" name="{name}" id="{name}-{place}"{"" if place else " checked"}>'
        f'<label for="{name}-{place}">{text(label)}</label>'
        for place, (label, _) in enumerate(panels)
    )
    bodies = "".join(f'<div class="panel">{body}</div>' for _, body in panels)
    return f'<div class="tabs">{heads}{bodies}</div>'


def section(name: str, title: str, lead: str, body: str) -> str:
    """A part of the page with a heading that can be linked to; lead and body are HTML."""
    above = f"<p>{lead}</p>" if lead else ""
    return f'<section id="{name}"><h2>{text(title)}</h2>{above}{body}</section>'


def document(title: str, header: str, body: str, footer: str) -> str:
    """The whole page: style and script are within it, and it asks for nothing from anywhere."""
    style, script = ((resources.files("litebert.lab") / f"report.{kind}").read_text("utf-8") for kind in ("css", "js"))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<header>{header}</header>\n"
        f"<main>{body}</main>\n<footer>{footer}</footer>\n<script>\n{script}</script>\n</body>\n</html>\n"
    )


def save(path: Path, html: str) -> Path:
    """A page to a file, which appears whole or not at all; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with files.whole(path) as temporary:
        temporary.write_text(html, encoding="utf-8", errors="replace")  # half a character, as JSON may hold
    return path
