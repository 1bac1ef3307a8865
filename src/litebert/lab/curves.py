"""How did training go? Every curve of the log against steps, tokens and time, and the trust ratios tensor by tensor."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from litebert.lab import axes, figures, page, told
from litebert.lab.figures import Level, Line, Side
from litebert.lab.history import FIELDS, Field, History, Series

_CHANCE = {"sop": 0.5, "nsp": 0.5}  # accuracy of a coin
_TIMES = ((7200.0, 3600.0, "hours"), (180.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))
_TITLES: dict[Field, str] = {"step": "by steps", "tokens": "by tokens", "seconds": "by time"}
_MANY_TENSORS = 16


def curves(histories: Sequence[History], names: Sequence[str]) -> str:
    """All charts, three times, of which one is seen."""
    panels = [(_TITLES[field], page.figures(_charts(histories, names, field))) for field in FIELDS]
    return _legend(len(histories) > 1) + page.tabs("curves", panels)


def trust(history: History) -> str:
    """A row for every tensor whose step is scaled: how its ratio went, on one axis for all."""
    found = history.trust()
    scaled = {name: series for name, series in found.items() if any(value != 1.0 for value in series.value)}
    if not found:
        return '<p class="note">The log holds no trust ratios.</p>'
    if not scaled:
        return '<p class="note">Every ratio is 1: this rule takes the step as it is (AdamW).</p>'
    others = len(found) - len(scaled)
    note = f" {others} tensors are left as they are by rule (biases and norms: ratio 1)." if others else ""
    ratios = [value for series in scaled.values() for value in series.value]
    up = axes.axis([*ratios, 1.0], log=True)
    across = axes.axis([step for series in scaled.values() for step in series.step], tight=True)
    rows = [_trust_row(name, series, up, across) for name, series in scaled.items()]
    table = page.table(
        ("tensor", f"from step {across.low:,.0f} to {across.high:,.0f}", "median", "last", "least", "most"),
        rows, right=(2, 3, 4, 5), tall=len(rows) > _MANY_TENSORS,
    )  # fmt: skip
    low, high = (axes.plain(float(f"{end:.2g}")) for end in (up.low, up.high))
    drawn = f"drawn from {low} to {high} by powers of ten, 1 dotted."
    return f'<p class="note">All curves are {drawn}{note}</p>{table}'


def _trust_row(name: str, series: Series, up: axes.Axis, across: axes.Axis) -> list[str]:
    value = series.value
    numbers = [statistics.median(value), value[-1], min(value), max(value)]
    drawn = axes.binned(series.step, value, figures.SPARK[0] // 2)
    return [f'<span class="name">{page.text(name)}</span>', figures.spark(drawn.x, drawn.mean, up, across),
            *(page.number(each, axes.plain(float(f"{each:.3g}"))) for each in numbers)]  # fmt: skip


def _charts(histories: Sequence[History], names: Sequence[str], field: Field) -> list[str]:
    """One way to count progress: the objectives' losses and accuracies, then how the optimizer and the machine did."""
    unit, scale = _unit(histories, field)
    x, alone = Side(unit, zero=True), len(histories) == 1
    objectives = list(dict.fromkeys(name for history in histories for name in history.objectives))
    drawn = []
    for name in objectives:
        title = told.NAMES.get(name, name).capitalize()
        drawn.append(page.figure(f"{title}: loss", "nats", figures.chart(
            _lines(histories, names, field, scale, name), x, Side("nats"),
            label=f"{title}: loss in nats {_TITLES[field]}", levels=_floors(histories, names, name), bands=alone,
        )))  # fmt: skip
        drawn.append(page.figure(f"{title}: right", "%", figures.chart(
            _lines(histories, names, field, scale, f"{name}_accuracy", 100.0), x, Side("%", zero=name not in _CHANCE),
            label=f"{title}: accuracy in percent {_TITLES[field]}", levels=_chances(histories, name), bands=alone,
        )))  # fmt: skip
    lines = [line for line in _lines(histories, names, field, scale, "mlm_top", 100.0) if line.kind == "bold"]
    drawn.append(page.figure("Masked words: share of the commonest answer", "%", figures.chart(
        lines, x, Side("%", zero=True), label=f"Share of the commonest answer in percent {_TITLES[field]}",
    )))  # fmt: skip
    others = (
        ("rate", "Learning rate", Side("", zero=True)),
        ("norm", "Length of the gradient", Side("", log=True)),
        ("tokens_per_s", "Speed", Side("tokens/s", zero=True)),
    )
    for key, title, y in others:
        lines = [line for line in _lines(histories, names, field, scale, key) if line.kind == "thin"]
        lines = [line._replace(kind="bold") for line in lines] if key == "rate" else lines
        label = f"{title} {_TITLES[field]}"
        drawn.append(page.figure(title, y.unit, figures.chart(lines, x, y, label=label, bands=alone)))
    return drawn


def _lines(
    histories: Sequence[History], names: Sequence[str], field: Field, scale: float, key: str, times: float = 1.0
) -> list[Line]:
    """Thin for what was measured while training, bold for held-out text."""
    lines, alone = [], len(histories) == 1
    for colour, (history, name) in enumerate(zip(histories, names, strict=True)):
        steps, held = history.series("step", key, times), history.series("evaluation", key, times)
        training = "training" if alone else f"{name}, training"
        if steps.value:
            lines.append(Line(training, _scaled(steps, field, scale), steps.value, colour, "thin"))
        if held.value:
            text = "held-out" if alone else name
            lines.append(Line(text, _scaled(held, field, scale), held.value, 1 if alone else colour))
    return sorted(lines, key=lambda line: line.kind == "bold")  # drawn over the thin ones


def _scaled(series: Series, field: Field, scale: float) -> list[float]:
    places: list[float] = getattr(series, field)
    return [place / scale for place in places]


def _unit(histories: Sequence[History], field: Field) -> tuple[str, float]:
    if field != "seconds":
        return ("steps" if field == "step" else "tokens"), 1.0
    longest = max(float(history.last.get("seconds", 0.0)) for history in histories)
    return next((unit, scale) for least, scale, unit in _TIMES if longest >= least)


def _floors(histories: Sequence[History], names: Sequence[str], objective: str) -> list[Level]:
    """What one reaches who knows nothing but how often each answer is right."""
    if objective in _CHANCE:
        return [Level(math.log(2), "a coin 0.693")]
    found: dict[str, list[str]] = {}
    for history, name in zip(histories, names, strict=True):
        if history.floor is not None and objective == "mlm":
            found.setdefault(f"{history.floor!r}", []).append(name)
    several = len(found) > 1
    return [Level(float(value), f"unigram floor {float(value):.2f}" + (f", {' and '.join(who)}" if several else ""))
            for value, who in found.items()]  # fmt: skip


def _chances(histories: Sequence[History], objective: str) -> list[Level]:
    if objective in _CHANCE:
        return [Level(100 * _CHANCE[objective], "a coin")]
    if objective != "mlm":
        return []
    values = dict.fromkeys(history.most_frequent for history in histories if history.most_frequent is not None)
    return [Level(100 * value, f"always the most frequent piece {told.percent(value)}") for value in values]


def _legend(several: bool) -> str:
    """What the lines are; the runs' colours stand at the top of the page."""
    thin, bold = (7, 7) if several else (0, 1)
    shaded = "" if several else "; shaded from its least to its most"
    return page.legend((
        (figures.key("thin", thin), f"training, the mean of each stretch{shaded}"),
        (figures.key("bold", bold), "held-out text"),
    ))  # fmt: skip
