"""Do whole models learn by these steps: every corner of the family, in float32 and under bfloat16 autocast?"""

from __future__ import annotations

import math

import pytest
import torch

from litebert.config import Config
from litebert.model.model import Model
from litebert.optim.groups import treated
from litebert.optim.lamb import Lamb
from litebert.optim.rule import rule
from litebert.optim.schedule import Schedule
from model.specimens import CORNERS, SMALL, make, tokens


def heads(config: Config) -> list[str]:
    return ["plm"] if "plm" in config.objectives else ["mlm", "order"]


def loss(model: Model, config: Config) -> torch.Tensor:
    """How far a model is from saying the same 16 words again."""
    ids = tokens(2, 8)
    if "plm" in config.objectives:
        places = torch.arange(8).expand(2, -1)
        logits = model.logits("plm", model(ids, targets=places, visible=torch.ones(1, 1, 8, 8, dtype=torch.bool)))
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids.flatten())
    out = model(ids)
    order = torch.nn.functional.cross_entropy(model.logits("order", out).float(), torch.tensor([0, 1]))
    return order + torch.nn.functional.cross_entropy(model.logits("mlm", out).flatten(0, 1).float(), ids.flatten())


def bag_of_words(config: Config) -> float:
    """The loss of a model that knows which words there are, but neither where nor which label is whose."""
    counts = torch.bincount(tokens(2, 8).flatten()).double()
    words = float(torch.special.entr(counts / 16).sum())
    return words if "plm" in config.objectives else words + math.log(2)


@pytest.mark.parametrize(
    ("which", "peak"), [("lamb", 0.03), ("lamb-paper", 0.06), ("adamw", 0.01), ("adam-google", 0.01)]
)
@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
def test_a_model_learns_the_words_of_a_batch(config: Config, which: str, peak: float) -> None:
    model = make(config.but(init_std=0.05), heads(config))
    optimizer, schedule = Lamb(treated(model), rule(which)), Schedule(peak=peak, warmup=0.1, total=60)
    assert float(loss(model, config).detach()) > bag_of_words(config) + 1.5
    for step in range(60):
        loss(model, config).backward()
        optimizer.step(schedule.value(step))
    assert float(loss(model, config).detach()) < bag_of_words(config) + 0.1
    adapted = {one.name for one in optimizer.treated if not one.excluded}
    learned = {name for name in adapted if optimizer.counts[name]}
    assert set(optimizer.trust()) == (learned if which.startswith("lamb") else set())


def test_under_autocast_weights_gradients_and_moments_stay_float32() -> None:
    model = make(SMALL.but(init_std=0.05), ["mlm", "order"])
    optimizer, losses = Lamb(treated(model)), []
    for _ in range(30):
        with torch.autocast("cpu", torch.bfloat16):
            value = loss(model, SMALL)
        value.backward()
        assert {one.tensor.grad.dtype for one in optimizer.treated} == {torch.float32}
        optimizer.step(0.02)
        losses.append(float(value.detach()))
    assert losses[-1] < 0.5 * losses[0]
    assert {tensor.dtype for tensor in (*model.parameters(), *optimizer.tensors.values())} == {torch.float32}


@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
def test_no_two_gradients_share_storage(config: Config) -> None:
    """A step writes into gradients, and what two tensors shared would be written twice."""
    model = make(config, heads(config))
    loss(model, config).backward()
    places = [tensor.grad.untyped_storage().data_ptr() for tensor in model.parameters() if tensor.grad is not None]
    assert len(places) == len(set(places)) > 10
