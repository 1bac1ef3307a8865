"""Does a model say and learn on a GPU what it says and learns on a CPU? Skipped where there is no GPU."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from litebert.config import Config
from litebert.model import visibility
from litebert.model.model import Model
from model.specimens import CORNERS, ROTARY, make, noise, tokens

if not torch.cuda.is_available():
    pytest.skip("there is no GPU here", allow_module_level=True)

LENGTH = 7
IDS, SEGMENTS = tokens(3, LENGTH), (torch.arange(LENGTH) > 3).long().expand(3, -1)
MASK = torch.tensor([[1] * 7, [1] * 4 + [0] * 3, [0] * 7])  # the last text is padding alone
TARGETS = torch.tensor([[1, 4], [0, 2], [3, 5]])
HEADS = ["mlm", "order", "rtd", "classify", "tag", "span", "span-answerable", "choice"]
WAYS = {
    "padding": {"mask": MASK},
    "left to right": {"visible": visibility.left_to_right(LENGTH)},
    "seq2seq": {"visible": visibility.seq2seq(torch.tensor([4, 2, 7]), LENGTH)},
    "three axes": {"mask": (torch.arange(3 * LENGTH * LENGTH) % 3 > 0).long().view(3, LENGTH, LENGTH)},
}


def moved(given: dict[str, Any], device: str) -> dict[str, Any]:
    return {name: value.to(device) for name, value in given.items()}


def said(model: Model, device: str, given: dict[str, Any]) -> list[Tensor]:
    """Every state and every head's answer, scores only."""
    out = model(IDS.to(device), segments=SEGMENTS.to(device), **moved(given, device))
    answers = [model.logits(name, out) for name in model.specs]
    flat = [part for answer in answers for part in (answer if isinstance(answer, tuple) else (answer,))]
    return [*out.hidden, *([] if out.pooled is None else [out.pooled]), *(f for f in flat if f.is_floating_point())]


@pytest.mark.parametrize("path", ["auto", "eager", "fused"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
def test_every_state_and_head_is_that_of_the_cpu(config: Config, way: str, path: str) -> None:
    model = make(config, HEADS, path=path)
    with torch.no_grad():
        expected = said(model, "cpu", WAYS[way])
        found = said(model.to("cuda"), "cuda", WAYS[way])
        half = said(model.bfloat16(), "cuda", WAYS[way])
    for one, other, rough in zip(expected, found, half, strict=True):
        assert other.isfinite().all()
        torch.testing.assert_close(other.cpu(), one, atol=2e-5, rtol=2e-5)
        assert rough.isfinite().all()
    for one, rough in zip(expected[: config.depth], half, strict=False):
        assert (rough.float().cpu() - one).norm() < 0.06 * one.norm()


@pytest.mark.parametrize("path", ["auto", "eager", "fused"])
@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
def test_every_weight_learns_what_it_learns_on_the_cpu(config: Config, path: str) -> None:
    slopes = []
    for device in ("cpu", "cuda"):
        model = make(config, ["mlm", "order"], path=path).to(device).train()
        out = model(IDS[:2].to(device), MASK[:2].to(device), SEGMENTS[:2].to(device))
        words, order = model.logits("mlm", out, TARGETS[:2].to(device)), model.logits("order", out)
        ((words * noise(*words.shape).to(device)).sum() + (order * noise(*order.shape).to(device)).sum()).backward()
        slopes.append({name: p.grad.cpu() for name, p in model.named_parameters() if p.grad is not None})
    assert slopes[0].keys() == slopes[1].keys()
    scale = max(float(slope.abs().max()) for slope in slopes[0].values())  # a key's bias has no slope but rounding
    for name, slope in slopes[1].items():
        assert float((slope - slopes[0][name]).abs().max()) < 1e-5 * scale, name


@pytest.mark.parametrize("config", [c for c in CORNERS.values() if "plm" in c.objectives],
                         ids=[n for n, c in CORNERS.items() if "plm" in c.objectives])  # fmt: skip
def test_both_streams_and_the_memory_are_those_of_the_cpu(config: Config) -> None:
    rank = torch.stack([torch.randperm(LENGTH, generator=torch.Generator().manual_seed(i)) for i in range(3)])
    _, query = visibility.permutation(rank, torch.zeros(3, LENGTH, dtype=torch.bool).scatter(1, TARGETS, True))
    found = []
    for device in ("cpu", "cuda"):
        model = make(config, ["plm"]).to(device)
        with torch.no_grad():
            memory = model(tokens(3, 4, seed=2).to(device), remember=True).memory
            given = moved({"visible": query, "targets": TARGETS, "segments": SEGMENTS}, device)
            out = model(IDS.to(device), memory=memory, remember=True, **given)
            found.append([*out.hidden, *out.query, *out.memory, model.logits("plm", out)])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(other.cpu(), one, atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_under_autocast_weights_stay_in_float32_and_learn(dtype: torch.dtype) -> None:
    for config in CORNERS.values():
        model = make(config, ["mlm"]).cuda()
        with torch.autocast("cuda", dtype):
            logits = model.logits("mlm", model(IDS[:2].cuda(), MASK[:2].cuda()))
        reference = model.logits("mlm", model(IDS[:2].cuda(), MASK[:2].cuda()))
        assert (logits.float() - reference).norm() < 0.06 * reference.norm()
        logits.float().square().mean().backward()
        slopes = [p.grad for p in model.parameters() if p.grad is not None]
        assert all(slope.dtype == torch.float32 and slope.isfinite().all() for slope in slopes)


def test_compiled_code_says_what_eager_says() -> None:
    for config in (CORNERS["absolute"], ROTARY):
        model = make(config, ["mlm"]).cuda()
        expected = model(IDS.cuda(), MASK.cuda()).last
        torch.testing.assert_close(torch.compile(model)(IDS.cuda(), MASK.cuda()).last, expected, atol=2e-5, rtol=2e-5)
