"""What is the loss? Numbers worked out by hand, and what must never move it."""

from __future__ import annotations

import math

import pytest
import torch

from litebert.train.objectives import Term, masked_lm, order, replaced, total

LOGITS = torch.tensor([[[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]], [[1.0, 1.0, 4.0], [5.0, 0.0, 0.0]]])  # [B, P, V]
TARGETS = torch.tensor([[0, 2], [2, 1]])
ALL = torch.ones(2, 2)


def entropy(b: int, p: int) -> float:
    """-log softmax of one slot's target, in floats."""
    row = LOGITS[b, p].tolist()
    return math.log(sum(math.exp(x) for x in row)) - row[int(TARGETS[b, p])]


def test_uniform_logits_cost_ln_30000_and_ln_2_and_their_sum() -> None:
    words = masked_lm(torch.zeros(2, 20, 30000), torch.arange(40).view(2, 20), torch.ones(2, 20))
    pairs = order(torch.zeros(8, 2), torch.arange(8) % 2)
    assert float(words.loss) == pytest.approx(10.30895, abs=1e-5)
    assert float(pairs.loss) == pytest.approx(0.693147, abs=1e-6)
    assert float(total({"mlm": words, "sop": pairs})) == pytest.approx(11.00210, abs=2e-5)
    bert = masked_lm(torch.zeros(1, 100, 30522), torch.zeros(1, 100, dtype=torch.long), torch.ones(1, 100))
    assert float(bert.loss + pairs.loss) == pytest.approx(11.01935, abs=2e-5)


@pytest.mark.parametrize("denominator, divisor", [("google", 3 + 1e-5), ("mean", 3.0)])
def test_the_loss_is_the_sum_over_real_slots_by_their_number(denominator, divisor) -> None:
    weights = torch.tensor([[1, 1], [0, 1]])
    found = masked_lm(LOGITS, TARGETS, weights, denominator=denominator)
    expected = (entropy(0, 0) + entropy(0, 1) + entropy(1, 1)) / divisor
    assert float(found.loss) == pytest.approx(expected, abs=1e-6)
    assert float(found.accuracy) == pytest.approx(1 / 3)


def test_google_s_denominator_is_the_default_and_shows_where_there_is_little() -> None:
    weights = torch.full((2, 2), 1e-5 / 4)  # they sum to what google adds: exactly half of the mean is left
    halved, mean = masked_lm(LOGITS, TARGETS, weights), masked_lm(LOGITS, TARGETS, weights, denominator="mean")
    assert float(halved.loss) == pytest.approx(float(mean.loss) / 2, rel=1e-5)


def test_weights_weigh() -> None:
    found = masked_lm(LOGITS, TARGETS, torch.tensor([[0.5, 0.0], [0.0, 0.25]]), denominator="mean")
    assert float(found.loss) == pytest.approx((0.5 * entropy(0, 0) + 0.25 * entropy(1, 1)) / 0.75, abs=1e-6)
    assert float(found.accuracy) == pytest.approx(0.5 / 0.75)


@pytest.mark.parametrize("target", [0, 2, -100], ids=["the padding id", "any id", "transformers' -100"])
@pytest.mark.parametrize("denominator", ["google", "mean"])
def test_slots_that_predict_nothing_move_nothing(denominator, target) -> None:
    plain = masked_lm(LOGITS, TARGETS, ALL, denominator=denominator)
    logits = torch.cat([LOGITS, 50 * torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0))], dim=1)
    logits.requires_grad_()
    targets = torch.cat([TARGETS, torch.full((2, 5), target)], dim=1)
    weights = torch.cat([ALL, torch.zeros(2, 5)], dim=1)
    more = masked_lm(logits, targets, weights, denominator=denominator)
    torch.testing.assert_close(more.loss, plain.loss, atol=1e-6, rtol=0)
    assert more.accuracy == plain.accuracy
    (slope,) = torch.autograd.grad(more.loss, logits)
    assert not slope[:, 2:].any()
    assert slope[:, :2].any()


@pytest.mark.parametrize("slots", [0, 4])
@pytest.mark.parametrize("denominator", ["google", "mean"])
def test_a_batch_that_predicts_nothing_costs_nothing(denominator, slots) -> None:
    logits = torch.randn(2, slots, 3, requires_grad=True)
    targets, weights = torch.zeros(2, slots, dtype=torch.long), torch.zeros(2, slots)
    found = masked_lm(logits, targets, weights, denominator=denominator)
    assert found.loss == found.accuracy == 0
    found.loss.backward()
    assert not logits.grad.any()


