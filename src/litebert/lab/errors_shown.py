"""Where is the model worst? The examples that cost most, and those it was surest of and wrong, with their text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from litebert.lab import cards
from litebert.lab.judged import Judged
from litebert.lab.tuned import Tuned
from litebert.tasks import entities

MOST = 8  # cards of a list


def shown(run: Tuned, judged: Sequence[Judged]) -> str:
    """The lists of cards; a note where nothing is wrong, '' where nothing is known."""
    if not judged:
        return ""
    worst, surest = picked(run.kind, judged)
    if not worst:
        return '<p class="note">Nothing: every answer is right.</p>'
    parts = [_cards(run.kind, worst)]
    if surest:
        parts += ["<h3>Surest and wrong</h3>", _cards(run.kind, surest)]
    return "".join(parts)


def picked(kind: str, judged: Sequence[Judged], most: int = MOST) -> tuple[list[Judged], list[Judged]]:
    """The worst first; then of the others that are wrong those that were said most surely, where that is another order.

    With two classes it is the same order: what is said surely and wrongly costs most.
    """
    wrong = [one for one in judged if (one.score > 0.0 if kind == "regress" else one.score < 1.0)]
    cost = _COSTS.get(kind, _loss)
    ordered = sorted(wrong, key=cost, reverse=True)  # stable: of equal ones the first in the file
    worst, others = ordered[:most], ordered[most:]
    sure = [one for one in others if one.confidence is not None]
    same = kind not in ("classify", "choice") or sure == sorted(sure, key=_confidence, reverse=True)
    return worst, [] if same else sorted(sure, key=_confidence, reverse=True)[:most]


def mistakes(one: Judged) -> int:
    """Entities that were missed and such that are not there."""
    right, said = (set(entities.entities(one.line[side])) for side in ("label", "prediction"))
    return len(right ^ said)


def _confidence(one: Judged) -> float:
    return one.confidence or 0.0


def _loss(one: Judged) -> tuple[float, float]:
    return (one.loss if one.loss is not None else -1.0), _confidence(one)


_COSTS: dict[str, Callable[[Judged], tuple[float, float]]] = {
    "regress": lambda one: (one.score, 0.0),
    "span": lambda one: (-one.score, _confidence(one)),
    "tag": lambda one: (float(mistakes(one)), one.loss or 0.0),
}


def _cards(kind: str, some: Sequence[Judged]) -> str:
    broad = " broad" if kind == "tag" else ""
    return f'<div class="examples{broad}">{"".join(cards.card(kind, one) for one in some)}</div>'


LEADS = {
    "classify": "What is right was given the least probability here: what is hard for the model, or labelled wrongly.",
    "choice": "What is right was given the least probability here: what is hard for the model, or labelled wrongly.",
    "regress": "The predictions that are furthest from the score.",
    "tag": "The texts with the most entities missed or invented: above what is there, dashed where it was missed; "
    "below what was said, red where it is not there.",
    "span": "The answers furthest from a right one, the surest first; right ones underlined, what was said shaded.",
}
