"""Is a model as often right as it is sure? Bins of like confidence, and the expected calibration error (ECE).

A bin of Guo et al. 2017 (arXiv 1706.04599) holds the confidences above its lower and up to its upper bound; what is 0
belongs to the first. The error is the mean distance between confidence and share of right guesses, weighted by
examples: 0 for a model that is right in 80 % of the cases in which it says 80 %. N examples, C labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from litebert.errors import UserError
from litebert.tasks.metrics import same_length

BINS = 10
HAIR = 1e-5  # by which shares that were rounded may leave their range


class Bin(NamedTuple):
    """The examples whose confidence lies in one range; its means are 0 where there is none."""

    low: float
    high: float
    examples: int
    confidence: float
    accuracy: float


class Calibration(NamedTuple):
    """How confidence and accuracy go together."""

    bins: list[Bin]
    error: float  # ECE
    worst: float  # of any bin (MCE)
    confidence: float  # means over all examples
    accuracy: float


def calibration(confidence: ArrayLike, right: Sequence[bool], bins: int = BINS) -> Calibration:
    """Confidences [N] from 0 to 1 beside whether each guess was right."""
    sure, hits = np.asarray(confidence, np.float64).ravel(), np.asarray(right, np.float64).ravel()
    same_length(hits, sure)
    if bins < 1:
        raise UserError(f"{bins} bins hold nothing: choose 1 or more")
    for bad in np.flatnonzero(~((sure >= -HAIR) & (sure <= 1.0 + HAIR))):
        raise UserError(f"confidence {sure[bad]} of example {bad + 1} is no probability: give numbers from 0 to 1")
    sure = sure.clip(0.0, 1.0)
    bounds = np.linspace(0.0, 1.0, bins + 1)
    place = np.searchsorted(bounds[1:-1], sure)  # [N]
    size, sums, found = (np.bincount(place, weights, bins) for weights in (None, sure, hits))
    means = [np.divide(each, size, out=np.zeros(bins), where=size > 0) for each in (sums, found)]
    apart = np.abs(means[0] - means[1])
    columns = zip(bounds[:-1], bounds[1:], size, *means, strict=True)
    table = [Bin(float(low), float(high), int(n), float(said), float(was)) for low, high, n, said, was in columns]
    error = float((apart * size).sum() / len(sure))
    return Calibration(table, error, float(apart.max()), float(sure.mean()), float(hits.mean()))


def of_classes(probabilities: ArrayLike, gold: Sequence[int], bins: int = BINS) -> Calibration:
    """Probabilities [N, C] beside the number of the right class: the likeliest class is the guess."""
    table = np.asarray(probabilities, np.float64)
    if table.ndim != 2 or not table.shape[1]:
        raise UserError(f"probabilities of shape {list(table.shape)}: give a row for each example")
    same_length(gold, table)
    return calibration(table.max(axis=1), table.argmax(axis=1) == np.asarray(gold), bins)