@pytest.mark.parametrize("denominator", ["google", "mean"])
def test_slots_in_one_row_cost_what_slots_by_text_cost(denominator) -> None:
    flat = masked_lm(LOGITS.view(4, 3), TARGETS.view(4), ALL.view(4), denominator=denominator)
    nested = masked_lm(LOGITS, TARGETS, ALL, denominator=denominator)
    assert flat == nested


def test_sure_and_right_costs_nothing_sure_and_wrong_costs_the_margin() -> None:
    right = masked_lm(1000.0 * torch.eye(3), torch.arange(3), torch.ones(3))
    wrong = masked_lm(1000.0 * torch.eye(3), torch.tensor([1, 2, 0]), torch.ones(3), denominator="mean")
    assert (float(right.loss), float(right.accuracy)) == (0.0, 1.0)
    assert (float(wrong.loss), float(wrong.accuracy)) == (1000.0, 0.0)


@pytest.mark.parametrize("label", [0, 1])
def test_index_0_is_in_order_and_index_1_is_swapped(label: int) -> None:
    said = torch.tensor([[4.0, -4.0]] if label == 0 else [[-4.0, 4.0]])
    agreed, denied = order(said, torch.tensor([label])), order(said, torch.tensor([1 - label]))
    assert float(agreed.loss) == pytest.approx(math.log(1 + math.exp(-8)), abs=1e-6)
    assert float(denied.loss) == pytest.approx(8 + math.log(1 + math.exp(-8)), abs=1e-6)
    assert (float(agreed.accuracy), float(denied.accuracy)) == (1.0, 0.0)


def test_the_order_loss_is_the_mean_over_the_batch() -> None:
    said, labels = torch.tensor([[1.0, 0.0], [3.0, 0.0], [0.0, 0.5]]), torch.tensor([0, 1, 1])
    each = [math.log(1 + math.exp(-1)), 3 + math.log(1 + math.exp(-3)), math.log(1 + math.exp(-0.5))]
    found = order(said, labels)
    assert float(found.loss) == pytest.approx(sum(each) / 3, abs=1e-6)
    assert float(found.accuracy) == pytest.approx(2 / 3)


def test_half_precision_logits_are_summed_in_float32() -> None:
    logits = torch.randn(4, 6, 500, generator=torch.Generator().manual_seed(1)).bfloat16()
    targets, weights = torch.arange(24).view(4, 6), torch.ones(4, 6)
    found, exact = masked_lm(logits, targets, weights), masked_lm(logits.float(), targets, weights)
    assert found.loss.dtype == found.accuracy.dtype == order(logits[0, :, :2], targets[0] % 2).loss.dtype
    assert found.loss.dtype == torch.float32
    assert found == exact


def test_the_total_is_the_unweighted_sum_and_carries_every_gradient() -> None:
    words, pairs = LOGITS.clone().requires_grad_(), torch.zeros(2, 2, requires_grad=True)
    terms = {"mlm": masked_lm(words, TARGETS, ALL), "sop": order(pairs, torch.tensor([0, 1]))}
    assert not any(term.accuracy.requires_grad for term in terms.values())
    summed = total(terms)
    assert summed.shape == ()
    torch.testing.assert_close(summed, terms["mlm"].loss + terms["sop"].loss)
    summed.backward()
    alone = LOGITS.clone().requires_grad_()
    masked_lm(alone, TARGETS, ALL).loss.backward()
    assert torch.equal(words.grad, alone.grad)
    assert pairs.grad.any()
    assert total({"one": Term(torch.tensor(3.0), torch.tensor(1.0))}) == 3.0


def test_a_sample_that_hits_the_original_is_real() -> None:
    """ELECTRA labels what was changed, not what was masked: of 10⁵ uniform samples of 50 words one in 50 is real."""
    draw = torch.Generator().manual_seed(0)
    originals, samples = (torch.randint(5, 55, (1000, 100), generator=draw) for _ in range(2))
    labels = replaced(samples, originals)
    assert replaced(originals, originals).sum() == 0
    assert torch.equal(labels == 0, samples == originals)
    assert float(labels.float().mean()) == pytest.approx(0.98, abs=0.002)
