"""How is a TensorFlow V2 checkpoint written without TensorFlow, for tests to read?

`write_bundle` is what tests need, with `bert_like` or `every_dtype` to write; the parts below serve those that want a
bundle with one thing wrong.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from litebert.interop.crc32c import crc32c, masked

DTYPE_NUMBERS = {
    "f4": 1, "f8": 2, "i4": 3, "u1": 4, "i2": 5, "i1": 6, "c8": 8, "i8": 9, "b1": 10,
    "u2": 17, "c16": 18, "f2": 19, "u4": 22, "u8": 23,
}  # fmt: skip
RESTART_EVERY = 16  # one key in so many is written in full, LevelDB's default
MAGIC = 0xDB4775248B80FB57
Tensors = dict[str, npt.NDArray[Any]]
Pairs = Iterable[tuple[bytes, bytes]]
Compress = Callable[[bytes], bytes]


def write_bundle(prefix: Path, tensors: Tensors, shards: int = 1) -> None:
    """Write `tensors` as PREFIX.index and one or more data files, dealt out to the shards in turn."""
    pairs = [(b"", header(shards))]
    data = [bytearray() for _ in range(shards)]
    for number, (name, tensor) in enumerate(sorted(tensors.items())):
        shard = number % shards
        raw = np.asarray(tensor, tensor.dtype.newbyteorder("<")).tobytes()
        dtype = DTYPE_NUMBERS[tensor.dtype.str[1:]]
        pairs.append((name.encode(), entry(dtype, tensor.shape, shard, len(data[shard]), len(raw), crc32c(raw))))
        data[shard] += raw
    for shard, content in enumerate(data):
        prefix.with_name(f"{prefix.name}.data-{shard:05d}-of-{shards:05d}").write_bytes(content)
    write_table(prefix.with_name(f"{prefix.name}.index"), pairs)


def bert_like(layers: int = 2, width: int = 24) -> Tensors:
    """Return tensors named and shaped as BERT's are, with the optimizer's, and a scalar step."""
    rng = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {"bert/embeddings/word_embeddings": (97, width)}
    for layer in range(layers):
        for part in ("query", "key", "value"):
            shapes[f"bert/encoder/layer_{layer}/attention/self/{part}/kernel"] = (width, width)
            shapes[f"bert/encoder/layer_{layer}/attention/self/{part}/bias"] = (width,)
        shapes[f"bert/encoder/layer_{layer}/output/LayerNorm/gamma"] = (width,)
    slots = {f"{name}/{slot}": shape for name, shape in shapes.items() for slot in ("adam_m", "adam_v")}
    tensors: Tensors = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in (shapes | slots).items()}
    return tensors | {"global_step": np.array(1_000_000_007, np.int64)}


def every_dtype() -> Tensors:
    """Return one small tensor of each numeric type, an empty one and one with a name beyond ASCII."""
    rng = np.random.default_rng(1)
    values = (rng.standard_normal((3, 5)) * 9).astype(np.int8)
    tensors: Tensors = {f"dtype/{name}": values.astype(name) for name in DTYPE_NUMBERS}
    return tensors | {"empty": np.zeros((0, 4), np.float32), "größe": np.arange(3, dtype=np.int32)}


def header(shards: int, endianness: int = 0) -> bytes:
    """Return a BundleHeaderProto."""
    return number_field(1, shards) + number_field(2, endianness) + message_field(3, number_field(1, 1))


def entry(
    dtype: int, shape: Sequence[int], shard: int, offset: int, size: int, crc: int, sliced: bool = False
) -> bytes:
    """Return a BundleEntryProto; as in protobuf, a zero is left out."""
    dims = b"".join(message_field(2, number_field(1, dim)) for dim in shape)
    fields = number_field(1, dtype) + message_field(2, dims) + number_field(3, shard) + number_field(4, offset)
    fields += number_field(5, size) + b"\x35" + masked(crc).to_bytes(4, "little")  # tag of fixed32 field 6
    return fields + (message_field(7, b"") if sliced else b"")


def write_table(path: Path, pairs: Pairs, block_size: int = 1024, compress: Compress | None = None) -> None:
    """Write a LevelDB table of key-sorted `pairs`, its blocks stored as snappy when `compress` makes them so."""
    table = bytearray()
    index: list[tuple[bytes, bytes]] = []
    waiting: list[tuple[bytes, bytes]] = []

    def flush() -> None:
        """Write the waiting pairs as a block, and its handle under its last key."""
        index.append((waiting[-1][0], append_block(table, build_block(waiting, RESTART_EVERY), compress)))
        waiting.clear()

    for pair in pairs:
        waiting.append(pair)
        if sum(len(key) + len(value) for key, value in waiting) >= block_size:
            flush()
    if waiting:
        flush()
    handles = append_block(table, build_block([], RESTART_EVERY), compress)  # the metaindex, empty
    handles += append_block(table, build_block(index, 1), compress)
    path.write_bytes(table + handles.ljust(40, b"\0") + MAGIC.to_bytes(8, "little"))


def append_block(table: bytearray, block: bytes, compress: Compress | None) -> bytes:
    """Append a block and its trailer to `table`; return its handle."""
    stored = compress(block) if compress else block
    offset = len(table)
    typed = stored + (b"\1" if compress else b"\0")
    table += typed + masked(crc32c(typed)).to_bytes(4, "little")
    return varint(offset) + varint(len(stored))


def build_block(pairs: Pairs, restart_every: int) -> bytes:
    """Return a block: each key as the length it shares with the one before it, and its own rest."""
    block, restarts, last = bytearray(), [], b""
    for number, (key, value) in enumerate(pairs):
        shared = 0
        if number % restart_every == 0:
            restarts.append(len(block))
        else:
            while shared < min(len(last), len(key)) and last[shared] == key[shared]:
                shared += 1
        block += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        last = key
    offsets = restarts or [0]
    return bytes(block) + b"".join(offset.to_bytes(4, "little") for offset in [*offsets, len(offsets)])


def literal(block: bytes) -> bytes:
    """Return a snappy stream of one literal, its length in three bytes."""
    return varint(len(block)) + b"\xf8" + (len(block) - 1).to_bytes(3, "little") + block


def varint(value: int) -> bytes:
    """Return a number in base 128, lowest digit first; a negative one as its 64-bit two's complement."""
    value &= (1 << 64) - 1
    digits = bytearray()
    while value > 127:
        digits.append(value & 127 | 128)
        value >>= 7
    return bytes([*digits, value])


def number_field(number: int, value: int) -> bytes:
    """Return a protobuf varint field, nothing for zero."""
    return varint(number << 3) + varint(value) if value else b""


def message_field(number: int, message: bytes) -> bytes:
    """Return a protobuf field holding a message."""
    return varint(number << 3 | 2) + varint(len(message)) + message
