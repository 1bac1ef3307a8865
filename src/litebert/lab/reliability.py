"""Is the model as often right as it is sure? Bins of like confidence with their counts, and the calibration error."""

from __future__ import annotations

from collections.abc import Sequence

from litebert.lab import axes, figures, page, told
from litebert.lab.figures import Side
from litebert.lab.judged import Judged, probabilities
from litebert.lab.tuned import Tuned
from litebert.tasks import calibration
from litebert.tasks.calibration import Bin, Calibration

_ACROSS = axes.axis((0.0, 100.0))


def asked(run: Tuned, judged: Sequence[Judged]) -> tuple[list[float], list[bool], str]:
    """Confidences, whether each was right, and what it is that was said with confidence.

    Where an example may have several labels, every label of it is a statement of its own: that it holds.
    """
    if run.several:
        pairs = [
            (share, name in one.line["label"]) for one in judged for name, share in probabilities(one.line).items()
        ]
        return [_bound(share) for share, _ in pairs], [holds for _, holds in pairs], "labels"
    sure = [one for one in judged if one.confidence is not None]
    return [_bound(one.confidence or 0.0) for one in sure], [one.right for one in sure], "answers"


def _bound(share: float) -> float:
    """What is above 1 by rounding is 1."""
    return min(share, 1.0) if share < 1.0 + 1e-6 else share


def shown(run: Tuned, judged: Sequence[Judged]) -> str:
    """The two figures and the table; '' where no probabilities are known."""
    confidence, right, what = asked(run, judged)
    if not confidence:
        return ""
    found = calibration.calibration(confidence, right)
    side = "sure by" if what == "answers" else "probability of a label"
    drawn = page.figures([
        page.figure("Right", f"% of the {what} of a bin; on the dotted line it is as often right as it is sure",
                    _diagram(found.bins, side)),
        page.figure("How many", what, _counts(found.bins, side, what)),
    ])  # fmt: skip
    rows = [
        [f'<span class="whole">{100 * each.low:.0f}–{100 * each.high:.0f} %</span>',
         page.number(each.examples, f"{each.examples:,}"),
         page.number(each.confidence, told.percent(each.confidence)),
         page.number(each.accuracy, told.percent(each.accuracy)),
         page.number(each.accuracy - each.confidence, f"{100 * (each.accuracy - each.confidence):+.1f}")]
        for each in found.bins if each.examples
    ]  # fmt: skip
    columns = (side, what, "mean confidence", "right", "points apart")
    return f"{_words(found, what)}{drawn}{page.table(columns, rows, range(1, 5))}"


def _words(found: Calibration, what: str) -> str:
    """The calibration error in a sentence."""
    error, worst = (
        page.number(found.error, f"{100 * found.error:.1f}"),
        page.number(found.worst, f"{100 * found.worst:.1f}"),
    )
    sure, right = (page.number(share, told.percent(share)) for share in (found.confidence, found.accuracy))
    verdict = "too sure" if found.confidence > found.accuracy else "not sure enough"
    number = sum(each.examples for each in found.bins)
    count = page.number(number, f"{number:,}")
    lead = f"On average it is sure by {sure} and right in {right} of {count} answers"
    if what == "labels":
        lead = f"On average a label is given {sure}, and holds in {right} of {count} cases"
        verdict = "said too readily" if found.confidence > found.accuracy else "not said readily enough"
    return (
        f"<p>{lead}: {verdict}. Expected calibration error (ECE) <b>{error}</b> points, {worst} in the worst bin.</p>"
    )


def _diagram(bins: Sequence[Bin], side: str) -> str:
    up = _ACROSS
    left, top, right, bottom = figures.BOX
    parts = []
    for each in bins:
        if each.examples:
            height, share = figures.at_y(up, 100 * each.accuracy), figures.at_x(_ACROSS, 100 * each.confidence)
            words = (
                f"{each.examples:,}: sure by {told.percent(each.confidence)}, right in {told.percent(each.accuracy)}"
            )
            dot = f'<circle class="dot" cx="{share:.1f}" cy="{height:.1f}" r="3.4"/>'
            parts.append(_column(each, height, words, dot))
    parts.append(f'<path class="level" d="M{left} {bottom}L{right} {top}"/>')
    return figures.frame(_ACROSS, up, Side(f"{side}, %"), parts, label="Share of right answers by confidence")


def _counts(bins: Sequence[Bin], side: str, what: str) -> str:
    up = axes.axis([each.examples for each in bins], zero=True)
    parts = [
        _column(each, figures.at_y(up, each.examples), f"{each.examples:,} {what}") for each in bins if each.examples
    ]
    return figures.frame(_ACROSS, up, Side(f"{side}, %"), parts, label=f"{what} by confidence")


def _column(each: Bin, height: float, words: str, more: str = "") -> str:
    """A bar over all of a bin."""
    begin, end = figures.at_x(_ACROSS, 100 * each.low), figures.at_x(_ACROSS, 100 * each.high)
    return (
        f'<g class="c0"><title>{page.text(words)}</title><rect class="bar" x="{begin + 1:.1f}" y="{height:.1f}" '
        f'width="{end - begin - 2:.1f}" height="{figures.BOX[3] - height:.1f}"/>{more}</g>'
    )
