"""What says that a shard set is whole, and what is in it? `manifest.json`: written last, it vouches for every file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from litebert import files
from litebert.errors import UserError

NAME = "manifest.json"
JOURNAL = "journal"  # a folder that is there while a build is not finished
BESIDE = ("tokenizer.json", "tokenizer_config.json", "counts.safetensors")  # files that are no shards
FORMAT = "litebert-shards-1"
Split = Literal["train", "held-out"]
SPLITS: tuple[Split, Split] = ("train", "held-out")


class ShardError(UserError):
    """A shard set that cannot be used as it is; the message names the file."""


def write(folder: Path, values: Mapping[str, Any]) -> None:
    """The manifest, whole or not at all."""
    with files.whole(folder / NAME) as temporary:
        temporary.write_bytes(files.sealed(values))


def read(folder: Path) -> dict[str, Any]:
    """A manifest whose every byte is as it was written; its files are there and as long as it says."""
    path = folder / NAME
    if not path.is_file():
        if (folder / JOURNAL).is_dir():
            raise ShardError(f"{folder} is not finished: go on with the same `litebert data build`")
        raise ShardError(f"{folder} is no shard set (no {NAME}): make one with `litebert data build`")
    values = files.read_sealed(path)
    if values.get("format") != FORMAT:
        raise ShardError(f"{path} has format {values.get('format')!r}, not {FORMAT!r}: build the set anew")
    for name, entry in listed(values).items():
        check_length(folder, name, entry["bytes"])
    return values


def listed(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Every file that a manifest vouches for: name -> entry with `bytes` and `sha256`."""
    shards = {entry["file"]: entry for split in SPLITS for entry in values["splits"][split]}
    return {**values["files"], **shards}


def check_length(folder: Path, name: str, length: int) -> None:
    """A file that is missing or not as long as it was is named."""
    path = folder / name
    if not path.is_file():
        raise ShardError(f"{path} is missing: copy it again or build the set anew")
    found = path.stat().st_size
    if found != length:
        raise ShardError(f"{path} has {found} bytes, not {length}: copy it again or build the set anew")


def check_digest(path: Path, sha256: str) -> None:
    """A file that is not as it was written is named."""
    if files.digest(path) != sha256:
        raise ShardError(f"{path} is damaged, not as it was written: copy it again or build the set anew")
