"""Do the arrays arrive as tensors that the model, its heads and its losses take, with nothing lost on the way?"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

from data.texts import shards
from litebert.config import Config
from litebert.data import vocabulary
from litebert.data.batch import UNASKED, Tensors, tensors
from litebert.data.recipe import recipe
from litebert.data.rows import NO_ORDER, Batch
from litebert.data.stream import Stream
from litebert.model import model
from litebert.train import objectives

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here"))]


def first(name: str, **changes: object) -> Batch:
    return Stream(shards(60), recipe(name, length=48, **changes), vocabulary.plain(200), batch=16).batch()[0]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["albert", "xlnet", "unilm", "electra", "roberta"])
def test_every_value_arrives(name: str, device: str) -> None:
    batch = first(name)
    arrived = tensors(batch, device)
    assert Tensors._fields == Batch._fields
    for field, sent, got in zip(Batch._fields, batch, arrived, strict=True):
        if not isinstance(sent, np.ndarray):
            assert got == sent
            continue
        assert got.device.type == device
        wanted = np.where(sent == NO_ORDER, UNASKED, sent) if field == "order" else sent
        assert np.array_equal(got.cpu().numpy(), wanted), field


def test_all_of_them_are_taken_as_they_are() -> None:
    """By the embedding, the padding, `asked` of a head, and the losses, where a row without order counts nothing."""
    batch = first("albert")
    told = batch._replace(order=np.where(np.arange(16) < 3, NO_ORDER, batch.order).astype(np.int8))
    config = Config(vocab=200, embedding=8, hidden=16, layers=1, heads=2, ffn=16, max_positions=48)
    made = model.build(config, ["mlm", "order"])
    fed = tensors(told)
    out = made(fed.ids, fed.mask, fed.segments)
    words = objectives.masked_lm(made.logits("mlm", out, asked=fed.asked), fed.targets, fed.weights)
    logits = made.logits("order", out)
    pairs = torch.nn.functional.cross_entropy(logits, fed.order)
    kept = torch.nn.functional.cross_entropy(logits[3:], fed.order[3:])
    assert torch.isfinite(words.loss)
    assert pairs.item() == pytest.approx(kept.item(), abs=1e-6)


def test_the_rest_of_the_room_does_without_pytorch() -> None:
    code = "import sys, litebert.data.stream, litebert.data.audit, litebert.data.show; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
