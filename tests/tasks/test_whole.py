"""Is a long text answered for by the part that is asked for, or by the mean of all its windows?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from litebert.tasks import whole
from litebert.tasks.classify import Classify
from litebert.tasks.cutting import Cut, cut_of
from litebert.tasks.examples import Text
from litebert.tasks.multilabel import Multilabel
from litebert.tasks.regress import Regress
from litebert.tasks.settings import Tuning
from tasks.laid import answered, laid
from vectors.tiny import WORDS, wordpiece_of

LONG = Text(" ".join(WORDS), None, "a")
SHORT = Text("the sea", None, "b")
PAIR = Text(" ".join(WORDS), "a small boat", "a")
MEAN = Cut(12, "mean", stride=5)


def scores_of_rows(task: Any, examples: list[Text]) -> list[torch.Tensor]:
    """What the model says of each row of each text on its own: [rows, K] a text."""
    model, items, _ = laid(task, examples)
    found = []
    for item in items:
        rows = [model.logits("classify", model(torch.tensor(np.array(row.ids)[None]).long(),
                                               segments=torch.tensor(np.array(row.segments)[None]).long()))
                for row in item.rows]  # fmt: skip
        found.append(torch.cat(rows).detach())
    return found


@pytest.mark.parametrize("examples", [[LONG, SHORT, PAIR], [SHORT, SHORT], [PAIR]], ids=["mixed", "short", "one"])
def test_the_scores_of_a_text_are_the_mean_of_its_windows(examples: list[Text]) -> None:
    task = Classify(("a", "b", "c"), MEAN)
    model, _, micro = laid(task, examples)
    alone = scores_of_rows(task, examples)
    assert micro.rows == tuple(map(len, alone))
    torch.testing.assert_close(
        whole.logits(model, micro), torch.stack([one.mean(0) for one in alone]), atol=1e-5, rtol=1e-5
    )


def test_a_text_of_many_windows_costs_no_more_than_one_of_one() -> None:
    """The loss is of texts: were it of windows, long texts would be learnt many times over."""
    for task in (Classify(("a", "b"), MEAN), Multilabel(("a", "b"), MEAN)):
        _, items, micro = laid(task, [LONG, SHORT])
        assert (len(items[0].rows), len(items[1].rows)) == (4, 1)
        assert task.counts(micro)["classify"] == 2.0 * (2 if isinstance(task, Multilabel) else 1)
    scored = [LONG._replace(label=1.0), SHORT._replace(label=2.0)]
    assert Regress(cut=MEAN).counts(laid(Regress(cut=MEAN), scored).micro) == {"regress": 2.0}


def told(prediction: Any) -> list[float]:
    """The numbers of a prediction."""
    return list(prediction.probabilities.values()) if hasattr(prediction, "probabilities") else [prediction.prediction]


def test_every_kind_says_the_same_of_a_text_in_any_company() -> None:
    for task, examples in ((Classify(("a", "b"), MEAN), [LONG, SHORT, PAIR]), (Regress(cut=MEAN), [LONG, SHORT, PAIR])):
        unknown = [one._replace(label=None) for one in examples]
        model = laid(task, unknown).model
        together = answered(task, unknown, model)
        for one, said in zip(unknown, together, strict=True):
            (alone,) = answered(task, [one], model)
            assert told(said) == pytest.approx(told(alone), abs=1e-5)


@pytest.mark.parametrize(
    ("tuning", "kept"),
    [
        ({"long": "head"}, [range(510)]),
        ({"long": "tail"}, [range(490, 1000)]),
        ({"long": "head-tail", "head": 128}, [[*range(128), *range(618, 1000)]]),  # 128 + 382 (arXiv 1905.05583)
        ({"long": "mean", "stride": 255}, [range(510), range(255, 765), range(490, 1000)]),
    ],
    ids=lambda value: value["long"] if isinstance(value, dict) else "",
)
def test_of_a_thousand_tokens_those_are_read_that_were_asked_for(tuning: dict[str, Any], kept: list[Any]) -> None:
    tokenizer = wordpiece_of()
    draw = np.random.default_rng(0)
    text = " ".join(draw.choice([word for word in WORDS if word != "x"], 1000).tolist())
    ids = tokenizer.encode(text)
    assert len(ids) == 1000
    (item,) = Classify(("a", "b"), cut_of(Tuning(length=512, **tuning))).items([Text(text)], tokenizer)
    wanted = [[tokenizer.specials.cls, *(ids[i] for i in part), tokenizer.specials.sep] for part in kept]
    assert [np.asarray(row.ids).tolist() for row in item.rows] == wanted


def test_labels_that_are_numbers_stand_by_size() -> None:
    assert whole.in_order({"10", "9", "1"}) == ["1", "9", "10"]
    assert whole.in_order({"10", "9", "b"}) == ["10", "9", "b"]
    assert whole.shown([str(i) for i in range(15)]).endswith("'11' and 3 more")
