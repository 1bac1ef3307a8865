"""Are the numbers chosen that were asked for, or that the machine is good at, and is it said why?"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from litebert.errors import UserError
from litebert.train import precision
from litebert.train.precision import Chosen, Precision

CPU, CUDA, OTHER = torch.device("cpu"), torch.device("cuda", 0), torch.device("meta")


def machine(monkeypatch: pytest.MonkeyPatch, able: bool) -> None:
    """A machine that has bfloat16 in hardware, or has not."""
    word = (able, "it can" if able else "it cannot")
    monkeypatch.setattr(precision, "_BF16", {"cpu": lambda: word, "cuda": lambda: word})


@pytest.mark.parametrize(
    "wanted, able, device, dtype, reason",
    [
        ("auto", True, CPU, torch.bfloat16, "it can"),
        ("auto", False, CPU, torch.float32, "it cannot"),
        ("auto", True, CUDA, torch.bfloat16, "it can"),
        ("auto", False, CUDA, torch.float32, "it cannot"),
        ("auto", True, OTHER, torch.float32, "meta is not known to have it"),
        ("bfloat16", True, CPU, torch.bfloat16, "it can"),
        ("bfloat16", False, CPU, torch.bfloat16, "as asked, though it cannot"),
        ("float32", True, CPU, torch.float32, "as asked"),
        ("float32", False, CUDA, torch.float32, "as asked"),
    ],
)
def test_the_machine_is_asked(
    monkeypatch: pytest.MonkeyPatch,
    wanted: Precision,
    able: bool,
    device: torch.device,
    dtype: torch.dtype,
    reason: str,
) -> None:
    machine(monkeypatch, able)
    assert precision.choose(wanted, device) == Chosen(dtype, reason, device.type)


def test_a_gpu_without_it_is_not_made_to_feign_it(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, False)
    with pytest.raises(UserError, match="precision bfloat16 on cuda:0: it cannot, choose float32 or auto"):
        precision.choose("bfloat16", CUDA)


def test_this_machine_answers_in_words() -> None:
    able, words = precision._cpu()
    assert words.startswith("this CPU ")
    assert (precision.choose("auto", CPU).dtype == torch.bfloat16) is able


@pytest.mark.parametrize("wanted, dtype", [("bfloat16", torch.bfloat16), ("float32", torch.float32)])
def test_products_are_made_in_it_and_sums_in_float32(wanted: Precision, dtype: torch.dtype) -> None:
    x, weight = torch.randn(4, 8), torch.randn(3, 8, requires_grad=True)
    with precision.choose(wanted, CPU).context():
        made = F.linear(x, weight)
        loss = F.cross_entropy(made.float(), torch.zeros(4, dtype=torch.long))
    assert made.dtype == dtype
    loss.backward()
    assert weight.dtype == torch.float32
    assert weight.grad is not None
    assert weight.grad.dtype == torch.float32
