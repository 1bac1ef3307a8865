"""Does a choice of layers take the layers that it names? Shown on made-up states that tell their places."""

from __future__ import annotations

from typing import get_args

import pytest
import torch

from litebert.errors import UserError
from litebert.tasks import layers as choice
from litebert.tasks.settings import Layers

DEPTH = 6
HIDDEN = [torch.full((1, 2, 3), 10.0**place) for place in range(DEPTH + 1)]  # a digit for every layer

READ: dict[Layers, list[float]] = {
    "embedding": [1],
    "last": [1_000_000],
    "second-to-last": [100_000],
    "sum-last-4": [1_111_000],
    "concat-last-4": [1_000, 10_000, 100_000, 1_000_000],
    "weighted-last-4": [1_000, 10_000, 100_000, 1_000_000],
    "sum-all": [1_111_110],  # the embedding is no block
    "weighted-all": [10, 100, 1_000, 10_000, 100_000, 1_000_000],
}


@pytest.mark.parametrize("layers", get_args(Layers))
def test_layers_are_taken_by_their_places_from_below(layers: Layers) -> None:
    found = choice.chosen(HIDDEN, layers)
    assert found.shape == (1, 2, 3 * len(READ[layers]))
    assert found[0, 1, ::3].tolist() == READ[layers]
    assert choice.count(layers, DEPTH) == len(READ[layers])
    assert choice.weighted(layers) == layers.startswith("weighted")


def test_a_model_of_just_so_many_blocks_has_them_without_its_embedding() -> None:
    assert choice.chosen(HIDDEN[:5], "concat-last-4")[0, 0, ::3].tolist() == [10, 100, 1_000, 10_000]
    assert choice.places("second-to-last", 2) == (1,)


@pytest.mark.parametrize(("layers", "depth"), [("concat-last-4", 3), ("weighted-last-4", 2), ("second-to-last", 1)])
def test_more_layers_than_there_are_is_an_error_and_never_wraps_around(layers: Layers, depth: int) -> None:
    with pytest.raises(
        UserError, match=f"layers '{layers}' needs a model of . blocks or more, and this one has {depth}"
    ):
        choice.chosen(HIDDEN[: depth + 1], layers)
