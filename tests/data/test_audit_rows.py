"""Does the audit see each defect that a packer or a label can have?"""

from __future__ import annotations

import numpy as np
import pytest

from data.spoiling import laid_by, look, masked_by, off
from data.texts import SIZE
from litebert.data import modes
from litebert.data.packing import Plan
from litebert.data.rows import Batch, Rows


def test_labels_that_are_all_one_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    found = masked_by(monkeypatch, lambda batch, rows, draw: batch._replace(order=np.zeros_like(batch.order)))
    assert {"label 1, of those with an order", "labels that the text belies"} <= found


@pytest.mark.parametrize("name", ["albert", "bert", "xlnet", "albert-google", "roberta-sentence-pair"])
def test_labels_turned_round_are_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As evenly spread as the true ones, but wrong: only the text can tell."""

    def spoil(batch: Batch, rows: Rows, draw: np.random.Generator) -> Batch:
        return batch._replace(order=np.where(batch.order >= 0, 1 - batch.order, batch.order))

    assert "labels that the text belies" in masked_by(monkeypatch, spoil, name)


def test_a_negative_from_another_document_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """google-research/albert: sentence order that is polluted by random next segments."""

    def spoil(rows: Rows, made: Plan) -> Rows:
        for row in np.flatnonzero(rows.order == 1)[:3]:
            second = slice(int(rows.source[row]), int(rows.lengths[row]) - 1)
            rows.ids[row, second] = (rows.ids[row, second] - 5 + 17) % (SIZE - 5) + 5
        return rows

    assert "labels that the text belies" in laid_by(monkeypatch, spoil)


@pytest.mark.parametrize("name", ["albert", "roberta-segment-pair", "xlnet"])
def test_a_missing_separator_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(rows: Rows, made: Plan) -> Rows:
        rows.ids[0, rows.source[0] - 1] = 77
        return rows

    assert "malformed" in laid_by(monkeypatch, spoil, name)


@pytest.mark.parametrize("name", ["albert", "roberta", "xlnet", "unilm"])
def test_segments_that_begin_elsewhere_are_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(rows: Rows, made: Plan) -> Rows:
        rows.segments[0, 5] ^= 1
        return rows

    monkeypatch.setattr(modes, "mode", lambda *address: "bidirectional")
    assert "tokens in the wrong segment" in laid_by(monkeypatch, spoil, name)


def test_words_that_begin_in_the_middle_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(rows: Rows, made: Plan) -> Rows:
        inside = (rows.words[:, 1:] >= 0) & (rows.words[:, :-1] >= 0)
        rows.words[:, 1:] = np.where(inside, rows.words[:, :-1], rows.words[:, 1:])
        return rows

    assert "words that begin where no word begins" in laid_by(monkeypatch, spoil)


def test_the_same_text_again_and_again_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(rows: Rows, made: Plan) -> Rows:
        return Rows._make(np.repeat(part[:1], len(part), axis=0) for part in rows)

    assert "examples read twice in an epoch" in laid_by(monkeypatch, spoil)


def test_modes_in_other_shares_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = modes.mode
    monkeypatch.setattr(modes, "mode", lambda *address: drawn(*address).replace("right-to-left", "left-to-right"))
    assert off(look("unilm")) == {"left-to-right", "right-to-left"}
