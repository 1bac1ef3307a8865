"""What does a person see before a fine-tuning's first step, and after its last? Example, counts, cost; the seeds."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from litebert import family
from litebert.cli import console
from litebert.lab import told as words
from litebert.tasks import sources
from litebert.tasks.examples import Choice, Example, Question, Text, Words

if TYPE_CHECKING:
    from litebert.tasks.outlook import Outlook
    from litebert.tasks.prepared import Prepared
    from litebert.tasks.seeds import Outcome
    from litebert.tasks.sweep import Swept

_LABELS, _REASONS, _ROWS, _LETTERS = 12, 3, 5, 400


def show_data(prepared: Prepared) -> None:
    """How many examples there are, with which labels, what was left out; and the first one as the model reads it."""
    source = prepared.source
    benchmark = source.benchmark
    what = f"{benchmark.name}: {benchmark.about}" if benchmark else f"{source.kind}, files of your own"
    console.say(console.literal(what))
    console.say(f"{len(source.train):,} examples to learn from, {len(source.dev):,} to judge by ({measures(prepared)})")
    for note in source.notes:
        console.say(f"note: {console.literal(note)}")
    if source.left:
        console.say(f"{len(source.left):,} rows are left out: {console.literal(_reasons(prepared))}")
    learnt, judged = sources.counted(source.train), sources.counted(source.dev)
    if learnt:
        names = [*learnt, *(name for name in judged if name not in learnt)]
        order = sorted(names, key=lambda name: -learnt[name])
        rows = [(console.literal(name), *_share(learnt, name), *_share(judged, name)) for name in order[:_LABELS]]
        if order[_LABELS:]:
            rows.append((f"{len(order) - _LABELS:,} more", "", "", "", ""))
        columns = ("label", "learnt from", "share", "judged by", " share")
        console.say(console.table(columns, rows, right=columns[1:]))
    _show_example(prepared)


def measures(prepared: Prepared) -> str:
    """What is measured, the one that decides first."""
    first, *others = prepared.ready.task.measures
    return f"{first} decides" + (f"; {', '.join(others)} beside it" if others else "")


def _show_example(prepared: Prepared) -> None:
    """The first example decoded, special pieces and all, with what is known of it."""
    ready = prepared.ready
    item = ready.train.items[0]
    for row in item.rows[:_ROWS]:
        text = ready.tokenizer.decode([int(one) for one in row.ids])
        shown = text if len(text) <= _LETTERS else f"{text[: _LETTERS // 2]} … {text[-_LETTERS // 2 :]}"
        console.say(f"  {console.literal(shown)}  ({len(row.ids)} tokens)")
    if item.rows[_ROWS:]:
        console.say(f"  and {len(item.rows) - _ROWS} more rows of the same example")
    example = ready.examples[item.example]
    console.say(f"  → {console.literal(_answer(example))}  ({console.literal(example.place)})")


def _answer(example: Example) -> str:
    """What is known of an example, in a line."""
    match example:
        case Words():
            return " ".join(example.tags or ())[:_LETTERS]
        case Question():
            return " | ".join(dict.fromkeys(one.text for one in example.answers or ())) or "no answer"
        case Choice():
            return "not known" if example.answer is None else example.options[example.answer]
        case Text(label=frozenset()):
            return ", ".join(sorted(example.label)) or "no label"  # type: ignore[arg-type]
    return str(example.label)


def _share(counts: Counter[str], name: str) -> tuple[str, str]:
    total = counts.total()
    return f"{counts[name]:,}", f"{counts[name] / total:.1%}" if total else ""


def _reasons(prepared: Prepared) -> str:
    """Why rows were left out, the most frequent reasons first, each with the first place."""
    found: dict[str, list[str]] = {}
    for left in prepared.source.left:
        found.setdefault(left.why, []).append(str(left.place))
    ordered = sorted(found.items(), key=lambda one: -len(one[1]))
    parts = [f"{len(places):,} × {why} ({places[0]})" for why, places in ordered[:_REASONS]]
    return "; ".join(parts) + (f"; {len(ordered) - _REASONS} other reasons" if len(ordered) > _REASONS else "")


def show_model(prepared: Prepared, seen: Outlook, seeds: int, points: int = 1) -> None:
    """What learns, what it costs."""
    config, tuning, start = prepared.shaped.config, prepared.tuning, prepared.shaped.start
    begun = "random weights" if start.random else f"the weights of {start.model}"
    console.say(
        f"{family.family(config)}: {config.layers} layers × {config.hidden} wide, sharing {config.sharing}, from "
        f"{console.literal(begun)}"
    )
    rows = [
        (row.part, console.number(row.tensors), console.number(row.parameters), "no" if row.excluded else "yes",
         f"{row.factor:.3g}")
        for row in seen.rows
    ]  # fmt: skip
    columns = ("learns", "tensors", "parameters", "decay", "rate ×")
    console.say(console.table(columns, rows, right=("tensors", "parameters", "rate ×")))
    why = "" if tuning.freeze or tuning.freeze_embedding else ", as nothing asks them here"
    still = f"; {console.number(seen.frozen)} stand still{why}" if seen.frozen else ""
    console.say(f"{console.number(seen.learns)} parameters learn{still}")
    for remark in seen.remarks:
        console.say(f"note: {console.literal(remark)}")
    times = seeds * points
    many = "" if times == 1 else f"; {times} times ({_many(seeds, points)}) {words.duration(seen.seconds * times)}"
    rates = f"{tuning.schedule}, peak {tuning.rate:g}, warm-up {tuning.warmup:g}, {tuning.batch} examples a step"
    epochs = "once" if seen.epochs == 1 else f"{seen.epochs:.3g} times"
    lines = [
        ("rate", rates), ("numbers", seen.precision),
        ("steps", f"{seen.steps:,}: {epochs} {_amount(prepared)}; judged "
                  f"{'once' if seen.evaluations == 1 else f'{seen.evaluations:,} times'}"),
        ("padding", f"{seen.padding:.1%} of what is read; {console.short(seen.tokens, 'tokens')} an epoch without it"),
        ("speed", f"about {console.short(seen.tokens_per_s, 'tokens/s')}"),
        ("time", f"about {words.duration(seen.seconds)} a seed{many}"),
    ]  # fmt: skip
    console.say(console.table(("", "estimate"), lines))


def _amount(prepared: Prepared) -> str:
    """What an epoch holds; a long text may be several windows."""
    items, examples = len(prepared.ready.train.items), len(prepared.source.train)
    return f"{examples:,} examples" + (f" in {items:,} windows" if items != examples else "")


def _many(seeds: int, points: int) -> str:
    parts = [f"{points} settings"] * (points > 1) + [f"{seeds} seeds"] * (seeds > 1)
    return ", ".join(parts)


def values(prepared: Prepared, seen: Outlook) -> dict[str, Any]:
    """The same for a program."""
    source = prepared.source
    return {
        "task": source.name or source.kind, "kind": source.kind, "measures": list(prepared.ready.task.measures),
        "train": len(source.train), "dev": len(source.dev), "left_out": len(source.left), "notes": source.notes,
        "labels": dict(sources.counted(source.train)), "learns": seen.learns, "frozen": seen.frozen,
        "remarks": list(seen.remarks), "steps": seen.steps, "epochs": round(seen.epochs, 4), "tokens": seen.tokens,
        "padding": round(seen.padding, 4), "seconds": round(seen.seconds, 1),
        "tokens_per_s": round(seen.tokens_per_s, 1), "settings": prepared.tuning.model_dump(mode="json"),
    }  # fmt: skip


def show_outcome(outcome: Outcome) -> None:
    """A table of the seeds, and what they come to together."""
    if not outcome.scores:
        return
    names = [outcome.measure] + [name for name in outcome.median if name != outcome.measure]
    rows = [
        (str(one.seed), *(_score(one.scores.get(name)) for name in names), f"{one.best_step:,} of {one.steps:,}",
         words.duration(one.seconds), "best" if one is outcome.best else "", console.literal(one.collapsed))
        for one in outcome.scores
    ]  # fmt: skip
    if len(outcome.scores) > 1:
        rows.append(("median", *(_score(outcome.median.get(name)) for name in names), "", "", "", ""))
        rows.append(("deviation", *(_score(outcome.spread.get(name)) for name in names), "", "", "", ""))
    columns = ("seed", *names, "best at step", "time", " ", "collapsed" if outcome.collapsed else "  ")
    console.say(console.table(columns, rows, right=("seed", *names, "best at step", "time")))
    _show_best(outcome)


def _show_best(outcome: Outcome) -> None:
    done, best = len(outcome.scores), outcome.best
    if outcome.collapsed:
        which = ", ".join(f"seed {one.seed}" for one in outcome.collapsed)
        console.say(f"{len(outcome.collapsed)} of {done} collapsed: {which}")
        if len(outcome.collapsed) == done:
            console.say("nothing was learnt: pre-train the encoder longer, or try other rates (--sweep rate=5e-5,2e-4)")
    elif done > 1:
        console.say(f"none of {done} collapsed")
    ends = outcome.interval.get(outcome.measure)
    if best is not None and ends is not None:
        console.say(
            f"best: seed {best.seed}, {outcome.measure} {_score(best.scores[outcome.measure])}; other examples of the "
            f"kind would give {_score(ends.low)} to {_score(ends.high)} (95 %, bootstrap over {outcome.examples:,})"
        )
    if outcome.stopped:
        return
    console.say(f"the model is in {console.literal(outcome.folder)}")
    if done == 1:
        console.say("one seed says little about luck: --seeds 5 goes on from here with four more")


def show_swept(swept: Swept) -> None:
    """All combinations, the best first."""
    names = list(swept.points[0].values)
    measure = swept.points[0].outcome.measure
    rows = []
    for point in swept.points:
        scores = [one.scores[measure] for one in point.outcome.scores if not math.isnan(one.scores[measure])]
        spread = statistics.stdev(scores) if len(scores) > 1 else None
        rows.append((
            *(str(point.values[name]) for name in names), _score(point.outcome.median.get(measure)), _score(spread),
            _score(max(scores, default=None)), f"{len(point.outcome.collapsed)} of {len(point.outcome.scores)}",
        ))  # fmt: skip
    columns = (*names, f"median {measure}", "deviation", "best", "collapsed")
    console.say(console.table(columns, rows, right=columns))
    if len(swept.points) > 1 and not swept.stopped:
        first = swept.points[0].outcome
        console.say(f"the best is {console.literal(first.folder)}; as it was chosen among {len(swept.points)} by these "
                    "examples, its score on them flatters it: judge it by others")  # fmt: skip


def _score(value: float | None) -> str:
    return "–" if value is None else "no number" if math.isnan(value) else f"{value:.4f}"


def decided(scores: Mapping[str, Any], names: Iterable[str]) -> str:
    """Some scores in a line."""
    return " · ".join(f"{name} {_score(scores[name])}" for name in names if name in scores)
