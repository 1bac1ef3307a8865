"""How is one number held against another, example by example? A cloud of points, and the line where they are equal."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from litebert import rng
from litebert.lab import axes, figures
from litebert.lab.axes import Axis

_MOST = 1500  # points that are drawn


class Point(NamedTuple):
    """What was right, what was said, and what the reader sees who points at it."""

    x: float
    y: float
    told: str = ""


def chart(points: Sequence[Point], x: str, y: str, *, label: str) -> str:
    """A cloud on equal axes; '' where there is nothing to draw. Of very many points some are drawn, by address."""
    if not points:
        return ""
    both = axes.axis([value for point in points for value in (point.x, point.y)], tight=True)
    shown = points
    if len(points) > _MOST:
        chosen = rng.generator(0, "scatter", len(points)).permutation(len(points))[:_MOST]
        shown = [points[place] for place in sorted(chosen.tolist())]
    parts = [_equal(both), f'<g class="cloud c0">{"".join(_dot(point, both) for point in shown)}</g>']
    left, top, _, _ = figures.BOX
    parts.append(f'<text class="unit" x="{left + 6}" y="{top + 10}">{escape(y)}</text>')
    return figures.frame(both, both, figures.Side(x), parts, label=label)


def _equal(both: Axis) -> str:
    """From corner to corner."""
    left, top, right, bottom = figures.BOX
    return f'<path class="level" d="M{left} {bottom}L{right} {top}"/>'


def _dot(point: Point, both: Axis) -> str:
    told = f"<title>{escape(point.told)}</title>" if point.told else ""
    here, there = figures.at_x(both, point.x), figures.at_y(both, point.y)
    return f'<circle cx="{here:.1f}" cy="{there:.1f}" r="3">{told}</circle>'
