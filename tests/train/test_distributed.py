"""Do several processes train the one model that one would train alone?"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from litebert.errors import UserError
from litebert.train import distributed
from litebert.train.distributed import World
from train import ranks

SCRIPT = Path(__file__).parent / "ranks.py"


def free_port() -> int:
    """One that nobody listens on now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="module")
def both() -> list[dict[str, Any]]:
    """What each of two processes found, which meet as torchrun lets them."""
    meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}
    running = [
        subprocess.Popen([sys.executable, str(SCRIPT)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env={**os.environ, **meeting, "RANK": str(rank), "LOCAL_RANK": str(rank)})
        for rank in range(2)
    ]  # fmt: skip
    found = []
    try:
        for process in running:
            out, errors = process.communicate(timeout=300)
            assert process.returncode == 0, errors
            found.append(json.loads(out.splitlines()[-1]))
    finally:
        for process in running:
            process.kill()
    return found


@pytest.fixture(scope="module")
def alone() -> dict[str, Any]:
    """What this process finds by itself."""
    found: dict[str, Any] = json.loads(json.dumps(ranks.everything(World())))
    return found


def test_everybody_knows_who_takes_part(both: list[dict[str, Any]], alone: dict[str, Any]) -> None:
    assert [(one["rank"], one["size"], one["leads"]) for one in both] == [(0, 2, True), (1, 2, False)]
    assert (alone["rank"], alone["size"], alone["leads"]) == (0, 1, True)


def test_numbers_are_summed_in_float64_and_each_gets_the_sum(both: list[dict[str, Any]], alone: dict[str, Any]) -> None:
    assert both[0]["sums"] == both[1]["sums"] == [3.0, 0.2, 1e16 + 1.0]
    assert alone["sums"] == [1.0, 0.1, 1e16]


def test_what_differs_anywhere_is_no_agreement(both: list[dict[str, Any]], alone: dict[str, Any]) -> None:
    assert both[0]["agree"] == both[1]["agree"] == [True, False, True]
    assert alone["agree"] == [True, True, True]


def test_gradients_are_summed_and_a_tensor_that_nobody_used_keeps_none(both: list[dict[str, Any]]) -> None:
    for one in both:
        assert one["gradients"] == [[0.0, 3.0, 6.0, 9.0], [0.5] * 4, None, [2.0] * 4, None]


def test_two_processes_take_the_steps_of_one(both: list[dict[str, Any]], alone: dict[str, Any]) -> None:
    expected = alone["small"]
    assert len(expected["losses"]) == 15
    for one in both:
        found = one["small"]
        assert found["losses"] == pytest.approx(expected["losses"], rel=1e-6)
        assert found["norms"] == pytest.approx(expected["norms"], rel=1e-5)
        assert found["accuracies"] == expected["accuracies"]
        assert found["weights"] == pytest.approx(expected["weights"], rel=1e-5, abs=1e-6)
    assert both[0]["small"] == both[1]["small"], "ranks drift apart"


def test_tokens_are_those_of_all_and_the_clock_is_the_leader_s(
    both: list[dict[str, Any]], alone: dict[str, Any]
) -> None:
    steps, tokens, seconds = zip(*both[1]["small"]["progress"], strict=True)
    assert list(tokens) == [80 * step for step in steps]
    assert max(seconds) < 1000
    assert [row[:2] for row in alone["small"]["progress"]] == [row[:2] for row in both[0]["small"]["progress"]]


def test_a_real_model_learns_the_same_on_two_as_on_one(both: list[dict[str, Any]], alone: dict[str, Any]) -> None:
    assert both[0]["real"] == both[1]["real"]
    for mine, one in zip(both[0]["real"]["losses"], alone["real"]["losses"], strict=True):
        assert mine == pytest.approx(one, rel=1e-6 if mine is both[0]["real"]["losses"][0] else 1e-5)
    assert both[0]["real"]["held_out"] == pytest.approx(alone["real"]["held_out"], rel=1e-5)


def test_without_torchrun_there_is_a_world_of_one() -> None:
    world = distributed.join({}, "cpu")
    assert world == World(0, 1, torch.device("cpu"))
    assert world.leads
    assert world.sums([1, 2.5]) == [1.0, 2.5]
    assert world.agree(3.0)
    world.sum_gradients([torch.zeros(2, requires_grad=True)])
    world.meet()
    distributed.leave()


def test_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError, match="device 'cuda': this PyTorch sees no GPU, choose cpu or auto"):
        distributed.join({}, "cuda")
    assert distributed.join({}).device == torch.device("cpu")


def test_buckets_hold_everything_once_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "_BUCKET", 10)
    tensors = [torch.zeros(n) for n in (4, 3, 5, 20, 1, 1)]
    found = list(distributed._buckets(tensors))
    assert [[len(t) for t in bucket] for bucket in found] == [[4, 3, 5], [20], [1, 1]]
    assert list(distributed._buckets([])) == []
