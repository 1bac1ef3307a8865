"""How are tensors read from an original TensorFlow V2 checkpoint without TensorFlow?

PREFIX.index is a LevelDB table (github.com/google/leveldb, doc/table_format.md) of protobuf messages, one per tensor
(tensorflow/core/protobuf/tensor_bundle.proto); PREFIX.data-NNNNN-of-NNNNN hold the bytes they point into.
"""

import glob
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from litebert.interop.crc32c import crc32c, unmask

_MAGIC = bytes.fromhex("57fb808b247547db")
_FOOTER_SIZE = 48
_TRAILER_SIZE = 5  # compression type byte, then a masked CRC-32C of the block and that byte
_UNCOMPRESSED, _SNAPPY = 0, 1

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5  # protobuf wire types
_NEGATIVE = 1 << 63  # from here on an int64 varint means a number below zero
_LITTLE_ENDIAN = 0
_SLICES = 7  # field of BundleEntryProto

# tensorflow/core/framework/types.proto; every number is stored little endian.
_BFLOAT16 = 14
_DTYPES = {
    1: "<f4", 2: "<f8", 3: "<i4", 4: "u1", 5: "<i2", 6: "i1", 8: "<c8", 9: "<i8", 10: "?",
    _BFLOAT16: "<f4", 17: "<u2", 18: "<c16", 19: "<f2", 22: "<u4", 23: "<u8",
}  # fmt: skip
_NOT_NUMERIC = {7, 21}  # strings and variants, such as _CHECKPOINTABLE_OBJECT_GRAPH, hold no weights

_COPY_AGAIN = "the file is damaged or incomplete: copy or download it again"
_Fields = dict[int, list[int | bytes]]


class BundleError(ValueError):
    """A checkpoint that cannot be read: the file, what is wrong with it, and what to do."""


class _DamageError(Exception):
    """Bytes that break the format, said without the file, which read_index adds."""


@dataclass(frozen=True)
class Entry:
    """Where one tensor lies: `dtype` and `shape` as read_tensor returns them, `size` in bytes as stored."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    crc: int
    name: str
    shards: int
    bfloat16: bool = False  # two bytes stored for each float32 returned: numpy has no such type


def find_prefix(path: Path) -> Path:
    """Return the bundle prefix that `path` means: the prefix, one of its files, or the folder of one bundle."""
    if path.is_dir():
        return _prefix_in(path)
    prefix = path.with_name(re.sub(r"(?<=.)\.(index|data-\d{5}-of-\d{5})$", "", path.name))
    index = _index_path(prefix)
    if index.is_file():
        return prefix
    if prefix != path or any(path.parent.glob(f"{glob.escape(path.name)}.data-*")):
        raise BundleError(f"{index}: not found, and it says what the .data-* files hold; copy it beside them")
    if not path.is_file():
        raise BundleError(f"{path}: no such file, folder or checkpoint prefix; give the path without .index or .data-*")
    if _ends_as_table(path):
        raise BundleError(
            f"{path}: an old V1 checkpoint (a single file, no .index); restore it in TensorFlow and save it "
            "with tf.compat.v1.train.Saver(write_version=tf.compat.v1.train.SaverDef.V2)"
        )
    raise BundleError(f"{path}: not a TensorFlow V2 checkpoint; one is a PREFIX.index beside its PREFIX.data-* files")


def read_index(prefix: Path) -> dict[str, Entry]:
    """Return the entry of every numeric tensor of the bundle by name; strings and variants are left out."""
    path = _index_path(prefix)
    if not path.is_file():
        raise BundleError(f"{path}: not found; give the checkpoint prefix, without .index or .data-*")
    try:
        pairs = dict(_table_pairs(path.read_bytes()))
        header = _parse_message(pairs.pop(b"", b""))
        shards, endianness = _number(header, 1), _number(header, 2)
        if not shards:
            raise _DamageError("the header (empty key) gives no number of data files")
        if endianness != _LITTLE_ENDIAN:
            raise BundleError(f"{path}: written on a big-endian machine; save it again on a little-endian one")
        entries = (
            _parse_entry(key.decode("utf-8", "backslashreplace"), _parse_message(value), shards, path)
            for key, value in pairs.items()
            if not key.startswith(b"\0")  # a part of a sliced tensor, whose own entry is refused by name
        )
        return {entry.name: entry for entry in entries if entry}
    except _DamageError as error:
        raise BundleError(f"{path}: {error}; {_COPY_AGAIN}") from error


def read_tensor(prefix: Path, entry: Entry, verify: bool = True) -> npt.NDArray[Any]:
    """Return the tensor of `entry` as a new array, its checksum compared unless `verify` is off."""
    path = prefix.with_name(f"{prefix.name}.data-{entry.shard:05d}-of-{entry.shards:05d}")
    where = f"{path}: tensor {entry.name!r}"
    if not path.is_file():
        raise BundleError(f"{where} lies in this file, which is missing; copy every .data-* file beside the .index")
    end, file_size = entry.offset + entry.size, path.stat().st_size
    if end > file_size:
        raise BundleError(f"{where} ends at byte {end}, but the file holds {file_size} bytes; {_COPY_AGAIN}")
    if not entry.size:  # an empty range cannot be mapped
        return np.zeros(entry.shape, entry.dtype)
    mapped = np.memmap(path, np.uint8, "r", entry.offset, (entry.size,))
    if verify and (found := crc32c(mapped)) != entry.crc:
        raise BundleError(f"{where} has CRC-32C {found:08x}, but the index says {entry.crc:08x}; {_COPY_AGAIN}")
    raw = np.array(mapped)  # a copy is owned, aligned and writable, whatever the offset
    if entry.bfloat16:
        raw = (raw.view("<u2").astype("<u4") << 16).view(np.uint8)  # the upper half of a float32
    return raw.view(entry.dtype).reshape(entry.shape)


def _index_path(prefix: Path) -> Path:
    """Return the path of the index of a bundle."""
    return prefix.with_name(f"{prefix.name}.index")


def _prefix_in(folder: Path) -> Path:
    """Return the prefix of the bundle that a `checkpoint` file names, or else of the only one in `folder`."""
    state = folder / "checkpoint"
    if state.is_file():
        text = state.read_text("utf-8", errors="replace")
        latest = re.search(r'^model_checkpoint_path: "([^"]+)"', text, re.MULTILINE)
        # Only the file name: the path may be absolute and from another machine.
        if latest and _index_path(named := folder / re.split(r"[/\\]", latest[1])[-1]).is_file():
            return named
    names = sorted(path.stem for path in folder.glob("?*.index") if path.is_file())
    if not names:
        raise BundleError(f"{folder}: holds no .index file; give the folder or prefix of a TensorFlow V2 checkpoint")
    if len(names) > 1:
        raise BundleError(f"{folder}: holds {len(names)} checkpoints ({', '.join(names)}); give the path of one")
    return folder / names[0]


def _ends_as_table(path: Path) -> bool:
    """Return whether the file ends in the LevelDB table magic."""
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - len(_MAGIC), 0))
        return file.read() == _MAGIC


def _table_pairs(table: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield every key and value of a LevelDB table in order."""
    if len(table) < _FOOTER_SIZE or not table.endswith(_MAGIC):
        raise _DamageError(f"its {len(table)} bytes do not end in the LevelDB table magic {_MAGIC.hex()}")
    _, after_metaindex = _parse_handle(table, len(table) - _FOOTER_SIZE)
    index, _ = _parse_handle(table, after_metaindex)
    for _, value in _block_pairs(_read_block(table, index)):
        yield from _block_pairs(_read_block(table, _parse_handle(value, 0)[0]))


