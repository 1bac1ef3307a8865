"""What is to be known of a fine-tuning at a glance? Tiles of what matters; of several a table side by side."""

from __future__ import annotations

import statistics
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from litebert.lab import attempts, measured, page, told, tuned
from litebert.lab.tuned import Seed, Tuned

_KINDS = {
    "classify": "sorts texts into {count}", "regress": "gives texts a score", "tag": "tags words with {count}",
    "span": "finds answers in a text", "choice": "picks one of several options",
}  # fmt: skip


def header(runs: Sequence[Tuned], names: Sequence[str]) -> str:
    """The top of the page."""
    if len(runs) == 1:
        run = runs[0]
        return (
            f'<p class="over">Fine-tuning{_benchmark(run)}</p><h1>{page.text(names[0])}</h1>'
            f'<p class="lead">{_words(run)}</p><div class="tiles broad">{"".join(_tiles(run))}</div>'
        )
    each = "".join(
        f'<div><h3>{page.swatch(place)}{page.text(name)}</h3><p class="note">{_words(run)}</p></div>'
        for place, (run, name) in enumerate(zip(runs, names, strict=True))
    )
    return (
        f'<p class="over">Fine-tuning{_benchmark(runs[0])}</p><h1>{len(runs)} fine-tunings compared</h1>'
        f'{_compared(runs, names)}<div class="runs">{each}</div>'
    )


def _benchmark(run: Tuned) -> str:
    return f" · {page.text(run.benchmark)}" if run.benchmark else ""


def _words(run: Tuned) -> str:
    """What was fitted to what, and how, as far as the settings tell."""
    what = "tags" if run.kind == "tag" else "labels" if run.several else "classes"
    does = "gives texts any of {count}" if run.several else _KINDS.get(run.kind, run.kind)
    does = does.format(count=f"{len(run.labels)} {what}" if run.labels else what)
    tables = _settings(run)
    data, tuning = tables.get("data") or {}, tables.get("tuning") or tables
    model = data.get("model") or tuning.get("model")
    model = f", begun from {'the shape of ' if data.get('random') else ''}{model}" if model else ""
    examples = f", with {data['examples']:,} examples" if tuned.is_number(data.get("examples")) else ""
    said = f"It {does}{model}{examples}."
    seeds = f"{len(run.seeds)} seeds" if len(run.seeds) > 1 else "One seed"
    return page.text(f"{said} {': '.join(filter(None, (seeds, ', '.join(_how(tuning)))))}.")


def _how(tuning: Mapping[str, Any]) -> list[str]:
    """The settings that one asks for first, as words."""
    found = []
    if tuning.get("mode") == "features":
        found.append(f"a head on features of {tuning.get('layers', 'some layers')}")
    elif tuning.get("freeze"):
        found.append(f"the first {tuning['freeze']} layers frozen")
    found += [f"{value} {field}" for field in ("steps", "epochs") if (value := _value(tuning.get(field)))][:1]
    wanted = (("batch", "{} examples a step"), ("rate", "peak rate {}"), ("length", "{} tokens at most"))
    return found + [words.format(value) for field, words in wanted if (value := _value(tuning.get(field)))]


def _tiles(run: Tuned) -> list[str]:
    main, tiles, several = run.measure, [], len(run.ended) > 1
    best = next((seed for seed in run.seeds if seed.seed == run.best_seed), None)
    at = "" if best is None else _best(run, best)
    value = run.median(main)
    if value is not None:
        what = f"median of {len(run.ended)} seeds" if several else f"seed {run.ended[0].seed}"
        note = _spread(run) if several else at
        tiles.append(page.tile(_first(f"{measured.name(main)}, {what}"), _big(main, value), note))
    if several and best is not None and main in best.scores:
        tiles.append(page.tile(f"Best: seed {best.seed}", _big(main, best.scores[main]), at))
    for measure in run.measures:
        other = run.median(measure)
        if measure != main and other is not None:
            title = _first(measured.name(measure)) + (", median" if several else "")
            tiles.append(page.tile(title, _big(measure, other), _ends(run, measure)))
    if run.ended:
        tiles.append(_collapsed(run))
    return tiles + _pace(run)


