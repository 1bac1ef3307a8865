"""Does the audit pass what every recipe makes, and see each defect that a masker can have?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from data.spoiling import CORRUPT, TEXT, WORDS, look, masked_by, off
from data.texts import SIZE, vocabulary
from litebert.data import audit_expected, masking
from litebert.data.audit import audit
from litebert.data.reading import KINDS, kinds
from litebert.data.recipe import Recipe, names, recipe
from litebert.data.rows import Batch, Rows
from litebert.data.units import budgets
from litebert.data.vocabulary import Vocabulary


@pytest.mark.parametrize("name", names())
def test_what_every_recipe_makes_is_as_it_promises(name: str) -> None:
    found = look(name)
    assert off(found) == set()
    assert found.rows == 3000
    judged = [measure for measure in found.measures if measure.ok]
    assert len(judged) > 15
    assert len({measure.name for measure in found.measures}) == len(found.measures)


@pytest.mark.parametrize("changes", [
    {"packing": "full-sentences"}, {"layout": "roberta"}, {"rate": 0.4}, {"most": 5}, {"masked": 0.0, "random": 1.0},
    {"unit": "token"}, {"spans": "geometric", "longest": 10}, {"decide": "span"}, {"across": True}, {"length": 16},
    {"replacements": "text"}, {"short": 1.0}, {"packing": "doc-sentences", "layout": "roberta"},
], ids=str)  # fmt: skip
def test_a_variation_is_judged_by_its_own_promise(changes: dict[str, Any]) -> None:
    assert off(audit(TEXT, recipe("albert", **{"length": 64, **changes}), WORDS, rows=3000)) == set()


def asked(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    return np.nonzero(batch.weights)


def moved(batch: Batch, rows: Rows, by: int) -> Batch:
    """The same predictions, each so many tokens later, hidden there instead."""
    row, slot = asked(batch)
    place = np.clip(batch.asked[row, slot] + by, 0, rows.ids.shape[1] - 1)
    ids = rows.ids.copy()
    batch.asked[row, slot], batch.targets[row, slot] = place, rows.ids[row, place]
    ids[row, place] = WORDS.mask
    return batch._replace(ids=ids)


def shares(batch: Batch, rows: Rows, draw: np.random.Generator, masked: float, random: float, low: int = 5) -> Batch:
    row, slot = asked(batch)
    place = batch.asked[row, slot]
    chance = draw.random(len(row))
    ids = rows.ids.copy()
    ids[row, place] = np.select(
        [chance < masked, chance < masked + random],
        [np.full(len(row), WORDS.mask), draw.integers(low, SIZE if low else 4, len(row))],
        rows.ids[row, place],
    )
    return batch._replace(ids=ids)


def test_a_mask_one_token_late_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """transformers#11768: boundaries of whole words that are off by one."""
    found = masked_by(monkeypatch, lambda batch, rows, draw: moved(batch, rows, 1))
    assert {"words cut by a span", "special tokens asked for"} <= found


def test_words_cut_in_the_middle_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(batch: Batch, rows: Rows, draw: np.random.Generator) -> Batch:
        row, slot = asked(batch)
        inner = (slot > 0) & ~WORDS.starts[batch.targets[row, slot]] & (draw.random(len(row)) < 0.02)
        batch.ids[row[inner], batch.asked[row[inner], slot[inner]]] = batch.targets[row[inner], slot[inner]]
        batch.weights[row[inner], slot[inner]] = 0
        return batch

    assert "words cut by a span" in masked_by(monkeypatch, spoil)


@pytest.mark.parametrize("masked,random,seen", [
    (0.9, 0.05, {"masked", "random", "kept"}), (0.8, 0.2, {"random", "kept"}),
    (0.83, 0.085, {"masked", "random", "kept"}), (1.0, 0.0, {"masked", "random", "kept"}),
])  # fmt: skip
def test_other_shares_than_80_10_10_are_seen(
    masked: float, random: float, seen: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = masked_by(monkeypatch, lambda batch, rows, draw: shares(batch, rows, draw, masked, random))
    assert found == seen


def test_our_own_spoiler_is_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    assert masked_by(monkeypatch, lambda batch, rows, draw: shares(batch, rows, draw, 0.8, 0.1)) == set()


def test_random_ids_among_the_specials_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    found = masked_by(monkeypatch, lambda batch, rows, draw: shares(batch, rows, draw, 0.8, 0.1, low=0))
    assert "special, of random ids" in found


def test_random_ids_from_half_of_the_vocabulary_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    found = masked_by(monkeypatch, lambda batch, rows, draw: shares(batch, rows, draw, 0.8, 0.1, low=100))
    assert found == {"unevenness of random ids, χ² / df"}


def test_a_masked_separator_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(batch: Batch, rows: Rows, draw: np.random.Generator) -> Batch:
        batch.ids[:, 0] = WORDS.mask
        batch.asked[:, 0], batch.targets[:, 0] = 0, WORDS.cls
        return batch

    found = masked_by(monkeypatch, spoil)
    assert {"special tokens asked for", "rows that targets do not restore"} <= found


def test_a_target_that_is_another_token_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(batch: Batch, rows: Rows, draw: np.random.Generator) -> Batch:
        batch.targets[0, 0] = (batch.targets[0, 0] - 5 + 1) % (SIZE - 5) + 5
        return batch

    assert "rows that targets do not restore" in masked_by(monkeypatch, spoil)


def test_a_token_changed_that_is_not_asked_for_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(batch: Batch, rows: Rows, draw: np.random.Generator) -> Batch:
        quiet = np.setdiff1d(np.flatnonzero(rows.words[0] >= 0), batch.asked[0])[0]
        batch.ids[0, quiet] = WORDS.mask
        return batch

    assert masked_by(monkeypatch, spoil) == {"rows that targets do not restore"}


def test_a_place_asked_for_twice_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(batch: Batch, rows: Rows, draw: np.random.Generator) -> Batch:
        batch.asked[:, 1], batch.targets[:, 1] = batch.asked[:, 0], batch.targets[:, 0]
        return batch

    assert "rows with places twice or out of order" in masked_by(monkeypatch, spoil)


def test_half_a_budget_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Megatron-LM#196: an inner loop that ends too early."""

    def spoil(batch: Batch, rows: Rows, draw: np.random.Generator) -> Batch:
        half = budgets(recipe("albert"), rows.lengths) // 2
        row, slot = asked(batch)
        gone = slot >= half[row]
        batch.ids[row[gone], batch.asked[row[gone], slot[gone]]] = batch.targets[row[gone], slot[gone]]
        batch.weights[row[gone], slot[gone]] = 0
        return batch

    found = masked_by(monkeypatch, spoil)
    assert {"predicted, of all tokens", "of the budget"} <= found


def test_a_row_beyond_its_budget_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masking, "corrupt", lambda rows, given, *more, **most: CORRUPT(
        rows, given.but(most=0), *more, **most))  # fmt: skip
    assert "rows beyond the budget" in off(look(most=8))


