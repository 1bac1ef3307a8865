"""Which tokens of a batch are predicted? Spans of units in a random order of starts, until a row's budget is spent.

The rule of google-research/albert:create_pretraining_data.py: draw a length for every start; shorten the span while it
exceeds what is left of the budget; skip it if it still does, or if it touches what is taken. The rule is kept exactly,
but not start by start: a span yields only to earlier ones that overlap it, and those begin a few units away, so that a
whole batch is settled in a few rounds. Only a row's last spans, which the budget may shorten, are sought one by one.

Shapes: R rows, T tokens, K tokens that may be hidden, M units, W units in the richest row, N tokens taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert import rng
from litebert.data.recipe import Recipe, Spans
from litebert.data.units import Places, Units

Flags = NDArray[np.bool_]

LOW = np.uint64(0xFFFFFFFF)  # a key's low half is the unit's number in its row, its high half is drawn
_HALF = np.uint64(32)
_NONE = np.uint64(2**64 - 1)  # the key of a unit that does not exist: after all others
_WINDOW = 8  # starts looked at together when a row's last spans are sought; doubled every time


class Draws(NamedTuple):
    """What chance says of every unit: its turn, and how far a span from here would like to reach."""

    order: NDArray[np.uint64]  # [R, W] the keys of a row's units, sorted: whose turn it is
    keys: NDArray[np.uint64]  # [M + 1]
    lengths: Places  # [M + 1] units of the span that begins here, up to the end of its run; 0 for the unit after all


class Taken(NamedTuple):
    """The tokens to be predicted, all rows in one line, ascending."""

    places: Places  # [N] in the flattened [R, T]
    begins: Flags  # [N] whether a span begins here


def shares(spans: Spans, longest: int) -> NDArray[np.float64]:
    """How probable spans of 1, 2, … units are: ALBERT §3.1, SpanBERT §3.1, UniLM §2.3, XLNet's released code."""
    units: NDArray[np.float64] = np.arange(1.0, (1 if spans == "one" else longest) + 1)
    weights: NDArray[np.float64]
    match spans:
        case "one":
            weights = np.ones(1)
        case "harmonic" | "context":
            weights = 1 / units
        case "geometric":  # cut off and renormalised, not clamped
            weights = 0.8**units
        case "unilm":
            weights = np.where(units == 1, 0.8, 0.2 / max(1, longest - 1))
    return weights / float(weights.sum())


def lengths(bits: NDArray[np.uint64], spans: Spans, longest: int) -> Places:
    """Span lengths from the low half of random words."""
    low = bits.astype(np.uint32)
    drawn = np.ones(bits.shape, dtype=np.intp)
    for edge in np.cumsum(shares(spans, longest))[:-1]:
        drawn += low >= np.uint32(edge * 2**32)
    return drawn


def draw(units: Units, examples: NDArray[np.int64], recipe: Recipe, seed: int, copy: int) -> Draws:
    """One word of 64 bits for every unit: half of it says when its turn is, the other half how long its span."""
    exists = np.arange(units.counts.max(initial=1)) < units.counts[:, None]  # [R, W]
    bits = rng.bits(examples, exists.shape[1], seed, "spans", copy)
    wanted = np.zeros(len(units.first), dtype=np.intp)
    wanted[:-1] = np.minimum(
        lengths(bits[exists], recipe.spans, recipe.longest), units.ends - np.arange(len(wanted) - 1)
    )
    keys = keyed(bits, exists)
    return Draws(np.sort(keys, axis=1), np.append(keys[exists], _NONE), wanted)


def keyed(bits: NDArray[np.uint64], exists: Flags) -> NDArray[np.uint64]:
    """Turns random words [R, W] into keys, in place: sorted, they put the units that exist in a random order."""
    bits &= ~LOW
    bits |= np.arange(bits.shape[1], dtype=np.uint64)
    bits[~exists] = _NONE
    return bits


def turns(units: Units, order: NDArray[np.uint64]) -> Places:
    """The units that sorted keys [R, …] stand for, in the line of all; M where there is none."""
    found = units.offsets[:-1, None] + (order & LOW).astype(np.intp)
    return np.where(order == _NONE, len(units.ends), found)


