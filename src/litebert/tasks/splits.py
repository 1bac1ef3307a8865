"""Which examples does a model not learn from, so that it can be judged? A share by seed, units never parted.

What belongs together lies on one side: questions of an article or a passage, rows of the same text or two texts. Each
such unit has a number drawn from the seed and its own text, whatever stands beside it. Where a label has many units
those below the share are taken, so that a file that grows keeps its split; where it has few, so many of the first as
come nearest to the share, which new ones may shift by a few.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from litebert import rng
from litebert.errors import UserError
from litebert.tasks.examples import Choice, Example, Question, Text

MANY = 30  # examples of a label in the development set from which on chance alone keeps its share
_SHOWN = 5  # labels that a note names


class Split(NamedTuple):
    """Two sides of one set, each in its order."""

    train: list[Example]
    dev: list[Example]
    notes: list[str] = []  # noqa: RUF012  what is to be told; nobody appends to it


class _Unit(NamedTuple):
    draw: int
    rows: list[int]
    stratum: str


def split(examples: Sequence[Example], share: float, seed: int) -> Split:
    """A development set of a share of the examples: `split(read.examples, 0.1, seed=0)`."""
    if not 0.0 < share < 1.0:
        raise UserError(f"share {share} leaves one side empty: choose more than 0 and less than 1, for example 0.1")
    units = _units(examples, seed)
    taken: set[int] = set()
    strata: dict[str, list[_Unit]] = {}
    for unit in sorted(units, key=lambda unit: unit.draw):
        strata.setdefault(unit.stratum, []).append(unit)
    for found in strata.values():
        for unit in _chosen(found, share):
            taken.update(unit.rows)
    if not taken or len(taken) == len(examples):
        raise UserError(f"{len(examples)} examples in {len(units)} groups, each of the same text or article, give "
                        f"no share of {share:g}, as no group is parted: name a development file")  # fmt: skip
    train = [one for i, one in enumerate(examples) if i not in taken]
    dev = [one for i, one in enumerate(examples) if i in taken]
    return Split(train, dev, notes(train, dev))


def notes(train: Sequence[Example], dev: Sequence[Example]) -> list[str]:
    """What is to be told of two sides, wherever they come from: labels too rare to be judged, texts on both sides."""
    learnt, judged = _labelled(train), _labelled(dev)
    both = learnt + judged
    alone = sorted(label for label, count in both.items() if count == 1)
    told = []
    if alone:
        verb = "labels have" if len(alone) > 1 else "label has"
        told.append(f"{len(alone)} {verb} a single example, from which nothing can be learnt and judged both: "
                    f"{_shown(alone)}")  # fmt: skip
    if unseen := sorted(label for label in learnt if both[label] > 1 and label not in judged):
        told.append(f"labels that the development set does not have: {_shown(unseen)}")
    if unknown := sorted(label for label in judged if both[label] > 1 and label not in learnt):
        told.append(f"labels that the training set does not have: {_shown(unknown)}")
    return [*told, *on_both(train, dev)]


def on_both(train: Sequence[Example], dev: Sequence[Example]) -> list[str]:
    """What is to be told of texts that are learnt from and judged by."""
    known = {_text(one) for one in train}
    twice = sum(_text(one) in known for one in dev)
    return [f"{twice:,} of {len(dev):,} development examples share their text with training examples"] if twice else []


def _units(examples: Sequence[Example], seed: int) -> list[_Unit]:
    rows: dict[str, list[int]] = {}
    for i, one in enumerate(examples):
        rows.setdefault(_together(one), []).append(i)
    seen = Counter(_stratum(one) for one in examples)
    units = []
    for name, numbers in rows.items():
        rarest = min((_stratum(examples[i]) for i in numbers), key=lambda label: (seen[label], label))
        address = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        draw = rng.key(seed, "development", int.from_bytes(address, "little"))
        units.append(_Unit(draw, numbers, rarest))
    return units


def _together(one: Example) -> str:
    """What an example must not be parted from."""
    return (one.group if isinstance(one, Question) else "") or _text(one)


def _text(one: Example) -> str:
    """What is read of an example and known again."""
    match one:
        case Text():
            return one.text if one.pair is None else "\0".join(sorted((one.text, one.pair)))
        case Question():
            return one.context
        case Choice():
            return one.context or one.question
    return "\0".join(one.words)


def _stratum(one: Example) -> str:
    """What both sides should have their share of."""
    if isinstance(one, Text) and isinstance(one.label, str):
        return one.label
    return one.group if isinstance(one, Choice) else ""


def _chosen(units: list[_Unit], share: float) -> Iterable[_Unit]:
    """The units of a stratum, in the order of their numbers, that are taken out."""
    if min(share, 1 - share) * len(units) >= MANY:
        return [unit for unit in units if unit.draw < share * 2.0**64]
    wanted, count, chosen = share * sum(len(unit.rows) for unit in units), 0, []
    for unit in units[: len(units) - 1]:  # one at least is learnt from
        if abs(count + len(unit.rows) - wanted) > abs(count - wanted):
            break
        chosen.append(unit)
        count += len(unit.rows)
    if not chosen and len(units) > 1:  # and one judged by, though it is larger than the share
        return [min(units, key=lambda unit: len(unit.rows))]
    return chosen


def _labelled(examples: Sequence[Example]) -> Counter[str]:
    return Counter(one.label for one in examples if isinstance(one, Text) and isinstance(one.label, str))


def _shown(labels: Sequence[str]) -> str:
    return ", ".join(map(repr, labels[:_SHOWN])) + (", …" if len(labels) > _SHOWN else "")
