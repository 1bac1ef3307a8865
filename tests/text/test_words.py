"""Is a sentence encoded word by word only where no step of its tokenizer reaches across a space?"""

from __future__ import annotations

import json
from typing import Any

import pytest
import tokenizers
from tokenizers import AddedToken, normalizers, pre_tokenizers

from litebert.text import words
from litebert.text.tokenizer import Kind, Tokenizer
from text.tiny import KINDS, trained

METASPACE, BERT, GPT2 = pre_tokenizers.Metaspace("▁"), pre_tokenizers.BertPreTokenizer(), pre_tokenizers.ByteLevel()


def rules(tokenizer: Tokenizer) -> words.Rules | None:
    return words.rules(tokenizer, json.loads(tokenizer.text))


def other(kind: Kind, **parts: Any) -> Tokenizer:
    """A tokenizer with another normaliser or pre-tokenizer."""
    engine = tokenizers.Tokenizer.from_str(trained(kind).text)
    for name, part in parts.items():
        setattr(engine, name, part)
    return Tokenizer(engine.to_str())


@pytest.mark.parametrize(("kind", "cut"), [("unigram", "metaspace"), ("wordpiece", "bert"), ("bpe", "gpt2")])
def test_every_kind_that_is_trained_goes_word_by_word(kind: Kind, cut: str) -> None:
    found = rules(trained(kind))
    assert found is not None
    assert (found.cut, found.lead) == (cut, True)
    assert found.lower is (kind != "bpe")


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        pytest.param("unigram", {"normalizer": normalizers.Replace("a b", "c")}, id="a replacement across a space"),
        pytest.param("unigram", {"normalizer": normalizers.Prepend("x")}, id="something put first"),
        pytest.param("unigram", {"normalizer": normalizers.Replace(" ", "")}, id="spaces dropped"),
        pytest.param("unigram", {"pre_tokenizer": pre_tokenizers.Metaspace("▁", split=False)}, id="words not split"),
        pytest.param("unigram", {"pre_tokenizer": pre_tokenizers.Metaspace("_")}, id="another mark"),
        pytest.param("wordpiece", {"pre_tokenizer": pre_tokenizers.Punctuation()}, id="punctuation alone"),
        pytest.param("bpe", {"pre_tokenizer": pre_tokenizers.ByteLevel(use_regex=False)}, id="bytes without words"),
        pytest.param("bpe", {"pre_tokenizer": pre_tokenizers.Split(" ", "isolated")}, id="a split"),
        pytest.param("wordpiece", {"normalizer": normalizers.Replace("e", "é")}, id="letters that are not themselves"),
    ],
)  # fmt: skip
def test_what_is_not_known_to_stop_at_spaces_goes_the_slow_way(kind: Kind, parts: dict[str, Any]) -> None:
    assert rules(other(kind, **parts)) is None


def test_a_word_that_was_added_goes_the_slow_way() -> None:
    """It is found before words are, in the middle of them too."""
    engine = tokenizers.Tokenizer.from_str(trained("wordpiece").text)
    engine.add_tokens([AddedToken("ba do", special=False)])
    assert rules(Tokenizer(engine.to_str())) is None


@pytest.mark.parametrize("cut", [METASPACE, pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), METASPACE])])
def test_spaces_may_be_split_off_first(cut: object) -> None:
    found = rules(other("unigram", pre_tokenizer=cut))
    assert found is not None
    assert found.lead


def test_the_first_word_may_be_cut_otherwise() -> None:
    for kind, cut in (("unigram", pre_tokenizers.Metaspace("▁", prepend_scheme="never")),
                      ("bpe", pre_tokenizers.ByteLevel(add_prefix_space=False))):  # fmt: skip
        found = rules(other(kind, pre_tokenizer=cut))  # type: ignore[arg-type]
        assert found is not None
        assert not found.lead


@pytest.mark.parametrize(
    ("kind", "word", "parts"),
    [
        ("unigram", "Ba.", ["▁ba", "."]),
        ("unigram", "(do)", ["▁(do", ")"]),
        ("unigram", "ﬁn", ["▁fin"]),
        ("wordpiece", "Ba-do.", ["ba", "-", "do", "."]),
        ("wordpiece", "té", ["te"]),
        ("bpe", "Ba's,", ["ĠBa", "'s", ","]),
        ("bpe", "x1y", ["Ġx", "1", "y"]),
    ],
)
def test_a_word_has_the_parts_that_the_engine_gives_it(kind: Kind, word: str, parts: list[str]) -> None:
    tokenizer = trained(kind)
    found = rules(tokenizer)
    assert found is not None
    assert words.parts(word, tokenizer, found) == parts


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        pytest.param("unigram", "\u0301x", id="a mark that joins what stands before it, space or not"),
        pytest.param("unigram", "a\u200bb", id="a space that is only seen later"),
        pytest.param("unigram", "ba``", id="half of what is made a quotation mark"),
        pytest.param("unigram", "\ufeff", id="nothing but a space"),
    ],
)
def test_a_word_on_which_its_neighbours_have_a_say_is_told(kind: Kind, word: str) -> None:
    tokenizer = trained(kind)
    found = rules(tokenizer)
    assert found is not None
    parts = words.parts(word, tokenizer, found)
    direct = [t.id for part in parts or () for t in tokenizer.engine.model.tokenize(part)]
    assert parts is None or direct == tokenizer.encode(word)


def test_only_what_stands_alone_in_the_vocabulary_comes_off_the_end() -> None:
    """A comma that a piece holds beside a digit must be weighed together with it."""
    for kind in KINDS:
        tokenizer = trained(kind)
        found = rules(tokenizer)
        assert found is not None
        pieces = tokenizer.pieces(range(tokenizer.size))
        assert all(sum(each in piece for piece in pieces) == 1 for each in found.lone)
        assert kind == "unigram" or not found.lone
