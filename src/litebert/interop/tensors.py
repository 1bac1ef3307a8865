"""How are tensor files read and written? safetensors only, checked before use, replaced whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litebert.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor

NAME = "model.safetensors"
INDEX = "model.safetensors.index.json"
_PICKLES = ("pytorch_model.bin", "model.bin", "*.bin", "*.pt", "*.pth", "*.ckpt")
_HEADER_LIMIT = 100_000_000  # the format's own limit on the JSON in front


class FolderError(UserError):
    """A folder that cannot be used as it is; the message is one line: what, why, and the way out."""


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
    """Tensors to one file, which appears whole or not at all; what shares storage is written twice."""
    from safetensors.torch import save_file

    held, seen = {}, set()
    for name, tensor in tensors.items():
        flat = tensor.detach().contiguous()
        place = flat.untyped_storage().data_ptr()
        held[name] = flat.clone() if place in seen else flat
        seen.add(place)
    with _whole(path) as temporary:
        save_file(held, temporary, metadata={"format": "pt"})


@contextlib.contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A name beside `path` to write to; what was written is on the disk before it takes the path's place."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def digest(path: Path) -> str:
    """SHA-256 of a file, or '' where there is none."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
    with _whole(path) as temporary:
        temporary.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


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
