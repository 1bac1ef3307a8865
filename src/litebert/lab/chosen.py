"""Which option is chosen, and where is that right? By the option's place, and by the question's group."""

from __future__ import annotations

from collections.abc import Sequence

from litebert.lab import confusion, lengths, page, told
from litebert.lab.judged import Judged, named

_MOST = 12  # groups of a table


def shown(judged: Sequence[Judged]) -> str:
    """The matrix of places, and the accuracy of each group if there are a few; '' without questions."""
    if not judged:
        return ""
    most = max(len(one.line["options"]) for one in judged)
    letters = [named("choice", place) for place in range(most)]
    pairs = [(letters[one.line["label"]], letters[one.line["prediction"]]) for one in judged]
    return confusion.confused(letters, pairs) + _groups(judged)


def _groups(judged: Sequence[Judged]) -> str:
    names = sorted({str(one.line.get("group") or "") for one in judged})
    if not 2 <= len(names) <= _MOST:
        return ""
    rows = []
    for name in names:
        found = lengths.mean([one.score for one in judged if str(one.line.get("group") or "") == name])
        if found is not None:
            ends = "–".join(page.number(end, told.percent(end).removesuffix(" %")) for end in (found.low, found.high))
            rows.append([page.text(name or "—"), page.number(found.examples, f"{found.examples:,}"),
                         page.number(found.value, told.percent(found.value)), ends])  # fmt: skip
    return "<h3>By group</h3>" + page.table(("group", "questions", "accuracy", "95 %"), rows, (1, 2, 3))
