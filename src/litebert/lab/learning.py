"""Who learnt what in the same time? One page with both curves of `litebert bench learning`, by time and by tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from litebert import __version__
from litebert.bench.learning import ARMS, points
from litebert.bench.learning_curve import Point
from litebert.lab import figures, page
from litebert.lab.figures import Level, Line, Side

NAME = "learning.html"
_NAMES = {"ours": "litebert", "peer": "transformers"}
_CHARTS = (
    ("single_loss", "Single tokens hidden, as transformers trains: loss", "nats", 1.0),
    ("single_accuracy", "Single tokens hidden: right", "%", 100.0),
    ("recipe_loss", "Hidden as our recipe hides: loss", "nats", 1.0),
    ("recipe_accuracy", "Hidden as our recipe hides: right", "%", 100.0),
)
_FACTS = ("steps", "tokens", "seconds", "tokens_per_s", "step_seconds", "compile_seconds", "settings", "precision",
          "device", "threads")  # fmt: skip
_SCORES = ("recipe_loss", "recipe_accuracy", "single_loss", "single_accuracy", "order_accuracy")
_BY = (("seconds", "by time", "minutes", 60.0), ("tokens", "by tokens", "million tokens", 1e6))


def write(out: Path, found: Mapping[str, Any]) -> Path:
    """The page of a contest's folder and of what `bench.learning.measure` gave back."""
    looks = points(out)
    colours = {arm: place for place, arm in enumerate(ARMS) if arm in looks}
    legend = page.legend((figures.key("bold", colour), _NAMES[arm]) for arm, colour in colours.items())
    panels = [(title, page.figures(_charts(looks, colours, found, by, unit, scale))) for by, title, unit, scale in _BY]
    body = page.section("curves", "Held-out text", "", legend + page.tabs("curves", panels))
    body += page.section("outcome", "What they came to", "", _table(found))
    header = (
        f'<p class="over">Pre-training</p><h1>The same text, the same time</h1><div class="tiles">{_tiles(found)}</div>'
    )
    html = page.document("Learning beside transformers", header, body, f"Written by litebert {__version__}.")
    return page.save(out / NAME, html)


def _charts(
    looks: Mapping[str, Sequence[Point]], colours: Mapping[str, int], found: Mapping[str, Any], by: str, unit: str,
    scale: float,
) -> list[str]:  # fmt: skip
    drawn = []
    for key, title, kind, times in _CHARTS:
        lines = []
        for arm, colour in colours.items():
            told = [point for point in looks[arm] if point[key] is not None]
            lines.append(
                Line(_NAMES[arm], [one[by] / scale for one in told], [times * one[key] for one in told], colour)
            )
        floor = [Level(found["unigram_entropy"], "unigram entropy")] if kind == "nats" else []
        drawing = figures.chart(lines, Side(unit, zero=True), Side(kind), label=f"{title}, {unit}", levels=floor)
        drawn.append(page.figure(title, kind, drawing))
    return drawn


def _tiles(found: Mapping[str, Any]) -> str:
    tiles = []
    for arm in ARMS:
        loss = found[arm]["final"]["single_loss"] if arm in found else None
        if loss is not None:
            value = f"{page.number(loss, f'{loss:.3f}')} <small>nats</small>"
            tiles.append(page.tile(f"{_NAMES[arm]}, single tokens", value))
    reached = found.get("reached")
    if reached and reached["times_faster"]:
        minutes, times = reached["minutes"], reached["times_faster"]
        value = f"{page.number(minutes, f'{minutes:.1f}')} <small>minutes</small>"
        note = f"of its {reached['peer_minutes']:.1f}: {times:.1f} times as fast"
        tiles.append(page.tile("litebert at transformers' last loss", value, note))
    return "".join(tiles)


def _table(found: Mapping[str, Any]) -> str:
    """A row for whatever any arm has to say."""
    arms = [arm for arm in ARMS if arm in found]
    told = [{**found[arm], **{name: found[arm]["final"].get(name) for name in _SCORES}} for arm in arms]
    names = [name for name in (*_FACTS, *_SCORES) if any(one.get(name) is not None for one in told)]
    rows = [[page.text(name), *(_cell(one.get(name)) for one in told)] for name in names]
    return page.table(("", *(_NAMES[arm] for arm in arms)), rows)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return page.number(value, f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}")
    if isinstance(value, int):
        return page.number(value, f"{value:,}")
    if isinstance(value, dict):
        return page.text(", ".join(f"{name} {one}" for name, one in value.items()))
    return page.text(value)
