"""How does XLNet lay out a pair, how many tokens does it predict, and in what order? Numbers only, no model.

Shapes: T tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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


def ranks(order: NDArray[np.int64], selected: NDArray[np.bool_], special: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Every token's place in the order [T], or -1 for a free one: neither selected nor special.

    Free tokens are seen by all and see only free ones; `visibility.permutation` turns places into who sees whom, with
    the selected, non-special tokens as targets.
    """
    return np.where(selected | special, order, -1)
