"""How do several runs share a page? Names that tell them apart, a part for each, and what differs in their settings."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from litebert.lab import page


def names(folders: Sequence[Path]) -> list[str]:
    """The folders' names; of folders of one name, their paths."""
    short = [folder.resolve().name for folder in folders]
    return [str(folder) if short.count(name) > 1 else name for folder, name in zip(folders, short, strict=True)]


def each(named: Sequence[str], parts: Sequence[str]) -> str:
    """One part, or one for every run under its name."""
    if len(named) == 1:
        return parts[0]
    return "".join(
        f"<details{'' if place else ' open'}><summary>{page.swatch(place)}{page.text(name)}</summary>{part}</details>"
        for place, (name, part) in enumerate(zip(named, parts, strict=True))
    )


def settings(named: Sequence[str], texts: Sequence[str], file: str, notes: Sequence[str] = ()) -> str:
    """TOML as it was resolved, of several runs first what differs; notes (HTML) stand above each."""
    parts = []
    for place, text in enumerate(texts):
        toml = "\n".join(
            f"<b>{page.text(line)}</b>" if line.startswith("[") else page.text(line)
            for line in text.strip().splitlines()
        )
        above = notes[place] if notes else ""
        parts.append(above + (f"<pre>{toml}</pre>" if toml else f'<p class="note">The folder holds no {file}.</p>'))
    whole = each(named, parts)
    if len(named) == 1:
        return whole
    rows = [[f'<span class="name">{page.text(name)}</span>', *map(page.text, values)]
            for name, values in differences(texts)]  # fmt: skip
    same = '<p class="note">They are the same.</p>'
    return (page.table(("value", *named), rows) if rows else same) + whole.replace("<details open>", "<details>")


def differences(texts: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The values in which TOML texts differ: (table.field, one value a text)."""
    flat = [_flat(text) for text in texts]
    fields = dict.fromkeys(name for one in flat for name in one)
    rows = [(name, [one.get(name, "—") for one in flat]) for name in fields]
    return [(name, values) for name, values in rows if len(set(values)) > 1]


def _flat(text: str) -> dict[str, str]:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}
    found: dict[str, str] = {}
    for table, values in tables.items():
        rows = values if isinstance(values, list) else [values]
        for number, row in enumerate(rows):
            where = f"{table}.{number + 1}" if isinstance(values, list) else table
            if isinstance(row, dict):
                found |= {f"{where}.{field}": str(value) for field, value in row.items()}
            else:
                found[where] = str(row)
    return found