@pytest.mark.parametrize("other", ["one", "geometric"])
def test_other_lengths_of_spans_are_seen(other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(rows: Rows, given: Recipe, *more: Any, **most: Any) -> Batch:
        return CORRUPT(rows, given.but(spans=other), *more, **most)

    monkeypatch.setattr(masking, "corrupt", broken)
    assert off(look()) >= {"of 1 word", "of 2 words"}


def test_single_tokens_instead_of_words_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masking, "corrupt", lambda rows, given, *more, **most: CORRUPT(
        rows, given.but(unit="token"), *more, **most))  # fmt: skip
    assert "words cut by a span" in off(look())


def test_spans_hidden_in_part_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masking, "corrupt", lambda rows, given, *more, **most: CORRUPT(
        rows, given.but(decide="token"), *more, **most))  # fmt: skip
    assert "spans hidden in part only" in off(look("spanbert"))


def test_pieces_of_one_kind_passed_over_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """google-research/albert took pieces with an x for word starts once: a kind of piece can be masked too often."""

    def spoil(batch: Batch, rows: Rows, draw: np.random.Generator) -> Batch:
        row, slot = asked(batch)
        gone = ~WORDS.starts[batch.targets[row, slot]] & (draw.random(len(row)) < 0.4)
        batch.ids[row[gone], batch.asked[row[gone], slot[gone]]] = batch.targets[row[gone], slot[gone]]
        batch.weights[row[gone], slot[gone]] = 0
        return batch

    assert "continuations" in masked_by(monkeypatch, spoil, "bert")


@pytest.mark.parametrize("name,seen", [
    ("albert", {"asked for again in the next epoch"}), ("bert", {"asked for again 10 epochs later"}),
])  # fmt: skip
def test_masks_that_stay_or_change_against_the_recipe_are_seen(
    name: str, seen: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dynamic masks that are the same every epoch; static ones that are not."""

    def broken(rows: Rows, given: Recipe, known: Vocabulary, seed: int, epoch: int, **more: Any) -> Batch:
        return CORRUPT(rows, given.but(copies=0 if given.copies else 1), known, seed, epoch, **more)

    monkeypatch.setattr(masking, "corrupt", broken)
    assert off(look(name)) == seen


def test_kinds_are_told_by_what_a_piece_spells() -> None:
    known = vocabulary()
    texts = ["x"] * SIZE
    texts[10], texts[11], texts[12], texts[150], texts[151] = "1987", "…", "", "７", "x7"
    found = [KINDS[kind] for kind in kinds(known, texts)]
    assert found[:5] == ["special and unknown"] * 5
    assert found[10:13] == ["digits", "punctuation", "word starts"]
    assert found[150:152] == ["digits", "continuations"]
    assert [KINDS[kind] for kind in kinds(known)][10] == "word starts"


def test_the_rule_by_hand_accepts_what_was_simulated_elsewhere() -> None:
    """On 509 one-piece words with a budget of 77: .574, .259, .167 (shares of accepted spans, 400 simulated rows)."""
    words = np.concatenate([[-1], np.arange(509), [-1, -1]]).astype(np.int16)
    rows = Rows(*(np.zeros((300, 512), np.int32),) * 2, np.tile(words, (300, 1)), np.full(300, 512, np.int32),
                *(np.zeros(300, np.int32),) * 3)  # fmt: skip
    found = audit_expected.by_hand(rows, recipe("albert"), 0, 0).spans
    assert found[3:].sum() == 0
    assert np.abs(found[:3] / found.sum() - [0.574, 0.259, 0.167]).max() < 0.012
