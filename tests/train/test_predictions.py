"""Is the share of the most frequent answer what counting the answers by hand gives, and is nothing left changed?"""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from litebert.data.batch import UNASKED, Tensors
from litebert.model.model import Model
from litebert.train import feeding, predictions
from litebert.train.prepared import Prepared
from train.tiny import prepared, run_of


def micro_of(made: Prepared) -> Tensors:
    """A held-out micro-batch."""
    micro: Tensors = feeding.held_out(made.run, made.held_out, made.vocabulary, made.trainer.world)[0].micros[0]
    return micro


def model_of(made: Prepared) -> Model:
    """The model, as what it is."""
    assert isinstance(made.trainer.model, Model)
    return made.trainer.model


def counted(made: Prepared, micro: Tensors) -> dict[str, float]:
    """The same by all logits of all rows, counted one by one."""
    model = model_of(made).eval()
    with torch.no_grad():
        out = model(micro.ids, micro.mask, micro.segments)
        words = model.logits("mlm", out)
        orders = model.logits("order", out)
    places = [(row, int(place)) for row in range(len(micro.ids)) for place, weight in
              zip(micro.asked[row], micro.weights[row], strict=True) if weight > 0]  # fmt: skip
    said = Counter(int(words[row, place].argmax()) for row, place in places)
    judged = Counter(int(one.argmax()) for one, asked in zip(orders, micro.order, strict=True) if asked != UNASKED)
    return {"mlm_top": max(said.values()) / len(places), "mlm_distinct": float(len(said)),
            "order_top": max(judged.values()) / sum(judged.values())}  # fmt: skip


@pytest.mark.parametrize("at_once", [1, 200 * 7, 1 << 24])
def test_answers_are_those_of_the_logits(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictions, "_AT_ONCE", at_once)
    made = prepared()
    micro = micro_of(made)
    found = predictions.predictions(made.trainer, micro)
    assert found == pytest.approx(counted(made, micro))
    assert found["mlm_distinct"] > 1


def test_a_model_that_always_says_the_same_is_seen() -> None:
    made = prepared()
    heads = model_of(made).heads
    with torch.no_grad():
        heads["mlm"].bias[17] = 1e4
        heads["order"].out.bias[1] = 1e4
    found = predictions.predictions(made.trainer, micro_of(made))
    assert found == {"mlm_top": 1.0, "mlm_distinct": 1.0, "order_top": 1.0}


@pytest.mark.parametrize("training", [True, False])
def test_mode_and_gradients_stay_and_dropout_is_off(training: bool) -> None:
    made = prepared(run_of("model.dropout=0.5", "model.attention_dropout=0.5"))
    model = model_of(made).train(training)
    micro = micro_of(made)
    assert predictions.predictions(made.trainer, micro) == predictions.predictions(made.trainer, micro)
    assert model.training is training
    assert all(p.grad is None for p in model.parameters())


def test_no_more_than_the_first_rows_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    made = prepared()
    monkeypatch.setattr(predictions, "_ROWS", 5)
    micro = micro_of(made)
    found = predictions.predictions(made.trainer, micro)
    assert found == pytest.approx(counted(made, feeding.split(micro, 5)[0]))


def test_what_is_not_asked_for_is_not_told() -> None:
    made = prepared(run_of("model.objectives=['mlm']", "data.packing=full-sentences", "model.segments=0"))
    assert set(predictions.predictions(made.trainer, micro_of(made))) == {"mlm_top", "mlm_distinct"}
    asked = micro_of(prepared())
    unasked = asked._replace(weights=torch.zeros_like(asked.weights), order=torch.full_like(asked.order, UNASKED))
    assert predictions.predictions(prepared().trainer, unasked) == {}


def test_in_the_precision_of_the_run() -> None:
    made = prepared(asked="bfloat16")
    found = predictions.predictions(made.trainer, micro_of(made))
    assert found["mlm_top"] == pytest.approx(counted(prepared(), micro_of(made))["mlm_top"], abs=0.2)
