"""What is to be known of a run at a glance? What was trained, in words, and the numbers that matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from litebert.interop import folder as folders
from litebert.lab import page, told
from litebert.lab.history import History, Outcome
from litebert.optim.schedule import Progress

_COIN = {"sop", "nsp"}


def header(histories: Sequence[History], names: Sequence[str]) -> str:
    """The top of the page: of one run its tiles, of several a table with the best of each column."""
    if len(histories) == 1:
        return (
            f'<p class="over">Pre-training</p><h1>{page.text(names[0])}</h1>{_words(histories[0], "lead")}'
            f'<div class="tiles">{"".join(_tiles(histories[0]))}</div>'
        )
    each = "".join(
        f"<div><h3>{page.swatch(place)}{page.text(name)}</h3>{_words(one, 'note')}</div>"
        for place, (one, name) in enumerate(zip(histories, names, strict=True))
    )
    table = _compared(histories, names)
    return f'<p class="over">Pre-training</p><h1>{len(names)} runs compared</h1>{table}<div class="runs">{each}</div>'


def _words(history: History, look: str) -> str:
    """What was trained; of a folder without a readable recipe, what its config says."""
    if history.run is not None:
        said = f"{told.model(history.run.model)} {told.training(history.run, history)}"
    elif (history.folder / folders.OURS).is_file():
        said = told.model(folders.describe(history.folder)[0])
    else:
        said = f"Its recipe cannot be read: {history.unreadable}"
    again = f" It was interrupted and gone on with {history.resumed} times." if history.resumed > 1 else ""
    again = " It was interrupted and gone on with once." if history.resumed == 1 else again
    return f'<p class="{look}">{page.text(said + again)}</p>'


def _tiles(history: History) -> list[str]:
    tiles = []
    for name in history.objectives:
        outcome = history.outcome(name)
        if outcome is None:
            continue
        where = "held-out" if outcome.held_out else "last steps of training"
        title = told.NAMES.get(name, name).capitalize()
        if name not in _COIN:
            value = f"{page.number(outcome.loss, f'{outcome.loss:.3f}')} <small>nats</small>"
            tiles.append(page.tile(f"{title}, {where} loss", value, _against_floor(history, outcome)))
        share = page.number(outcome.accuracy, f"{100 * outcome.accuracy:.1f}")
        tiles.append(
            page.tile(f"{title} right, {where}", f"{share} <small>%</small>", _against_chance(history, outcome))
        )
    return tiles + _pace(history)


def _against_floor(history: History, outcome: Outcome) -> str:
    floor = history.floor
    if floor is None or outcome.objective != "mlm":
        return ""
    gap = floor - outcome.loss
    look, word = ("good", "under") if gap > 0 else ("bad", "above")
    return (
        f'<span class="{look}">{page.number(gap, f"{abs(gap):.2f}")} {word}</span> the unigram floor of '
        f"{page.number(floor, f'{floor:.2f}')}"
    )


def _against_chance(history: History, outcome: Outcome) -> str:
    asked = f" ({outcome.asked:,} asked)" if outcome.asked else ""
    if outcome.objective in _COIN:
        return f"a coin: 50 %{asked}"
    most = history.most_frequent
    if outcome.objective != "mlm" or most is None:
        return asked.strip(" ()")
    return f"always the most frequent piece: {page.number(most, told.percent(most))}{asked}"


def _pace(history: History) -> list[str]:
    last = history.last
    tokens, steps, seconds = (float(last.get(name, 0)) for name in ("tokens", "step", "seconds"))
    tiles = [
        page.tile(
            "Tokens seen", page.number(tokens, told.size(tokens)), f"in {page.number(steps, f'{steps:,.0f}')} steps"
        ),
        page.tile("Time", page.number(seconds, told.duration(seconds)), _ended(history)),
    ]
    if history.speed is not None:
        share = history.share_of_peak
        note = "" if share is None else f"{page.number(share, told.percent(share))} of the machine's peak"
        tiles.append(page.tile("Tokens a second", page.number(history.speed, f"{history.speed:,.0f}"), note))
    return tiles


def _ended(history: History) -> str:
    """How much of its schedule a run that is not at its end has made."""
    run, last = history.run, history.last
    if run is None or not run.schedule.total:
        return ""
    progress = Progress(*(last.get(name, 0) for name in ("step", "tokens", "seconds")))
    share = run.schedule.share(progress)
    return "" if share >= 1 else f"{page.number(share, told.percent(share))} of its schedule"


class _Column(NamedTuple):
    """A number of every run: how it is had, how it is shown, and which one is best (0 = none)."""

    title: str
    of: Callable[[History], float | None]
    show: Callable[[float], str]
    best: int = 0


def _compared(histories: Sequence[History], names: Sequence[str]) -> str:
    columns = [column for column in _columns(histories) if any(column.of(one) is not None for one in histories)]
    rows = []
    for place, (one, name) in enumerate(zip(histories, names, strict=True)):
        cells = [f"{page.swatch(place)}{page.text(name)}"]
        for column in columns:
            value = column.of(one)
            others = [found for other in histories if (found := column.of(other)) is not None]
            if value is None:
                cells.append("—")
                continue
            best = column.best and value == (max if column.best > 0 else min)(others)
            shown = page.number(value, column.show(value))
            cells.append(f"<b>{shown}</b>" if best else shown)
        rows.append(cells)
    return page.table(("run", *(column.title for column in columns)), rows, range(1, len(columns) + 1))


def _columns(histories: Sequence[History]) -> list[_Column]:
    names = dict.fromkeys(name for one in histories for name in one.objectives)
    found = []
    for name in names:
        title = told.NAMES.get(name, name)
        if name not in _COIN:
            found.append(_Column(f"{title}: loss", partial(_loss, name), "{:.3f}".format, -1))
        found.append(_Column(f"{title}: right", partial(_right, name), told.percent, 1))
    return [
        *found, _Column("under the floor", _gap, "{:.2f}".format, 1),
        _Column("tokens", lambda one: float(one.last.get("tokens", 0)), told.size),
        _Column("steps", lambda one: float(one.last.get("step", 0)), "{:,.0f}".format),
        _Column("time", lambda one: float(one.last.get("seconds", 0)), told.duration),
        _Column("tokens/s", lambda one: one.speed, "{:,.0f}".format, 1),
        _Column("of peak", lambda one: one.share_of_peak, told.percent, 1),
    ]  # fmt: skip


def _loss(name: str, history: History) -> float | None:
    outcome = history.outcome(name)
    return None if outcome is None else outcome.loss


def _right(name: str, history: History) -> float | None:
    outcome = history.outcome(name)
    return None if outcome is None else outcome.accuracy


def _gap(history: History) -> float | None:
    loss = _loss("mlm", history)
    return None if loss is None or history.floor is None else history.floor - loss
