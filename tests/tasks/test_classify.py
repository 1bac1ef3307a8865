"""Is one class of several learnt, weighed, measured and told as scikit-learn and torch have it?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.metrics
import torch
import torch.nn.functional as F
from sklearn.utils.class_weight import compute_class_weight

from litebert.errors import UserError
from litebert.tasks import whole
from litebert.tasks.classify import Classified, Classify
from litebert.tasks.examples import Place, Text
from litebert.tasks.settings import Tuning
from tasks.laid import laid

LABELS = ("river", "sea", "sea", "lake", "sea", "river")
TEXTS = [Text(f"the {name} is cold", None, name, place=Place("data.tsv", row)) for row, name in enumerate(LABELS, 2)]
PAIRS = [one._replace(pair="a small boat") for one in TEXTS]
TUNING = Tuning(length=32)


def task(names: tuple[str, ...] = ("lake", "river", "sea"), **more: Any) -> Classify:
    return Classify(names, TUNING_CUT, **more)


TUNING_CUT = Classify.settled(TEXTS, TUNING).cut


@pytest.mark.parametrize("examples", [TEXTS, PAIRS], ids=["single", "pair"])
def test_classes_count_as_scikit_learn_balances_them(examples: list[Text]) -> None:
    made = Classify.settled(examples, TUNING.but(weights="balanced"))
    wanted = compute_class_weight("balanced", classes=np.array(made.names), y=np.array(LABELS))
    np.testing.assert_allclose(made.weights, wanted)
    assert Classify.settled(examples, TUNING).weights == ()


@pytest.mark.parametrize("weights", [(), (3.0, 0.5, 1.25)], ids=["alike", "weighed"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("examples", [TEXTS, PAIRS], ids=["single", "pair"])
def test_the_loss_is_torchs_mean(weights: tuple[float, ...], smoothing: float, examples: list[Text]) -> None:
    made = task(weights=weights, smoothing=smoothing)
    model, _, micro = laid(made, examples)
    (sums,) = made.sums(model, micro).values()
    gold = torch.tensor([made.names.index(name) for name in LABELS])
    logits = model.logits("classify", model(micro.ids, micro.mask, micro.segments))
    wanted = F.cross_entropy(logits, gold, torch.tensor(weights) if weights else None, label_smoothing=smoothing)
    torch.testing.assert_close(sums.loss / sums.count, wanted)
    assert made.counts(micro) == {"classify": pytest.approx(float(sums.count))}
    counted = torch.tensor([weights[place] if weights else 1.0 for place in gold.tolist()])
    assert float(sums.right) == pytest.approx(float((counted * (logits.argmax(-1) == gold)).sum()))


def test_a_text_without_a_class_costs_nothing() -> None:
    made = task(weights=(3.0, 0.5, 1.25), smoothing=0.1)
    model, _, alone = laid(made, TEXTS[:3])
    _, _, among = laid(made, [*TEXTS[:3], Text("the green bird", None, None)])
    one, other = made.sums(model, alone)["classify"], made.sums(model, among)["classify"]
    torch.testing.assert_close(one.loss, other.loss)
    assert (float(one.right), float(one.count)) == (float(other.right), float(other.count))
    none = laid(made, [Text("the green bird")]).micro
    assert (none.targets, made.counts(none), made.sums(model, none)) == ({}, {}, {})


def test_classes_stand_in_an_order_that_is_not_the_files() -> None:
    numbers = [Text("a", None, label) for label in ("10", "9", "2", "10")]
    assert Classify.settled(numbers, TUNING).names == ("2", "9", "10")
    assert (
        Classify.settled(TEXTS[::-1], TUNING).names == Classify.settled(TEXTS, TUNING).names == ("lake", "river", "sea")
    )
    assert Classify.settled(TEXTS, TUNING, ["sea", "river", "lake", "ice"]).names == ("sea", "river", "lake", "ice")


def test_a_class_that_no_example_has_weighs_one() -> None:
    made = Classify.settled(TEXTS, TUNING.but(weights="balanced"), ["sea", "river", "lake", "ice"])
    assert made.weights == (6 / 12, 6 / 8, 6 / 4, 1.0)


@pytest.mark.parametrize(
    ("examples", "labels", "said"),
    [
        ([TEXTS[0], TEXTS[0]], None, "all 2 training examples are labelled 'river': a classifier needs two labels"),
        (TEXTS, ["sea", "lake"], "data.tsv:2: label 'river' is none of 'sea', 'lake': correct it"),
        ([*TEXTS, Text("a", None, None, place=Place("data.tsv", 9))], None, "data.tsv:9: no label: give every"),
        ([*TEXTS, Text("a", None, 0.5, place=Place("data.tsv", 9))], None, "data.tsv:9: label 0.5, which is not one"),
    ],
    ids=["one class", "unknown class", "no class", "a score"],
)  # fmt: skip
def test_examples_that_settle_nothing_are_named(examples: list[Text], labels: list[str] | None, said: str) -> None:
    with pytest.raises(UserError) as error:
        Classify.settled(examples, TUNING, labels)
    assert said in str(error.value)


def test_what_is_told_is_the_softmax() -> None:
    made = task()
    scores = [np.array([1.0, 900.0, -3.0], np.float32), np.array([0.5, -1.0, 0.25], np.float32)]
    first, second = made.predictions(TEXTS[:2], [], scores)
    assert (first.prediction, first.probability) == ("river", 1.0)
    wanted = torch.tensor(scores[1]).double().softmax(-1).tolist()
    assert second.prediction == "lake"
    assert list(second.probabilities) == ["lake", "river", "sea"]
    assert list(second.probabilities.values()) == pytest.approx(wanted)
    assert made.predictions([], [], []) == []


@pytest.mark.parametrize("names", [("no", "yes"), ("a", "b", "c", "d")], ids=["binary", "multi-class"])
def test_measures_are_scikit_learns_and_unlabelled_texts_are_left_out(names: tuple[str, ...]) -> None:
    draw = np.random.default_rng(0)
    gold, said = (draw.choice(names, 60).tolist() for _ in range(2))
    examples = [Text("x", None, None if i % 7 == 0 else label) for i, label in enumerate(gold)]
    found = Classify(names).score(examples, [Classified(one, 1.0, {}) for one in said])
    kept = [i for i in range(60) if i % 7]
    right, guessed = [gold[i] for i in kept], [said[i] for i in kept]
    f1 = sklearn.metrics.f1_score
    wanted = {"accuracy": sklearn.metrics.accuracy_score(right, guessed),
              **({"f1": f1(right, guessed, pos_label="yes")} if len(names) == 2
                 else {"f1_macro": f1(right, guessed, average="macro")}),
              "matthews": sklearn.metrics.matthews_corrcoef(right, guessed)}  # fmt: skip
    assert found == pytest.approx(wanted)
    assert tuple(found) == Classify(names).measures


def test_what_decides_may_be_another_measure_without_changing_any() -> None:
    made = Classify(("no", "yes"))
    examples, said = [Text("x", None, "yes"), Text("y", None, "no")], [Classified("yes", 1.0, {})] * 2
    before = made.score(examples, said)
    made.measures = ("matthews", "accuracy")
    assert made.score(examples, said) == before


def test_a_model_that_tells_nothing_apart_is_said_to() -> None:
    made = Classify(("no", "yes"))
    draw = np.random.default_rng(0)

    def said(shares: Any) -> list[Classified]:
        return [
            Classified("yes" if one > 0.5 else "no", max(one, 1 - one), {"no": 1 - one, "yes": one}) for one in shares
        ]

    assert made.collapsed(said(draw.random(20))) == ""
    assert made.collapsed(said(0.6 + 0.3 * draw.random(20))) == "says 'yes' of all 20 texts"
    even = 0.5 + 1e-4 * draw.standard_normal(20)  # both classes are said, by a hair
    assert made.collapsed(said(even)).startswith("gives all 20 texts the same probabilities (no 0.")
    assert made.collapsed(said([0.9] * (whole.MANY - 1))) == ""  # so few may well be alike


def test_the_head_bears_the_names() -> None:
    name, head = task().spec(laid(task(), TEXTS).model.config)
    assert (name, head.kind, head.labels, head.names) == ("classify", "classify", 3, ("lake", "river", "sea"))
