"""Is the best stretch of a context found, whatever the scores, and only where it may be?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litebert.tasks import best_span
from litebert.tasks.best_span import Beams, Candidate, Scored, candidates, of_beams, of_scores, softmax
from litebert.tasks.examples import Place
from litebert.tasks.offsets import Located, Stretch, located
from vectors.tiny import wordpiece_of


def placed(text: str) -> Located:
    """A context's pieces."""
    (found,) = located([text], [Place()], wordpiece_of())
    return found


@given(seed=st.integers(0, 10**6), count=st.integers(1, 40), longest=st.integers(1, 50), best=st.integers(1, 30))
def test_the_best_spans_are_those_of_a_search_through_all(seed: int, count: int, longest: int, best: int) -> None:
    draw = np.random.default_rng(seed)
    start, end = draw.normal(size=(2, count)).astype(np.float32)
    own = draw.random(count) < 0.7
    every = sorted(
        (
            Scored(float(start[first] + end[last]), Stretch(first, last))
            for first in np.flatnonzero(own).tolist()
            for last in range(first, min(count, first + longest))
        ),
        key=lambda span: -span.score,
    )
    found = of_scores(start, end, own, longest, best)
    assert [span.pieces for span in found] == [span.pieces for span in every[:best]]
    assert [span.score for span in found] == pytest.approx([span.score for span in every[:best]], abs=1e-5)


def test_a_window_that_owns_nothing_offers_nothing() -> None:
    scores = np.zeros(3, np.float32)
    assert of_scores(scores, scores, np.zeros(3, bool)) == []


def test_scores_that_are_no_numbers_offer_nothing() -> None:
    scores = np.full(3, np.nan, np.float32)
    assert of_scores(scores, scores, np.ones(3, bool)) == []


@given(seed=st.integers(0, 10**6))
def test_the_spans_of_beams_lie_in_the_window_and_run_forward(seed: int) -> None:
    draw = np.random.default_rng(seed)
    at, count, beams = 4, 12, 5
    own = draw.random(count) < 0.7
    given_ = Beams(
        draw.normal(size=beams).astype(np.float32), draw.integers(0, 20, beams),
        draw.normal(size=(beams, beams)).astype(np.float32), draw.integers(0, 20, (beams, beams)), 0.0,
    )  # fmt: skip
    found = of_beams(given_, at, own, 6)
    wanted = {
        (int(start) - at, int(end) - at): float(given_.start_log[i]) + float(given_.end_log[i, j])
        for i, start in enumerate(given_.start)
        for j, end in enumerate(given_.end[i])
        if at <= start < at + count and own[start - at] and start <= end < min(at + count, start + 6)
    }
    assert {tuple(span.pieces) for span in found} == set(wanted)
    assert [span.score for span in found] == sorted((span.score for span in found), reverse=True)


def test_one_text_is_one_answer_at_its_best_place() -> None:
    context = placed("the sea and the sea is cold")
    found = candidates(context, [Scored(1.0, Stretch(0, 1)), Scored(2.0, Stretch(3, 4)), Scored(0.0, Stretch(6, 6))])
    assert [(one.text, one.start, one.end) for one in found] == [("the sea", 12, 19), ("cold", 23, 27)]
    assert [one.probability for one in found] == pytest.approx(softmax([2.0, 0.0]))


def test_only_so_many_answers_are_weighed() -> None:
    context = placed("a b c d e f")
    spans = [Scored(-float(at), Stretch(at, at)) for at in range(6)]
    found = candidates(context, spans, best=3)
    assert len(found) == 3
    assert sum(one.probability for one in found) == pytest.approx(1.0)
    assert found[0] == Candidate("a", 0, 1, found[0].probability)


def test_shares_of_large_scores_are_finite() -> None:
    assert softmax([1e9, 0.0]) == [1.0, 0.0]
    assert softmax([]) == []
    assert [best_span.sigmoid(score) for score in (-1e9, 0.0, 1e9, math.inf, -math.inf)] == [0.0, 0.5, 1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("context", "text", "start", "found"),
    [
        ("the sea is cold", "sea", 4, "sea"),
        ("seas and sea", "sea", 0, "sea"),  # pieces sea ##s: it stands in whole pieces
        ("boated is boat", "ed", 4, "ed"),
        ("windy wind", "wind", 0, "wind"),  # windy is one unknown piece: the next place where the text is whole
        ("windy is cold", "wind", 0, "windy"),  # there is none: the piece around it
        ("the sea", " sea", 3, "sea"),  # space around it is no part of it
    ],
)
def test_an_answer_is_looked_for_in_whole_pieces(context: str, text: str, start: int, found: str) -> None:
    where = placed(context)
    pieces = best_span.gold(where, text, start)
    assert pieces is not None
    begin, end = where.characters(pieces)
    assert context[begin:end] == found


def test_of_several_places_the_nearest_is_taken() -> None:
    where = placed("wind is cold windy is wind")
    assert where.characters(best_span.gold(where, "wind", 13) or Stretch(0, 0)) == (22, 26)


def test_an_answer_that_made_no_piece_is_none() -> None:
    assert best_span.gold(placed("the \u200b sea"), "\u200b", 4) is None
