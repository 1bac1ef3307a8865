"""Is the fit of a tokenizer counted right, on as much of a sample as is enough?"""

from __future__ import annotations

import pytest

from litebert.text import fit, sample
from text.tiny import sentences, trained


def test_it_counts_what_is_there() -> None:
    found = fit.fit(trained("wordpiece"), sample.of_texts(["ba do.\nba ☃"]))
    ids = [id_ for text in ("ba do.", "ba ☃") for id_ in trained("wordpiece").encode(text)]
    assert found == (10, 5, len(ids), 1)
    assert found.characters_a_token == 10 / len(ids)
    assert found.tokens_a_word == len(ids) / 5
    assert found.unknown_share == 1 / len(ids)


def test_nothing_is_no_error() -> None:
    found = fit.Fit(0, 0, 0, 0)
    assert (found.characters_a_token, found.tokens_a_word, found.unknown_share) == (0, 0, 0)


def test_of_a_large_sample_a_part_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = sample.of_texts(["\n".join(sentences(2000))])
    whole = fit.fit(trained("unigram"), drawn)
    monkeypatch.setattr(fit, "_SIZE", drawn.size // 5)
    part = fit.fit(trained("unigram"), drawn)
    assert 0.15 < part.tokens / whole.tokens < 0.25
    assert abs(part.characters_a_token / whole.characters_a_token - 1) < 0.03
