"""Does the fast way give the engine's ids, sentence by sentence, and the words that the pieces tell?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from litebert.errors import UserError
from litebert.text import encode, spiece, wordpiece
from litebert.text.encode import Encoder
from litebert.text.tokenizer import Kind, Tokenizer
from text.test_spiece import model
from text.tiny import KINDS, odd, sentences, trained


def same(encoder: Encoder, texts: list[str]) -> None:
    """The encoder's rows are those of the engine."""
    tokenizer, found = encoder.tokenizer, encoder.encode(texts)
    ends = np.cumsum(found.lengths)
    for text, end, length in zip(texts, ends.tolist(), found.lengths.tolist(), strict=True):
        ids = tokenizer.encode(text)
        assert found.ids[end - length : end].tolist() == ids, repr(text)
        starts = tokenizer.starts[ids]
        starts[:1] = True
        assert found.starts[end - length : end].tolist() == starts.tolist(), repr(text)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_fast_way_gives_the_engines_ids(kind: Kind, keep: bool) -> None:
    encoder = Encoder(trained(kind, keep=keep))
    assert encoder.rules is not None
    same(encoder, [*odd(2000, seed=8), *sentences(1000, seed=8), "", " ", "a", *odd(2000, seed=8)])


def test_of_real_vocabularies_too(shared_data: Path) -> None:
    folder = shared_data / "tokenizers"
    for made in (
        spiece.read(folder / "albert-en-spiece.model"),
        wordpiece.read(folder / "bert-base-chinese-vocab.txt"),
    ):
        encoder = Encoder(made)
        assert encoder.rules is not None
        same(encoder, [*odd(3000, seed=9), *sentences(500, seed=9)])


def test_of_a_model_whose_commas_stay_with_their_digits() -> None:
    """There 9, is a piece: a comma that was taken off the end would be another."""
    pytest.importorskip("sentencepiece")
    encoder = Encoder(spiece.converted(spiece.parse(model(), "x"), split_commas=False))
    texts = [*(f"ba {number}, do" for number in range(200)), *sentences(300, seed=15)]
    assert any(piece[-1] == "," and len(piece) > 1 for piece in encoder.tokenizer.pieces(encoder.encode(texts).ids))
    same(encoder, texts)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20), max_size=6), st.sampled_from(KINDS))
def test_of_any_text(texts: list[str], kind: Kind) -> None:
    same(Encoder(trained(kind)), texts)


@pytest.mark.parametrize(
    "cut",
    [
        pytest.param(pre_tokenizers.ByteLevel(add_prefix_space=False), id="first words without a space"),
        pytest.param(pre_tokenizers.ByteLevel(use_regex=False), id="no words at all"),
    ],
)
def test_of_tokenizers_with_rules_of_their_own(cut: object) -> None:
    engine = tokenizers.Tokenizer.from_str(trained("bpe").text)
    engine.pre_tokenizer = cut
    same(Encoder(Tokenizer(engine.to_str())), [*odd(1000, seed=10), *sentences(500, seed=10)])


def test_what_is_forgotten_changes_no_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encode, "_WORDS", 20)
    encoder = Encoder(trained("unigram"))
    for seed in range(3):
        same(encoder, sentences(50, seed))
        assert len(encoder._slot) <= 20


def test_where_a_block_ends_changes_no_id(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*sentences(200, seed=11), *odd(200, seed=11), ""]
    whole = Encoder(trained("wordpiece")).encode(texts)
    monkeypatch.setattr(encode, "_BLOCK", 100)
    parts = Encoder(trained("wordpiece")).encode(texts)
    for one, other in zip(whole, parts, strict=True):
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()


def test_nothing_gives_nothing() -> None:
    found = Encoder(trained("bpe")).encode([])
    assert [len(part) for part in found] == [0, 0, 0]
    found = Encoder(trained("wordpiece")).encode(["", "\u200b"])
    assert found.lengths.tolist() == [0, 0]


def test_ids_take_two_bytes_where_they_can() -> None:
    assert Encoder(trained("unigram")).encode(["ba"]).ids.dtype == np.uint16
    large = trained("wordpiece")
    state = large.text.replace('"[MASK]":4', '"[MASK]":4,"spare":70000')
    assert Encoder(Tokenizer(state)).encode(["ba"]).ids.dtype == np.uint32


def test_half_a_character_is_no_text() -> None:
    with pytest.raises(UserError, match=r"a sentence is no text, it holds '\\ud83d': repair its source"):
        Encoder(trained("unigram")).encode(["ba", "do \ud83d"])


def test_another_way_to_tell_words_is_refused() -> None:
    with pytest.raises(UserError, match="words 'spacy' is no way to tell words: choose pieces or jieba"):
        Encoder(trained("unigram"), "spacy")  # type: ignore[arg-type]
