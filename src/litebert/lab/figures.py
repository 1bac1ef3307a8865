"""How is a curve drawn without a library? As SVG that reads on its own; colours come from the page's style.

Every chart has the same size, so that its letters stay legible wherever the page puts it. `data-` attributes tell the
page's script how to read values back from the drawing; without the script nothing is missing but the reading.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Literal, NamedTuple

from litebert.lab import axes
from litebert.lab.axes import Axis

WIDTH, HEIGHT = 460, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 14, 12, 36
BOX = (_LEFT, _TOP, WIDTH - _RIGHT, HEIGHT - _BOTTOM)  # left, top, right and bottom of what the axes enclose
_MOST = 200  # points of a line
_DOTS = 40  # with more points than these, none is marked
SPARK = (220, 34)
COLOURS = 8

Kind = Literal["thin", "bold", "dashed"]


class Line(NamedTuple):
    """A series of points, from left to right."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: int = 0
    kind: Kind = "bold"


class Level(NamedTuple):
    """A value that others are held against: a horizontal line with its name."""

    value: float
    name: str


class Side(NamedTuple):
    """What an axis measures, and how it is cut."""

    unit: str
    log: bool = False
    zero: bool = False  # the axis begins there
    whole: bool = False  # a tick at every whole number: layers


def chart(
    lines: Sequence[Line], x: Side, y: Side, *, label: str, levels: Sequence[Level] = (), bands: bool = True
) -> str:
    """Lines over one another, as one SVG; '' where there is nothing to draw.

    bands: shade what a thinned line leaves out, from its least to its most.
    """
    lines = [kept for line in lines if (kept := _drawable(line, y)).x]
    if not lines:
        return ""
    across = _across(lines, x)
    shown = [axes.binned(line.x, line.y, _MOST) for line in lines]
    values = [value for each in shown for value in each.mean] + [level.value for level in levels]
    up = axes.axis(values, log=y.log, zero=y.zero)
    parts = []
    if bands:
        parts += [_band(each, line.colour, across, up) for line, each in zip(lines, shown, strict=True)]
    parts += [_level(level, up) for level in levels]
    parts += [_line(line, each, across, up) for line, each in zip(lines, shown, strict=True)]
    told = f'data-x="{_told(across, x)}" data-y="{_told(up, y)}" data-box="{" ".join(map(str, BOX))}"'
    return frame(across, up, x, parts, label=label, told=told)


def frame(across: Axis, up: Axis, x: Side, parts: Sequence[str], *, label: str, told: str = "") -> str:
    """A drawing of the size of all charts: a grid, and on it what was drawn; `told` is for the page's script."""
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}" {told}>'
        f"{_grid(across, up, x)}{''.join(parts)}</svg>"
    )


def at_x(across: Axis, value: float) -> float:
    """Where a value of the horizontal axis lies in a chart."""
    return _LEFT + across.place(value) * (WIDTH - _LEFT - _RIGHT)


def at_y(up: Axis, value: float) -> float:
    """Where a value of the vertical axis lies in a chart."""
    return HEIGHT - _BOTTOM - up.place(value) * (HEIGHT - _TOP - _BOTTOM)


def spark(x: Sequence[float], y: Sequence[float], up: Axis, across: Axis, colour: int = 0) -> str:
    """A line as small as a word, on axes that it shares with its neighbours; level 1 is drawn if it is on them."""
    width, height = SPARK
    points = " ".join(
        f"{across.place(here) * (width - 4) + 2:.1f},{height - 3 - up.place(value) * (height - 6):.1f}"
        for here, value in zip(x, y, strict=True)
    )
    one = height - 3 - up.place(1.0) * (height - 6) if up.low <= 1.0 <= up.high else None
    level = f'<path class="level" d="M2 {one:.1f}H{width - 2}"/>' if one is not None else ""
    return (
        f'<svg class="spark" viewBox="0 0 {width} {height}" aria-hidden="true">{level}'
        f'<polyline class="line bold c{colour % COLOURS}" points="{points}"/></svg>'
    )


def key(kind: Kind, colour: int) -> str:
    """A line of a kind by itself, for a legend."""
    look, path = f"c{colour % COLOURS}", "M1 6L9 3L17 7L25 4" if kind == "thin" else "M1 5H25"
    dot = f'<circle class="dot {look}" cx="13" cy="5" r="2.6"/>' if kind == "bold" else ""
    return f'<svg viewBox="0 0 26 10" aria-hidden="true"><path class="line {kind} {look}" d="{path}"/>{dot}</svg>'


