"""How does XLNet lay out a pair, how many tokens does it predict, and in what order? Numbers only, no model.

Shapes: R rows, T tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from litebert import rng
from litebert.data.spans import LOW, keyed

Place = TypeVar("Place", np.int32, np.int64)

CONSECUTIVE = 1  # XLNet's label of a pair whose B follows A; BERT and ALBERT say 0


class Pair(NamedTuple):
    """A pair in XLNet's layout, A SEP B SEP CLS: the summary token comes last."""

    ids: NDArray[np.int64]
    segments: NDArray[np.int64]  # A and its separator 0, B and its separator 1, CLS 2
    special: NDArray[np.bool_]  # separators and CLS: in the order, never predicted


def pair(a: Sequence[int], b: Sequence[int], sep: int, cls: int) -> Pair:
    """A SEP B SEP CLS."""
    ids = np.array([*a, sep, *b, sep, cls], dtype=np.int64)
    segments = np.repeat([0, 1, 2], [len(a) + 1, len(b) + 1, 1])
    special = np.zeros(len(ids), dtype=bool)
    special[[len(a), len(a) + 1 + len(b), len(ids) - 1]] = True
    return Pair(ids, segments.astype(np.int64), special)


def predicted(length: int, share: int = 6) -> int:
    """How many tokens of a sequence are predicted: one in `share` (Yang et al. 2019, K = 6: 85 of 512)."""
    return length // share


def orders(
    examples: NDArray[np.int64], lengths: NDArray[np.integer], width: int, seed: int, copy: int, block: int = 0
) -> NDArray[np.int32]:
    """A random order of the tokens of every row: each token's place in it [R, T], of no meaning on padding.

    With a `block` the same order is repeated in every block of so many tokens, and the blocks follow one another
    (zihangdai/xlnet:data_utils.py, `_local_perm`, perm_size).
    """
    columns = np.arange(block or width)
    exists = columns < (np.full(len(examples), block) if block else lengths)[:, None]
    turns = np.sort(keyed(rng.bits(examples, len(columns), seed, "orders", copy), exists), axis=1)  # [R, block]
    places = np.zeros((len(examples), len(columns) + 1), dtype=np.int32)  # the last is for what does not exist
    np.put_along_axis(places, np.minimum(turns & LOW, len(columns)).astype(np.intp), columns[None].astype(np.int32), 1)
    every = np.arange(width)
    return places[:, every % len(columns)] + (every // len(columns) * len(columns)).astype(np.int32)


def ranks(order: NDArray[Place], selected: NDArray[np.bool_], special: NDArray[np.bool_]) -> NDArray[Place]:
    """Every token's place in the order [T] or [R, T], or -1 for a free one: neither selected nor special.

    Free tokens are seen by all and see only free ones; `visibility.permutation` turns places into who sees whom, with
    the selected, non-special tokens as targets.
    """
    return np.where(selected | special, order, order.dtype.type(-1))
