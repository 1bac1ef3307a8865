"""Is text made uniform as ALBERT's own Python does it, and is it told to a person?"""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
import tokenizers
from tokenizers import models

from litebert.text import normalise
from text.tiny import odd


def prepared(text: str, lowercase: bool = True, strip_accents: bool = True) -> str:
    """What google-research/albert does before SentencePiece (tokenization.py: preprocess_text), written anew."""
    text = " ".join(text.split()).replace("``", '"').replace("''", '"')
    if strip_accents:
        text = "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
    return text.lower() if lowercase else text


def test_the_steps_are_those_of_the_original() -> None:
    steps = normalise.albert(True, True, rule="")  # without SentencePiece's own map
    for text in odd(3000):
        assert steps.normalize_str(text) == re.sub(" +", " ", prepared(text)).strip(" "), repr(text)


def test_a_final_sigma_is_one_letter_with_the_others() -> None:
    """Python writes ς for the last capital Σ of a word; the engine, and so transformers, writes σ everywhere."""
    assert normalise.albert(True, True).normalize_str("ΟΔΟΣ") == "οδοσ"
    assert prepared("ΟΔΟΣ") == "οδος"


def test_marks_without_a_class_stay() -> None:
    """The vowel signs of Indic scripts are category Mn too, and dropping those changes the word."""
    assert normalise.albert(True, True).normalize_str("किताब É") == "किताब e"


@pytest.mark.parametrize(
    ("text", "has"), [("naïve", True), ("e\u0301", True), ("ﬁ", False), ("ß", False), ("a", False)]
)
def test_an_accent_is_seen(text: str, has: bool) -> None:
    assert normalise.has_accent(text) is has


def test_a_few_capitals_do_not_make_a_vocabulary_cased() -> None:
    """The Chinese BERT lower-cases, and has two pieces with a capital among 21,128."""
    assert normalise.is_lower(["a"] * 9999 + ["DNA"])
    assert not normalise.is_lower(["a"] * 99 + ["DNA"])


@pytest.mark.parametrize(
    ("made", "words"),
    [
        pytest.param(
            normalise.albert(True, True),
            ["collapse white space", '`` to "', "'' to \"", "decompose (NFKD)", "drop accents", "lower-case",
             "compose (NFC)", "control characters out, rare spaces to spaces", "collapse spaces",
             "no space at the ends"],
            id="albert",
        ),
        pytest.param(
            normalise.bert(True, True),
            ["control characters out, Chinese characters apart, drop accents, lower-case"],
            id="bert",
        ),
        pytest.param(normalise.bert(False, False), ["control characters out, Chinese characters apart"], id="cased"),
        pytest.param(normalise.plain(True, True),
                     ["decompose (NFD)", "drop accents", "compose (NFC)", "lower-case"], id="bytes"),
        pytest.param(None, [], id="nothing"),
    ],
)  # fmt: skip
def test_a_person_is_told_what_becomes_of_text(made: object, words: list[str]) -> None:
    engine = tokenizers.Tokenizer(models.BPE())
    if made is not None:
        engine.normalizer = made
    assert normalise.in_words(json.loads(engine.to_str())["normalizer"]) == words


def test_bytes_need_no_normaliser() -> None:
    assert normalise.plain(False, False) is None
