"""What becomes of a row that cannot be an example? The reading ends there, or the row is left out and counted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from litebert.config import unknown_name
from litebert.tasks.examples import Left, Place, refuse

Bad = Literal["refuse", "skip"]
_FIX = "mend it, or have such rows left out (--bad skip)"
_SHOWN = 12  # columns that a message names


class RowError(ValueError):
    """What is wrong with one row, to stand behind its place."""


def left(place: Place, fault: RowError, bad: Bad) -> Left:
    """The row as it is counted, where rows may be left out at all."""
    if bad == "refuse":
        raise refuse(place, str(fault), _FIX)
    return Left(place, str(fault))


def missing(column: str, present: Iterable[str]) -> str:
    """What is said where a column is not there: those that are, and the nearest."""
    names = list(present)
    readable = [name if name.isprintable() and name else repr(name) for name in names[:_SHOWN]]
    shown = ", ".join(readable) + (", …" if len(names) > _SHOWN else "")
    said = unknown_name("column", column, names, "-") if names else ""
    near = said.partition("did you mean ")[2]
    return f"no column {column!r} among {shown or 'none'}" + (f" (did you mean {near[:-1]}?)" if near else "")
