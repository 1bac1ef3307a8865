"""How did the seeds of a fine-tuning go? Their curves against steps, and a table of what each came to."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence

from litebert.lab import axes, figures, judged, measured, page, told
from litebert.lab.figures import Kind, Level, Line, Side
from litebert.lab.tuned import Seed, Tuned

_MOST = 70  # points of a line that has others beside it


def curves(runs: Sequence[Tuned], names: Sequence[str]) -> str:
    """Loss and measures of every seed, then rate and gradient; colours are those of the seeds, or of the runs."""
    measures = list(dict.fromkeys(name for run in runs for name in run.measures))
    lost = Side("squared, in spreads of the scores" if runs[0].kind == "regress" else "nats")
    drawn = [
        _chart(runs, names, "step", "loss", "Training loss", lost),
        _chart(runs, names, "evaluation", "loss", "Development loss", lost),
        *(_chart(runs, names, "evaluation", measure, _capital(measured.name(measure)), Side(measured.unit(measure)),
                 measured.times(measure), _floors(runs, measure)) for measure in measures),
        _rates(runs, names),
        _chart(runs, names, "step", "norm", "Length of the gradient", Side("", log=True)),
    ]  # fmt: skip
    return _legend(runs) + page.figures(drawn) if any(drawn) else ""


def table(runs: Sequence[Tuned], names: Sequence[str]) -> str:
    """A row for every seed, then the middle one and the spread; '' before the first."""
    if not any(run.seeds for run in runs):
        return ""
    parts = [_table(run, len(runs) == 1) for run in runs]
    if len(runs) == 1:
        return parts[0]
    return "".join(
        f"<h3>{page.swatch(place)}{page.text(name)}</h3>{part}"
        for place, (name, part) in enumerate(zip(names, parts, strict=True))
    )


def commonest(run: Tuned) -> tuple[str, float] | None:
    """The answer that is right most often, and how often: what one reaches who always says it."""
    if run.kind not in ("classify", "choice"):
        return None
    labels = [judged.named(run.kind, line["label"]) for line in run.lines if isinstance(line.get("label"), str | int)]
    if not labels:
        return None
    label, count = max(Counter(labels).items(), key=lambda pair: (pair[1], pair[0]))
    return label, count / len(labels)


def _table(run: Tuned, alone: bool) -> str:
    measures = [measure for measure in run.measures if run.values(measure)]
    rows = []
    for place, seed in enumerate(run.seeds):
        what = "" if seed.ended else ' <span class="soft">goes on</span>'
        what = ' <b class="good">best</b>' if seed.seed == run.best_seed else what
        what += ' <b class="bad">collapsed</b>' if seed.collapsed else ""
        rows.append([
            (page.swatch(_colour(run, place)) if alone else "") + page.number(seed.seed, str(seed.seed)) + what,
            *(measured.show(measure, seed.scores[measure]) if measure in seed.scores else "—" for measure in measures),
            page.number(seed.best_step, f"{seed.best_step:,}") if seed.ended else "—",
            page.number(seed.steps, f"{seed.steps:,}"),
            page.number(seed.seconds, told.duration(seed.seconds)),
            f'<span class="bad words">{page.text(seed.collapsed)}</span>',
        ])  # fmt: skip
    if len(run.ended) > 1:
        rows += _spread(run, measures)
    columns = ("seed", *map(measured.name, measures), "best at step", "steps", "time", "what collapsed")
    if not run.collapsed:
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return page.table(columns, rows, range(1, len(measures) + 4))


def _spread(run: Tuned, measures: Sequence[str]) -> list[list[str]]:
    """The rows under the seeds; collapsed ones count like any other."""
    values = [run.values(measure) for measure in measures]
    medians = [measured.show(measure, statistics.median(each)) for measure, each in zip(measures, values, strict=True)]
    spreads = [measured.bare(measure, statistics.stdev(each)) if len(each) > 1 else "—"
               for measure, each in zip(measures, values, strict=True)]  # fmt: skip
    total = page.number(run.seconds, told.duration(run.seconds))
    return [
        ["<b>median</b>", *(f"<b>{each}</b>" for each in medians), "", "", total, ""],
        ["standard deviation", *spreads, "", "", "", ""],
    ]


def _chart(
    runs: Sequence[Tuned], names: Sequence[str], kind: str, field: str, title: str, y: Side, times: float = 1.0,
    levels: Sequence[Level] = (),
) -> str:  # fmt: skip
    lines = []
    for place, (run, name) in enumerate(zip(runs, names, strict=True)):
        for number, seed in enumerate(run.seeds):
            points = seed.points(kind, field)
            if points.step:
                colour = _colour(run, number) if len(runs) == 1 else place
                who = _called(seed) if len(runs) == 1 else f"{name}, {_called(seed)}"
                look = _look(run, seed, kind, len(runs) > 1)
                lines.append(Line(who, points.step, [times * value for value in points.value], colour, look))
    lines.sort(key=lambda line: line.kind == "bold")  # drawn over the others
    if len(lines) > 1:
        lines = [_smooth(line) for line in lines]
    label = f"{title}{f' in {y.unit}' if y.unit else ''} against steps, every seed"
    drawing = figures.chart(lines, Side("steps", zero=True), y, label=label, levels=levels, bands=len(lines) == 1)
    return page.figure(title, y.unit, drawing)


def _look(run: Tuned, seed: Seed, kind: str, several: bool) -> Kind:
    if seed.collapsed:
        return "dashed"
    if kind == "step":
        return "thin"
    return "bold" if seed.seed == run.best_seed or not (several or _many(run)) else "thin"


def _smooth(line: Line) -> Line:
    """Over one another only what is left of a noisy curve in a few points can be told apart."""
    few = axes.binned(line.x, line.y, _MOST)
    return line._replace(x=few.x, y=few.mean)


def _many(run: Tuned) -> bool:
    """Whether there are more seeds than colours: then only the best has one."""
    return len(run.seeds) > figures.COLOURS


def _colour(run: Tuned, number: int) -> int:
    if not _many(run):
        return number
    return 0 if run.seeds[number].seed == run.best_seed else figures.COLOURS - 1


def _called(seed: Seed) -> str:
    return f"seed {seed.seed}{', collapsed' if seed.collapsed else ''}"


def _rates(runs: Sequence[Tuned], names: Sequence[str]) -> str:
    """One line a run: its seeds have one schedule, and the longest shows most of it."""
    lines = []
    for place, (run, name) in enumerate(zip(runs, names, strict=True)):
        longest = max(
            (seed.points("step", "rate") for seed in run.seeds), key=lambda each: len(each.step), default=None
        )
        if longest is not None and longest.step:
            who, colour = ("every seed", 7) if len(runs) == 1 else (name, place)
            lines.append(Line(who, longest.step, longest.value, colour))
    drawing = figures.chart(
        lines, Side("steps", zero=True), Side("", zero=True), label="Learning rate against steps", bands=False
    )
    return page.figure("Learning rate", "the same for every seed" if len(runs) == 1 else "", drawing)


def _floors(runs: Sequence[Tuned], measure: str) -> list[Level]:
    """What one reaches who always says the commonest answer."""
    found = commonest(runs[0]) if measure == "accuracy" else None
    return [Level(100 * found[1], f"always “{_cut(found[0])}” {told.percent(found[1])}")] if found else []


def _legend(runs: Sequence[Tuned]) -> str:
    """Of one run its seeds by colour; of several, what the lines are: the runs' colours stand at the top."""
    dashed = any(run.collapsed for run in runs)
    if len(runs) > 1:
        entries = [
            (figures.key("bold", 7), "best seed, on the development set"),
            (figures.key("thin", 7), "other seeds, and training"),
        ]
        return page.legend(entries + ([(figures.key("dashed", 7), "collapsed")] if dashed else []))
    run = runs[0]
    if _many(run):
        entries = [(figures.key("bold", 0), "best seed"), (figures.key("thin", 7), "other seeds")]
        return page.legend(entries + ([(figures.key("dashed", 7), "collapsed")] if dashed else []))
    return page.legend(
        (figures.key("dashed" if seed.collapsed else "bold", place),
         _called(seed) + (", best" if seed.seed == run.best_seed else "") + ("" if seed.ended else ", goes on"))
        for place, seed in enumerate(run.seeds)
    )  # fmt: skip


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _cut(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"
