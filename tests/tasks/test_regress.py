"""Are scores learnt in one unit whatever their range, told in their own, and is one score for all noticed?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats
import torch
import torch.nn.functional as F

from litebert.errors import UserError
from litebert.tasks import whole
from litebert.tasks.examples import Place, Text
from litebert.tasks.regress import Regress, Scored
from litebert.tasks.settings import Tuning
from tasks.laid import answered, laid

TUNING = Tuning(length=32)
SCORES = (0.0, 5.0, 2.5, 4.2)
WORDS = ("sea", "lake", "river", "harbour")
TEXTS = [Text(f"the {word}", "a boat", score, place=Place("data.tsv", row))
         for row, (word, score) in enumerate(zip(WORDS, SCORES, strict=True), 2)]  # fmt: skip


def scaled(times: float, plus: float) -> list[Text]:
    """The same examples with scores in another unit."""
    return [one._replace(label=times * float(one.label) + plus) for one in TEXTS]  # type: ignore[arg-type]


def test_the_loss_is_torchs_squared_error_in_spreads() -> None:
    made = Regress.settled(TEXTS, TUNING)
    model, _, micro = laid(made, TEXTS)
    sums = made.sums(model, micro)["regress"]
    said = model.logits("classify", model(micro.ids, micro.mask, micro.segments)).squeeze(-1)
    wanted = torch.tensor((np.array(SCORES) - np.mean(SCORES)) / np.std(SCORES)).float()
    torch.testing.assert_close(sums.loss / sums.count, F.mse_loss(said, wanted))
    assert float(sums.count) == made.counts(micro)["regress"] == 4.0
    assert float(sums.right) == float(((said - wanted).abs() < 0.5).sum())


@pytest.mark.parametrize(("times", "plus"), [(1000.0, 0.0), (0.01, 3.0), (-2.0, 50.0)])
def test_another_unit_of_the_scores_is_the_same_task(times: float, plus: float) -> None:
    other = scaled(times, plus)
    one, two = Regress.settled(TEXTS, TUNING), Regress.settled(other, TUNING)
    model, _, micro = laid(one, TEXTS)
    _, _, again = laid(two, other)
    sign = 1.0 if times > 0 else -1.0
    torch.testing.assert_close(again.targets["scores"], sign * micro.targets["scores"], atol=1e-5, rtol=1e-5)
    for ours, theirs in zip(answered(one, TEXTS, model), answered(two, other, model), strict=True):
        in_spreads = (ours.prediction - one.mean) / one.spread
        assert (theirs.prediction - two.mean) / two.spread == pytest.approx(in_spreads)


def test_a_text_without_a_score_costs_nothing() -> None:
    made = Regress.settled(TEXTS, TUNING)
    model, _, alone = laid(made, TEXTS[:2])
    _, _, among = laid(made, [*TEXTS[:2], Text("the green bird", "x")])
    one, other = made.sums(model, alone)["regress"], made.sums(model, among)["regress"]
    torch.testing.assert_close(one.loss, other.loss)
    assert (float(one.right), float(one.count)) == (float(other.right), float(other.count))
    assert laid(made, [Text("the green bird")]).micro.targets == {}


def test_measures_are_scipys() -> None:
    draw = np.random.default_rng(0)
    gold, said = draw.integers(0, 6, 50).astype(float), draw.random(50)
    examples = [Text("x", None, score) for score in gold.tolist()] + [Text("x")]
    found = Regress().score(examples, [*map(Scored, said.tolist()), Scored(0.0)])
    assert found == pytest.approx({"pearson": scipy.stats.pearsonr(gold, said).statistic,
                                   "spearman": scipy.stats.spearmanr(gold, said).statistic})  # fmt: skip


def test_one_score_for_all_is_noticed_in_any_unit() -> None:
    draw = np.random.default_rng(0)
    for spread in (1.5, 300.0):
        made = Regress(10.0, spread)
        apart = [Scored(10.0 + spread * one) for one in draw.standard_normal(20)]
        alike = [Scored(10.0 + 1e-3 * spread * one) for one in draw.standard_normal(20)]
        assert made.collapsed(apart) == ""
        assert made.collapsed(alike).startswith("gives all 20 texts the same score (")
        assert made.collapsed(alike[: whole.MANY - 1]) == ""


@pytest.mark.parametrize(
    ("label", "said"),
    [
        (float("nan"), "data.tsv:9: score nan, which is not a number: give every training example a number"),
        (float("inf"), "data.tsv:9: score inf, which is not a number"),
        ("5", "data.tsv:9: score '5', which is not a number"),
        (None, "data.tsv:9: no score: give every training example a number"),
    ],
)
def test_a_score_that_is_none_is_named(label: Any, said: str) -> None:
    with pytest.raises(UserError) as error:
        Regress.settled([*TEXTS, Text("x", None, label, place=Place("data.tsv", 9))], TUNING)
    assert said in str(error.value)


def test_scores_that_are_all_alike_and_settings_without_meaning_are_refused() -> None:
    with pytest.raises(UserError, match=r"all 4 training scores are 3: there is no difference to learn"):
        Regress.settled(scaled(0.0, 3.0), TUNING)
    for setting in ({"weights": "balanced"}, {"smoothing": 0.1}):
        with pytest.raises(UserError, match="has no meaning for regress, which has no classes: leave it"):
            Regress.settled(TEXTS, TUNING.but(**setting))
