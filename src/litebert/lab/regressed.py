"""How near are predicted scores to the right ones? Every example as a point, and how far off it is, band by band."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from litebert.lab import axes, page, scatter
from litebert.lab.judged import Judged
from litebert.lab.scatter import Point

_BANDS = 5
_TEXT = 70  # characters of a text that are seen at its point


def shown(judged: Sequence[Judged]) -> str:
    """The cloud and its table; '' without scores."""
    if not judged:
        return ""
    points = [Point(float(one.line["label"]), float(one.line["prediction"]), _told(one)) for one in judged]
    drawn = page.figure(
        "Predicted against right", "on the dotted line they are equal",
        scatter.chart(points, "right score", "predicted", label="Predicted scores against right ones"),
    )  # fmt: skip
    rows = []
    for low, high, last in _bands([point.x for point in points]):
        some = [point for point in points if low <= point.x and (point.x < high or last)]
        if some:
            means = [statistics.fmean(point.x for point in some), statistics.fmean(point.y for point in some),
                     statistics.fmean(abs(point.y - point.x) for point in some)]  # fmt: skip
            rows.append([f"{axes.plain(low)} to {axes.plain(high)}", page.number(len(some), f"{len(some):,}"),
                         *(page.number(value, f"{value:.2f}") for value in means)])  # fmt: skip
    table = page.table(("right score", "examples", "mean right", "mean predicted", "mean distance"), rows, range(1, 5))
    return f'<div class="halves">{drawn}{table}</div>'


def _bands(values: Sequence[float]) -> list[tuple[float, float, bool]]:
    """Stretches of equal width between the ends, (low, high, whether it holds its high end)."""
    low, high = math.floor(min(values)), math.ceil(max(values))
    width = (high - low) / _BANDS or 1.0
    return [(low + place * width, low + (place + 1) * width, place == _BANDS - 1) for place in range(_BANDS)]


def _told(one: Judged) -> str:
    text = str(one.line.get("text", ""))
    cut = text if len(text) <= _TEXT else f"{text[:_TEXT]}…"
    return f"{one.line['label']} → {float(one.line['prediction']):.3g}: {cut}"
