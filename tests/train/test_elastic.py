"""Do 1, 2 and 1 processes in turn train the run that one would train, and does a lost one come back? By torchrun."""

from __future__ import annotations

from pathlib import Path

import pytest

from litebert.bench import elastic


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not list a process's children")
def test_the_number_of_processes_changes_and_one_is_lost_and_the_losses_are_those_of_one() -> None:
    found = elastic.measure([1, 2, 1], steps=24, lost=2)
    in_turn, lost = found["elastic"], found["lost"]
    assert [world for world, _ in in_turn["begun"]] == [1, 2, 1]
    assert [world for world, _ in lost["begun"]] == [2, 2]
    assert lost["begun"][1][1] > 0, "it began anew instead of going on"
    assert in_turn["text"]
    assert lost["text"]
    assert in_turn["difference"] <= elastic.CLOSE
    assert lost["difference"] <= elastic.CLOSE
    assert found["same"]
