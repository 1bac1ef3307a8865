"""Are the nearest words the nearest, by the angle, at the width of the layers?"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from litebert.errors import UserError
from litebert.vectors.neighbours import mapped, nameable, neighbours
from vectors import tiny


def test_the_order_and_the_cosines_are_those_of_a_plain_reckoning() -> None:
    tokenizer = tiny.unigram_of()
    model = tiny.model_of(tokenizer)
    table = model.embedding.word.weight.detach().double() @ model.embedding.map.weight.detach().double().T
    words = [
        i for i in range(tokenizer.size) if tokenizer.pieces([i])[0][1:] in tiny.WORDS and not tokenizer.special[i]
    ]
    middle = table[words].mean(0)
    found = neighbours(model, tokenizer, ["lake", "north"], count=4)
    for word, nearest in found.items():
        (asked,) = tokenizer.encode(word)
        own = table[asked] - middle
        cosines = {}
        for i in words:
            other = table[i] - middle
            cosines[tokenizer.pieces([i])[0][1:]] = float(own @ other / own.norm() / other.norm())
        expected = sorted(((c, w) for w, c in cosines.items() if w != word), reverse=True)[:4]
        assert [one.word for one in nearest] == [w for _, w in expected]
        assert [one.cosine for one in nearest] == pytest.approx([c for c, _ in expected], abs=1e-5)


def test_what_all_rows_share_hides_no_angle() -> None:
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer)
    before = neighbours(model, tokenizer, ["lake"], count=3)["lake"]
    with torch.no_grad():
        model.embedding.word.weight += 5.0
    after = neighbours(model, tokenizer, ["lake"], count=3)["lake"]
    assert [one.word for one in after] == [one.word for one in before]
    assert [one.cosine for one in after] == pytest.approx([one.cosine for one in before], abs=1e-3)


def test_only_words_are_named_and_never_the_word_itself() -> None:
    tokenizer = tiny.wordpiece_of()
    found = neighbours(tiny.model_of(tokenizer), tokenizer, ["lake"], count=1000)["lake"]
    assert {one.word for one in found} == {*tiny.WORDS, "s", "河", "山"} - {"lake"}
    assert [one.cosine for one in found] == sorted((one.cosine for one in found), reverse=True)


def test_only_those_are_named_who_may_be() -> None:
    tokenizer = tiny.wordpiece_of()
    among = np.zeros(tokenizer.size, bool)
    among[[*tokenizer.encode("lake"), *tokenizer.encode("sea"), *tokenizer.encode("wind")]] = True
    found = neighbours(tiny.model_of(tokenizer), tokenizer, ["lake", "boat"], among=among)
    assert {one.word for one in found["lake"]} == {"sea", "wind"}
    assert {one.word for one in found["boat"]} == {"lake", "sea", "wind"}
    assert neighbours(tiny.model_of(tokenizer), tokenizer, ["lake"], among=~among & among) == {"lake": []}


def test_rows_are_mapped_where_the_model_maps_them() -> None:
    tokenizer = tiny.wordpiece_of()
    assert mapped(tiny.model_of(tokenizer)).shape == (tokenizer.size, 16)
    assert mapped(tiny.model_of(tokenizer, mapping="early")).shape == (tokenizer.size, 16)
    unmapped = tiny.model_of(tokenizer, embedding=16)
    assert torch.equal(mapped(unmapped), unmapped.embedding.word.weight)


def test_words_begin_one_and_are_of_letters() -> None:
    for tokenizer in (tiny.wordpiece_of(), tiny.unigram_of()):
        named = set(tokenizer.pieces(np.flatnonzero(nameable(tokenizer))))
        assert {"##s", "ing", ".", "[MASK]", "▁"} & named == set()
        assert len(named) >= len(tiny.WORDS)


@pytest.mark.parametrize("word", ["boats", "zebra", "lake sea", ""])
def test_a_word_that_is_no_single_piece_is_refused(word: str) -> None:
    tokenizer = tiny.wordpiece_of()
    with pytest.raises(UserError, match=r"is no single piece of this tokenizer"):
        neighbours(tiny.model_of(tokenizer), tokenizer, [word])
    with pytest.raises(UserError, match="count 0"):
        neighbours(tiny.model_of(tokenizer), tokenizer, ["lake"], count=0)
