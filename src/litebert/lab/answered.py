"""How well are questions answered? Exact match and F1, of those with an answer and of those without."""

from __future__ import annotations

import math
from collections.abc import Sequence

from litebert.lab import confusion, lengths, page, told
from litebert.lab.judged import Judged

HAS, NONE = "has an answer", "has none"


def shown(judged: Sequence[Judged]) -> str:
    """The table; with questions that cannot be answered among them the matrix too; '' without answers."""
    if not judged:
        return ""
    parts = {"all": list(judged), HAS: [one for one in judged if one.line["label"]],
             NONE: [one for one in judged if not one.line["label"]]}  # fmt: skip
    rows = [_row(name, some) for name, some in parts.items() if some and (name == "all" or parts[NONE])]
    table = page.table(("questions", "count", "exact match", "95 %", "F1", "95 %"), rows, range(1, 6))
    if not parts[NONE]:
        return table
    pairs = [(HAS if one.line["label"] else NONE, HAS if one.line["prediction"] else NONE) for one in judged]
    matrix = confusion.confused((HAS, NONE), pairs)
    return f"{table}<h3>Is there an answer?</h3>{matrix}"


def _row(name: str, some: Sequence[Judged]) -> list[str]:
    cells = [name, page.number(len(some), f"{len(some):,}")]
    for values in ([float(one.right) for one in some], [one.score for one in some]):
        found = lengths.mean(values)
        share = math.fsum(values) / len(values)
        ends = "" if found is None else "–".join(
            page.number(end, told.percent(end).removesuffix(" %")) for end in (found.low, found.high)
        )  # fmt: skip
        cells += [page.number(share, told.percent(share)), ends]
    return cells
