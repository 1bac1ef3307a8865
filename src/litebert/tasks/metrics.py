"""How good are guesses? Accuracy, F1, Matthews, Pearson and Spearman as scikit-learn and SciPy have them, from 0 to 1.

What is counted is a table of gold against guessed labels, so that one function measures one table or a thousand
resampled ones (`tasks.bootstrap`). Where a measure divides by nothing (no positive at all; guesses that are all alike)
it is 0 here: F1 and Matthews as scikit-learn say, Pearson and Spearman where SciPy and the GLUE leaderboard say nan.
Shapes: N examples, C labels; `...` any number of tables.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence, Sized
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from litebert.errors import UserError

Counts = NDArray[np.int64]  # [..., C, C], rows gold, columns guessed
Values = NDArray[np.float64]


class Rates(NamedTuple):
    """How one label, or one type of entity, was found."""

    name: str
    precision: float
    recall: float
    f1: float
    gold: int  # how often it is right
    guessed: int
    hits: int


def accuracy(gold: Sequence[Hashable], guessed: Sequence[Hashable]) -> float:
    """The share of guesses that are right; of several labels at once all must be."""
    same_length(gold, guessed)
    return sum(one == other for one, other in zip(gold, guessed, strict=True)) / len(gold)


def f1(gold: Sequence[Hashable], guessed: Sequence[Hashable], positive: Hashable) -> float:
    """The harmonic mean of precision and recall of one label."""
    same_length(gold, guessed)
    hits = sum(one == other == positive for one, other in zip(gold, guessed, strict=True))
    return float(f1_of(hits, sum(one == positive for one in gold), sum(one == positive for one in guessed)))


def f1_macro(gold: Sequence[Hashable], guessed: Sequence[Hashable]) -> float:
    """The mean of F1 over the labels that occur, in the gold or in the guesses."""
    return float(f1_macro_of(confusion(gold, guessed)[0]))


def f1_micro(gold: Sequence[Hashable], guessed: Sequence[Hashable]) -> float:
    """F1 of all labels counted together: with one label an example it is the accuracy."""
    return accuracy(gold, guessed)


def matthews(gold: Sequence[Hashable], guessed: Sequence[Hashable]) -> float:
    """The correlation of gold and guessed labels, of any number of classes, from -1 to 1."""
    return float(matthews_of(confusion(gold, guessed)[0]))


def by_label(gold: Sequence[Hashable], guessed: Sequence[Hashable]) -> list[Rates]:
    """How each label that occurs was found, in their order."""
    counts, labels = confusion(gold, guessed)
    return [rates(str(label), *found) for label, found in zip(labels, zip(*parts(counts), strict=True), strict=True)]


def sets_f1_micro(gold: Sequence[Collection[Hashable]], guessed: Sequence[Collection[Hashable]]) -> float:
    """Several labels at once: F1 of all of them counted together."""
    found = sets_counts(gold, guessed)[0].sum(axis=(0, 2))  # [3]
    return float(f1_of(*found))


def sets_f1_macro(gold: Sequence[Collection[Hashable]], guessed: Sequence[Collection[Hashable]]) -> float:
    """Several labels at once: the mean of F1 over the labels that occur, in the gold or in the guesses."""
    hits, right, said = sets_counts(gold, guessed)[0].sum(axis=0)
    return float(np.mean(f1_of(hits, right, said))) if len(hits) else 0.0


def sets_by_label(gold: Sequence[Collection[Hashable]], guessed: Sequence[Collection[Hashable]]) -> list[Rates]:
    """Several labels at once: how each that occurs was found, in their order."""
    counts, labels = sets_counts(gold, guessed)
    return [rates(str(label), *found) for label, found in zip(labels, counts.sum(axis=0).T, strict=True)]


def pearson(gold: ArrayLike, guessed: ArrayLike) -> float:
    """The linear correlation of scores, 0 if all of one side are alike."""
    one, other = _scores(gold, guessed)
    return _correlation(one, other)


def spearman(gold: ArrayLike, guessed: ArrayLike) -> float:
    """The correlation of the ranks of scores, ties at their mean rank; 0 if all of one side are alike."""
    one, other = _scores(gold, guessed)
    return _correlation(_ranks(one), _ranks(other))


def confusion(
    gold: Sequence[Hashable], guessed: Sequence[Hashable], labels: Sequence[Hashable] | None = None
) -> tuple[Counts, list[Hashable]]:
    """How often each label ([C], in the given order or else their own) was guessed for each: [C, C]."""
    found, names = cells(gold, guessed, labels)
    return np.bincount(found, minlength=len(names) ** 2).reshape(len(names), len(names)), names


def cells(
    gold: Sequence[Hashable], guessed: Sequence[Hashable], labels: Sequence[Hashable] | None = None
) -> tuple[Counts, list[Hashable]]:
    """In which cell of the table (row · C + column) each example falls, [N], and the labels, [C]."""
    same_length(gold, guessed)
    names = list(labels) if labels is not None else _in_order({*gold, *guessed})
    place = {name: i for i, name in enumerate(names)}
    for one in {*gold, *guessed} - place.keys():
        raise UserError(f"label {one!r} is none of {', '.join(map(str, names))}: name every label that occurs")
    found = [place[one] * len(names) + place[other] for one, other in zip(gold, guessed, strict=True)]
    return np.array(found, np.int64), names


def sets_counts(
    gold: Sequence[Collection[Hashable]], guessed: Sequence[Collection[Hashable]]
) -> tuple[Counts, list[Hashable]]:
    """Hits, gold and guesses of every label that occurs for each example, [N, 3, C], and the labels, [C]."""
    same_length(gold, guessed)
    names = _in_order({label for labels in (*gold, *guessed) for label in labels})
    place = {name: i for i, name in enumerate(names)}
    counts = np.zeros((len(gold), 3, len(names)), np.int64)
    for i, (right, said) in enumerate(zip(gold, guessed, strict=True)):
        counts[i, 1, [place[label] for label in right]] = 1
        counts[i, 2, [place[label] for label in said]] = 1
    counts[:, 0] = counts[:, 1] & counts[:, 2]
    return counts, names


def accuracy_of(counts: Counts) -> Values:
    """[...] the share on the diagonal of tables [..., C, C]."""
    return _ratio(np.trace(counts, axis1=-2, axis2=-1), counts.sum(axis=(-2, -1)))


def f1_of(hits: ArrayLike, gold: ArrayLike, guessed: ArrayLike) -> Values:
    """F1 from counts of any shape, 0 where there is neither gold nor guess."""
    return _ratio(2 * np.asarray(hits), np.asarray(gold) + np.asarray(guessed))


def f1_label_of(counts: Counts, label: int) -> Values:
    """[...] F1 of one label in tables [..., C, C]."""
    return f1_of(*(part[..., label] for part in parts(counts)))


def f1_macro_of(counts: Counts) -> Values:
    """[...] the mean of F1 over the labels that occur in each table [..., C, C]."""
    hits, gold, guessed = parts(counts)
    return _ratio(f1_of(hits, gold, guessed).sum(-1), (gold + guessed > 0).sum(-1))


def matthews_of(counts: Counts) -> Values:
    """[...] Matthews' correlation of tables [..., C, C] (Gorodkin 2004), 0 where all of one side are alike."""
    hits, gold, guessed = (part.astype(np.float64) for part in parts(counts))
    examples = gold.sum(-1)
    both = hits.sum(-1) * examples - (gold * guessed).sum(-1)
    one, other = (examples**2 - (part**2).sum(-1) for part in (gold, guessed))
    return _ratio(both, np.sqrt(one * other))


