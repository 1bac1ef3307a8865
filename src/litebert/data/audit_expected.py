"""What would the published rule have hidden? The same rows, one span after another, as one would do it by hand.

It shares nothing with the masker but the probabilities of the lengths, and is far too slow to mask with. It is needed
because lengths of accepted spans are not those that were drawn (long ones collide, and the budget cuts the last), and
because a budget that is nearly spent pays for short words only. Shapes: R rows, T tokens.
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert import rng
from litebert.data.recipe import Recipe
from litebert.data.rows import Rows
from litebert.data.spans import shares
from litebert.data.units import budgets

LONGEST = 64  # units of a span that are told apart


class Expected(NamedTuple):
    """What the rule hid."""

    spans: NDArray[np.int64]  # [64] how many of 1, 2, … units
    hidden: NDArray[np.bool_]  # [R, T]


class _Row(NamedTuple):
    """A row's units: where each begins among the tokens that may be hidden, and where a span from it must stop."""

    first: list[int]  # [units + 1]
    ends: list[int]  # [units] the unit
    words: list[bool]  # [tokens] whether a word begins
    budget: int


_Hidden = tuple[list[int], set[int]]  # units of each span; tokens


def by_hand(rows: Rows, recipe: Recipe, seed: int, portion: int) -> Expected:
    """Follow the recipe's rule in these rows, the `portion`-th that are looked at."""
    chances = shares(recipe.spans, recipe.longest)
    rule = _in_context if recipe.spans == "context" else _exact if recipe.exact else _greedy
    rule = _repeated if recipe.repeats else rule
    counts, hidden = np.zeros(LONGEST + 1, dtype=np.int64), np.zeros(rows.ids.shape, dtype=bool)
    for number, (words, budget) in enumerate(zip(rows.words, budgets(recipe, rows.lengths), strict=True)):
        draw = rng.generator(seed, "audit", portion, number)
        accepted, tokens = rule(_row(words, int(budget), recipe), chances, draw, recipe)
        np.add.at(counts, np.minimum(np.array(accepted, dtype=np.int64), LONGEST), 1)
        hidden[number, np.flatnonzero(words >= 0)[sorted(tokens)]] = True
    return Expected(counts[1:], hidden)


def _row(words: NDArray[np.int16], budget: int, recipe: Recipe) -> _Row:
    sizes: list[int] = []
    starts: list[bool] = []
    runs: list[int] = []  # the unit at which each run begins
    before = -1  # the word of the token before
    for word in words.tolist():
        if word >= 0 and before < 0 and not (recipe.across and sizes):
            runs.append(len(sizes))
        if word >= 0:
            starts.append(word != before)
            if recipe.unit == "word" and word == before:
                sizes[-1] += 1
            else:
                sizes.append(1)
        before = word
    stops = [*runs[1:], len(sizes)]
    ends = [stop for run, stop in zip(runs, stops, strict=True) for _ in range(run, stop)]
    return _Row(list(accumulate(sizes, initial=0)), ends, starts, budget)


def _drawn(chances: NDArray[np.float64], draw: np.random.Generator) -> int:
    return int(np.searchsorted(np.cumsum(chances)[:-1], draw.random(), side="right")) + 1


def _greedy(row: _Row, chances: NDArray[np.float64], draw: np.random.Generator, recipe: Recipe) -> _Hidden:
    """google-research/albert:create_pretraining_data.py: shorten to what is left, skip what touches what is taken."""
    tokens: set[int] = set()
    accepted: list[int] = []
    for start in draw.permutation(len(row.ends)).tolist():
        left = row.budget - len(tokens)
        if left <= 0:
            break
        units = min(_drawn(chances, draw), row.ends[start] - start)
        while units and row.first[start + units] - row.first[start] > left:
            units -= 1
        span = range(row.first[start], row.first[start + units])
        if units and tokens.isdisjoint(span):
            tokens.update(span)
            accepted.append(units)
    return accepted, tokens


def _repeated(row: _Row, chances: NDArray[np.float64], draw: np.random.Generator, recipe: Recipe) -> _Hidden:
    """google-research/electra:pretrain/pretrain_helpers.py: drawn with replacement, what comes twice counts once."""
    tokens = set(draw.integers(len(row.words), size=row.budget).tolist()) if row.words else set()
    return [1] * len(tokens), tokens


def _exact(row: _Row, chances: NDArray[np.float64], draw: np.random.Generator, recipe: Recipe) -> _Hidden:
    """facebookresearch/SpanBERT: a free start, over what is taken, the last one cut; those that touch are one."""
    tokens: set[int] = set()
    for start in draw.permutation(len(row.ends)).tolist():
        if len(tokens) >= row.budget:
            break
        if row.first[start] in tokens:
            continue
        stop = min(start + _drawn(chances, draw), row.ends[start])
        fresh = [token for token in range(row.first[start], row.first[stop]) if token not in tokens]
        tokens.update(fresh[: row.budget - len(tokens)])
    accepted: list[int] = []
    before = False  # whether the token before is hidden, and a span can go on from it
    for unit, end in enumerate(row.ends):
        if unit and row.ends[unit - 1] != end:
            before = False
        inside = [token in tokens for token in range(row.first[unit], row.first[unit + 1])]
        if inside[0] and before:
            accepted[-1] += 1
        elif inside[0]:
            accepted.append(1)
        before = all(inside)
    return accepted, tokens


def _in_context(row: _Row, chances: NDArray[np.float64], draw: np.random.Generator, recipe: Recipe) -> _Hidden:
    """zihangdai/xlnet:data_utils.py, `_sample_mask`: span after span, each in a context; then single tokens."""
    tokens: set[int] = set()
    accepted: list[int] = []
    at, end = 0, len(row.words)
    while at < end and len(tokens) < row.budget:
        units = min(_drawn(chances, draw), row.budget - len(tokens))
        front = int(draw.integers(units * recipe.context))
        begin = at + front
        while begin < end and not row.words[begin]:
            begin += 1
        if begin >= end:
            break
        unit = row.first.index(begin)
        stop = min(row.first[min(unit + units, row.ends[unit])], begin + row.budget - len(tokens))
        if stop >= end:
            break
        tokens.update(range(begin, stop))
        accepted.append(sum(begin <= first < stop for first in row.first))
        at = stop + units * recipe.context - front
    rest = [token for token in range(end) if token not in tokens]
    more = draw.permutation(len(rest))[: row.budget - len(tokens)].tolist()
    tokens.update(rest[place] for place in more)
    return [*accepted, *[1] * len(more)], tokens