def _drawable(line: Line, y: Side) -> Line:
    """The line without what is no number, and on a logarithmic axis without what is not positive."""
    pairs = [(here, value) for here, value in zip(line.x, line.y, strict=True)
             if math.isfinite(here) and math.isfinite(value) and (value > 0 or not y.log)]  # fmt: skip
    return line._replace(x=[here for here, _ in pairs], y=[value for _, value in pairs])


def _across(lines: Sequence[Line], x: Side) -> Axis:
    places = [here for line in lines for here in line.x]
    if not x.whole:
        return axes.axis(places, zero=x.zero, tight=True)
    low, high = min(places), max(places)
    every = max(1, math.ceil((high - low + 1) / 12))
    ticks = tuple(float(n) for n in range(int(low), int(high) + 1, every))
    return Axis(low - 0.5, high + 0.5, ticks)


def _grid(across: Axis, up: Axis, x: Side) -> str:
    lines = "".join(f"M{_LEFT} {at_y(up, tick):.1f}H{WIDTH - _RIGHT}" for tick in up.ticks)
    side = "".join(
        f'<text x="{_LEFT - 7}" y="{at_y(up, tick) + 3.8:.1f}" text-anchor="end">{shown}</text>'
        for tick, shown in zip(up.ticks, axes.labels(up), strict=True)
    )
    foot = HEIGHT - _BOTTOM
    under = "".join(
        f'<text x="{at_x(across, tick):.1f}" y="{foot + 15}" text-anchor="middle">{axes.plain(tick)}</text>'
        for tick in across.ticks
    )
    marks = "".join(f"M{at_x(across, tick):.1f} {foot}v4" for tick in across.ticks)
    return (
        f'<path class="grid" d="{lines}"/><path class="axis" d="M{_LEFT} {foot}H{WIDTH - _RIGHT}{marks}"/>'
        f"<g>{side}{under}</g>"
        f'<text class="unit" x="{WIDTH - _RIGHT}" y="{HEIGHT - 5}" text-anchor="end">{escape(x.unit)}</text>'
    )


def _band(shown: axes.Binned, colour: int, across: Axis, up: Axis) -> str:
    """Between the least and the most of every stretch, as far as the axis goes."""
    if shown.low == shown.high:
        return ""
    inside = [(min(max(low, up.low), up.high), min(max(high, up.low), up.high))
              for low, high in zip(shown.low, shown.high, strict=True)]  # fmt: skip
    places = [at_x(across, here) for here in shown.x]
    over = [f"{place:.1f},{at_y(up, high):.1f}" for place, (_, high) in zip(places, inside, strict=True)]
    under = [f"{place:.1f},{at_y(up, low):.1f}" for place, (low, _) in zip(places, inside, strict=True)]
    return f'<polygon class="band c{colour % COLOURS}" points="{" ".join(over + under[::-1])}"/>'


def _level(level: Level, up: Axis) -> str:
    """The name stands above its line, or below where the drawing ends."""
    place = at_y(up, level.value)
    text = place - 5 if place - 5 > _TOP + 8 else place + 13
    return (
        f'<path class="level" d="M{_LEFT} {place:.1f}H{WIDTH - _RIGHT}"/>'
        f'<text class="level" x="{WIDTH - _RIGHT - 2}" y="{text:.1f}" text-anchor="end">{escape(level.name)}</text>'
    )


def _line(line: Line, shown: axes.Binned, across: Axis, up: Axis) -> str:
    places = [(at_x(across, here), at_y(up, value)) for here, value in zip(shown.x, shown.mean, strict=True)]
    points = " ".join(f"{here:.1f},{value:.2f}" for here, value in places)
    look = f"c{line.colour % COLOURS}"
    drawn = f'<polyline class="line {line.kind} {look}" data-name="{escape(line.name)}" points="{points}"/>'
    if len(places) == 1 or (line.kind == "bold" and len(places) <= _DOTS):
        drawn += "".join(
            f'<circle class="dot {look}" cx="{here:.1f}" cy="{value:.2f}" r="2.4"/>' for here, value in places
        )
    return drawn


def _told(made: Axis, side: Side) -> str:
    return f"{made.low:.10g} {made.high:.10g} {'log' if made.log else 'lin'} {escape(side.unit)}"
