"""Is a text's vector its own, whatever stands beside it, and pooled as was asked?"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from litebert.errors import UserError
from litebert.text.tokenizer import Tokenizer
from litebert.vectors.encode import cosines, encode
from vectors import tiny

TEXTS = [
    "the old boat sails to the north",
    "water",
    "",
    "the bird is small and green, the sea calm and cold.",
    "a lake",
]
TOKENIZERS = {"wordpiece": tiny.wordpiece_of, "unigram": tiny.unigram_of}


def states_of(model: torch.nn.Module, tokenizer: Tokenizer, text: str) -> list[torch.Tensor]:
    """Every state [T, H] of one text read alone."""
    ids = torch.tensor([[tokenizer.specials.cls, *tokenizer.encode(text), tokenizer.specials.sep]])
    with torch.inference_mode():
        return [state[0] for state in model(ids).hidden]


POOLED = {
    "mean": (-1, lambda states: states[3].mean(0)),
    "cls": (-1, lambda states: states[3][0]),
    "max": (-1, lambda states: states[3].amax(0)),
    "first-last": (-1, lambda states: (states[1].mean(0) + states[3].mean(0)) / 2),
    "mean of the embedding": (0, lambda states: states[0].mean(0)),
    "mean of the second": (2, lambda states: states[2].mean(0)),
    "cls of the last but one": (-2, lambda states: states[2][0]),
    "max of the last, by its number": (3, lambda states: states[3].amax(0)),
}


@pytest.mark.parametrize("way", POOLED)
@pytest.mark.parametrize("kind", TOKENIZERS)
def test_a_vector_is_that_of_the_text_read_alone(kind: str, way: str) -> None:
    """In a batch with padding, in another order, the token vectors are pooled over the real ones."""
    tokenizer = TOKENIZERS[kind]()
    model = tiny.model_of(tokenizer)
    layer, pool = POOLED[way]
    found = encode(model, tokenizer, TEXTS, pooling=way.split()[0], layer=layer, batch=3)  # type: ignore[arg-type]
    expected = np.stack([pool(states_of(model, tokenizer, text)).numpy() for text in TEXTS])
    assert found.dtype == np.float32
    assert found.shape == (5, 16)
    np.testing.assert_allclose(found, expected, atol=2e-6)


def test_cls_is_not_the_pooler() -> None:
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer)
    (found,) = encode(model, tokenizer, ["the sea"], pooling="cls")
    with torch.inference_mode():
        pooled = model(torch.tensor([[2, *tokenizer.encode("the sea"), 3]])).pooled
    assert np.abs(found - pooled[0].numpy()).max() > 0.1


def test_where_the_texts_vector_stands_last_it_is_taken_from_there() -> None:
    tokenizer = tiny.xlnet_of()
    model = tiny.model_of(tokenizer, "xlnet-base", embedding=16, memory=0, reuse=0, max_positions=0)
    found = encode(model, tokenizer, TEXTS, pooling="cls", batch=5)
    for text, vector in zip(TEXTS, found, strict=True):
        ids = torch.tensor([[*tokenizer.encode(text), tokenizer.specials.sep, tokenizer.specials.cls]])
        segments = torch.tensor([[0] * (ids.shape[1] - 1) + [2]])
        with torch.inference_mode():
            expected = model(ids, segments=segments).last[0, -1]
        np.testing.assert_allclose(vector, expected.numpy(), atol=3e-6)


def test_the_order_of_the_texts_and_the_size_of_a_batch_change_nothing() -> None:
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer)
    one = encode(model, tokenizer, TEXTS, batch=1)
    np.testing.assert_allclose(encode(model, tokenizer, TEXTS[::-1], batch=4)[::-1], one, atol=2e-6)


def test_dropout_has_no_say() -> None:
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer, dropout=0.5).train()
    assert np.array_equal(encode(model, tokenizer, TEXTS), encode(model, tokenizer, TEXTS))
    assert model.training


def test_a_model_in_bfloat16_gives_float32() -> None:
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer)
    exact = encode(model, tokenizer, TEXTS)
    rough = encode(model.to(torch.bfloat16), tokenizer, TEXTS)
    assert rough.dtype == np.float32
    assert 0 < np.abs(rough - exact).max() < 0.1


def test_no_text_gives_no_vector() -> None:
    tokenizer = tiny.wordpiece_of()
    assert encode(tiny.model_of(tokenizer), tokenizer, []).shape == (0, 16)


def test_a_long_text_is_refused_or_cut_where_the_model_ends() -> None:
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer)
    long = "lake " * 29 + "north " * 9
    with pytest.raises(UserError, match=r"has 38 tokens and the model reads 30 .* shorten it, or have it cut"):
        encode(model, tokenizer, ["fine", long])
    cut = encode(model, tokenizer, [long], cut=True)
    np.testing.assert_allclose(cut, encode(model, tokenizer, ["lake " * 29 + "north"]), atol=2e-6)


def test_without_a_limit_a_long_text_is_read_whole() -> None:
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer, positions="rotary", max_positions=0)
    one, other = encode(model, tokenizer, ["lake " * 60, "lake " * 60 + "north"])
    assert np.abs(one - other).max() > 1e-3


REFUSED = {
    "a pooling nobody knows": ({"pooling": "mena"}, "unknown pooling 'mena': did you mean 'mean'"),
    "a layer that is not there": ({"layer": 4}, r"layer 4 does not exist: choose 0 \(the embedding\) to 3, or -1"),
    "below the embedding": ({"layer": -5}, "layer -5 does not exist"),
    "two ways to name layers": ({"pooling": "first-last", "layer": 2}, "layer 2 with pooling first-last"),
    "an empty batch": ({"batch": 0}, "batch 0 is no number of texts"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_asked_for_is_refused_in_a_line(name: str) -> None:
    changes, message = REFUSED[name]
    tokenizer = tiny.wordpiece_of()
    with pytest.raises(UserError, match=message):
        encode(tiny.model_of(tokenizer), tokenizer, ["a"], **changes)


def test_cosines_are_those_of_the_angles() -> None:
    found = cosines(np.array([[1, 0], [1, 1], [-2, 0], [0, 0]], np.float32))
    half = 2**-0.5
    expected = [[1, half, -1, 0], [half, 1, -half, 0], [-1, -half, 1, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(found, expected, atol=1e-6)