def _parse_handle(raw: bytes, at: int) -> tuple[tuple[int, int], int]:
    """Return the start and end of the block that a handle points to, and where the handle ends."""
    start, at = _parse_varint(raw, at)
    size, at = _parse_varint(raw, at)
    return (start, start + size), at


def _read_block(table: bytes, span: tuple[int, int]) -> bytes:
    """Return one block of a table, checked against its CRC and uncompressed."""
    start, end = span
    if end + _TRAILER_SIZE > len(table):
        raise _DamageError(f"a block ends at byte {end}, past the {len(table)} bytes of the file")
    if crc32c(table[start : end + 1]) != unmask(int.from_bytes(table[end + 1 : end + _TRAILER_SIZE], "little")):
        raise _DamageError(f"the block at byte {start} does not match its CRC-32C")
    if table[end] not in (_UNCOMPRESSED, _SNAPPY):
        raise _DamageError(f"the block at byte {start} has compression type {table[end]}, not none (0) or snappy (1)")
    return _unsnappy(table[start:end]) if table[end] == _SNAPPY else table[start:end]


def _unsnappy(raw: bytes) -> bytes:
    """Return the content of a snappy block (github.com/google/snappy, format_description.txt)."""
    size, at = _parse_varint(raw, 0)
    out = bytearray()
    while at < len(raw):
        tag, at = raw[at], at + 1
        kind, length = tag & 3, (tag >> 2) + 1
        extra = max(length - 60, 0) if kind == 0 else (1, 2, 4)[kind - 1]  # bytes of a long length, or of a distance
        number = int.from_bytes(raw[at : at + extra], "little")
        at += extra
        if kind == 0:  # literal
            length = number + 1 if extra else length
            out += raw[at : at + length]
            at += length
            continue
        if kind == 1:  # a short copy: 3 bits of length, 11 of distance
            length, number = (tag >> 2 & 7) + 4, tag >> 5 << 8 | number
        if not 0 < number <= len(out):
            raise _DamageError(f"a snappy copy reaches back {number} of {len(out)} bytes")
        for _ in range(length):  # byte by byte: a copy may read what it has just written
            out.append(out[-number])
    if len(out) != size or at != len(raw):
        raise _DamageError(f"a snappy block holds {len(out)} bytes instead of {size}")
    return bytes(out)


