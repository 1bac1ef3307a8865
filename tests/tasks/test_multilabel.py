"""Are several labels at once learnt, weighed and measured as torch and scikit-learn have it?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.metrics
import torch
import torch.nn.functional as F
from sklearn.utils.class_weight import compute_class_weight

from litebert.errors import UserError
from litebert.tasks.examples import Place, Text
from litebert.tasks.multilabel import Labelled, Multilabel
from litebert.tasks.settings import Tuning
from tasks.laid import laid

TUNING = Tuning(length=32)
SETS = (("sea", "cold"), ("sea",), (), ("cold", "river", "sea"), ("river",))
TEXTS = [Text(f"the {' and '.join(names) or 'lake'}", None, frozenset(names), place=Place("data.jsonl", row))
         for row, names in enumerate(SETS, 1)]  # fmt: skip
HOLDS = torch.tensor([[1.0, 0, 1], [0, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]])  # cold, river, sea


def settled(**more: Any) -> Multilabel:
    return Multilabel.settled(TEXTS, TUNING.but(**more))


def test_the_loss_is_torchs_mean_over_texts_and_labels() -> None:
    made = settled()
    model, _, micro = laid(made, TEXTS)
    sums = made.sums(model, micro)["classify"]
    logits = model.logits("classify", model(micro.ids, micro.mask, micro.segments))
    torch.testing.assert_close(sums.loss / sums.count, F.binary_cross_entropy_with_logits(logits, HOLDS))
    assert float(sums.count) == made.counts(micro)["classify"] == 15.0
    assert float(sums.right) == float(((logits > 0) == (HOLDS > 0)).sum())


def test_a_smoothed_label_is_half_way_to_not_knowing() -> None:
    made = settled(smoothing=0.2)
    model, _, micro = laid(made, TEXTS)
    sums = made.sums(model, micro)["classify"]
    logits = model.logits("classify", model(micro.ids, micro.mask, micro.segments))
    aim = torch.where(HOLDS > 0, 0.9, 0.1)
    torch.testing.assert_close(sums.loss / sums.count, F.binary_cross_entropy_with_logits(logits, aim))


def test_each_label_is_balanced_as_scikit_learn_balances_two_classes() -> None:
    made = settled(weights="balanced")
    model, _, micro = laid(made, TEXTS)
    for place in range(3):
        wanted = compute_class_weight("balanced", classes=np.array([0, 1]), y=HOLDS[:, place].int().numpy())
        np.testing.assert_allclose(made.weights[place], wanted)
        counted = micro.targets["counted"][:, place]
        torch.testing.assert_close(counted, torch.tensor(wanted)[HOLDS[:, place].long()].float())
    sums = made.sums(model, micro)["classify"]
    assert float(sums.count) == pytest.approx(made.counts(micro)["classify"]) == pytest.approx(15.0)


def test_a_label_that_all_or_none_have_weighs_one() -> None:
    made = Multilabel.settled([Text("x", None, frozenset(["all"])), Text("y", None, frozenset(["all"]))],
                              TUNING.but(weights="balanced"), ["all", "none"])  # fmt: skip
    assert made.weights == ((1.0, 1.0), (1.0, 1.0))


def test_a_text_without_known_labels_costs_nothing_but_one_with_none_does() -> None:
    made = settled(weights="balanced")
    model, _, alone = laid(made, TEXTS[:3])
    _, _, among = laid(made, [*TEXTS[:3], Text("the green bird")])
    one, other = made.sums(model, alone)["classify"], made.sums(model, among)["classify"]
    torch.testing.assert_close(one.loss, other.loss)
    assert (float(one.right), float(one.count)) == (float(other.right), float(other.count))
    assert laid(made, [Text("the green bird")]).micro.targets == {}
    assert laid(made, [TEXTS[2]]).micro.targets["holds"].tolist() == [[0.0, 0.0, 0.0]]


def test_labels_are_said_from_the_threshold_on() -> None:
    made = settled()
    scores = [np.array([0.0, -0.01, 800.0], np.float32), np.array([-800.0, -1.0, -2.0], np.float32)]
    first, second = made.predictions(TEXTS[:2], [], scores)
    assert (first.prediction, second.prediction) == (["cold", "sea"], [])
    assert list(first.probabilities.values()) == pytest.approx(torch.tensor(scores[0]).double().sigmoid().tolist())
    stricter = Multilabel(made.names, made.cut, threshold=0.6).predictions(TEXTS[:2], [], scores)
    assert [one.prediction for one in stricter] == [["sea"], []]


def test_measures_are_scikit_learns() -> None:
    draw, names = np.random.default_rng(0), ("a", "b", "c", "d")
    gold, said = (draw.random((50, 4)) < 0.4 for _ in range(2))
    examples = [Text("x", None, frozenset(np.array(names)[row].tolist())) for row in gold]
    guesses = [Labelled(np.array(names)[row].tolist(), {}) for row in said]
    found = Multilabel(names).score([*examples, Text("x")], [*guesses, Labelled([], {})])
    wanted = {"f1_micro": sklearn.metrics.f1_score(gold, said, average="micro"),
              "f1_macro": sklearn.metrics.f1_score(gold, said, average="macro"),
              "exact": sklearn.metrics.accuracy_score(gold, said)}  # fmt: skip
    assert found == pytest.approx(wanted)
    assert tuple(found) == Multilabel.measures


def test_a_model_that_tells_nothing_apart_is_said_to() -> None:
    made, draw = Multilabel(("a", "b")), np.random.default_rng(0)

    def said(shares: Any) -> list[Labelled]:
        return made.predictions([], [], [np.log(row / (1 - row)) for row in shares])

    assert made.collapsed(said(draw.uniform(0.1, 0.9, (20, 2)))) == ""
    assert made.collapsed(said(draw.uniform(0.1, 0.4, (20, 2)))) == "says no label of all 20 texts"
    assert made.collapsed(said(draw.uniform(0.6, 0.9, (20, 2)))) == "says 'a', 'b' of all 20 texts"
    assert "the same probabilities (a 0." in made.collapsed(said(0.5 + 1e-4 * draw.standard_normal((20, 2))))


@pytest.mark.parametrize(
    ("examples", "labels", "said"),
    [
        ([Text("x", None, frozenset())], None, "none of the 1 training examples has a label: check the column"),
        (TEXTS, ["sea", "cold"], "data.jsonl:4: label 'river' is none of 'sea', 'cold': correct it"),
        ([*TEXTS, Text("x", place=Place("data.jsonl", 9))], None, "data.jsonl:9: no labels: give every training"),
        ([*TEXTS, Text("x", None, 2.0, place=Place("data.jsonl", 9))], None, "data.jsonl:9: label 2.0, which is no"),
    ],
    ids=["no label at all", "unknown label", "unlabelled", "a score"],
)  # fmt: skip
def test_examples_that_settle_nothing_are_named(examples: list[Text], labels: list[str] | None, said: str) -> None:
    with pytest.raises(UserError) as error:
        Multilabel.settled(examples, TUNING, labels)
    assert said in str(error.value)
