"""The published packings, written down one example at a time, as slowly and plainly as they were described.

They take their random numbers from a `Draws` that looks them up where the plan does, so that the two can be equal.
A document is a list of sentences, a sentence a list of tokens; every token of a corpus is another number, so that a row
tells where its text came from.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np

from litebert.data.recipe import Recipe
from litebert.data.rows import NO_ORDER
from litebert.rng import uniform

FIRST = 5  # the ids below are special
SEP = -1  # in running text, where documents meet

Document = list[list[int]]
Marks = list[list[bool]]  # of a document's tokens: does it begin a word?


class Pair(NamedTuple):
    """Two segments before truncation, as they stand in the row, and their label."""

    a: list[int]
    b: list[int]
    label: int


class Draws(NamedTuple):
    """The numbers in [0, 1) that belong to a token's or a document's number."""

    seed: int
    epoch: int

    def at(self, number: int, count: int, purpose: str, *more: int) -> list[float]:
        """`count` of them."""
        return uniform(np.array([number]), count, self.seed, purpose, self.epoch, *more)[0].tolist()

    def between(self, low: int, high: int, chance: float) -> int:
        """Python's randint: both ends are possible."""
        return low + int(chance * (high - low + 1))


def corpus(seed: int, documents: int, sentences: int = 9, tokens: int = 12) -> list[Document]:
    """Documents of 1 to `sentences` sentences of 1 to `tokens` tokens, numbered through."""
    drawn, number, made = random.Random(seed), FIRST, []
    for _ in range(documents):
        sizes = [drawn.randint(1, tokens) for _ in range(drawn.randint(1, sentences))]
        made.append([list(range(number + sum(sizes[:i]), number + sum(sizes[: i + 1]))) for i in range(len(sizes))])
        number += sum(sizes)
    return made


def word_starts(seed: int, documents: list[Document], share: float = 0.6) -> list[Marks]:
    """Which tokens begin a word: the first of every sentence, and some others."""
    drawn = random.Random(seed)
    return [[[not at or drawn.random() < share for at in range(len(s))] for s in document] for document in documents]


def pairs(documents: list[Document], recipe: Recipe, room: int, draws: Draws, starts: list[Marks]) -> list[Pair]:
    """All examples of an epoch for the packings that have two segments."""
    rule = released if recipe.packing in ("sop-google", "nsp", "segment-pair", "sentence-pair") else ours
    made = []
    for number in range(len(documents)):
        target = room
        chance, amount = draws.at(number, 2, "short")
        if chance < recipe.short:
            target = draws.between(2, room, amount)
        made += rule(documents, number, target, recipe, draws, starts[number])
    return made


def released(
    documents: list[Document], number: int, target: int, recipe: Recipe, draws: Draws, _: object
) -> list[Pair]:
    """create_instances_from_document of google-research/albert, and of google-research/bert where `next` is asked."""
    document, made = documents[number], []
    asks_next = recipe.packing != "sop-google"
    chunk: Document = []
    length = i = 0
    while i < len(document):
        chunk.append(document[i])
        length += len(document[i])
        full = len(chunk) == 2 if recipe.packing == "sentence-pair" else length >= target
        if i == len(document) - 1 or full:
            here = chunk[0][0] - FIRST
            cut, coin = draws.at(here, 2, "pair")
            a_end = draws.between(1, len(chunk) - 1, cut) if len(chunk) >= 2 else 1
            a = [token for sentence in chunk[:a_end] for token in sentence]
            b = [token for sentence in chunk[a_end:] for token in sentence]
            if len(chunk) == 1 or (asks_next and coin < 0.5):
                wanted = 0 if recipe.packing == "sentence-pair" else target - len(a)
                b, label = elsewhere(documents, number, here, wanted, draws), 1
                i -= len(chunk) - a_end
            elif not asks_next and coin < 0.5:
                a, b, label = b, a, 1
            else:
                label = 0
            made.append(Pair(a, b, 1 - label if asks_next and recipe.layout == "xlnet" else label))
            chunk, length = [], 0
        i += 1
    return made


def elsewhere(documents: list[Document], number: int, here: int, wanted: int, draws: Draws) -> list[int]:
    """Sentences from a random place of a random document, which in ten tries should be another one."""
    for attempt in range(10):
        other = draws.between(0, len(documents) - 1, draws.at(here, 1, "other document", attempt)[0])
        if other != number:
            break
    document, b = documents[other], []
    for sentence in document[draws.between(0, len(document) - 1, draws.at(here, 1, "other sentence")[0]) :]:
        b += sentence
        if len(b) >= wanted:
            break
    return b


def ours(
    documents: list[Document], number: int, target: int, recipe: Recipe, draws: Draws, starts: Marks
) -> list[Pair]:
    """`sop` and `sop-drop`: no segment is ever taken from another document."""
    document, made, at = documents[number], [], 0
    while at < len(document):
        end = at + 1
        least = 2 if recipe.packing == "sop" else 1
        while end < len(document) and (sum(map(len, document[at:end])) < target or end - at < least):
            end += 1
        begin = at
        if end - begin == 1 and recipe.packing == "sop" and begin > 0:
            begin -= 1
        if end - begin > 1:
            cut, coin = draws.at(document[begin][0] - FIRST, 2, "pair")
            middle = begin + draws.between(1, end - begin - 1, cut)
            a = [token for sentence in document[begin:middle] for token in sentence]
            b = [token for sentence in document[middle:end] for token in sentence]
            made.append(Pair(b, a, 1) if coin < 0.5 else Pair(a, b, 0))
        elif recipe.packing == "sop":
            half = nearest_to_the_middle(starts[begin])
            if half:
                made.append(Pair(document[begin][:half], document[begin][half:], NO_ORDER))
        at = end
    return made


def nearest_to_the_middle(starts: list[bool]) -> int:
    """The word boundary nearest the middle, or 0 if there is none inside."""
    places = [place for place in range(1, len(starts)) if starts[place]]
    return min(places, key=lambda place: (abs(place - len(starts) / 2), place), default=0)


def whole_sentences(documents: list[Document], room: int, across: bool) -> list[list[int]]:
    """RoBERTa's FULL-SENTENCES and DOC-SENTENCES: rows of text, with SEP where documents meet."""
    made: list[list[int]] = []
    row: list[int] = []
    for document in documents:
        change = bool(row)
        if change and not across:
            made.append(row)
            row, change = [], False
        for sentence in document:
            if row and len(row) + change + len(sentence) > room:
                made.append(row)
                row = []
            row = [*row, *([SEP] if row and change else []), *sentence]
            change = False
            while len(row) > room:  # one sentence that is longer than a row
                made.append(row[:room])
                row = row[room:]
    return [*made, row]


def dropped(a: int, b: int, room: int, toss: random.Random) -> tuple[int, int, int, int]:
    """truncate_seq_pair: tokens lost from the front and the back of the first, then of the second."""
    lost = [[0, 0], [0, 0]]
    while a + b > room:
        which = 0 if a > b else 1
        lost[which][0 if toss.random() < 0.5 else 1] += 1
        a, b = a - (which == 0), b - (which == 1)
    return lost[0][0], lost[0][1], lost[1][0], lost[1][1]