def parts(counts: Counts) -> tuple[Counts, Counts, Counts]:
    """Hits, gold and guesses of each label, all [..., C], from tables [..., C, C]."""
    return np.diagonal(counts, axis1=-2, axis2=-1), counts.sum(-1), counts.sum(-2)


def rates(name: str, hits: int, gold: int, guessed: int) -> Rates:
    """Precision, recall and F1 from counts; a share of nothing is 0."""
    precision, recall = (float(_ratio(hits, of)) for of in (guessed, gold))
    return Rates(name, precision, recall, float(f1_of(hits, gold, guessed)), int(gold), int(guessed), int(hits))


def same_length(gold: Sized, guessed: Sized) -> None:
    """Refuse to measure nothing, or guesses that do not belong to the gold."""
    if len(gold) != len(guessed):
        raise UserError(f"{len(guessed)} guesses for {len(gold)} examples: measure one guess for each")
    if not len(gold):
        raise UserError("0 examples: a measure needs at least one whose answer is known")


def _in_order(labels: set[Hashable]) -> list[Hashable]:
    """Labels in their own order where they have one: names by letters, numbers by size."""
    return sorted(labels, key=lambda label: (isinstance(label, str), label))


def _scores(gold: ArrayLike, guessed: ArrayLike) -> tuple[Values, Values]:
    """Two lists of numbers, all of them finite."""
    one, other = np.asarray(gold, np.float64).ravel(), np.asarray(guessed, np.float64).ravel()
    same_length(one, other)
    for name, side in (("gold", one), ("guessed", other)):
        for bad in np.flatnonzero(~np.isfinite(side)):
            raise UserError(
                f"{name} score {side[bad]} of example {bad + 1} is not a number to compare: "
                + ("leave the example out" if name == "gold" else "the model has diverged, take a lower rate")
            )
    return one, other


def _correlation(one: Values, other: Values) -> float:
    """Pearson's, with sides shifted and scaled first, so that no square leaves the range of floats."""
    if (one == one[0]).all() or (other == other[0]).all():
        return 0.0
    directions = []
    for side in (one, other):
        apart = np.ldexp(side, -np.frexp(np.abs(side).max())[1])  # by a power of two: exact
        apart -= apart[0]
        apart /= np.abs(apart).max()
        apart -= apart.mean()
        directions.append(apart / np.linalg.norm(apart))
    return float(np.clip(directions[0] @ directions[1], -1.0, 1.0))


def _ranks(scores: Values) -> Values:
    """[N] ranks from 1, the mean of theirs for those that are equal."""
    _, group, sizes = np.unique(scores, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(sizes) - (sizes - 1) / 2)[group], np.float64)


def _ratio(above: ArrayLike, below: ArrayLike) -> Values:
    """A quotient, 0 where it would be by 0."""
    top, bottom = np.broadcast_arrays(np.asarray(above, np.float64), np.asarray(below, np.float64))
    quotient: Values = np.divide(top, bottom, out=np.zeros(top.shape), where=bottom != 0)
    return quotient
