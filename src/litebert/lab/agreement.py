"""Do two models fail on the same examples? How often both, one and neither are right, and what lies between them."""

from __future__ import annotations

from collections.abc import Sequence

from litebert.lab import page
from litebert.lab.judged import Judged, Scale
from litebert.tasks import bootstrap


def same(judged: Sequence[Sequence[Judged]]) -> bool:
    """Whether all runs answered the same examples, in the same order."""
    asked = [[(one.line.get("text"), one.line.get("pair"), one.line.get("label")) for one in run] for run in judged]
    return bool(asked[0]) and all(each == asked[0] for each in asked)


def shown(judged: Sequence[Sequence[Judged]], names: Sequence[str], scale: Scale) -> str:
    """Every other run beside the first; a note where they were not asked the same."""
    if not same(judged):
        return (
            '<p class="note">The runs have not answered the same examples: they are not held against one another.</p>'
        )
    first, rows = judged[0], []
    counted = scale.unit == "%"
    for name, other in zip(names[1:], judged[1:], strict=True):
        apart = [two.score - one.score for one, two in zip(first, other, strict=True)]
        value, ends = sum(apart) / len(apart), bootstrap.of_mean(apart)
        sure = ends.low > 0 or ends.high < 0
        cells = [
            page.text(name), page.number(value, _signed(value, scale)),
            " to ".join(page.number(end, _signed(end, scale)) for end in ends), "yes" if sure else "no",
        ]  # fmt: skip
        if counted:
            pairs = [(one.right, two.right) for one, two in zip(first, other, strict=True)]
            cells += [page.number(count := pairs.count(pair), f"{count:,}") for pair in _PAIRS]
        rows.append(cells)
    what = f"{scale.title}, {'points' if counted else 'distance'}"
    columns = [f"against {names[0]}", what, "95 %", "surely apart"]
    columns += ["both right", "only this", f"only {names[0]}", "both wrong"] if counted else []
    return page.table(columns, rows, range(1, len(columns)))


_PAIRS = ((True, True), (False, True), (True, False), (False, False))


def _signed(value: float, scale: Scale) -> str:
    return f"{scale.times * value:+.1f}" if scale.unit == "%" else f"{value:+.3f}"
