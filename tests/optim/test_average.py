"""Is the average the closed form? Out-of-place operations on a list would leave it where it began."""

from __future__ import annotations

import pytest
import torch

from litebert.errors import UserError
from litebert.optim.average import Average
from optim.toys import parameter


@pytest.mark.parametrize("decay", [0.0, 0.3, 0.5, 0.9, 0.999])
def test_three_steps_are_the_closed_form(decay: float) -> None:
    values = [torch.randn(5, 3, generator=torch.Generator().manual_seed(i), dtype=torch.float64) for i in range(4)]
    weight = parameter(values[0])
    average = Average([("w", weight)], decay)
    for value in values[1:]:
        with torch.no_grad():
            weight.copy_(value)
        average.update()
    first, second, third = (1 - decay) * decay**2, (1 - decay) * decay, 1 - decay
    expected = decay**3 * values[0] + first * values[1] + second * values[2] + third * values[3]
    torch.testing.assert_close(average.tensors["w"], expected, atol=1e-14, rtol=0)
    assert torch.equal(weight, values[3])


def test_swapping_twice_changes_no_bit() -> None:
    weight = parameter([1.0, 2.0])
    average = Average([("w", weight)], 0.5)
    with torch.no_grad():
        weight.mul_(3.0)
    average.update()
    average.swap()
    assert (weight.tolist(), average.tensors["w"].tolist()) == ([2.0, 4.0], [3.0, 6.0])
    average.swap()
    assert (weight.tolist(), average.tensors["w"].tolist()) == ([3.0, 6.0], [2.0, 4.0])


def test_a_saved_average_goes_on() -> None:
    weight = parameter([1.0, 2.0])
    average, other = Average([("w", weight)], 0.5), Average([("w", weight)], 0.5)
    with torch.no_grad():
        weight.mul_(3.0)
    average.update()
    other.load(average.tensors)
    assert other.tensors["w"].tolist() == [2.0, 4.0]
    with pytest.raises(UserError, match="do not both hold 'v'"):
        other.load({"w": average.tensors["w"], "v": average.tensors["w"]})


@pytest.mark.parametrize("decay", [1.0, -0.1])
def test_a_decay_that_averages_nothing_is_refused(decay: float) -> None:
    with pytest.raises(UserError, match=f"decay {decay} of an average is not a share below 1"):
        Average([], decay)
