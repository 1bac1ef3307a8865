"""Is a weight cast once where autocast is on, and anew when it has changed?"""

from __future__ import annotations

import torch

from litebert.model import casting
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
