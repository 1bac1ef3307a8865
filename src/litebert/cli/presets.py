"""`litebert presets`: the family as diffs, each preset against the one it differs from."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from litebert.cli import console


def presets(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object: name → parent, diff, parameters.")]
    = False,
) -> None:  # fmt: skip
    """Show the family: every preset as the few values in which it differs from its parent.

    The parameters are those of the encoder with its pooler, as the papers count. Any preset can be varied:
    [bold]litebert describe albert-base --set sharing=attention[/].
    """
    from litebert import presets as family
    from litebert.model import cost

    rows, found = [], {}
    for name in family.names():
        parent, diff = family.diff(name)
        count = cost.total(family.preset(name))
        found[name] = {"parent": parent or None, "diff": diff, "parameters": count}
        like = f"{parent}, but " if parent and diff else parent
        rows.append((name, console.number(count), like + _values(diff)))
    if as_json:
        console.say_json(found)
        return
    console.say(console.table(("preset", "parameters", "is"), rows, right=("parameters",)))


def _values(diff: dict[str, Any]) -> str:
    return " ".join(f"{name}={_value(value)}" for name, value in diff.items()) or ", by its other name"


def _value(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