def _block_pairs(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of a block: each key repeats `shared` bytes of the one before it."""
    restarts = int.from_bytes(block[-4:], "little")
    end = len(block) - 4 * (restarts + 1)
    if end < 0:
        raise _DamageError(f"a block of {len(block)} bytes cannot hold {restarts} restarts")
    at, key = 0, b""
    while at < end:
        shared, at = _parse_varint(block, at)
        fresh, at = _parse_varint(block, at)
        length, at = _parse_varint(block, at)
        if shared > len(key) or at + fresh + length > end:
            raise _DamageError(f"a table entry at byte {at} runs past the {end} bytes of its block")
        key = key[:shared] + block[at : at + fresh]
        at += fresh + length
        yield key, block[at - length : at]


def _parse_varint(raw: bytes, at: int) -> tuple[int, int]:
    """Return the base-128 number at `at`, and where it ends."""
    value = 0
    for index, byte in enumerate(raw[at : at + 10]):
        value |= (byte & 127) << 7 * index
        if byte < 128:
            return value, at + index + 1
    raise _DamageError(f"the number at byte {at} of {len(raw)} does not end")


def _parse_message(raw: bytes) -> _Fields:
    """Return the values of each field number of a protobuf message (protobuf.dev/programming-guides/encoding)."""
    fields: _Fields = {}
    at = 0
    while at < len(raw):
        tag, at = _parse_varint(raw, at)
        wire = tag & 7
        if wire == _VARINT:
            value, at = _parse_varint(raw, at)
            fields.setdefault(tag >> 3, []).append(value)
            continue
        if wire not in (_FIXED32, _FIXED64, _LENGTH):
            raise _DamageError(f"field {tag >> 3} has protobuf wire type {wire}")
        size, at = _parse_varint(raw, at) if wire == _LENGTH else (4 if wire == _FIXED32 else 8, at)
        chunk, at = raw[at : at + size], at + size
        if at > len(raw):
            raise _DamageError(f"field {tag >> 3} runs past its message of {len(raw)} bytes")
        fields.setdefault(tag >> 3, []).append(chunk if wire == _LENGTH else int.from_bytes(chunk, "little"))
    return fields


def _number(fields: _Fields, number: int) -> int:
    """Return an integer field, 0 when it is absent as protobuf has it."""
    value = fields.get(number, [0])[-1]
    if isinstance(value, bytes):
        raise _DamageError(f"field {number} is not a number, so this is not the index of a V2 checkpoint")
    return value


def _messages(fields: _Fields, number: int) -> list[_Fields]:
    """Return the messages of a repeated field."""
    values = fields.get(number, [])
    messages = [_parse_message(value) for value in values if isinstance(value, bytes)]
    if len(messages) < len(values):
        raise _DamageError(f"field {number} is not a message, so this is not the index of a V2 checkpoint")
    return messages


def _parse_entry(name: str, fields: _Fields, shards: int, path: Path) -> Entry | None:
    """Return the entry that a BundleEntryProto describes, None for a tensor that is not numeric."""
    where = f"{path}: tensor {name!r}"
    kind = _number(fields, 1)
    if kind in _NOT_NUMERIC:
        return None
    if kind not in _DTYPES:
        raise BundleError(f"{where} has TensorFlow dtype {kind}, known are {sorted(_DTYPES)}; cast it and save again")
    if _SLICES in fields:
        raise BundleError(f"{where} is sliced (a partitioned variable); save the checkpoint without a partitioner")
    shapes = _messages(fields, 2)
    shape = tuple(_number(dim, 1) for proto in shapes for dim in _messages(proto, 2))
    if any(_number(proto, 3) for proto in shapes) or any(size >= _NEGATIVE for size in shape):
        raise BundleError(f"{where} has no known shape; save the checkpoint again with the variable initialised")
    dtype, bfloat16 = np.dtype(_DTYPES[kind]), kind == _BFLOAT16
    shard, offset, size = (_number(fields, number) for number in (3, 4, 5))
    needed = math.prod(shape) * (2 if bfloat16 else dtype.itemsize)
    if size != needed:
        raise BundleError(f"{where} of shape {shape} needs {needed} bytes, but the index says {size}; {_COPY_AGAIN}")
    if shard >= shards:
        raise BundleError(f"{where} lies in data file {shard}, but there are {shards}, from 0 on; {_COPY_AGAIN}")
    return Entry(dtype, shape, shard, offset, size, unmask(_number(fields, 6)), name, shards, bfloat16)
