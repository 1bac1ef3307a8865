"""Does a damaged tensor file load as it was or not at all? It is cut, its header lies, and its bits are flipped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import litebert
from cli.running import refused
from litebert.config import Config
from litebert.files import FolderError
from litebert.interop import tensors
from litebert.model.model import build

TINY = Config(vocab=60, embedding=16, hidden=32, layers=3, heads=4, ffn=48, max_positions=40)
AGAIN = "copy or convert it again"


@pytest.fixture(params=["hf", "litebert"])
def folder(request: Any, tmp_path: Path) -> Path:
    """A good folder in either form."""
    litebert.save(build(TINY, ["mlm"]), tmp_path, request.param)
    (tmp_path / "litebert.json").unlink() if request.param == "hf" else None
    return tmp_path


def wrong(folder: Path, message: str) -> None:
    with pytest.raises(FolderError) as caught:
        litebert.load(folder)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def parts(path: Path) -> tuple[dict[str, Any], bytes]:
    """The header of a file, and the data behind it."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    return json.loads(raw[8 : 8 + size]), raw[8 + size :]


def written(path: Path, header: object, data: bytes) -> None:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def test_a_file_cut_anywhere_is_refused(folder: Path) -> None:
    path = folder / "model.safetensors"
    whole = path.read_bytes()
    inside_header = np.random.default_rng(0).integers(8, 8 + int.from_bytes(whole[:8], "little"), 8)
    anywhere = np.random.default_rng(1).integers(0, len(whole), 12)
    for size in [*inside_header.tolist(), *anywhere.tolist(), 0, 1, 7, 8, 9, len(whole) - 1]:
        path.write_bytes(whole[:size])
        wrong(folder, "copy or convert it again")


def test_a_file_with_something_behind_it_is_refused(folder: Path) -> None:
    with (folder / "model.safetensors").open("ab") as file:
        file.write(b"\0")
    wrong(folder, "is damaged")


LENGTHS = {"nothing": 0, "one": 1, "a byte less": -1, "a byte more": -2, "more than the file": 10**6,
           "ten terabytes": 10**13, "half of all": 2**63, "the most there is": 2**64 - 1}  # fmt: skip


@pytest.mark.parametrize("name", LENGTHS)
def test_a_header_that_lies_about_its_length_is_refused(name: str, folder: Path) -> None:
    path = folder / "model.safetensors"
    raw = path.read_bytes()
    true = int.from_bytes(raw[:8], "little")
    said = {-1: true - 1, -2: true + 1}.get(LENGTHS[name], LENGTHS[name])
    path.write_bytes(said.to_bytes(8, "little") + raw[8:])
    wrong(folder, AGAIN)


def first(header: dict[str, Any]) -> dict[str, Any]:
    return next(entry for name, entry in header.items() if name != "__metadata__")


def overlap(header: dict[str, Any], data: bytes) -> Any:
    entries = [entry for name, entry in header.items() if name != "__metadata__" and entry["shape"] == [32]]
    entries[1]["data_offsets"] = entries[0]["data_offsets"]
    return header


def change(**fields: Any) -> Callable[[dict[str, Any], bytes], Any]:
    def apply(header: dict[str, Any], data: bytes) -> Any:
        first(header).update({k: v(data) if callable(v) else v for k, v in fields.items()})
        return header

    return apply


HEADERS: dict[str, Callable[[dict[str, Any], bytes], Any]] = {
    "two tensors in one place": overlap,
    "beyond the end": change(data_offsets=lambda data: [len(data), len(data) + 64]),
    "far beyond the end": change(data_offsets=[2**62, 2**62 + 64]),
    "before the start": change(data_offsets=[-64, 0]),
    "backwards": change(data_offsets=[64, 0]),
    "one offset": change(data_offsets=[0]),
    "offsets that are words": change(data_offsets=["0", "64"]),
    "no offsets": lambda header, _: [first(header).pop("data_offsets"), header][1],
    "no shape": lambda header, _: [first(header).pop("shape"), header][1],
    "no type": lambda header, _: [first(header).pop("dtype"), header][1],
    "another shape": change(shape=[1]),
    "a shape of endless size": change(shape=[2**40, 2**40]),
    "a negative shape": change(shape=[-1, 32]),
    "a type that is none": change(dtype="F31"),
    "a smaller type": change(dtype="F16"),
    "a type of eight bits": change(dtype="F8_E8M0"),
    "a tensor that is a word": lambda header, _: {**header, "albert.x": "a"},
    "a list": lambda header, _: [header],
    "null": lambda *_: None,
    "a hole between tensors": lambda header, _: dict(list(header.items())[:-2]),
    "nothing": lambda *_: {},
    "not UTF-8": lambda *_: b'{"\xff": 1}',
    "not JSON": lambda *_: b"{'a': 1}",
    "brackets without end": lambda *_: b"[" * 50_000,
    "a number of 5000 digits": lambda *_: b'{"a": ' + b"1" * 5000 + b"}",
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_is_not_of_this_data_is_refused(name: str, folder: Path) -> None:
    path = folder / "model.safetensors"
    header, data = parts(path)
    written(path, HEADERS[name](header, data), data)
    wrong(folder, "model.safetensors")
    refused("convert", folder, folder / "out")


@pytest.mark.parametrize("bits", [1, 3], ids=["one bit", "three bits"])
def test_a_flipped_bit_of_the_header_is_found_or_changes_nothing(bits: int, folder: Path) -> None:
    path = folder / "model.safetensors"
    whole, wanted = path.read_bytes(), litebert.load(folder).state_dict()
    rng, size = np.random.default_rng(bits), int.from_bytes(whole[:8], "little")
    found = 0
    for _ in range(150):
        raw = bytearray(whole)
        for place in rng.integers(0, 8 * (8 + size), bits).tolist():
            raw[place // 8] ^= 1 << place % 8
        path.write_bytes(raw)
        try:
            state = litebert.load(folder).state_dict()
        except FolderError:
            found += 1
            continue
        assert state.keys() == wanted.keys()
        assert all(torch.equal(state[key], wanted[key]) for key in wanted), "another model, and nobody noticed"
    assert found > 100


def test_a_file_that_cannot_be_written_is_a_failing_disk_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="absent"):
        tensors.write_file(tmp_path / "absent/model.safetensors", {"a": torch.zeros(2)})
    (tmp_path / "model.safetensors").mkdir()
    with pytest.raises(OSError, match=r"model\.safetensors"):
        tensors.write_file(tmp_path / "model.safetensors", {"a": torch.zeros(2)})
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.safetensors"
    tensors.write_file(path, {"a": torch.zeros(2)})

    def cut(_: object, target: Path, **__: object) -> None:
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("safetensors.torch.save_file", cut)
    with pytest.raises(OSError, match="No space left"):
        tensors.write_file(path, {"a": torch.ones(2)})
    assert torch.equal(tensors.read_file(path)["a"], torch.zeros(2))
    assert [each.name for each in tmp_path.iterdir()] == ["model.safetensors"]


@pytest.mark.parametrize("mask, mode", [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)], ids=oct)
def test_who_may_read_a_file_is_the_user_s_choice(mask: int, mode: int, tmp_path: Path) -> None:
    """safetensors writes for the user alone: a folder made by one user could not be served by another."""
    before = os.umask(mask)
    try:
        litebert.save(build(TINY), tmp_path / "model")
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "model").iterdir()}
    assert modes == dict.fromkeys(("config.json", "litebert.json", "model.safetensors"), mode)
