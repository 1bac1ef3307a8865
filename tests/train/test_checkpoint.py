"""Can a checkpoint be trusted? Flipped bits are found, a torn write loses itself only, the newest whole one wins."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from litebert.files import FolderError
from litebert.train import checkpoint

TENSORS = {"model": {"a.weight": torch.arange(12.0).view(3, 4), "b": torch.ones(5)}, "optimizer": {"m": torch.zeros(7)}}
STATE = {"progress": [3, 4, 0.5], "name": "ä"}


def same(found: dict[str, dict[str, Tensor]], wanted: dict[str, dict[str, Tensor]] = TENSORS) -> bool:
    """Whether all tensors are equal, bit by bit."""
    return {g: set(n) for g, n in found.items()} == {g: set(n) for g, n in wanted.items()} and all(
        torch.equal(found[g][n], wanted[g][n]) for g in wanted for n in wanted[g]
    )


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = checkpoint.write(tmp_path, 12, TENSORS, STATE)
    found = checkpoint.read(path)
    assert same(found.tensors)
    assert found.state == STATE
    assert checkpoint.steps(tmp_path) == [12]
    assert [p.name for p in tmp_path.iterdir()] == ["step-000000012"]


def test_every_flipped_bit_is_found(tmp_path: Path) -> None:
    path = checkpoint.write(tmp_path, 1, TENSORS, STATE)
    files = sorted(path.iterdir())
    sizes = np.array([file.stat().st_size for file in files])
    draw = np.random.default_rng(0)
    bits = draw.choice(8 * int(sizes.sum()), 1000, replace=False)
    for bit in bits:
        which = int(np.searchsorted(np.cumsum(8 * sizes), bit, side="right"))
        place = int(bit - 8 * sizes[:which].sum())
        content = files[which].read_bytes()
        turned = bytearray(content)
        turned[place // 8] ^= 1 << place % 8
        files[which].write_bytes(turned)
        with pytest.raises(FolderError, match=r"step-000000001"):
            checkpoint.read(path)
        files[which].write_bytes(content)
    assert same(checkpoint.read(path).tensors)


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        pytest.param(lambda p: (p / "model.safetensors").unlink(), "model.safetensors is missing", id="a lost file"),
        pytest.param(lambda p: os.truncate(p / "optimizer.safetensors", 10), "has 10 bytes, not", id="a cut file"),
        pytest.param(lambda p: (p / "manifest.json").unlink(), "is not finished", id="no manifest"),
        pytest.param(lambda p: (p / "state.json").write_text("{}"), "state.json has 2 bytes", id="another state"),
    ],
)
def test_a_damaged_one_is_named_and_the_one_before_it_is_taken(
    harm: Callable[[Path], object], says: str, tmp_path: Path
) -> None:
    checkpoint.write(tmp_path, 1, TENSORS, {"at": 1})
    harm(checkpoint.write(tmp_path, 2, TENSORS, {"at": 2}))
    told: list[str] = []
    found = checkpoint.newest(tmp_path, told.append)
    assert found is not None
    assert found.state == {"at": 1}
    assert len(told) == 1
    assert says in told[0]
    assert "step-000000002" in told[0]


def test_without_any_there_is_none(tmp_path: Path) -> None:
    assert checkpoint.newest(tmp_path / "absent", pytest.fail) is None


def before_every_call(monkeypatch: pytest.MonkeyPatch, first: Callable[[], None]) -> None:
    """Have `first` run before each time that the system is asked to keep something: any of these may fail."""
    for name in ("fsync", "replace", "mkdir"):
        kept = getattr(os, name)

        def asked(*given: object, kept: Callable[..., object] = kept, **more: object) -> object:
            first()
            return kept(*given, **more)

        monkeypatch.setattr(os, name, asked)


class Failing:
    """Raises from a certain call on."""

    def __init__(self, number: int, after: int) -> None:
        self.number, self.calls, self.after = number, 0, after

    def __call__(self) -> None:
        self.calls += 1
        if self.calls > self.after:
            raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize("number", [28, 5], ids=["ENOSPC", "EIO"])
def test_a_failing_disk_loses_nothing_but_the_torn_save(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = Failing(number, after=10_000)
    with monkeypatch.context() as within:
        before_every_call(within, counting)
        checkpoint.write(tmp_path / "count", 0, TENSORS, STATE)
    assert counting.calls >= 8
    for fatal in range(counting.calls):
        root = tmp_path / f"{number}-{fatal}"
        checkpoint.write(root, 1, TENSORS, {"at": 1})
        with monkeypatch.context() as within:
            before_every_call(within, Failing(number, after=fatal))
            with pytest.raises(OSError, match=os.strerror(number)):
                checkpoint.write(root, 2, TENSORS, {"at": 2})
        found = checkpoint.newest(root, lambda text: None)
        assert found is not None
        assert found.state["at"] in (1, 2)  # 2 where only the very last sync failed
        assert same(found.tensors)
        checkpoint.sweep(root, keep=2, step=2)
        assert all(p.name.startswith("step-") for p in root.iterdir())


def test_the_writer_hands_a_failing_disk_to_the_trainer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    writer = checkpoint.Writer(tmp_path, keep=2)
    monkeypatch.setattr(os, "fsync", full)
    writer.put(1, TENSORS, STATE)
    with pytest.raises(OSError, match="No space left"):
        writer.wait()
    monkeypatch.undo()
    writer.put(2, TENSORS, STATE)
    writer.wait()
    assert checkpoint.steps(tmp_path) == [2]


def test_what_the_writer_keeps_is_what_stood_there_when_it_was_put(tmp_path: Path) -> None:
    changing = {"model": {"w": torch.zeros(1000)}}
    writer = checkpoint.Writer(tmp_path, keep=2)
    writer.put(1, changing, STATE)
    changing["model"]["w"] += 1.0
    writer.wait()
    assert float(checkpoint.read(checkpoint.path_of(tmp_path, 1)).tensors["model"]["w"].sum()) == 0.0


def test_the_last_ones_and_the_best_are_kept(tmp_path: Path) -> None:
    writer = checkpoint.Writer(tmp_path, keep=2)
    for step in range(1, 7):
        writer.put(step, TENSORS, STATE, protected=3)
        writer.wait()
    assert checkpoint.steps(tmp_path) == [3, 5, 6]
