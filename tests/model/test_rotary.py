"""How does a rotation say where a token is? Its angles, its two ways to be computed, and that only distance counts."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from litebert.model import rotary
from model.specimens import ROTARY, make, noise, tokens


def rotated(x: Tensor, places: list[int]) -> Tensor:
    """x [T, D] at these places."""
    return rotary.rotate(x[None, :, None], rotary.angles(torch.tensor(places), x.shape[-1]))[0, :, 0]


def test_neighbouring_features_turn_by_place_times_their_frequency() -> None:
    x = torch.tensor([[1.0, 0.0, 0.0, 1.0]])
    slow = 7 * 10000 ** (-2 / 4)
    expected = [math.cos(7), math.sin(7), -math.sin(slow), math.cos(slow)]
    torch.testing.assert_close(rotated(x, [7]), torch.tensor([expected]), atol=1e-6, rtol=0)


def test_place_zero_turns_nothing_and_no_place_changes_a_length() -> None:
    x = noise(4, 8)
    assert torch.equal(rotated(x, [0, 0, 0, 0]), x)
    torch.testing.assert_close(rotated(x, [1, 20, 300, 4000]).norm(dim=-1), x.norm(dim=-1), atol=1e-5, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("places", [torch.arange(5), torch.tensor([[0, 1, 2, 3, 4], [9, 3, 7, 511, 0]])],
                         ids=["one row of places", "places for every text"])  # fmt: skip
def test_the_complex_product_is_the_pair_formula_that_a_compiler_sees(places, dtype, monkeypatch) -> None:
    x = noise(2, 5, 3, 8, dtype=dtype).requires_grad_()
    weight, by = noise(2, 5, 3, 8, seed=1, dtype=dtype), rotary.angles(places, 8)
    product = rotary.rotate(x, by)
    (slope,) = torch.autograd.grad((product * weight).sum(), x)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    pairs = rotary.rotate(x, by)
    (pair_slope,) = torch.autograd.grad((pairs * weight).sum(), x)
    assert product.dtype == pairs.dtype == dtype
    tolerance = 1e-6 if dtype == torch.float32 else 0.05
    torch.testing.assert_close(product, pairs, atol=tolerance, rtol=0)
    torch.testing.assert_close(slope, pair_slope, atol=tolerance, rtol=0)


@pytest.mark.parametrize("shift", [1, 17, 400])
def test_a_score_depends_on_the_distance_alone(shift) -> None:
    query, key = noise(1, 64, seed=1), noise(1, 64, seed=2)

    def score(i: int, j: int) -> float:
        return float(rotated(query, [i]) @ rotated(key, [j]).T)

    for i, j in [(0, 0), (5, 2), (2, 5), (90, 11)]:
        assert score(i, j) == pytest.approx(score(i + shift, j + shift), abs=1e-4)
    assert abs(score(5, 2) - score(2, 5)) > 0.1
    assert abs(score(5, 2) - score(6, 2)) > 0.1


def test_moving_a_whole_text_changes_nothing_and_moving_a_token_does() -> None:
    model, ids, count = make(ROTARY), tokens(2, 6), torch.arange(6).expand(2, 6)
    plain = model(ids).last
    torch.testing.assert_close(model(ids, positions=count).last, plain, atol=1e-6, rtol=0)
    torch.testing.assert_close(model(ids, positions=count + 40).last, plain, atol=2e-5, rtol=0)
    assert (model(ids, positions=count * 2).last - plain).abs().max() > 0.01


def test_without_positions_a_rotary_model_would_not_know_the_order() -> None:
    model, ids = make(ROTARY), tokens(1, 6)
    nowhere = torch.zeros(1, 6, dtype=torch.long)
    turned = model(ids.flip(1), positions=nowhere).last.flip(1)
    torch.testing.assert_close(turned, model(ids, positions=nowhere).last, atol=1e-5, rtol=0)
    assert (model(ids.flip(1)).last.flip(1) - model(ids).last).abs().max() > 0.01
