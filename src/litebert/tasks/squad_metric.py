"""How near is an answer to the gold ones? Exact match and F1 as the scripts of SQuAD 1.1 and 2.0 have them, 0 to 1.

Texts are compared without case, ASCII punctuation, articles and spare spaces; of several gold answers the best counts,
for exact match and F1 each. In 2.0 a question may have no answer: then "" is the only right one. `absent` says how sure
a model is that there is none: any number that grows with it; above the threshold "" is taken for the answer.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from litebert.errors import UserError
from litebert.tasks.metrics import same_length

Version = Literal["1.1", "2.0"]

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


class Judged(NamedTuple):
    """One answer."""

    exact: float
    f1: float


def normalised(text: str) -> str:
    """A text as it is compared."""
    return " ".join(_words(text))


def judged(answer: str, gold: Sequence[str], version: Version = "2.0") -> Judged:
    """An answer beside all gold ones, `gold` being empty where there is none.

    The versions part where normalising leaves nothing, as of ".": 1.1 takes such a gold answer as it is, and F1 of no
    words is 0; 2.0 passes it over, and two texts without words agree.
    """
    if version == "1.1":
        if not gold:
            raise UserError("a question without a gold answer: SQuAD 1.1 knows none, measure it as 2.0")
        return Judged(max(_exact(one, answer) for one in gold), max(_f1(one, answer, 0.0) for one in gold))
    known = [one for one in gold if _words(one)] or [""]
    return Judged(max(_exact(one, answer) for one in known), max(_f1(one, answer, 1.0) for one in known))


def squad1(answers: Sequence[str], gold: Sequence[Sequence[str]]) -> dict[str, float]:
    """Means over all questions of SQuAD 1.1: exact, f1, total."""
    same_length(gold, answers)
    return _means([judged(answer, known, "1.1") for answer, known in zip(answers, gold, strict=True)], "")


def squad2(
    answers: Sequence[str],
    gold: Sequence[Sequence[str]],
    absent: Sequence[float] | None = None,
    threshold: float = 1.0,
) -> dict[str, float]:
    """All that the script of SQuAD 2.0 reports, under its names; with `absent` the best thresholds too."""
    same_length(gold, answers)
    sure = _sure(absent, answers)
    raw = [judged(answer, known) for answer, known in zip(answers, gold, strict=True)]
    answerable = [bool(known) for known in gold]
    silent = [Judged(float(not has), float(not has)) for has in answerable]
    final = [silent[i] if sure[i] > threshold else raw[i] for i in range(len(raw))]
    report = _means(final, "")
    for part, wanted in (("HasAns_", True), ("NoAns_", False)):
        report |= _means([one for one, has in zip(final, answerable, strict=True) if has == wanted], part)
    if absent is not None:
        for name, scores in (("exact", [one.exact for one in raw]), ("f1", [one.f1 for one in raw])):
            best, at = best_threshold(answers, scores, sure, answerable)
            report |= {f"best_{name}": best, f"best_{name}_thresh": at}
    return report


def best_threshold(
    answers: Sequence[str], scores: Sequence[float], absent: Sequence[float], answerable: Sequence[bool]
) -> tuple[float, float]:
    """The best mean score that a threshold gives, and the threshold.

    As the script does, questions are let in one by one, those of equal `absent` in their order. So the best may lie
    in the midst of equal ones, where no threshold parts them; it is then a little more than a threshold can give.
    """
    now = best = float(sum(not has for has in answerable))  # nothing is answered
    at = 0.0
    for i in sorted(range(len(absent)), key=absent.__getitem__):
        now += scores[i] if answerable[i] else -float(bool(answers[i]))
        if now > best:
            best, at = now, absent[i]
    return best / len(scores), at


@lru_cache(maxsize=1 << 16)
def _words(text: str) -> tuple[str, ...]:
    """What is compared of a text."""
    return tuple(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def _exact(gold: str, answer: str) -> float:
    return float(_words(gold) == _words(answer))


def _f1(gold: str, answer: str, both_empty: float) -> float:
    """F1 of the words of two texts, each as often as it stands there."""
    one, other = _words(gold), _words(answer)
    if not one or not other:
        return both_empty if one == other else 0.0
    return 2 * (Counter(one) & Counter(other)).total() / (len(one) + len(other))


def _sure(absent: Sequence[float] | None, answers: Sequence[str]) -> Sequence[float]:
    """How sure a model is for each question that it has no answer."""
    if absent is None:
        return [0.0] * len(answers)
    if len(absent) != len(answers):
        raise UserError(f"{len(absent)} no-answer scores for {len(answers)} questions: give one for each")
    for i, score in enumerate(absent):
        if not math.isfinite(score):
            raise UserError(f"no-answer score {score} of question {i + 1} is not finite: the model has diverged")
    return absent


def _means(some: Sequence[Judged], prefix: str) -> dict[str, float]:
    """Means, {} for no question."""
    if not some:
        return {}
    exact, f1 = (math.fsum(column) / len(some) for column in zip(*some, strict=True))
    return {f"{prefix}exact": exact, f"{prefix}f1": f1, f"{prefix}total": float(len(some))}