def singles(units: Units, examples: NDArray[np.int64], budget: Places, seed: int, copy: int) -> Taken:
    """Spans of one token: a row's first ones, as many as its budget allows."""
    columns = np.arange(units.counts.max(initial=1))
    keys = keyed(rng.bits(examples, len(columns), seed, "spans", copy), columns < units.counts[:, None])
    columns = columns[: budget.max(initial=0)]
    first = turns(units, np.sort(keys, axis=1)[:, : len(columns)])
    return _of(units, np.where(columns < budget[:, None], first, len(units.tokens)))


def repeated(units: Units, examples: NDArray[np.int64], budget: Places, seed: int, copy: int) -> Taken:
    """Tokens drawn with replacement, so that a token drawn twice leaves a row with fewer (ELECTRA)."""
    columns = np.arange(budget.max(initial=0))
    high = rng.bits(examples, len(columns), seed, "spans", copy) >> _HALF
    found = units.offsets[:-1, None] + ((high * units.counts[:, None].astype(np.uint64)) >> _HALF).astype(np.intp)
    exists = (columns < budget[:, None]) & (units.counts[:, None] > 0)
    return _of(units, np.where(exists, found, len(units.ends)))


def greedy(units: Units, draws: Draws, budget: Places) -> Taken:
    """The rule above: no overlap, nothing beyond the budget, whole units only."""
    kept, turn, left = _unhurried(units, draws, budget)
    _last(units, draws, kept, turn, left)
    starts = np.flatnonzero(kept)
    first = units.first[starts]
    sizes = units.first[starts + kept[starts]] - first
    begins = np.cumsum(sizes) - sizes  # [spans] where in the result
    flags = np.zeros(int(sizes.sum()), dtype=bool)
    flags[begins] = True
    return Taken(units.tokens[np.repeat(first - begins, sizes) + np.arange(len(flags))], flags)


def exact(units: Units, draws: Draws, budget: Places) -> Taken:
    """SpanBERT's rule: a start must be free, its span may run over what is taken, and the last one is cut in a word.

    Spans that overlap or touch are one in the end (facebookresearch/SpanBERT:fairseq/data/masking.py).
    """
    accepted = settled(draws.keys, draws.lengths, mutual=False)
    turn, fresh = _turns_taken(units, draws, accepted)
    start = turns(units, draws.order)  # [R, W]
    used = np.cumsum(fresh[start], axis=1)
    met = used >= budget[:, None]
    last = np.where(met.any(axis=1), met.argmax(axis=1), -1)[:, None]  # [R, 1] the span that meets the budget
    before = np.take_along_axis(used - fresh[start], last, axis=1)[:, 0]
    key = np.where(last[:, 0] < 0, _NONE, np.take_along_axis(draws.order, last, axis=1)[:, 0])
    cut = np.repeat(key, units.counts)  # [M] the key of that span in a unit's row
    sizes = np.diff(units.first)
    chosen = np.repeat(turn[:-1] < cut, sizes)  # [K]
    part = np.flatnonzero(np.repeat(turn[:-1] == cut, sizes))
    row = np.searchsorted(units.first[units.offsets], part, side="right") - 1
    rank = np.arange(len(part)) - np.searchsorted(row, row)
    chosen[part[rank < (budget - before)[row]]] = True
    places = units.tokens[chosen]
    apart = np.ones(len(places), dtype=bool)
    apart[1:] = (places[1:] != places[:-1] + 1) | (places[1:] % units.width == 0)
    return Taken(places, apart)


def settled(keys: NDArray[np.uint64], lengths: Places, mutual: bool) -> Flags:
    """Which spans [M + 1] yield to no earlier accepted one that overlaps them, or (not `mutual`) covers their start."""
    beaten = []  # the earlier of two units so far apart, the later one, and where it is in its way
    for distance in range(1, int(lengths.max(initial=1))):
        front, back = slice(None, -distance), slice(distance, None)
        meet, left = lengths[front] > distance, keys[front] < keys[back]
        beaten.append((front, back, meet & left))
        if mutual:
            beaten.append((back, front, meet & ~left))
    accepted, open_ = np.zeros(len(keys), dtype=bool), np.ones(len(keys), dtype=bool)
    while open_.any():
        new = open_.copy()
        for earlier, later, where in beaten:
            new[later] &= ~(open_[earlier] & where)
        accepted |= new
        open_ &= ~new
        for earlier, later, where in beaten:
            open_[later] &= ~(new[earlier] & where)
    return accepted


