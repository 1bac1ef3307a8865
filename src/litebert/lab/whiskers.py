"""How are the means of groups drawn side by side? A dot for each, and a line as far as chance may reach."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from litebert.lab import axes, figures
from litebert.lab.axes import Axis
from litebert.lab.figures import COLOURS, Side

_ROOM = 0.72  # share of a group's place that its dots fill
_WIDEST = 46.0
_FOOT = figures.BOX[3]
_CAP = 5.0  # half the width of a whisker's end


class Dot(NamedTuple):
    """A value of one group, and the interval that it lies in."""

    value: float
    low: float
    high: float
    told: str = ""  # what the reader sees who points at it


def chart(groups: Sequence[str], rows: Sequence[Sequence[Dot | None]], x: Side, *, label: str) -> str:
    """Groups from left to right, in each a dot of every row, a row in a colour; '' where there is nothing to draw."""
    ends = [end for row in rows for dot in row if dot for end in (dot.value, dot.low, dot.high)]
    if not ends:
        return ""
    across, up = Axis(0.0, float(len(groups)), ()), axes.axis(ends)
    parts = [_name(across, place, name) for place, name in enumerate(groups)]
    width = min((figures.at_x(across, 1.0) - figures.at_x(across, 0.0)) * _ROOM / len(rows), _WIDEST)
    for number, row in enumerate(rows):
        for group, dot in enumerate(row):
            if dot is not None:
                middle = figures.at_x(across, group + 0.5) + (number - (len(rows) - 1) / 2) * width
                parts.append(_drawn(dot, middle, min(_CAP, width / 3), up, number))
    return figures.frame(across, up, x, parts, label=label)


def _drawn(dot: Dot, middle: float, cap: float, up: Axis, colour: int) -> str:
    top, low, high = (figures.at_y(up, value) for value in (dot.value, dot.low, dot.high))
    told = f"<title>{escape(dot.told)}</title>" if dot.told else ""
    return (
        f'<g class="c{colour % COLOURS}">{told}<path class="whisker" d="M{middle:.1f} {low:.1f}V{high:.1f}'
        f'M{middle - cap:.1f} {low:.1f}h{2 * cap:.1f}M{middle - cap:.1f} {high:.1f}h{2 * cap:.1f}"/>'
        f'<circle class="dot" cx="{middle:.1f}" cy="{top:.1f}" r="4.5"/></g>'
    )


def _name(across: Axis, place: int, name: str) -> str:
    return (
        f'<text x="{figures.at_x(across, place + 0.5):.1f}" y="{_FOOT + 15}" text-anchor="middle">{escape(name)}</text>'
    )
