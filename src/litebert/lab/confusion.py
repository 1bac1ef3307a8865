"""What is taken for what? A matrix of counts, of many classes the pairs most often confused; class by class."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from litebert.lab import page, told
from litebert.lab.judged import Judged
from litebert.lab.tuned import Tuned
from litebert.tasks import metrics
from litebert.tasks.metrics import Rates

MOST_CLASSES = 12  # of a matrix that still fits on a page
_PAIRS = 20
_TALL = 14  # rows of a table from which on it scrolls
_STRONGEST = 0.5  # how much of its colour a cell of 100 % has


def shown(run: Tuned, judged: Sequence[Judged]) -> str:
    """The matrix and its classes; where an example may have several labels each is told from its absence only."""
    if not judged:
        return ""
    right, said = [one.line["label"] for one in judged], [one.line["prediction"] for one in judged]
    if run.several:
        rows = metrics.sets_by_label([*map(_listed, right)], [*map(_listed, said)])
        return table(_in_order(rows, run.labels), "label")
    pairs = list(zip(map(str, right), map(str, said), strict=True))
    classes = list(dict.fromkeys([*run.labels, *sorted({name for pair in pairs for name in pair})]))
    rows = metrics.by_label([here for here, _ in pairs], [there for _, there in pairs])
    return f"{confused(classes, pairs)}<h3>Class by class</h3>{table(_in_order(rows, classes))}"


def confused(classes: Sequence[str], pairs: Sequence[tuple[str, str]]) -> str:
    """(what it is, what was said) of every example, as a matrix or as the pairs that are confused most."""
    counts = Counter(pairs)
    return _matrix(classes, counts) if len(classes) <= MOST_CLASSES else _pairs(counts)


def table(rows: Sequence[Rates], what: str = "class") -> str:
    """How each class or type was found: counts, precision, recall and F1."""
    cells = [
        [page.text(row.name), *(page.number(count, f"{count:,}")
                                for count in (row.hits, row.gold - row.hits, row.guessed - row.hits)),
         *(page.number(share, told.percent(share)) if some else "—"
           for share, some in ((row.precision, row.guessed), (row.recall, row.gold), (row.f1, row.gold + row.guessed)))]
        for row in rows
    ]  # fmt: skip
    columns = (what, "found", "missed", "said wrongly", "precision", "recall", "F1")
    return page.table(columns, cells, range(1, 7), tall=len(cells) > _TALL)


def _listed(label: Any) -> list[str]:
    """One label alone is a list of one."""
    return list(label) if isinstance(label, list) else [str(label)]


def _in_order(rows: Iterable[Rates], names: Sequence[str]) -> list[Rates]:
    """The model's order; what only the data have comes last."""
    places = {name: place for place, name in enumerate(names)}
    return sorted(rows, key=lambda row: places.get(row.name, len(places)))


def _matrix(classes: Sequence[str], counts: Counter[tuple[str, str]]) -> str:
    """A row for what it is, a column for what was said; shares are of the row."""
    head = "".join(f'<th class="right">{page.text(name)}</th>' for name in classes)
    body = []
    for here in classes:
        row = [counts[here, there] for there in classes]
        total = sum(row)
        cells = "".join(
            _cell(count, total, here == there) if total else '<td class="right soft">0</td>'
            for there, count in zip(classes, row, strict=True)
        )
        all_ = page.number(total, f"{total:,}")
        body.append(f'<tr><th>{page.text(here)}</th>{cells}<td class="right soft">{all_}</td></tr>')
    said = [sum(counts[here, there] for here in classes) for there in classes]
    foot = "".join(f'<td class="right soft">{page.number(count, f"{count:,}")}</td>' for count in said)
    whole = page.number(sum(said), f"{sum(said):,}")
    return (
        f'<div class="wide fit"><table class="matrix"><thead><tr><th>is ↓ said →</th>{head}'
        f'<th class="right">all</th></tr></thead><tbody>{"".join(body)}'
        f'<tr><th class="soft">all</th>{foot}<td class="right soft">{whole}</td></tr></tbody></table></div>'
        '<p class="note under">A row for what an example is, a column for what was said; shares are of the row.</p>'
    )


def _cell(count: int, total: int, right: bool) -> str:
    share = count / total
    look, depth = ("right hit", share) if right else ("right slip", math.sqrt(share))  # what is rare is seen too
    shown = f"{page.number(count, f'{count:,}')} <small>{page.number(share, told.percent(share))}</small>"
    return f'<td class="{look}" style="--a:{_STRONGEST * depth:.3f}">{shown if count else 0}</td>'


def _pairs(counts: Counter[tuple[str, str]]) -> str:
    """The pairs that are confused most, with the share of what it is."""
    total = Counter[str]()
    for (here, _), count in counts.items():
        total[here] += count
    wrong = sorted(((count, pair) for pair, count in counts.items() if pair[0] != pair[1]), key=lambda e: (-e[0], e[1]))
    if not wrong:
        return '<p class="note">Nothing is taken for anything else.</p>'
    rows = [[page.text(here), page.text(there), page.number(count, f"{count:,}"),
             page.number(count / total[here], told.percent(count / total[here])),
             page.number(total[here], f"{total[here]:,}")]
            for count, (here, there) in wrong[:_PAIRS]]  # fmt: skip
    more = len(wrong) - len(rows)
    note = f'<p class="note">{more:,} more pairs are confused less often.</p>' if more else ""
    return page.table(("is", "said", "examples", "share", "of all"), rows, (2, 3, 4), tall=len(rows) > _TALL) + note
