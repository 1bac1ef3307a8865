"""Do our measures say what scikit-learn and SciPy say, on ten thousand random cases each and where nothing can be said?

Where scikit-learn takes a millisecond a call, ten thousand cases are columns of one call, and some hundreds go one by
one. A constant side is nan in SciPy and 0 here, which the module says.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from litebert.errors import UserError
from litebert.tasks import metrics

sk: Any = pytest.importorskip("sklearn.metrics", reason="scikit-learn, which judges ours, comes with litebert[dev]")
sklearn: Any = pytest.importorskip("sklearn")
stats: Any = pytest.importorskip("scipy.stats", reason="SciPy, which judges ours, comes with litebert[dev]")

CASES = 10_000
NEAR = 1e-12
QUICK = {"assume_finite": True, "skip_parameter_validation": True}


def labelled(count: int, seed: int) -> Iterator[tuple[list[str], list[str]]]:
    """Gold and guesses of 1 to 24 examples and 1 to 5 classes; a fifth is all alike on one side, or right."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        size, classes = int(random.integers(1, 25)), int(random.integers(1, 6))
        gold = random.integers(0, classes, size)
        said = np.where(random.random(size) < random.random(), gold, random.integers(0, classes, size))
        match int(random.integers(0, 15)):
            case 0:
                said[:] = said[0]
            case 1:
                said = gold
            case 2:
                gold = np.full(size, gold[0])
        yield [f"c{one}" for one in gold], [f"c{one}" for one in said]


