"""Is the cheap cross entropy the same as the usual one: loss, accuracy, and all three gradients?"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from litebert.train import cross_entropy
from litebert.train.cross_entropy import tied


def case(rows: int = 37, width: int = 8, vocabulary: int = 101, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    """Features, table, bias, targets and weights; the first two and the last rows count for nothing."""
    draw = torch.Generator().manual_seed(0)
    features = torch.randn(rows, width, generator=draw, dtype=torch.float64).to(dtype).requires_grad_()
    table = torch.randn(vocabulary, width, generator=draw, dtype=torch.float64).float().requires_grad_()
    bias = torch.randn(vocabulary, generator=draw).requires_grad_()
    targets = torch.randint(0, vocabulary, (rows,), generator=draw)
    weights = torch.rand(rows, generator=draw) + 0.5
    weights[[0, 1, rows - 1]] = 0.0
    targets[0] = -100
    return [features, table, bias, targets, weights]


def usual(features: Tensor, table: Tensor, bias: Tensor, targets: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Loss and accuracy by PyTorch, summed."""
    logits = F.linear(features, table.to(features.dtype), bias.to(features.dtype))
    each = F.cross_entropy(logits.float(), targets, reduction="none", ignore_index=-100)
    return (each * weights).sum(), ((logits.argmax(-1) == targets).float() * weights).sum()


@pytest.mark.parametrize("at_once", [1, 101 * 5, 1 << 19], ids=["a row", "five rows", "all rows"])
def test_loss_accuracy_and_gradients_are_those_of_pytorch(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_entropy, "_CACHED", at_once)
    mine, theirs = case(dtype=torch.float32), case(dtype=torch.float32)
    found = tied(*mine)
    loss, right = usual(*theirs)
    (found.loss * 3).backward()
    (loss * 3).backward()
    torch.testing.assert_close(found.loss, loss, rtol=1e-6, atol=1e-5)
    assert float(found.right) == pytest.approx(float(right))
    assert float(found.count) == pytest.approx(float(mine[4].sum()))
    for a, b in zip(mine[:3], theirs[:3], strict=True):
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-5, atol=1e-5)


def test_bfloat16_features_give_float32_gradients_near_the_exact_ones() -> None:
    mine, theirs = case(dtype=torch.bfloat16), case(dtype=torch.float32)
    with torch.no_grad():
        theirs[0].copy_(mine[0].float())
    tied(*mine).loss.backward()
    usual(*theirs)[0].backward()
    assert mine[0].grad is not None
    assert mine[0].grad.dtype == torch.bfloat16
    for a, b in zip(mine[:3], theirs[:3], strict=True):
        assert a.grad is not None
        assert b.grad is not None
        assert a.grad.dtype == a.dtype
        gap = (a.grad.float() - b.grad).norm() / b.grad.norm()
        assert gap < 0.02


def test_float32_features_under_autocast_are_multiplied_in_its_numbers() -> None:
    """As on CUDA, where autocast leaves what comes out of a norm in float32."""
    mine, theirs = case(dtype=torch.float32), case(dtype=torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = tied(*mine)
    expected = tied(*theirs)
    found.loss.backward()
    expected.loss.backward()
    assert torch.equal(found.loss, expected.loss)
    for a, b in zip(mine[:3], theirs[:3], strict=True):
        assert a.grad is not None
        assert b.grad is not None
        assert a.grad.dtype == torch.float32
        assert torch.equal(a.grad, b.grad.float())


def test_rows_of_weight_0_move_nothing_whatever_they_hold() -> None:
    found, expected = case(dtype=torch.float32), case(dtype=torch.float32)
    with torch.no_grad():
        found[0][[0, 1]] = 1e4
    mine, plain = tied(*found), tied(*expected)
    mine.loss.backward()
    plain.loss.backward()
    assert float(mine.loss.detach()) == pytest.approx(float(plain.loss.detach()), rel=1e-6)
    for a, b in zip(found[1:3], expected[1:3], strict=True):
        torch.testing.assert_close(a.grad, b.grad)
    assert found[0].grad is not None
    assert float(found[0].grad[:2].abs().max()) == 0.0


def test_nothing_asked_is_a_loss_of_0() -> None:
    features, table, bias, targets, weights = case(dtype=torch.float32)
    found = tied(features, table, bias, targets, torch.zeros_like(weights))
    found.loss.backward()
    assert (float(found.loss), float(found.count)) == (0.0, 0.0)
    assert features.grad is not None
    assert float(features.grad.abs().max()) == 0.0


def test_without_gradients_the_logits_are_left_as_they_are() -> None:
    features, table, bias, targets, weights = case(dtype=torch.float32)
    with torch.no_grad():
        found = tied(features, table, bias, targets, weights)
    loss, right = usual(features, table, bias, targets, weights)
    assert float(found.loss) == pytest.approx(float(loss), rel=1e-6)
    assert float(found.right) == pytest.approx(float(right))
