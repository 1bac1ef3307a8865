"""How far does one come who only counts words? TF-IDF with logistic regression, or ridge regression, of scikit-learn.

A text is the TF-IDF of its words and pairs of neighbouring words, by logarithmic counts. A pair of texts is |a - b| and
a · b, place by place, and the cosine of both. How strongly the model is held back (C, alpha) is chosen by five-fold
cross-validation within the training examples, so that nothing is left to tune.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from litebert.errors import UserError
from litebert.tasks import kinds
from litebert.tasks.classify import Classified
from litebert.tasks.examples import Text
from litebert.tasks.regress import Scored
from litebert.tasks.settings import Tuning
from litebert.tasks.sources import Source

_STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # C; of ridge regression alpha is its inverse
_FOLDS = 5
_SCORES = {"matthews": "matthews_corrcoef", "accuracy": "accuracy"}


def check() -> None:
    """Raise where scikit-learn is not there."""
    if find_spec("sklearn") is None:
        raise UserError("TF-IDF is scikit-learn's: pip install 'litebert[peers]', or add --no-words")


def scored(source: Source) -> dict[str, float]:
    """Every measure on the development examples."""
    check()
    train, dev = _texts(source.train), _texts(source.dev)
    features = _Features(train)
    task = kinds.settled(source.kind, train, Tuning(), source.benchmark.labels if source.benchmark else None)
    measure = source.benchmark.measures[0] if source.benchmark else task.measures[0]
    fitted = _fitted(features.of(train), [one.label for one in train], measure)
    said = fitted.predict(features.of(dev)).tolist()
    if source.kind == "regress":
        return task.score(dev, [Scored(float(one)) for one in said])
    return task.score(dev, [Classified(str(one), 1.0, {}) for one in said])


class _Features:
    """What is counted of a text or a pair, by the words of the training texts."""

    def __init__(self, train: Sequence[Text]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._pairs = train[0].pair is not None
        self._words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\S+")
        self._words.fit([one.text for one in train] + [one.pair or "" for one in train if self._pairs])

    def of(self, texts: Sequence[Text]) -> Any:
        """A sparse row for each."""
        from scipy import sparse

        first = self._words.transform([one.text for one in texts])
        if not self._pairs:
            return first
        second = self._words.transform([one.pair or "" for one in texts])
        both = first.multiply(second)
        cosine = sparse.csr_matrix(np.asarray(both.sum(axis=1)))
        return sparse.hstack([abs(first - second), both, cosine], format="csr")


def _fitted(features: Any, labels: Sequence[Any], measure: str) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

    if isinstance(labels[0], str):
        model: Any = LogisticRegression(solver="liblinear", max_iter=1000)
        grid = {"C": list(_STRENGTHS)}
        folds: Any = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
        scoring = _SCORES.get(measure, "accuracy")
    else:
        model, grid = Ridge(), {"alpha": [1 / one for one in _STRENGTHS]}
        folds, scoring = KFold(_FOLDS, shuffle=True, random_state=0), "r2"
    return GridSearchCV(model, grid, cv=folds, scoring=scoring).fit(features, labels)


def _texts(examples: Sequence[Any]) -> list[Text]:
    found = [one for one in examples if isinstance(one, Text)]
    if not found:
        raise UserError("words are counted in texts and pairs of texts: choose a task of kind classify or regress")
    return found
