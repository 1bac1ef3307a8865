"""Is what each layer does to a token measured over real tokens, as figure 1 of the ALBERT paper has it?"""

from __future__ import annotations

import math

import pytest
import torch

from litebert.lab import layers
from vectors import tiny


def test_distance_and_angle_of_states_that_are_known() -> None:
    first = torch.tensor([[[1.0, 0.0], [2.0, 0.0], [9.0, 9.0]]])
    second = torch.tensor([[[0.0, 1.0], [2.0, 2.0], [0.0, 0.0]]])  # turned by 90 and by 45 degrees; the last is padding
    third = 3 * second  # not turned
    found = layers.between([first, second, third], torch.tensor([[1, 1, 0]]))
    expected = [[math.sqrt(2) + 2, 2 + 2 * math.sqrt(8)], [135.0, 0.0]]
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64), atol=1e-5, rtol=0)


def test_a_state_that_stays_is_not_moved_by_rounding() -> None:
    state = torch.randn(1, 50, 64, generator=torch.Generator().manual_seed(0))
    assert float(layers.between([state, state], torch.ones(1, 50)).max()) < 1e-4


def test_texts_of_any_length_count_by_their_tokens() -> None:
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer)
    texts = ["the old boat sails to the north", "water", "lake " * 50, "a bird"]
    found = layers.measure(model, tokenizer, texts)
    moved, turned, count = [0.0] * 3, [0.0] * 3, 0
    for text in texts:
        ids = [2, *tokenizer.encode(text)[:30], 3]
        with torch.inference_mode():
            states = [state[0].double() for state in model(torch.tensor([ids])).hidden]
        for i in range(3):
            moved[i] += float((states[i + 1] - states[i]).norm(dim=-1).sum())
            cosine = torch.cosine_similarity(states[i], states[i + 1], dim=-1)
            turned[i] += float(torch.rad2deg(torch.acos(cosine.clamp(-1, 1))).sum())
        count += len(ids)
    assert found.tokens == count == 9 + 3 + 32 + 4
    assert found.distance == pytest.approx([value / count for value in moved], rel=1e-5)
    assert found.angle == pytest.approx([value / count for value in turned], rel=1e-4)


def test_nothing_to_read_is_no_error() -> None:
    tokenizer = tiny.wordpiece_of()
    assert layers.measure(tiny.model_of(tokenizer), tokenizer, []) == ([0.0] * 3, [0.0] * 3, 0)