def _unhurried(units: Units, draws: Draws, budget: Places) -> tuple[Places, Places, Places]:
    """A row's spans up to the first one, taken or not, that what is left of its budget cannot pay in full.

    Returns the length [M + 1] of every span that is kept, 0 where none begins; the turns that are over [R]; what is
    left [R].
    """
    likely = min(draws.order.shape[1], int(budget.max(initial=0)) * 5 // 4 + _WINDOW)
    start = turns(units, draws.order[:, :likely])  # [R, likely]
    accepted = settled(draws.keys, draws.lengths, mutual=True)[start]
    size = units.first[start + draws.lengths[start]] - units.first[start]
    paid = np.where(accepted, size, 0)
    over = size > budget[:, None] - (np.cumsum(paid, axis=1) - paid)
    turn = np.where(over.any(axis=1), over.argmax(axis=1), likely)
    accepted &= np.arange(likely) < turn[:, None]
    kept = np.zeros_like(draws.lengths)
    kept[start[accepted]] = draws.lengths[start[accepted]]
    return kept, turn, budget - np.where(accepted, paid, 0).sum(axis=1)


def _last(units: Units, draws: Draws, kept: Places, turn: Places, left: Places) -> None:
    """Go on from every row's `turn`, in order, with spans as short as what is `left` asks for; adds to `kept`."""
    longest, end = int(draws.lengths.max(initial=1)), len(units.ends)
    first = np.append(units.first, np.full(longest, units.first[-1]))
    taken = np.zeros(end + longest, dtype=bool)
    _cover(taken, np.flatnonzero(kept), kept)
    rows = np.flatnonzero((left > 0) & (turn < units.counts))
    window = _WINDOW
    while len(rows):
        columns = turn[rows, None] + np.arange(window)  # the turns that are looked at
        keys = draws.order[rows[:, None], np.minimum(columns, draws.order.shape[1] - 1)]
        start = units.offsets[rows, None] + (keys & LOW).astype(np.intp)
        start[columns >= units.counts[rows, None]] = end
        length = np.zeros_like(start)
        for count in range(1, longest + 1):  # the longest that is drawn and can be paid
            length += (draws.lengths[start] >= count) & (first[start + count] - first[start] <= left[rows, None])
        free = length > 0
        for count in range(longest):
            free &= ~taken[start + count] | (length <= count)
        hit = free.argmax(axis=1)  # nothing changes before the first that is free: the others are passed over for good
        found = np.flatnonzero(free[np.arange(len(rows)), hit])
        start, length = start[found, hit[found]], length[found, hit[found]]
        kept[start] = length
        _cover(taken, start, kept)
        left[rows[found]] -= first[start + length] - first[start]
        turn[rows] += window
        turn[rows[found]] += hit[found] + 1 - window
        rows = rows[(left[rows] > 0) & (turn[rows] < units.counts[rows])]
        window *= 2


def _cover(taken: Flags, starts: Places, kept: Places) -> None:
    """Mark the units of the spans that begin at `starts`."""
    for distance in range(int(kept[starts].max(initial=0))):
        taken[starts[kept[starts] > distance] + distance] = True


def _turns_taken(units: Units, draws: Draws, accepted: Flags) -> tuple[NDArray[np.uint64], Places]:
    """By which span a unit is taken first, its key; and how many tokens a span is the first to take; [M + 1] each."""
    starts = np.flatnonzero(accepted)
    reach = draws.lengths[starts]
    far = [starts[reach > distance] for distance in range(int(reach.max(initial=0)))]  # spans that reach so far
    turn = np.full(len(accepted), _NONE)
    for distance, start in enumerate(far):
        turn[start + distance] = np.minimum(turn[start + distance], draws.keys[start])
    fresh = np.zeros(len(accepted), dtype=np.intp)
    for distance, start in enumerate(far):
        own = start[turn[start + distance] == draws.keys[start]]
        fresh[own] += units.first[own + distance + 1] - units.first[own + distance]
    return turn, fresh


def _of(units: Units, indexes: Places) -> Taken:
    """The tokens with these numbers, each a span; a number beyond the last token stands for nothing."""
    flags = np.zeros(len(units.tokens) + 1, dtype=bool)
    flags[indexes] = True
    places = units.tokens[np.flatnonzero(flags[:-1])]
    return Taken(places, np.ones(len(places), dtype=bool))
