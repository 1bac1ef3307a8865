"""Does every row of a window come into one batch, none over the budget, with little padding?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litebert.data import buckets


def lengths(count: int, most: int = 128, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(5, most + 1, count).astype(np.int32)


@given(st.integers(1, 700), st.integers(0, 500), st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 8, 128]),
       st.integers(0, 5))  # fmt: skip
def test_every_row_is_in_one_batch_and_no_batch_is_too_large(
    count: int, more: int, share: int, multiple: int, seed: int
) -> None:
    tokens = 128 * share + more
    wide = buckets.widths(lengths(count, seed=seed), multiple, 128)
    batches = buckets.cut(wide, tokens, share, seed, 0, 0)
    assert np.array_equal(np.sort(np.concatenate(batches)), np.arange(count))
    for batch in batches:
        assert -(-len(batch) // share) * share * wide[batch].max() <= tokens
        assert np.all(np.diff(batch) > 0), "rows stand in the order's order"
    assert sum(len(batch) % share > 0 for batch in batches) == (count % share > 0)


def test_a_batch_takes_all_that_fits() -> None:
    """Rows of one length: 1,000 tokens hold 96 rows of 10 in eights."""
    batches = buckets.cut(np.full(500, 10), 1000, 8, 0, 0, 0)
    assert sorted(map(len, batches)) == [20, 96, 96, 96, 96, 96]


def test_padding_is_a_small_share() -> None:
    """Even lengths 5 to 128: without buckets 47 % of the slots would be padding, with windows under 2 %."""
    count = buckets.window(8192, 128, 8)
    wide = lengths(count).astype(np.int64)
    batches = buckets.cut(wide, 8192, 8, 0, 0, 0)
    slots = sum(len(batch) * int(wide[batch].max()) for batch in batches)
    assert 1 - wide.sum() / slots < 0.02
    assert 1 - wide.sum() / (count * 128) > 0.4


def test_the_batches_of_a_window_are_not_in_the_order_of_their_lengths() -> None:
    wide = lengths(4096).astype(np.int64)
    batches = buckets.cut(wide, 8192, 8, 0, 0, 0)
    longest = np.array([wide[batch].max() for batch in batches], dtype=float)
    assert abs(np.corrcoef(longest, np.arange(len(longest)))[0, 1]) < 0.5
    for other in ((1, 0, 0), (0, 1, 0), (0, 0, 4096)):
        again = buckets.cut(wide, 8192, 8, *other)
        assert [batch.tolist() for batch in again] != [batch.tolist() for batch in batches]
        assert sorted(batch.tolist() for batch in again) == sorted(batch.tolist() for batch in batches)


@pytest.mark.parametrize("length,multiple,most,wide", [
    (1, 8, 128, 8), (8, 8, 128, 8), (9, 8, 128, 16), (125, 8, 127, 127), (100, 128, 128, 128), (77, 1, 128, 77),
])  # fmt: skip
def test_rows_are_rounded_up_but_not_beyond_the_longest(length: int, multiple: int, most: int, wide: int) -> None:
    assert buckets.widths(np.array([length], dtype=np.int32), multiple, most).tolist() == [wide]


@pytest.mark.parametrize(
    "tokens,length,share,places", [(8192, 128, 8, 16_384), (1024, 128, 8, 2048), (9999, 100, 8, 24_576)]
)
def test_a_window_holds_256_full_batches(tokens: int, length: int, share: int, places: int) -> None:
    assert buckets.window(tokens, length, share) == places
