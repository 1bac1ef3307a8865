"""Is a weight cast and laid out once where autocast is on, and anew when it has changed?"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from litebert.model import casting, onednn
from litebert.model.linear import linear
from model.specimens import noise
from model.test_linear import layer_of


def test_a_weight_is_cast_once_and_all_its_readers_share_the_gradient() -> None:
    layer, x = layer_of(True), noise(5, 24)
    with casting.once():
        first = casting.cast(layer.weight, torch.bfloat16)
        assert casting.cast(layer.weight, torch.bfloat16) is first
        with torch.no_grad():
            still = casting.cast(layer.weight, torch.bfloat16)
        assert not still.requires_grad  # frozen depths run first: what learns later must not get their cast
        assert casting.cast(layer.weight, torch.bfloat16) is first
        assert first.requires_grad
    assert casting.cast(layer.weight, torch.bfloat16) is not first
    (first.float() * 2 @ x.T).sum().backward()
    torch.testing.assert_close(layer.weight.grad, 2 * x.sum(0).expand(7, -1), atol=0, rtol=2**-8)


def test_a_weight_that_changed_is_cast_anew() -> None:
    layer = layer_of(True)
    found = []
    for _ in range(2):
        with casting.once():
            found.append(casting.cast(layer.weight, torch.bfloat16).detach().clone())
        with torch.no_grad():
            layer.weight.mul_(2)
    torch.testing.assert_close(found[1], 2 * found[0])


def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The shapes of what is laid out."""
    made: list[tuple[int, ...]] = []
    lay = onednn.laid_out

    def noted(weight: Tensor, rows: int) -> Tensor:
        made.append(tuple(weight.shape))
        return lay(weight, rows)

    monkeypatch.setattr(onednn, "laid_out", noted)
    return made


@pytest.mark.skipif(not onednn.bfloat16_in_hardware(), reason="this CPU has no products in bfloat16")
@pytest.mark.parametrize("readings", [1, 4])
def test_a_weight_is_laid_out_from_its_second_reading_on_and_says_the_same(readings, monkeypatch) -> None:
    layer, x, made = nn.Linear(32, 32), noise(64, 32), counted(monkeypatch)

    def run() -> list[Tensor]:
        given = x.clone().requires_grad_()
        y = given
        for _ in range(readings):
            y = linear(y, layer)
        return [y, *torch.autograd.grad(y.float().sum(), [given, *layer.parameters()])]

    with torch.autocast("cpu", torch.bfloat16):
        plain = run()
        assert made == []
        with casting.once():
            laid = run()
    assert made == ([] if readings == 1 else [(32, 32), (32, 32)])  # forward, and turned round
    for one, other in zip(laid, plain, strict=True):
        torch.testing.assert_close(one, other, atol=0.02, rtol=2**-6)


@pytest.mark.skipif(not onednn.bfloat16_in_hardware(), reason="this CPU has no products in bfloat16")
def test_layouts_take_other_numbers_of_rows(monkeypatch) -> None:
    layer, made = nn.Linear(32, 48), counted(monkeypatch)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16), casting.once():
        for rows in (64, 7, 1, 300):
            x = noise(rows, 32)
            wanted = torch.nn.functional.linear(x, layer.weight, layer.bias)
            torch.testing.assert_close(linear(x, layer), wanted, atol=2**-7, rtol=2**-7)
    assert made == [(48, 32)]
