"""Are words hidden fairly, asked for only where they are one piece, and is the right answer known?"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import torch

from data import corpora
from litebert.data.build import build
from litebert.data.shards import open_shards
from litebert.lab import examples, sentences
from litebert.lab.examples import Question
from vectors import tiny

TEXTS = ["the old boat sails to the north.", "the birds sailed under a calm sea, and the wind is cold!", "zebra zebra."]


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small shard set with a held-out split."""
    place = tmp_path_factory.mktemp("examples")
    corpora.corpus(place / "corpus")
    return build([place / "corpus"], corpora.tokenizer(), place / "set", corpora.OPTIONS, workers=1).folder


@pytest.mark.parametrize("of", [tiny.wordpiece_of, tiny.unigram_of])
def test_a_question_is_its_sentence_with_one_whole_word_hidden(of: object) -> None:
    tokenizer = of()  # type: ignore[operator]
    for seed in range(12):
        found = examples.questions(TEXTS, [tokenizer], 9, seed)
        assert [question.whole for question in found] == TEXTS[:2]  # of the third no word is known
        for question in found:
            assert question.answer in tiny.WORDS
            assert len(question.answer) >= 4
            assert not question.before[-1:].isalnum()
            assert not question.after[:1].isalnum()


def test_other_seeds_hide_other_words_and_the_same_seed_the_same() -> None:
    tokenizer = tiny.wordpiece_of()
    drawn = [tuple(q.answer for q in examples.questions(TEXTS, [tokenizer], 9, seed)) for seed in range(20)]
    assert len(set(drawn)) > 5
    assert drawn == [tuple(q.answer for q in examples.questions(TEXTS, [tokenizer], 9, seed)) for seed in range(20)]


def test_a_word_is_asked_for_only_if_it_is_one_piece_for_all() -> None:
    """The other tokenizer cuts "cold" and "under" in pieces."""
    both = [tiny.wordpiece_of(), corpora.tokenizer("green", "boat")]
    for seed in range(20):
        for question in examples.questions(["the cold sea is green under the boat"], both, 1, seed):
            assert question.answer in ("green", "boat")


def test_a_text_that_not_all_models_read_whole_is_left_out() -> None:
    tokenizer = tiny.wordpiece_of()
    asked = examples.questions(["the lake is cold", "the boat", "a boat sails to the lake"], [tokenizer], 9, most=4)
    assert {question.whole for question in asked} == {"the lake is cold", "the boat"}


def test_chinese_characters_are_words() -> None:
    found = examples.questions(["河河山河。"], [tiny.wordpiece_of()], 1)
    assert len(found) == 1
    assert found[0].answer in "河山"
    assert found[0].whole == "河河山河。"


def test_the_right_answer_is_found_among_the_guesses() -> None:
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer)
    with torch.no_grad():
        model.embedding.word.weight.zero_()
        for name, value in (("boat", 5.0), ("sea", 4.0)):
            model.heads["mlm"].bias[tokenizer.engine.token_to_id(name)] = value
    asked = [Question("the old ", "boat", "."), Question("A calm ", "Sea", ""), Question("the ", "lake", "")]
    found = examples.answers(model, tokenizer, asked, top=2)
    assert [answer.place for answer in found] == [0, 1, -1]
    assert [[guess.word for guess in answer.guesses] for answer in found] == [["boat", "sea"]] * 3


def test_held_out_sentences_are_drawn_from_that_split_alone(shards: Path) -> None:
    found = examples.drawn(shards, corpora.tokenizer(), 8)
    assert len(set(found.texts)) == len(found.texts) == 8
    tokenizer, held = corpora.tokenizer(), open_shards(shards, "held-out")
    whole = set()
    for shard in held.shards:
        ids = [shard.ids[a:b] for a, b in zip(shard.sentences, shard.sentences[1:], strict=False)]
        whole |= {tokenizer.decode(each) for each in ids if 10 <= len(each) <= 48}
    assert set(found.texts) <= whole
    assert found == examples.drawn(shards, corpora.tokenizer(), 8)
    assert found.texts != examples.drawn(shards, corpora.tokenizer(), 8, seed=1).texts
    assert found.source == "the held-out sentences of set"


def test_common_words_are_the_frequent_ones_of_the_training_text(shards: Path) -> None:
    tokenizer = corpora.tokenizer("zebra")  # a piece that no text has
    common = examples.drawn(shards, corpora.tokenizer(), 1).common
    assert {"river", "the", "stone"} <= common
    assert "zebra" not in common
    allowed = examples.among(tokenizer, common)
    assert {tokenizer.pieces([i])[0] for i in np.flatnonzero(allowed)} == common
    assert "zebra" in {tokenizer.pieces([i])[0] for i in np.flatnonzero(examples.among(tokenizer, frozenset()))}


def test_neighbours_are_shown_of_words_that_are_one_piece() -> None:
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer)
    found = examples.near(model, tokenizer, ["lake", "boats", "zebra"], examples.among(tokenizer, frozenset()), 3)
    assert list(found) == ["lake"]
    assert len(found["lake"]) == 3


def test_our_own_sentences_are_for_tokenizers_that_know_their_language() -> None:
    none = examples.drawn(None, tiny.wordpiece_of(), 10)
    assert (none.texts, none.words) == ([], [])
    letters = corpora.tokenizer(*"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "-")
    english = examples.drawn(None, letters, 10)
    assert english.texts == list(sentences.ENGLISH.texts[:10])
    chinese = corpora.tokenizer(*sorted(set("".join(sentences.CHINESE.texts)) - set(",.")))
    assert examples.drawn(None, chinese, 99).texts == list(sentences.CHINESE.texts)


def test_our_own_sentences_are_whole_and_no_two_alike() -> None:
    for language, ends in ((sentences.ENGLISH, "."), (sentences.CHINESE, "。")):
        assert len(set(language.texts)) == len(language.texts) >= 16
        assert all(text.endswith(ends) for text in language.texts)
        assert len(set(language.words)) == len(language.words) == 12


def test_any_text_gives_questions_that_give_it_back() -> None:
    draw = random.Random(0)
    tokenizer = tiny.wordpiece_of()
    alphabet = [*(f"{word} " for word in tiny.WORDS), "’", "é", "Æ", "  ", "[MASK]", "\u0301", "İ", "🙂", "\t", ". "]
    texts = ["".join(draw.choices(alphabet, k=12)) for _ in range(300)]
    found = examples.questions([text for text in texts if "[MASK]" not in text], [tokenizer], 300)
    assert len(found) > 50
    assert all(question.whole in texts for question in found)
