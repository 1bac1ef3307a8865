"""How do many token vectors become one? Every way against values worked out by hand on counted states."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from litebert.model import pooling
from litebert.model.pooling import Pooler
from model.specimens import SMALL, make, tokens


def states() -> tuple[Tensor, ...]:
    """Four states [1, 3, 2]: state s, token t holds (100s + 10t, 100s + 10t + 1)."""
    tokens_of = torch.tensor([[0.0, 1.0], [10.0, 11.0], [20.0, 21.0]])
    return tuple((tokens_of + 100 * s)[None] for s in range(4))


TWO = torch.tensor([[1, 1, 0]])
WAYS = {
    "cls": (lambda mask: pooling.first(states()[-1]), [300, 301], [300, 301]),
    "mean": (lambda mask: pooling.mean(states()[-1], mask), [310, 311], [305, 306]),
    "max": (lambda mask: pooling.maximum(states()[-1], mask), [320, 321], [310, 311]),
    "first-last": (lambda mask: pooling.first_last(states(), mask), [210, 211], [205, 206]),
    "the last two": (lambda mask: pooling.layers(states(), (-2, -1), mask), [260, 261], [255, 256]),
    "the embedding and the last": (lambda mask: pooling.layers(states(), (0, 3), mask), [160, 161], [155, 156]),
    "one layer": (lambda mask: pooling.layers(states(), [2], mask), [210, 211], [205, 206]),
    "one layer, from the end": (lambda mask: pooling.layers(states(), [-2], mask), [210, 211], [205, 206]),
    "three layers": (lambda mask: pooling.layers(states(), (1, 2, 3), mask), [210, 211], [205, 206]),
}


@pytest.mark.parametrize("pool, unmasked, masked", WAYS.values(), ids=WAYS.keys())
def test_a_way_worked_out_by_hand(pool, unmasked: list[float], masked: list[float]) -> None:
    assert pool(None)[0].tolist() == unmasked
    assert pool(torch.ones(1, 3))[0].tolist() == unmasked
    assert pool(TWO)[0].tolist() == masked


def test_the_last_two_are_not_the_first_and_the_last() -> None:
    """bojone/BERT-whitening's demo picks [-i] with i from 0, and gets the embedding for the last layer."""
    counted_from_zero = torch.stack([states()[-i].mean(dim=1) for i in (0, 1)]).mean(dim=0)
    assert counted_from_zero[0].tolist() == [160, 161]
    assert pooling.layers(states(), (-2, -1))[0].tolist() == [260, 261]


@pytest.mark.parametrize("layer", [4, -5, 12])
def test_a_layer_that_does_not_exist_is_refused(layer: int) -> None:
    message = rf"layer {layer} does not exist: choose 0 \(the embedding\) to 3"
    with pytest.raises(ValueError, match=message):
        pooling.layers(states(), (1, layer))


def test_the_largest_of_negative_features_is_not_padding_s() -> None:
    hidden = torch.tensor([[[-5.0, -7.0], [-6.0, -4.0], [0.0, 0.0]]])
    assert pooling.maximum(hidden, TWO)[0].tolist() == [-5, -4]


def test_an_empty_text_pools_to_finite_numbers() -> None:
    nothing = torch.zeros(1, 3, dtype=torch.long)
    assert pooling.mean(states()[-1], nothing)[0].tolist() == [0, 0]
    assert pooling.maximum(states()[-1], nothing).isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_pooling_keeps_the_type(dtype: torch.dtype) -> None:
    typed = tuple(state.to(dtype) for state in states())
    assert pooling.mean(typed[0], TWO).dtype == dtype
    assert pooling.maximum(typed[0], TWO).dtype == dtype
    assert pooling.first_last(typed, TWO).dtype == dtype


@pytest.mark.parametrize("way", ["mean", "max", "first-last"])
def test_the_pooler_pools_as_its_config_says_and_has_no_weights(way: str) -> None:
    pooler = Pooler(SMALL.but(pooler=way))
    assert list(pooler.parameters()) == []
    assert pooler(states(), TWO)[0].tolist() == WAYS[way][2]
    assert pooler(states(), None)[0].tolist() == WAYS[way][1]


def test_the_cls_pooler_is_dense_and_tanh_on_position_zero() -> None:
    model = make(SMALL).double()
    out, dense = model(tokens(2, 5)), model.pooler.dense
    torch.testing.assert_close(out.pooled, torch.tanh(out.last[:, 0] @ dense.weight.T + dense.bias))
    assert not torch.allclose(out.pooled, out.last[:, 0], atol=1e-2)


def test_without_a_pooler_nothing_is_pooled() -> None:
    model = make(SMALL.but(pooler="none", objectives=("mlm",)))
    assert model(tokens(1, 3)).pooled is None


def test_first_last_skips_the_embedding() -> None:
    model = make(SMALL.but(pooler="first-last"))
    out = model(tokens(2, 5))
    expected = (out.hidden[1].mean(dim=1) + out.hidden[3].mean(dim=1)) / 2
    torch.testing.assert_close(out.pooled, expected, atol=1e-6, rtol=0)
