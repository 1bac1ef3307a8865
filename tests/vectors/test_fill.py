"""Are the guesses those of the model, each for its mask, and is nothing invented where nothing was learnt?"""

from __future__ import annotations

import math

import pytest
import torch

from litebert.errors import UserError
from litebert.text.tokenizer import Tokenizer
from litebert.vectors.fill import fill, word
from vectors import tiny

TOKENIZERS = {"wordpiece": tiny.wordpiece_of, "unigram": tiny.unigram_of}


def by_hand(model: torch.nn.Module, tokenizer: Tokenizer, ids: list[int]) -> torch.Tensor:
    """[masks, V] the probabilities at every mask of one row, computed alone."""
    with torch.inference_mode():
        out = model(torch.tensor([ids]))
        logits = model.logits("mlm", out)[0]
    return logits[torch.tensor(ids) == tokenizer.specials.mask].softmax(-1)


def test_probabilities_are_those_of_the_softmax_over_all_words() -> None:
    """With a word table of zeros the head says its bias, whatever stands there."""
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer)
    with torch.no_grad():
        model.embedding.word.weight.zero_()
        model.heads["mlm"].bias.zero_()
        for name, value in (("lake", 4.0), ("river", 3.0), ("##ing", 2.0)):
            model.heads["mlm"].bias[tokenizer.engine.token_to_id(name)] = value
    (found,) = fill(model, tokenizer, ["the [MASK] is cold."], top=3)
    total = math.exp(4) + math.exp(3) + math.exp(2) + tokenizer.size - 3
    assert [(guess.word, guess.begins) for guess in found.masks[0]] == [("lake", True), ("river", True), ("ing", False)]
    expected = [math.exp(4) / total, math.exp(3) / total, math.exp(2) / total]
    assert [guess.probability for guess in found.masks[0]] == pytest.approx(expected, rel=1e-5)
    assert found.best == "the lake is cold."


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_each_text_and_mask_gets_its_own_guesses_in_any_company(kind: str) -> None:
    tokenizer = TOKENIZERS[kind]()
    model = tiny.model_of(tokenizer)
    texts = ["the [MASK] is calm.", "a [MASK] and a [MASK] to the north under the old green boat.", "[MASK]"]
    found = fill(model, tokenizer, texts, top=4, batch=2)
    assert [one.text for one in found] == texts
    assert [len(one.masks) for one in found] == [1, 2, 1]
    special = torch.as_tensor(tokenizer.special)
    for text, one in zip(texts, found, strict=True):
        ids = [tokenizer.specials.cls, *tokenizer.with_masks(text, "[MASK]"), tokenizer.specials.sep]
        shares = by_hand(model, tokenizer, ids).masked_fill(special, -1)
        for row, guesses in zip(shares, one.masks, strict=True):
            best = row.topk(4)
            assert [guess.id for guess in guesses] == best.indices.tolist()
            assert [guess.probability for guess in guesses] == pytest.approx(best.values.tolist(), abs=1e-6)


def test_special_pieces_are_never_guessed() -> None:
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer)
    with torch.no_grad():
        for number in tokenizer.specials:
            model.heads["mlm"].bias[number] = 50.0
    (found,) = fill(model, tokenizer, ["the [MASK]"], top=1000)
    assert len(found.masks[0]) == tokenizer.size - 5
    assert not {guess.id for guess in found.masks[0]} & set(tokenizer.specials)
    assert sum(guess.probability for guess in found.masks[0]) < 1e-9


def test_a_wider_word_table_than_the_tokenizers_names_no_piece_that_is_not_there() -> None:
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer, vocab=64)
    with torch.no_grad():
        model.heads["mlm"].bias[40:] = 50.0
    (found,) = fill(model, tokenizer, ["the [MASK]"], top=3)
    assert all(guess.id < tokenizer.size for guess in found.masks[0])


def test_the_models_own_name_for_a_mask_is_understood_too() -> None:
    tokenizer = tiny.xlnet_of()
    model = tiny.model_of(tokenizer)
    one, other = fill(model, tokenizer, ["the <mask> is old", "the [MASK] is old"])
    assert one == other


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize(
    ("masked", "whole"),
    [
        ("the [MASK].", "the lake."),
        ("the [MASK]), the sea", "the lake), the sea"),
        ("the [MASK] is old", "the lake is old"),
        ("[MASK] water", "lake water"),
        ("the bird's [MASK]!", "the bird's lake!"),
        ("[MASK]'s water", "lake's water"),
    ],
)
def test_what_stands_around_a_mask_is_read_as_around_a_word(kind: str, masked: str, whole: str) -> None:
    """A stop behind a mask is the stop of the sentence: a model has never seen one that stands alone."""
    tokenizer = TOKENIZERS[kind]()
    (lake,) = tokenizer.encode("lake")
    expected = [tokenizer.specials.mask if i == lake else i for i in tokenizer.encode(whole)]
    assert tokenizer.with_masks(masked, "[MASK]") == expected


def test_a_piece_may_go_on_behind_a_mask() -> None:
    tokenizer = tiny.wordpiece_of()
    assert tokenizer.pieces(tokenizer.with_masks("[MASK]ing")) == ["[MASK]", "##ing"]


def test_words_are_written_without_their_tokenizers_marks() -> None:
    for tokenizer, pieces in ((tiny.wordpiece_of(), ("lake", "##ing")), (tiny.unigram_of(), ("▁lake", "ing"))):
        assert [word(tokenizer, tokenizer.engine.token_to_id(piece)) for piece in pieces] == ["lake", "ing"]


def test_dropout_has_no_say_and_the_model_trains_on() -> None:
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer, dropout=0.5)
    calm = fill(model, tokenizer, ["the [MASK] is old"])
    model.train()
    assert fill(model, tokenizer, ["the [MASK] is old"]) == calm
    assert model.training


def test_no_text_gives_no_guess() -> None:
    tokenizer = tiny.wordpiece_of()
    assert fill(tiny.model_of(tokenizer), tokenizer, []) == []


REFUSED = {
    "no mask": (["the lake", "fine [MASK]"], 5, r"text 'the lake' has no \[MASK\]: write \[MASK\] where"),
    "too long": (["[MASK] " + "lake " * 40], 5, r"41 tokens and the model reads 30 \(max_positions 32\): shorten it"),
    "no guesses": (["[MASK]"], 0, "top 0 is no number of guesses: choose 1 or more"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_filled_is_refused_in_a_line(name: str) -> None:
    texts, top, message = REFUSED[name]
    tokenizer = tiny.wordpiece_of()
    with pytest.raises(UserError, match=message):
        fill(tiny.model_of(tokenizer), tokenizer, texts, top)


def test_a_model_without_the_head_is_refused_and_none_is_drawn_for_it() -> None:
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer, heads=["order"])
    with pytest.raises(UserError, match=r"this model guesses no words \(heads: order\): use one that was trained"):
        fill(model, tokenizer, ["the [MASK]"])
