"""Is the arithmetic of a token that of the model that runs, and is a peak what a clock says it is?"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import torch

from litebert import family, presets
from litebert.data import recipe as data_recipes
from litebert.model import cost
from litebert.train import precision, work

FLOAT32 = precision.choose("float32", torch.device("cpu"))


def ticking(each: float) -> Callable[[], float]:
    """A clock that moves by `each` whenever it is read."""
    ticks = itertools.count()
    return lambda: each * next(ticks)


@pytest.mark.parametrize("name", ["albert-base", "bert-base", "roberta-base"])
def test_a_token_of_training_costs_three_forward_passes_of_its_share_of_a_row(name: str) -> None:
    config = presets.preset(name)
    data = data_recipes.recipe("albert", length=128)
    forward = 2 * sum(cost.macs(config, 128, heads=family.pretraining_heads(config), asked=19).values())
    assert work.per_token(config, data) == pytest.approx(3 * forward / 128, rel=0.01)


def test_more_answers_cost_more_and_longer_rows_too() -> None:
    config = presets.preset("albert-base")
    short, long = (data_recipes.recipe("albert", length=n) for n in (128, 512))
    assert work.per_token(config, long) > work.per_token(config, short)
    assert work.per_token(config, short.but(rate=0.4)) > work.per_token(config, short)
    assert work.per_token(config.but(layers=24), short) > 1.9 * work.per_token(config, short.but(rate=0.01))


def test_the_peak_is_the_best_product_by_the_clock() -> None:
    operations = 2 * 2048 * 768 * 3072
    assert work.peak(FLOAT32, clock=ticking(0.25)) == pytest.approx(operations / 0.25)
    readings = iter([0.0, 9.0, 10.0, 10.5, 20.0, 29.0])
    assert work.peak(FLOAT32, seconds=1.0, clock=lambda: next(readings)) == pytest.approx(operations / 0.5)


def test_a_fast_machine_is_measured_for_its_tenths_of_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "_SHAPE", (2, 3, 5))
    looks = itertools.count()
    assert work.peak(FLOAT32, seconds=20 / 1024, clock=lambda: next(looks) / 1024) == 2 * 2 * 3 * 5 * 1024
    assert next(looks) == 40  # twenty products, each between two looks


def test_settling_the_cpu_is_nothing() -> None:
    work.settle("cpu")
