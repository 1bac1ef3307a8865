"""How are the values of groups drawn side by side? Counts as bars, means as dots with whiskers: how high, how sure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from litebert.lab import axes, figures
from litebert.lab.axes import Axis
from litebert.lab.figures import COLOURS, Side

_ROOM = 0.72  # share of a group's place that its bars fill
_WIDEST = 46.0
_FOOT = figures.BOX[3]


class Bar(NamedTuple):
    """A value of one group, and the interval that it lies in."""

    value: float
    low: float | None = None
    high: float | None = None
    told: str = ""  # what the reader sees who points at it


class Row(NamedTuple):
    """A bar for every group, or None; one colour."""

    name: str
    bars: Sequence[Bar | None]
    colour: int = 0


def chart(groups: Sequence[str], rows: Sequence[Row], x: Side, y: Side, *, label: str, dots: bool = False) -> str:
    """Groups from left to right, in each a bar or a dot of every row; '' where there is nothing to draw."""
    ends = [end for row in rows for bar in row.bars if bar for end in (bar.value, bar.low, bar.high) if end is not None]
    if not ends:
        return ""
    across, up = Axis(0.0, float(len(groups)), ()), axes.axis(ends, zero=y.zero)
    parts = [_name(across, place, name) for place, name in enumerate(groups)]
    place = (figures.at_x(across, 1.0) - figures.at_x(across, 0.0)) * _ROOM / len(rows)
    width = min(place, _WIDEST)
    for number, row in enumerate(rows):
        for group, bar in enumerate(row.bars):
            if bar is not None:
                middle = figures.at_x(across, group + 0.5) + (number - (len(rows) - 1) / 2) * width
                parts.append(_bar(bar, middle, width * 0.88, up, row.colour, dots))
    return figures.frame(across, up, x, parts, label=label)


def _bar(bar: Bar, middle: float, width: float, up: Axis, colour: int, dot: bool) -> str:
    top = figures.at_y(up, bar.value)
    told = f"<title>{escape(bar.told)}</title>" if bar.told else ""
    drawn = (
        f'<circle class="dot" cx="{middle:.1f}" cy="{top:.1f}" r="4.5"/>'
        if dot
        else f'<rect class="bar" x="{middle - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}" '
        f'height="{_FOOT - top:.1f}"/>'
    )
    if bar.low is not None and bar.high is not None:
        low, high = figures.at_y(up, bar.low), figures.at_y(up, bar.high)
        cap = min(5.0, width / 3)
        drawn = (
            f'<path class="whisker" d="M{middle:.1f} {low:.1f}V{high:.1f}M{middle - cap:.1f} {low:.1f}h{2 * cap:.1f}'
            f'M{middle - cap:.1f} {high:.1f}h{2 * cap:.1f}"/>{drawn}'
        )
    return f'<g class="c{colour % COLOURS}">{told}{drawn}</g>'


def _name(across: Axis, place: int, name: str) -> str:
    return (
        f'<text x="{figures.at_x(across, place + 0.5):.1f}" y="{_FOOT + 15}" text-anchor="middle">{escape(name)}</text>'
    )
