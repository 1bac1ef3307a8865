"""Does padding matter? Never at real tokens while the mask says so, on either side, in every position scheme."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from litebert.config import Config
from model.specimens import CORNERS, RELATIVE, ROTARY, SMALL, make, noise, tokens

LENGTH, PADS = 6, 4
IDS = tokens(2, LENGTH)
ROBERTA = SMALL.but(position_offset=2, pad=1)


def beside(values: Tensor, side: str, fill: int) -> Tensor:
    """[B, T] with `PADS` more columns of `fill` on a side."""
    pads = torch.full((values.shape[0], PADS), fill)
    return torch.cat([values, pads] if side == "right" else [pads, values], dim=1)


def real(x: Tensor, side: str) -> Tensor:
    return x[:, :LENGTH] if side == "right" else x[:, PADS:]


CASES = {
    **{f"{name}, right": (config, "right") for name, config in CORNERS.items()},
    **{f"{name}, left": (c, "left") for name, c in CORNERS.items() if c.positions != "absolute"},
    "roberta, right": (ROBERTA, "right"),
    "roberta, left": (ROBERTA, "left"),
}


@pytest.mark.parametrize("path", ["eager", "fused"])
@pytest.mark.parametrize("config, side", CASES.values(), ids=CASES.keys())
def test_padding_changes_nothing_at_real_tokens_and_without_its_mask_it_does(config, side, path) -> None:
    model = make(config, path=path).double()
    segments = torch.tensor([[0, 0, 0, 1, 1, 1]]).expand(2, -1)
    plain = model(IDS, segments=segments).last
    padded, mask = beside(IDS, side, config.pad), beside(torch.ones_like(IDS), side, 0)
    more = {"segments": beside(segments, side, 0)}
    torch.testing.assert_close(real(model(padded, mask, **more).last, side), plain, atol=1e-6, rtol=0)
    assert (real(model(padded, **more).last, side) - plain).abs().max() > 0.01


@pytest.mark.parametrize("config", [SMALL, ROTARY], ids=["absolute", "rotary"])
def test_padding_on_the_left_needs_its_positions_said(config: Config) -> None:
    model = make(config)
    padded, mask = beside(IDS, "left", 0), beside(torch.ones_like(IDS), "left", 0)
    places = beside(torch.arange(LENGTH).expand(2, -1), "left", 0)
    found = model(padded, mask, positions=places).last[:, PADS:]
    torch.testing.assert_close(found, model(IDS).last, atol=1e-5, rtol=0)
    if config.positions == "absolute":
        assert (model(padded, mask).last[:, PADS:] - model(IDS).last).abs().max() > 0.01


@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
def test_what_stands_under_the_padding_cannot_matter(config: Config) -> None:
    model, mask = make(config), torch.tensor([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0]])
    other = torch.where(mask.bool(), IDS, tokens(2, LENGTH, seed=9))
    first, second = model(IDS, mask), model(other, mask)
    assert torch.equal(first.last[mask.bool()], second.last[mask.bool()])
    assert not torch.equal(first.last[~mask.bool()], second.last[~mask.bool()])


@pytest.mark.parametrize("kind", [torch.bool, torch.int32, torch.float32, torch.uint8], ids=str)
def test_a_mask_may_be_of_any_type(kind: torch.dtype) -> None:
    model, mask = make(SMALL), torch.tensor([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0]])
    assert torch.equal(model(IDS, mask.to(kind)).last, model(IDS, mask).last)
    assert torch.equal(model(IDS, mask.to(kind)).pooled, model(IDS, mask).pooled)


@pytest.mark.parametrize("pooler", ["cls", "mean", "max", "first-last"])
def test_every_pooler_passes_over_padding(pooler: str) -> None:
    model = make(SMALL.but(pooler=pooler))
    padded, mask = beside(IDS, "right", 0), beside(torch.ones_like(IDS), "right", 0)
    of_every_row = mask[:, None, :].expand(-1, LENGTH + PADS, -1)  # padding is then read off the ids
    torch.testing.assert_close(model(padded, mask).pooled, model(IDS).pooled, atol=1e-5, rtol=0)
    torch.testing.assert_close(model(padded, of_every_row).pooled, model(IDS).pooled, atol=1e-5, rtol=0)
    if pooler != "cls":
        assert (model(padded).pooled - model(IDS).pooled).abs().max() > 0.01


def test_no_gradient_reaches_a_padding_word() -> None:
    model = make(RELATIVE)
    padded, mask = beside(IDS, "right", 0), beside(torch.ones_like(IDS), "right", 0)
    out = model(padded, mask).last[:, :LENGTH]
    (out * noise(*out.shape)).sum().backward()
    slope = model.embedding.word.weight.grad
    assert not slope[0].any()
    assert slope[IDS.unique()].any(dim=1).all()


def test_texts_of_a_batch_do_not_touch_each_other() -> None:
    model, mask = make(SMALL), torch.tensor([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0]])
    both = model(IDS, mask).last
    for i in range(2):
        torch.testing.assert_close(model(IDS[i : i + 1], mask[i : i + 1]).last, both[i : i + 1], atol=1e-5, rtol=0)
