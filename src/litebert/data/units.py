"""What of a batch may be hidden, and how much of it? Tokens or whole words, counted row after row.

Shapes: R rows, T tokens, K tokens that may be hidden, M units (words, or single tokens).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.data.recipe import Recipe

Places = NDArray[np.intp]

_EDGE = 1e-9  # 0.1 * 30 is above 3 in floats: rounding up must not make it 4
_MARGIN = 0.005  # google-research/electra:configure_pretraining.py, of the rate: room for 79 predictions in 512 tokens


class Units(NamedTuple):
    """The units of all rows in one line, and the tokens that they are made of."""

    width: int  # T
    tokens: Places  # [K] places in the flattened [R, T] of the tokens that may be hidden
    first: Places  # [M + 1] where in `tokens` a unit begins, and so where the one before it ends
    ends: Places  # [M] the unit before which a span that begins here has to stop
    offsets: Places  # [R + 1] a row's first unit

    @property
    def counts(self) -> Places:
        """Units in each row [R]."""
        return np.diff(self.offsets)


def units(words: NDArray[np.int16], whole: bool, across: bool) -> Units:
    """The units of rows [R, T]: `whole` words or single tokens, in runs that a separator ends unless `across`."""
    rows, width = words.shape
    tokens = np.flatnonzero(words.ravel() >= 0)
    offsets = np.searchsorted(tokens, np.arange(rows + 1) * width)
    fresh = np.zeros(len(tokens) + 1, dtype=bool)  # [K + 1] true where a run begins, and after the last token
    fresh[offsets] = True
    if not across:
        fresh[1:-1] |= tokens[1:] != tokens[:-1] + 1
    if not whole:
        return Units(width, tokens, np.arange(len(tokens) + 1), _next(fresh), offsets)
    word = words.ravel()[tokens]
    starts = fresh.copy()
    starts[1:-1] |= word[1:] != word[:-1]
    first = np.flatnonzero(starts)
    return Units(width, tokens, first, _next(fresh[first]), np.searchsorted(first, offsets))


def budgets(recipe: Recipe, lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """How many tokens of rows of these lengths are predicted [R], special ones counted: 19 of 128, 77 of 512.

    Halves go to the even number, as `int(round(x))` of Python 3 has it in the originals: 30 tokens at 15 % give 4.
    """
    if recipe.task == "plm":  # Yang et al. 2019, K = 6: 85 of 512
        wanted = lengths // recipe.share
    elif recipe.rounding == "up":
        wanted = np.ceil(recipe.rate * lengths - _EDGE).astype(np.int64)
    else:
        wanted = np.rint(recipe.rate * lengths).astype(np.int64)
    return np.clip(wanted, 1, recipe.most or None)


def most_predictions(recipe: Recipe, length: int = 0) -> int:
    """The most predictions that a row of `length` (the recipe's unless given) asks for: a fixed width for batches."""
    length = length or recipe.length
    budget = int(budgets(recipe, np.array([length]))[0])
    if recipe.task == "rtd" and not recipe.most:
        return max(budget, int((recipe.rate + _MARGIN) * length))
    return budget


def _next(fresh: NDArray[np.bool_]) -> Places:
    """For every unit the next one at which a run begins [M]; the last entry of `fresh` [M + 1] is the end of all."""
    borders = np.flatnonzero(fresh)
    return np.repeat(borders[1:], np.diff(borders))
