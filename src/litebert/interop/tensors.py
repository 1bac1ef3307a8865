"""How are tensor files read and written? safetensors only, checked before use, replaced whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litebert import files
from litebert.files import FolderError

if TYPE_CHECKING:
    from torch import Tensor

NAME = "model.safetensors"
INDEX = "model.safetensors.index.json"
_PICKLES = ("pytorch_model.bin", "model.bin", "*.bin", "*.pt", "*.pth", "*.ckpt")
_HEADER_LIMIT = 100_000_000  # the format's own limit on the JSON in front


def parts(folder: Path) -> list[Path]:
    """The safetensors files that hold a folder's model, from the index where there are several."""
    index = folder / INDEX
    if (folder / NAME).is_file():
        return [folder / NAME]
    if index.is_file():
        places = files.read_json(index).get("weight_map")
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
    for path in parts(folder):
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
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    held, seen = {}, set()
    for name, tensor in tensors.items():
        flat = tensor.detach().contiguous()
        place = flat.untyped_storage().data_ptr()
        held[name] = flat.clone() if place in seen else flat
        seen.add(place)
    with files.whole(path) as temporary:
        temporary.touch()
        mode = temporary.stat().st_mode  # what this user gives a new file; the library's are for the user alone
        try:
            save_file(held, temporary, metadata={"format": "pt"})
        except SafetensorError as error:  # the library's own word for a disk that fails
            raise OSError(f"{path} cannot be written ({error})") from None
        temporary.chmod(mode)


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
