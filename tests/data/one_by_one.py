"""The span rules written plainly, a row and a start at a time, from the same random words as the vectorised ones."""

import numpy as np

from litebert import rng
from litebert.data import spans
from litebert.data.units import budgets

HALF = 2**32


def drawn_length(word, recipe):
    """How many units a span has whose random word this is."""
    low, total = word % HALF / HALF, 0.0
    for length, share in enumerate(spans.shares(recipe.spans, recipe.longest), start=1):
        total += share
        if low < total:
            return length
    return length


def row_units(words, whole, across):
    """The positions of every unit of a row, and which run each of them belongs to."""
    found, runs, run, before = [], [], 0, None
    for place, word in enumerate(words):
        if word < 0:
            continue
        gap = before is not None and place != before + 1 and not across
        run += gap
        if whole and found and word == words[before] and not gap:
            found[-1].append(place)
        else:
            found.append([place])
            runs.append(run)
        before = place
    return found, runs


def in_turn(example, count, seed, copy):
    """The random words of a row's units, and the units in the order of their turns."""
    words = [int(word) for word in rng.bits(np.array([example]), max(count, 1), seed, "spans", copy)[0]][:count]
    return words, sorted(range(count), key=lambda unit: (words[unit] // HALF, unit))


def greedy(words, length, example, recipe, seed, copy):
    """google-research/albert's rule: a list of spans, each a list of positions."""
    units, runs = row_units(words, recipe.unit == "word", recipe.across)
    drawn, order = in_turn(example, len(units), seed, copy)
    budget = int(budgets(recipe, np.array([length]))[0])
    covered, taken = set(), []
    for start in order:
        if len(covered) >= budget:
            break
        length = drawn_length(drawn[start], recipe)
        span = range(start, min(start + length, len(units)))
        span = [unit for unit in span if runs[unit] == runs[start]]
        while span and len(covered) + sum(len(units[unit]) for unit in span) > budget:
            span = span[:-1]
        places = [place for unit in span for place in units[unit]]
        if places and not covered & set(places):
            covered |= set(places)
            taken.append(places)
    return sorted(taken)


def exact(words, length, example, recipe, seed, copy):
    """SpanBERT's rule: a list of merged spans, each a list of positions."""
    units, runs = row_units(words, recipe.unit == "word", recipe.across)
    drawn, order = in_turn(example, len(units), seed, copy)
    budget = int(budgets(recipe, np.array([length]))[0])
    covered = set()
    for start in order:
        if len(covered) >= budget:
            break
        if units[start][0] in covered:
            continue
        for unit in range(start, min(start + drawn_length(drawn[start], recipe), len(units))):
            for place in units[unit] if runs[unit] == runs[start] else []:
                if len(covered) < budget:
                    covered.add(place)
    merged = []
    for place in sorted(covered):
        if merged and merged[-1][-1] == place - 1:
            merged[-1].append(place)
        else:
            merged.append([place])
    return merged


def in_context(words, length, example, recipe, seed, copy):
    """XLNet's rule: a list of spans, each a list of positions."""
    tokens, runs = row_units(words, whole=False, across=recipe.across)
    places = [one[0] for one in tokens]
    whole, _ = row_units(words, whole=True, across=recipe.across)
    begins = {unit[0] for unit in whole}
    goal = int(budgets(recipe, np.array([length]))[0])
    bits = [int(word) for word in rng.bits(np.array([example]), goal, seed, "spans", copy)[0]]
    at, taken, missing = 0, [], goal
    for word in bits:
        if missing == 0:
            break
        count = min(drawn_length(word, recipe), missing)
        context = count * recipe.context
        front = (word // HALF) * context // HALF
        begin = at + front
        while begin < len(places) and places[begin] not in begins:
            begin += 1
        if begin >= len(places):
            break
        end, units = begin, 0
        while end < len(places) and end - begin < missing and runs[end] == runs[begin]:
            units += recipe.unit == "token" or places[end] in begins
            if units > count:
                break
            end += 1
        if end >= len(places):
            break
        taken.append(places[begin:end])
        missing -= end - begin
        at = end + context - front
    chosen = {place for span in taken for place in span}
    words = [int(word) for word in rng.bits(np.array([example]), len(places), seed, "singles", copy)[0]]
    for one in sorted(range(len(places)), key=lambda token: (words[token] // HALF, token)):
        if missing and places[one] not in chosen:
            taken.append([places[one]])
            missing -= 1
    return sorted(taken)