def binary(size: int, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Gold and guesses [size, count] of 0 and 1, at all rates from never to always."""
    random = np.random.default_rng(seed)
    gold, said = (random.random((size, count)) < random.beta(0.4, 0.4, count) for _ in range(2))
    return gold.astype(int), np.where(random.random((size, count)) < 0.3, gold, said).astype(int)


def test_accuracy_is_scikit_learns() -> None:
    pairs = list(labelled(CASES, 1))
    ours = [metrics.accuracy(*pair) for pair in pairs]
    np.testing.assert_allclose(ours, [np.mean(np.array(gold) == np.array(said)) for gold, said in pairs], atol=NEAR)
    assert ours == [metrics.f1_micro(*pair) for pair in pairs]
    with sklearn.config_context(**QUICK):
        np.testing.assert_allclose(ours[:300], [sk.accuracy_score(*pair) for pair in pairs[:300]], atol=NEAR)
        np.testing.assert_allclose(ours[:300], [sk.f1_score(*pair, average="micro") for pair in pairs[:300]], atol=NEAR)


@pytest.mark.parametrize("size", [1, 2, 7, 30, 200])
def test_f1_of_a_label_is_scikit_learns(size: int) -> None:
    gold, said = binary(size, CASES // 5, size)
    wanted = sk.f1_score(gold, said, average=None, zero_division=0)  # a column is a case
    assert (wanted == 0).any()
    assert (wanted == 1).any()
    ours = [metrics.f1(one, other, 1) for one, other in zip(gold.T.tolist(), said.T.tolist(), strict=True)]
    np.testing.assert_allclose(ours, wanted, rtol=0, atol=NEAR)


def test_macro_f1_is_scikit_learns() -> None:
    columns: list[tuple[int, np.ndarray, np.ndarray]] = []
    ours = []
    for number, (gold, said) in enumerate(labelled(CASES, 3)):
        ours.append(metrics.f1_macro(gold, said))
        right, guessed = np.array(gold), np.array(said)
        for label in {*gold, *said}:
            one, other = np.zeros((2, 24), np.int8)
            one[: len(gold)], other[: len(said)] = right == label, guessed == label
            columns.append((number, one, other))
    numbers, gold_columns, said_columns = zip(*columns, strict=True)
    each = sk.f1_score(np.stack(gold_columns, 1), np.stack(said_columns, 1), average=None, zero_division=0)
    wanted = np.bincount(numbers, each) / np.bincount(numbers)
    np.testing.assert_allclose(ours, wanted, rtol=0, atol=NEAR)


@pytest.mark.parametrize("size", [2, 7, 30, 200])
def test_matthews_of_two_classes_is_the_correlation(size: int) -> None:
    gold, said = binary(size, CASES // 4, size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant columns
        wanted = np.nan_to_num(stats.pearsonr(gold, said, axis=0).statistic)
    ours = [metrics.matthews(one, other) for one, other in zip(gold.T.tolist(), said.T.tolist(), strict=True)]
    np.testing.assert_allclose(ours, wanted, rtol=0, atol=1e-9)


def test_measures_of_many_classes_are_scikit_learns_one_by_one() -> None:
    with sklearn.config_context(**QUICK), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one class alone
        for gold, said in labelled(250, 4):
            macro = sk.f1_score(gold, said, average="macro", zero_division=0)
            assert metrics.f1_macro(gold, said) == pytest.approx(macro, abs=NEAR)
            assert metrics.matthews(gold, said) == pytest.approx(sk.matthews_corrcoef(gold, said), abs=1e-9)
            wanted = sk.precision_recall_fscore_support(gold, said, zero_division=0)
            found = metrics.by_label(gold, said)
            assert [one.name for one in found] == sorted({*gold, *said})
            np.testing.assert_allclose([[one.precision, one.recall, one.f1, one.gold] for one in found],
                                       np.stack(wanted, 1), atol=NEAR)  # fmt: skip


def test_the_table_of_labels_is_scikit_learns() -> None:
    gold, said = ["b", "a", "b", "c"], ["b", "b", "b", "a"]
    counts, names = metrics.confusion(gold, said, ["c", "b", "a"])
    assert names == ["c", "b", "a"]
    np.testing.assert_array_equal(counts, sk.confusion_matrix(gold, said, labels=names))


def test_many_tables_at_once_are_measured_as_one_by_one() -> None:
    pairs = [(gold, said) for gold, said in labelled(50, 5)]
    labels = [f"c{i}" for i in range(5)]
    tables = np.stack([metrics.confusion(gold, said, labels)[0] for gold, said in pairs]).reshape(5, 10, 5, 5)
    for together, alone in (
        (metrics.accuracy_of(tables), metrics.accuracy), (metrics.f1_macro_of(tables), metrics.f1_macro),
        (metrics.matthews_of(tables), metrics.matthews),
        (metrics.f1_label_of(tables, 1), lambda gold, said: metrics.f1(gold, said, "c1")),
    ):  # fmt: skip
        assert together.shape == (5, 10)
        np.testing.assert_allclose(together.ravel(), [alone(*pair) for pair in pairs], atol=NEAR)


def test_several_labels_at_once_are_measured_as_by_scikit_learn() -> None:
    random = np.random.default_rng(6)
    with sklearn.config_context(**QUICK):
        for _ in range(200):
            size, labels = int(random.integers(1, 20)), int(random.integers(1, 6))
            gold, said = random.random((2, size, labels)) < random.random((2, 1, 1))
            sides = [[frozenset(np.flatnonzero(row).tolist()) for row in side] for side in (gold, said)]
            there = gold.any(0) | said.any(0)  # scikit-learn knows a label by its column, we by its being named
            if there.sum() < 2:
                micro = macro = sk.f1_score(gold[:, there].ravel(), said[:, there].ravel()) if there.any() else 0.0
            else:
                micro, macro = (sk.f1_score(gold[:, there], said[:, there], average=how) for how in ("micro", "macro"))
            assert metrics.sets_f1_micro(*sides) == pytest.approx(micro, abs=NEAR)
            assert metrics.sets_f1_macro(*sides) == pytest.approx(macro, abs=NEAR)
            assert metrics.accuracy(*sides) == pytest.approx(sk.accuracy_score(gold, said), abs=NEAR)
            assert [one.gold for one in metrics.sets_by_label(*sides)] == gold.sum(0)[there].tolist()


def scored(size: int, count: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of scores [count, size]: related or not, with ties, far from 0, all but alike, and huge."""
    random = np.random.default_rng(seed)
    gold = random.normal(size=(count, size))
    said = gold * random.normal(size=(count, 1)) + random.normal(size=(count, size)) * random.random((count, 1))
    yield gold, said
    yield np.round(gold), np.round(said * 2)
    yield random.integers(0, 2, (count, size)) * 1.0, np.round(said)
    yield gold + 1e6, said * 1e-7
    yield gold * 1e150, said - 3


@pytest.mark.parametrize("size", [2, 3, 10, 60])
def test_pearson_is_scipys(size: int) -> None:
    for gold, said in scored(size, CASES // 20, size):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = stats.pearsonr(gold, said, axis=1).statistic
        ours = [metrics.pearson(*pair) for pair in zip(gold, said, strict=True)]
        np.testing.assert_allclose(ours, np.nan_to_num(wanted), rtol=0, atol=1e-8)


@pytest.mark.parametrize("size", [2, 3, 10, 60])
def test_spearman_is_scipys_ties_and_all(size: int) -> None:
    for gold, said in scored(size, CASES // 20, size):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ranks = stats.rankdata(gold, axis=1), stats.rankdata(said, axis=1)
            wanted = stats.pearsonr(*ranks, axis=1).statistic
            some = [stats.spearmanr(*pair).statistic for pair in zip(gold[:50], said[:50], strict=True)]
        ours = [metrics.spearman(*pair) for pair in zip(gold, said, strict=True)]
        np.testing.assert_allclose(ours, np.nan_to_num(wanted), rtol=0, atol=1e-9)
        np.testing.assert_allclose(ours[:50], np.nan_to_num(some), rtol=0, atol=1e-9)


@pytest.mark.parametrize("measure", [metrics.pearson, metrics.spearman])
def test_guesses_that_are_all_alike_correlate_with_nothing(measure: Any) -> None:
    assert measure([1.0, 2.0, 3.0], [2.0, 2.0, 2.0]) == 0.0
    assert measure([0.0, 0.0], [1.0, 2.0]) == 0.0
    assert measure([4.0], [2.0]) == 0.0
    assert measure([1.0, 2.0], [0.1, 0.1 + 1e-18]) == 0.0  # one float


@pytest.mark.parametrize("measure", [metrics.pearson, metrics.spearman])
@pytest.mark.parametrize("scores", [[0.1, 0.1 + 2e-17], [1e6, 1e6 + 1e-9], [0.0, 5e-324], [-1.7e308, 1.7e308]])
def test_two_scores_that_differ_at_all_correlate_fully(measure: Any, scores: list[float]) -> None:
    assert measure([1.0, 2.0], scores) == pytest.approx(1.0, abs=NEAR)
    assert measure([2.0, 1.0], scores) == pytest.approx(-1.0, abs=NEAR)


@pytest.mark.parametrize("measure", [metrics.pearson, metrics.spearman])
def test_a_score_that_is_no_number_is_named_with_its_side(measure: Any) -> None:
    with pytest.raises(UserError, match="guessed score nan of example 2 is not a number to compare: the model has div"):
        measure([1.0, 2.0, 3.0], [1.0, float("nan"), 3.0])
    with pytest.raises(UserError, match="gold score inf of example 3 is not a number to compare: leave the exa"):
        measure([1.0, 2.0, float("inf")], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("name", ["accuracy", "f1_macro", "matthews", "by_label", "sets_f1_micro", "sets_f1_macro",
                                  "pearson", "spearman"])  # fmt: skip
def test_nothing_to_measure_is_refused(name: str) -> None:
    measure = getattr(metrics, name)
    with pytest.raises(UserError, match="0 examples: a measure needs at least one whose answer is known"):
        measure([], [])
    with pytest.raises(UserError, match="1 guesses for 2 examples: measure one guess for each"):
        measure([1.0, 2.0], [1.0])


def test_a_label_outside_those_that_were_named_is_refused() -> None:
    with pytest.raises(UserError, match="label 'x' is none of a, b: name every label that occurs"):
        metrics.confusion(["a", "x"], ["a", "b"], ["a", "b"])


def test_no_positive_anywhere_is_an_f1_of_nothing() -> None:
    assert metrics.f1(["a", "a"], ["a", "a"], "b") == 0.0
    assert metrics.matthews(["a", "a"], ["a", "a"]) == 0.0
    assert metrics.sets_f1_micro([set(), set()], [set(), set()]) == 0.0
    assert metrics.sets_f1_macro([set()], [set()]) == 0.0
    assert metrics.by_label(["a"], ["a"])[0]._asdict() == {
        "name": "a", "precision": 1.0, "recall": 1.0, "f1": 1.0, "gold": 1, "guessed": 1, "hits": 1,
    }  # fmt: skip


def test_labels_stand_by_size_or_by_letters() -> None:
    assert metrics.confusion([10, 9, 2], [2, 2, 2])[1] == [2, 9, 10]
    assert metrics.confusion(["b", "a"], ["a", "a"])[1] == ["a", "b"]
