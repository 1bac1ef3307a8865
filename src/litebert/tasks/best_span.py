"""Which stretch of a context is the answer? The best spans of all its windows, as the characters of the context.

A span begins where its window has the most context for its first piece, so that no two windows offer the same one with
less of it in sight. Shapes: W pieces of a window, K beams.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.tasks.offsets import Located, Stretch

BEST, LONGEST = 20, 30  # answers that are kept; pieces of one (google-research/albert: run_squad_v1.py)

Floats = NDArray[np.float32]


class Scored(NamedTuple):
    """A stretch of pieces, and how well it scores."""

    score: float
    pieces: Stretch


class Beams(NamedTuple):
    """The likeliest starts and for each its likeliest ends, as XLNet's head gives them; places count from the row."""

    start_log: Floats  # [K]
    start: NDArray[np.int64]  # [K]
    end_log: Floats  # [K, K]
    end: NDArray[np.int64]  # [K, K]
    no_answer: float  # above 0: there is none


class Candidate(NamedTuple):
    """`context[start:end]`, and how likely among those it stands beside."""

    text: str
    start: int
    end: int
    probability: float


def of_scores(
    start: Floats, end: Floats, own: NDArray[np.bool_], longest: int = LONGEST, best: int = BEST
) -> list[Scored]:
    """The best spans of a window: `start` [W] and `end` [W] are added up, and `own` [W] says where one may begin.

    All of at most `longest` pieces are looked at, not only those between the twenty best starts and ends.
    """
    if not own.any():
        return []
    longest = min(longest, len(start))
    padded = np.concatenate([end, np.full(longest - 1, -np.inf, end.dtype)])
    band = start[:, None] + np.lib.stride_tricks.sliding_window_view(padded, longest)  # [W, longest]
    scores = np.where(own[:, None], band, -np.inf).ravel()
    few = np.argpartition(-scores, min(best, len(scores)) - 1)[:best]
    found = sorted((-float(scores[at]), *divmod(int(at), longest)) for at in few if scores[at] > -np.inf)
    return [Scored(-lost, Stretch(first, first + more)) for lost, first, more in found]


def of_beams(beams: Beams, at: int, own: NDArray[np.bool_], longest: int = LONGEST) -> list[Scored]:
    """The spans among the beams of a window whose pieces stand from place `at` of its row on."""
    found = []
    for i, start in enumerate(beams.start.tolist()):
        first = start - at
        if not (0 <= first < len(own) and own[first]):
            continue
        for end, score in zip(beams.end[i].tolist(), beams.end_log[i].tolist(), strict=True):
            if first <= end - at < min(len(own), first + longest):
                found.append(Scored(float(beams.start_log[i]) + score, Stretch(first, end - at)))
    return sorted(found, key=lambda span: (-span.score, span.pieces))


def candidates(located: Located, spans: Iterable[Scored], best: int = BEST) -> list[Candidate]:
    """The likeliest answers of a context, each text once; its spans count pieces from the context's first."""
    scores: dict[str, tuple[float, int, int]] = {}
    for span in sorted(spans, key=lambda span: (-span.score, span.pieces)):
        start, end = located.characters(span.pieces)
        if start < end:
            scores.setdefault(located.text[start:end], (span.score, start, end))
        if len(scores) == best:
            break
    shares = softmax([score for score, _, _ in scores.values()])
    return [Candidate(text, *places[1:], share) for (text, places), share in zip(scores.items(), shares, strict=True)]


def softmax(scores: Sequence[float]) -> list[float]:
    """Shares of one, by the exponentials of scores."""
    if not scores:
        return []
    top = max(scores)
    exponentials = [math.exp(score - top) for score in scores]
    total = math.fsum(exponentials)
    return [one / total for one in exponentials]


def sigmoid(score: float) -> float:
    """A probability from its log-odds."""
    if score >= 0:
        return 1.0 / (1.0 + math.exp(-score))
    return math.exp(score) / (1.0 + math.exp(score))


def gold(located: Located, text: str, start: int) -> Stretch | None:
    """The pieces of an answer that is said to begin at a character; None where it made none.

    Where it begins or ends within a piece, the next best place is one where the same text stands in whole pieces, the
    nearest; only if there is none it is the pieces around it.
    """
    exact = located.exactly(start, start + len(text))
    if exact is not None:
        return exact
    others = (located.exactly(at, at + len(text)) for at in _occurrences(located.text, text, start))
    return next((one for one in islice(others, BEST) if one is not None), located.covering(start, start + len(text)))


def _occurrences(context: str, text: str, start: int) -> list[int]:
    """Where else a text stands, the nearest first."""
    found, at = [], context.find(text) if text else -1
    while at >= 0:
        found.append(at)
        at = context.find(text, at + 1)
    return sorted(found, key=lambda one: abs(one - start))