def _best(run: Tuned, best: Seed) -> str:
    """When the best seed was best, and what drawing other examples would do."""
    at = " of ".join(page.number(step, f"{step:,}") for step in (best.best_step, best.steps))
    ends = run.interval.get(run.measure)
    if ends is None:
        return f"at step {at}"
    return f"at step {at}; 95 % interval {' to '.join(measured.bare(run.measure, end) for end in ends)}"


def _collapsed(run: Tuned) -> str:
    count, ended = len(run.collapsed), len(run.ended)
    shown = f'<span class="{"bad" if count else "good"}">{page.number(count, str(count))}</span>'
    said = page.text(_cut("; ".join(dict.fromkeys(seed.collapsed for seed in run.collapsed))))
    value = f"{shown} <small>of {page.number(ended, str(ended))}</small>"
    return page.tile("Collapsed", value, said or "no seed says the same of all")


def _pace(run: Tuned) -> list[str]:
    floor = attempts.commonest(run)
    always = (
        ""
        if floor is None
        else f"always “{page.text(_cut(floor[0], 40))}”: {page.number(floor[1], told.percent(floor[1]))}"
    )
    count = page.number(run.examples, f"{run.examples:,}")
    tiles = [page.tile("Development examples", count, always)] if run.examples else []
    several = "all seeds together" if len(run.seeds) > 1 else ""
    tiles.append(page.tile("Time", page.number(run.seconds, told.duration(run.seconds)), several))
    if run.speed is not None:
        tiles.append(
            page.tile("Real tokens a second", page.number(run.speed, f"{run.speed:,.0f}"), "padding not counted")
        )
    return tiles


def _spread(run: Tuned) -> str:
    """How far the seeds lie apart."""
    values = run.values(run.measure)
    return f"{_ends(run, run.measure)}, standard deviation {measured.bare(run.measure, statistics.stdev(values))}"


def _ends(run: Tuned, measure: str) -> str:
    values = run.values(measure)
    if len(values) < 2:
        return ""
    return f"{measured.bare(measure, min(values))} to {measured.bare(measure, max(values))}"


def _big(measure: str, value: float) -> str:
    unit = measured.unit(measure)
    return f"{measured.bare(measure, value)}{f' <small>{unit}</small>' if unit else ''}"


def _compared(runs: Sequence[Tuned], names: Sequence[str]) -> str:
    """A row for every run, the best of each measure bold."""
    measures = [measure for measure in dict.fromkeys(name for run in runs for name in run.measures)
                if any(run.values(measure) for run in runs)]  # fmt: skip
    medians = {measure: [run.median(measure) for run in runs] for measure in measures}
    rows = []
    for place, (run, name) in enumerate(zip(runs, names, strict=True)):
        cells = [f"{page.swatch(place)}{page.text(name)}"]
        for measure in measures:
            value = run.median(measure)
            top = max(each for each in medians[measure] if each is not None)
            shown = "—" if value is None else measured.show(measure, value)
            cells.append(f"<b>{shown}</b>" if value == top else shown)
        values = run.values(run.measure)
        cells += [
            _ends(run, run.measure) or "—",
            measured.bare(run.measure, max(values)) if values else "—",
            " to ".join(measured.bare(run.measure, end) for end in run.interval.get(run.measure, ())) or "—",
            " of ".join(page.number(len(some), str(len(some))) for some in (run.collapsed, run.ended)),
            page.number(run.examples, f"{run.examples:,}"), page.number(run.seconds, told.duration(run.seconds)),
            "—" if run.speed is None else page.number(run.speed, f"{run.speed:,.0f}"),
        ]  # fmt: skip
        rows.append(cells)
    main = measured.name(runs[0].measure)
    columns = (
        "median of its seeds", *map(measured.name, measures), f"{main} of the seeds", "best seed", "its 95 % interval",
        "collapsed", "dev", "time", "tokens/s",
    )  # fmt: skip
    return page.table(columns, rows, range(1, len(columns)))


def _settings(run: Tuned) -> dict[str, Any]:
    try:
        return tomllib.loads(run.settings)
    except tomllib.TOMLDecodeError:
        return {}


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value) if value else ""


def _cut(words: str, most: int = 90) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _first(words: str) -> str:
    return words[:1].upper() + words[1:]
