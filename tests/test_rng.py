"""Is a draw a function of its address, on every machine, whatever was drawn before?"""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import pytest
import torch

from litebert import rng

SOURCE = """
from litebert import rng
print(rng.key(7, "masks", 1, 2), *rng.generator(7, "masks", 1, 2).integers(0, 10**9, 3))
"""


def test_an_address_always_draws_the_same() -> None:
    first = rng.generator(1, "masks", 0, 5).random(8)
    rng.generator(1, "masks", 0, 6).random(100)
    assert np.array_equal(rng.generator(1, "masks", 0, 5).random(8), first)


def test_another_process_draws_the_same_whatever_its_hash_seed() -> None:
    def run(hash_seed: str) -> str:
        environment = {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)}
        return subprocess.run([sys.executable, "-c", SOURCE], env=environment, capture_output=True, text=True,
                              check=True).stdout  # fmt: skip

    here = [rng.key(7, "masks", 1, 2), *rng.generator(7, "masks", 1, 2).integers(0, 10**9, 3)]
    assert run("1") == run("2") == " ".join(map(str, here)) + "\n"


def test_the_keys_are_pinned() -> None:
    """These numbers are in every corpus and checkpoint that was made with them: changing them changes all data."""
    assert rng.key(0, "masks") == 8179510865409467584
    assert rng.key(0, "masks", 0) == 6760112981733938444
    assert rng.key(7, "order", 3, 11) == 8469062832322203128
    assert rng.generator(0, "masks", 0).integers(0, 1000, 5).tolist() == [121, 208, 839, 426, 580]


@pytest.mark.parametrize("other", [
    (2, "masks", 0, 5), (1, "order", 0, 5), (1, "masks", 1, 5), (1, "masks", 0, 6), (1, "masks", 5, 0),
    (1, "masks", 0), (1, "masks", 0, 5, 0), (-1, "masks", 0, 5), (1, "masks", 0, -5), (1, "masks", 0, 5 + 2**64),
], ids=str)  # fmt: skip
def test_another_address_draws_otherwise(other: tuple[int, str, int]) -> None:
    assert rng.key(*other) != rng.key(1, "masks", 0, 5)
    assert not np.array_equal(rng.generator(*other).random(4), rng.generator(1, "masks", 0, 5).random(4))


def test_ten_thousand_addresses_have_ten_thousand_keys() -> None:
    keys = {rng.key(seed, "masks", epoch, index) for seed in range(10) for epoch in range(10) for index in range(100)}
    assert len(keys) == 10_000
    assert all(0 <= key < 2**64 for key in keys)
    bits = np.array([[key >> bit & 1 for bit in range(64)] for key in keys]).mean(axis=0)
    assert abs(bits - 0.5).max() < 0.025  # five deviations


def test_neighbouring_addresses_draw_independent_uniform_numbers() -> None:
    first = np.array([rng.generator(0, "test", index).random() for index in range(20_000)])
    assert abs(first.mean() - 0.5) < 4 * (1 / 12 / 20_000) ** 0.5
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 4 / 20_000**0.5
    counts = np.histogram(first, bins=20, range=(0, 1))[0]
    assert ((counts - 1000) ** 2 / 1000).sum() < 50  # chi-squared with 19 degrees: p = 1e-4


def test_no_global_generator_is_read_or_moved() -> None:
    def seeded() -> tuple[float, float, float]:
        return random.random(), float(np.random.random()), float(torch.rand(()))  # noqa: NPY002

    draws = []
    for between in (False, True):
        for seed in (random.seed, np.random.seed, torch.manual_seed):
            seed(5)
        own = rng.generator(3, "x", 1).random() if between else None
        draws.append(seeded())
    assert draws[0] == draws[1]
    assert own == rng.generator(3, "x", 1).random()


def test_a_row_draws_the_same_whatever_stands_beside_it():
    alone = rng.uniform(np.array([7]), 5, 3, "masks", 1)
    among = rng.uniform(np.array([9, 7, 2]), 9, 3, "masks", 1)
    assert np.array_equal(alone[0], among[1, :5])
    assert not np.array_equal(among[0], among[1])
    assert not np.array_equal(alone, rng.uniform(np.array([7]), 5, 3, "masks", 2))


def test_rows_and_columns_are_uniform_and_uncorrelated():
    draws = rng.uniform(np.arange(20_000), 50, 0, "masks", 0)  # 10^6 draws
    counts = np.histogram(draws, bins=100, range=(0, 1))[0]
    chi = ((counts - 1e4) ** 2 / 1e4).sum()
    assert 0 <= draws.min() < draws.max() < 1
    assert 50 < chi < 160  # 99 degrees of freedom: 99 ± 14
    for one, other in ((draws[:, 0], draws[:, 1]), (draws[:-1, 0], draws[1:, 0]), (draws[:, 0], np.arange(20_000))):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.03
