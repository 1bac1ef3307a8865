"""Which tokens does XLNet predict? Spans, each in a stretch of context that stays, and single tokens for the rest.

zihangdai/xlnet:data_utils.py, `_sample_mask`: from left to right draw a length n and a context of n times `context`
tokens, part of it in front; from the next beginning of a word take n units, and go on behind the rest of the context.
A span that reaches the end of its row is not taken, and what is missing in the end is drawn token by token. There n
counts pieces where words were meant (the end is looked for at the beginning): unit "token" does so too, "word" counts
words. Special tokens are passed over here, and no span runs across one unless the recipe says so.

Shapes: R rows, K tokens that may be hidden.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from litebert import rng
from litebert.data.recipe import Recipe
from litebert.data.spans import Flags, Taken, keyed, lengths, turns
from litebert.data.units import Places, Units, units

_HALF = np.uint64(32)


def in_context(
    words: NDArray[np.int16], examples: NDArray[np.int64], budget: Places, recipe: Recipe, seed: int, copy: int
) -> Taken:
    """The tokens that are predicted in rows [R, T], as many as the budget [R] of each."""
    single, word = units(words, whole=False, across=recipe.across), units(words, whole=True, across=recipe.across)
    chosen, begins = np.zeros((2, len(single.tokens) + 1), dtype=bool)
    left = budget.copy()
    at, end = single.offsets[:-1].copy(), single.offsets[1:]  # [R] where a row's next context begins; where it ends
    draws = rng.bits(examples, int(budget.max(initial=0)), seed, "spans", copy)  # [R, spans]
    rows = np.arange(len(words))
    for bits in draws.T:
        rows = rows[left[rows] > 0]
        count = np.minimum(lengths(bits[rows], recipe.spans, recipe.longest), left[rows])
        stretch = count * recipe.context
        front = ((bits[rows] >> _HALF) * stretch.astype(np.uint64) >> _HALF).astype(np.intp)
        first = np.searchsorted(word.first[:-1], at[rows] + front)  # the next word
        fits = first < word.offsets[rows + 1]
        rows, count, stretch, front, first = (each[fits] for each in (rows, count, stretch, front, first))
        begin = word.first[first]
        unit, line = (first, word) if recipe.unit == "word" else (begin, single)
        stop = np.minimum(line.first[np.minimum(unit + count, line.ends[unit])], begin + left[rows])
        fits = stop < end[rows]
        rows, begin, stop, rest = (each[fits] for each in (rows, begin, stop, stretch - front))
        begins[begin] = True
        for distance in range(int((stop - begin).max(initial=0))):
            chosen[np.minimum(begin + distance, stop - 1)] = True
        left[rows] -= stop - begin
        at[rows] = stop + rest
    _fill(single, chosen, begins, left, examples, seed, copy)
    places = np.flatnonzero(chosen[:-1])
    return Taken(single.tokens[places], begins[places])


def _fill(
    single: Units, chosen: Flags, begins: Flags, left: Places, examples: NDArray[np.int64], seed: int, copy: int
) -> None:
    """Add single tokens, drawn among those that are not chosen yet, until nothing is `left` of a row's budget."""
    columns = np.arange(single.counts.max(initial=1))
    each = single.offsets[:-1, None] + columns  # [R, W]
    exists = columns < single.counts[:, None]
    exists &= ~chosen[np.where(exists, each, 0)]
    bits = rng.bits(examples, len(columns), seed, "singles", copy)
    order = np.sort(keyed(bits, exists), axis=1)[:, : left.max(initial=0)]
    more = turns(single, order)[columns[: order.shape[1]] < left[:, None]]
    chosen[more] = begins[more] = True
