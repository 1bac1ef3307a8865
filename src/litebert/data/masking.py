"""What is hidden of a batch, what stands in its place, and what is asked? One function for every recipe.

All draws are addressed by (seed, purpose, epoch, example): what is hidden in a row depends neither on the rows beside
it nor on how far it is padded. Shapes: R rows, T tokens, P predictions at most, N predictions in all.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from litebert import rng
from litebert.data import modes, permutation, spans
from litebert.data.context import in_context
from litebert.data.recipe import Recipe
from litebert.data.rows import NO_ORDER, Batch, Rows
from litebert.data.units import Places, Units, budgets, most_predictions, units
from litebert.data.vocabulary import Vocabulary

_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)
_Number = TypeVar("_Number", bound=np.generic)


class _Pool(NamedTuple):
    """What random tokens are drawn from: a stretch of ids for every row."""

    ids: NDArray[np.integer]
    begins: Places  # [R]
    sizes: NDArray[np.uint64]  # [R]


class _Asked(NamedTuple):
    """The predictions of a batch, all rows in one line."""

    places: Places  # [N] in the flattened [R, T], ascending
    rows: Places  # [N]
    slots: Places  # [N] in the flattened [R, P]
    spans: Places  # [N] which span of its row


def corrupt(
    rows: Rows,
    recipe: Recipe,
    vocabulary: Vocabulary,
    seed: int,
    epoch: int,
    *,
    text: NDArray[np.integer] | None = None,
    mode: str = "bidirectional",
    target: bool = False,
) -> Batch:
    """Hide a part of every row and ask for it, in a batch as wide as `most_predictions` says.

    `text` is what replacements of kind "text" are drawn from; without it they are tokens of their own row. `mode` is
    how a batch of UniLM's mixture sees. With `target` only the second segment is hidden, its closing separator too,
    and the rate is of its length: UniLM's fine-tuning, where a model has to learn when to stop.
    """
    copy = epoch % recipe.copies if recipe.copies else epoch
    if target:
        rows = modes.target_only(rows)
    shape = (len(rows.ids), most_predictions(recipe, rows.ids.shape[1]))
    within = units(rows.words, recipe.unit == "word", recipe.across)
    budget = budgets(recipe, rows.lengths - rows.source - 1 if target else rows.lengths)
    asked = _asked(_taken(rows, within, budget, recipe, seed, copy), within.width, shape)
    bits = rng.bits(rows.examples, shape[1], seed, "replacements", copy)
    return Batch(
        ids=_replaced(rows.ids, asked, bits, recipe, vocabulary.mask, _pool(rows, within, recipe, vocabulary, text)),
        mask=(np.arange(within.width) < rows.lengths[:, None]).view(np.uint8),
        segments=modes.segments(rows, mode),
        asked=_spread(asked, (asked.places % within.width).astype(np.int32), shape),
        targets=_spread(asked, rows.ids.ravel()[asked.places], shape),
        weights=_spread(asked, np.ones(len(asked.places), dtype=np.float32), shape),
        order=rows.order if mode == "bidirectional" else np.full_like(rows.order, NO_ORDER),
        examples=rows.examples,
        spans=_spread(asked, asked.spans.astype(np.int16), shape, empty=-1),
        ranks=_ranks(rows, asked, seed, copy) if recipe.task == "plm" else None,
        mode=mode,
        source=rows.source if mode == "seq2seq" else None,
    )


def _taken(rows: Rows, within: Units, budget: Places, recipe: Recipe, seed: int, copy: int) -> spans.Taken:
    if recipe.spans == "context":
        return in_context(rows.words, rows.examples, budget, recipe, seed, copy)
    if recipe.repeats:
        return spans.repeated(within, rows.examples, budget, seed, copy)
    if recipe.unit == "token" and recipe.spans == "one":
        return spans.singles(within, rows.examples, budget, seed, copy)
    draws = spans.draw(within, rows.examples, recipe, seed, copy)
    return (spans.exact if recipe.exact else spans.greedy)(within, draws, budget)


def _asked(taken: spans.Taken, width: int, shape: tuple[int, int]) -> _Asked:
    rows = taken.places // width
    counts = np.bincount(rows, minlength=shape[0])
    before = np.cumsum(counts) - counts  # [R] predictions in the rows above
    begun = np.append(0, np.cumsum(taken.begins))  # [N + 1] spans until here
    slots = np.arange(len(rows)) + np.repeat(np.arange(shape[0]) * shape[1] - before, counts)
    return _Asked(taken.places, rows, slots, begun[1:] - 1 - np.repeat(begun[before], counts))


def _spread(asked: _Asked, values: NDArray[_Number], shape: tuple[int, int], empty: int = 0) -> NDArray[_Number]:
    """Values [N] of the predictions as a table [R, P]."""
    table = np.full(shape, empty, dtype=values.dtype)
    table.ravel()[asked.slots] = values
    return table


def _replaced(
    ids: NDArray[np.int32], asked: _Asked, bits: NDArray[np.uint64], recipe: Recipe, mask: int, pool: _Pool
) -> NDArray[np.int32]:
    """The ids, and where something is asked a mask, a random token, or what stood there; `bits` are [R, P]."""
    token = bits.ravel()[asked.slots]
    decision = token if recipe.decide == "token" else bits[asked.rows, asked.spans]
    share = (decision >> _HALF).astype(np.float64) * 2.0**-32
    masked = share < recipe.masked
    swapped = np.flatnonzero(~masked & (share < recipe.masked + recipe.random))
    row = asked.rows[swapped]
    result = ids.copy()
    result.ravel()[asked.places[masked]] = mask
    chosen = (token[swapped] & _LOW) * pool.sizes[row] >> _HALF
    result.ravel()[asked.places[swapped]] = pool.ids[pool.begins[row] + chosen.astype(np.intp)]
    return result


def _pool(rows: Rows, within: Units, recipe: Recipe, vocabulary: Vocabulary, text: NDArray[np.integer] | None) -> _Pool:
    """What random tokens are drawn from."""
    ids: NDArray[np.integer]
    if recipe.replacements == "text" and text is None:
        begins = within.first[within.offsets]  # [R + 1] of the tokens that may be hidden, which a row's are
        return _Pool(rows.ids.ravel()[within.tokens], begins[:-1], np.diff(begins).astype(np.uint64))
    if recipe.replacements == "text" and text is not None:
        ids = text
    else:
        drawn = ~vocabulary.special if recipe.replacements == "pieces" else np.ones(vocabulary.size, dtype=bool)
        ids = np.flatnonzero(drawn)
    height = len(rows.ids)
    return _Pool(ids, np.zeros(height, dtype=np.intp), np.full(height, len(ids), dtype=np.uint64))


def _ranks(rows: Rows, asked: _Asked, seed: int, copy: int) -> NDArray[np.int32]:
    """Every token's place in its row's order [R, T], -1 for those that are free."""
    height, width = rows.ids.shape
    order = permutation.orders(rows.examples, rows.lengths, width, seed, copy)
    selected = np.zeros(height * width, dtype=bool)
    selected[asked.places] = True
    special = (rows.words < 0) & (np.arange(width) < rows.lengths[:, None])
    return permutation.ranks(order, selected.reshape(height, width), special)
