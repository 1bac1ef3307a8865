"""How near is bfloat16, and is every number kept in the type that the model has?"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from litebert.config import Config
from model.specimens import CORNERS, make, noise, tokens

IDS, SEGMENTS = tokens(2, 6), torch.tensor([[0, 0, 0, 1, 1, 1]]).expand(2, -1)
MASK = torch.tensor([[1] * 6, [1, 1, 1, 1, 0, 0]])
HEADS = ["mlm", "order", "rtd", "classify", "tag", "span"]


@pytest.mark.parametrize("grad", [True, False], ids=["with gradients", "without"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64], ids=["bfloat16", "float64"])
@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
def test_another_type_is_kept_throughout_and_near(config: Config, dtype: torch.dtype, grad: bool) -> None:
    with torch.set_grad_enabled(grad):
        plain, other = make(config, HEADS), make(config, HEADS).to(dtype)
        expected, found = plain(IDS, MASK, SEGMENTS, remember=True), other(IDS, MASK, SEGMENTS, remember=True)
        pairs = [*zip(found.hidden, expected.hidden, strict=True), (found.pooled, expected.pooled)]
        pairs += [(other.logits(head, found), plain.logits(head, expected)) for head in HEADS]
    assert all(kept.dtype == dtype for kept in found.memory)
    for mine, reference in pairs:
        assert mine.dtype == dtype
        error = (mine.double() - reference.double()).norm() / reference.double().norm()
        assert error < (0.05 if dtype == torch.bfloat16 else 1e-5)


@pytest.mark.parametrize("config", [c for c in CORNERS.values() if "plm" in c.objectives],
                         ids=[n for n, c in CORNERS.items() if "plm" in c.objectives])  # fmt: skip
def test_the_query_stream_keeps_its_type_too(config: Config) -> None:
    def last(dtype: torch.dtype) -> Tensor:
        return make(config).to(dtype)(IDS, MASK, targets=torch.tensor([[1, 2], [0, 3]])).last

    found, expected = last(torch.bfloat16), last(torch.float32)
    assert found.dtype == torch.bfloat16
    assert (found.float() - expected).norm() < 0.05 * expected.norm()


@pytest.mark.parametrize("path", ["eager", "fused"])
@pytest.mark.parametrize("width", [8, 16], ids=["mapped, from bfloat16 on", "as wide as hidden, from float32 on"])
@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
def test_under_autocast_weights_stay_in_float32_and_learn(config: Config, width: int, path: str) -> None:
    model = make(config.but(embedding=width), ["mlm"], path=path)
    with torch.autocast("cpu", torch.bfloat16):
        out = model(IDS, MASK, SEGMENTS)
        logits = model.logits("mlm", out)
    reference = model.logits("mlm", model(IDS, MASK, SEGMENTS))
    assert (logits.float() - reference).norm() < 0.05 * reference.norm()
    (logits.float() * noise(*logits.shape)).sum().backward()
    assert all(p.grad.dtype == torch.float32 and p.grad.isfinite().all() for p in model.parameters()
               if p.grad is not None)  # fmt: skip
