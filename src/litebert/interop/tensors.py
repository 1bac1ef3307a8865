"""How are tensor files read and written? safetensors only, checked before use, replaced whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from litebert.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor

NAME = "model.safetensors"
INDEX = "model.safetensors.index.json"
_PICKLES = ("pytorch_model.bin", "model.bin", "*.bin", "*.pt", "*.pth", "*.ckpt")
_HEADER_LIMIT = 100_000_000  # the format's own limit on the JSON in front


class FolderError(UserError):
    """A folder that cannot be used as it is; the message is one line: what, why, and the way out."""


class Info(NamedTuple):
    """A tensor's type (as safetensors writes it) and shape."""

    dtype: str
    shape: tuple[int, ...]


def files(folder: Path) -> list[Path]:
    """The safetensors files that hold a folder's model, from the index where there are several."""
    index = folder / INDEX
    if (folder / NAME).is_file():
        return [folder / NAME]
    if index.is_file():
        places = read_json(index).get("weight_map")
        if not isinstance(places, dict):
            raise FolderError(f"{index} has no weight_map, which says what each file holds: copy it again")
        names = sorted(set(map(str, places.values())))
        for name in names:
            if Path(name).name != name or not (folder / name).is_file():
                raise FolderError(f"{index} names {name!r}, which is not in the folder: copy the missing file")
        return [folder / name for name in names]
    for pattern in _PICKLES:
        for found in sorted(folder.glob(pattern)):
            raise FolderError(
                f"{found} is a pickle, which can run code when it is read, and is refused: where it was made, save "
                "it again as safetensors (transformers: model.save_pretrained(folder))"
            )
    raise FolderError(f"{folder} has no {NAME}: name a folder that holds a model")


def infos(folder: Path) -> dict[str, Info]:
    """Every tensor's type and shape from the headers alone; no tensor is read, torch is not needed."""
    found: dict[str, Info] = {}
    for path in files(folder):
        header = _header(path)
        found |= {k: Info(v["dtype"], tuple(v["shape"])) for k, v in header.items() if k != "__metadata__"}
    return found


def read(folder: Path) -> dict[str, Tensor]:
    """All tensors of a folder's model, mapped from disk."""
    loaded: dict[str, Tensor] = {}
    for path in files(folder):
        loaded |= read_file(path)
    return loaded


def read_file(path: Path) -> dict[str, Tensor]:
    """All tensors of one file; the library checks that they neither overlap nor leave the file."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    _header(path)
    try:
        return load_file(path)
    except SafetensorError as error:
        raise FolderError(f"{path} is damaged ({error}): copy or convert it again") from None


def write_file(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Tensors to one file, which appears whole or not at all."""
    from safetensors.torch import save_file

    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        save_file({k: v.detach().contiguous() for k, v in tensors.items()}, temporary, metadata={"format": "pt"})
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # a number of thousands of digits or brackets without end are not
        raise FolderError(f"{path} is not valid JSON ({error}): copy it again") from None
    if not isinstance(value, dict):
        raise FolderError(f"{path} holds a {type(value).__name__}, not an object: this is not a model's file")
    return value


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """A JSON object to a file, which appears whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _header(path: Path) -> dict[str, Any]:
    """The JSON in front of a safetensors file; what the library says of damage is kept for `read_file`."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(size - 8, _HEADER_LIMIT):
            raise FolderError(f"{path} is cut off or no safetensors file ({size} bytes): copy or convert it again")
        try:
            header = json.loads(file.read(length))
        except (ValueError, RecursionError):
            raise FolderError(f"{path} has an unreadable header: copy or convert it again") from None
    if not isinstance(header, dict):
        raise FolderError(f"{path} has an unreadable header: copy or convert it again")
    return header
