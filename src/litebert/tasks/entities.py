"""Which entities do tags name, and how many of them were found? Exact spans: first word, last word and type must agree.

Tags are O, or B, I, E, S and a type: `B-person`. What cannot be is read as conlleval, seqeval and nervaluate read it:
an I or E with no open entity of its type before it begins one, so that a row of I makes an entity, and I-place after
B-person makes a second. A type is all that follows the first hyphen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from litebert.errors import UserError
from litebert.tasks import metrics
from litebert.tasks.metrics import Counts, Rates

BEGINS, GOES_ON, ENDS = "BS", "IE", "ES"


class Entity(NamedTuple):
    """Words `start` to `end`, the last one excluded."""

    type: str
    start: int
    end: int


class Found(NamedTuple):
    """How the entities of many texts were found: all together, and each type."""

    all: Rates
    types: list[Rates]


def entities(tags: Sequence[str]) -> list[Entity]:
    """The entities of one text, in order; none lies within another."""
    found: list[Entity] = []
    opened: tuple[str, int] | None = None  # type and first word
    for at, tag in enumerate([*tags, "O"]):
        kind, name = parsed(tag)
        if opened and not (kind in GOES_ON and name == opened[0]):
            found.append(Entity(opened[0], opened[1], at))
            opened = None
        if kind != "O" and opened is None:
            opened = (name, at)
        if opened and kind in ENDS:
            found.append(Entity(opened[0], opened[1], at + 1))
            opened = None
    return found


def counts(gold: Sequence[Sequence[str]], guessed: Sequence[Sequence[str]]) -> tuple[Counts, list[str]]:
    """Hits, gold and guesses of every type in each text, [N, 3, types], and the types, in order."""
    metrics.same_length(gold, guessed)
    texts: list[tuple[Counter[str], ...]] = []
    for at, (right, said) in enumerate(zip(gold, guessed, strict=True)):
        if len(right) != len(said):
            raise UserError(f"{len(said)} tags were guessed for the {len(right)} words of text {at + 1}: tag each word")
        one, other = set(entities(right)), set(entities(said))
        texts.append(tuple(Counter(entity.type for entity in some) for some in (one & other, one, other)))
    types = sorted({name for text in texts for some in text for name in some})
    table = [[[some[name] for name in types] for some in text] for text in texts]
    return np.array(table, np.int64).reshape(len(texts), 3, len(types)), types


def measured(gold: Sequence[Sequence[str]], guessed: Sequence[Sequence[str]]) -> Found:
    """Precision, recall and F1 of exact spans over all texts; 0 where there is no entity at all."""
    table, types = counts(gold, guessed)
    sums = table.sum(axis=0)  # [3, types]
    of_types = [metrics.rates(name, *column) for name, column in zip(types, sums.T, strict=True)]
    return Found(metrics.rates("all", *sums.sum(axis=1)), of_types)


def parsed(tag: str) -> tuple[str, str]:
    """The letter and the type of a tag: `B-person` -> B, person."""
    kind, _, name = tag.partition("-")
    if kind not in ("O", "B", "I", "E", "S") or (kind == "O" and name):
        raise UserError(f"tag {tag!r} is not O and does not begin with B, I, E or S: write it like B-person")
    return kind, name
