"""How does a column of a parquet file become documents? In batches of rows, each of a few megabytes of text."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from litebert.errors import UserError
from litebert.text import decode
from litebert.text.items import Document, Mark, Problem, Reading, Unit
from litebert.text.plain import empty_file
from litebert.text.records import empty_document
from litebert.text.sources import Source, unreadable
from litebert.text.unpack import BLOCK, flat

BATCH, MOST_ROWS = 4 << 20, 256  # bytes of text that are aimed at; rows, where a few may be much longer than most


def documents(source: Source, reading: Reading, start: Mark) -> Iterator[Unit]:
    """The documents of a parquet file, a row each."""
    name = source.name
    file, row, _, done, _ = start
    with opened(source) as table:
        _check_column(table.schema_arrow, name, reading.field)
        if not table.metadata.num_rows:
            yield [empty_file(source)], Mark(file + 1)
        for value in _values(table, name, reading.field, row):
            row += 1
            if value is None:
                yield [_null(name, row, reading)], Mark(file, row)
                continue
            number, left = 0, len(value)
            for cuts, data in enumerate(_parts(value), 1):
                left -= len(data)
                text, problems = decode.decoded(data, name, row, reading, lines=False)
                items: list[Document | Problem] = [*problems]
                if text and not text.isspace():
                    items.append(Document(text, name, row, number))
                    number += 1
                elif not left and not number:
                    items.append(empty_document(name, row))
                if items and cuts > done:
                    yield items, Mark(file, row - 1, 0, cuts) if left else Mark(file, row)
            done = 0


@contextlib.contextmanager
def opened(source: Source) -> Iterator[pq.ParquetFile]:
    """A parquet file, checked to be one."""
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(pa.OSFile(os.fsencode(source.path)))
        except OSError as error:
            raise unreadable(source.name, error) from None
        try:  # a buffer makes a column be read page by page, not whole
            table = pq.ParquetFile(file, pre_buffer=False, buffer_size=BLOCK, page_checksum_verification=True)
            stack.enter_context(table)
        except (OSError, pa.ArrowException) as error:
            raise UserError(f"{source.name} is no parquet file, or cut off ({flat(error)}): copy it again") from None
        yield table


def _check_column(schema: pa.Schema, name: str, field: str) -> None:
    count = schema.names.count(field)
    if count != 1:
        has = "has no column" if not count else f"has {count} columns"
        raise UserError(f"{name} {has} {field!r}: choose one of {', '.join(dict.fromkeys(schema.names)) or 'none'}")
    kind = schema.field(field).type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if kind not in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()):
        texts = [each.name for each in schema if each.type in (pa.string(), pa.large_string())]
        raise UserError(f"{name} has {kind} in column {field!r}, not text: choose one of {', '.join(texts) or 'none'}")


def _values(table: pq.ParquetFile, name: str, field: str, row: int) -> Iterator[memoryview | None]:
    """The bytes of every value from `row` on."""
    groups = [table.metadata.row_group(i) for i in range(table.num_row_groups)]
    ends = np.cumsum([group.num_rows for group in groups], dtype=np.int64)
    begun = int(np.searchsorted(ends, row, side="right"))  # the row group in which `row` is
    skip = row - (int(ends[begun - 1]) if begun else 0)
    bytes_ = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0)
    rows = max(1, min(MOST_ROWS, BATCH // max(bytes_, 1)))
    try:
        for batch in table.iter_batches(rows, range(begun, len(groups)), [field], use_threads=False):
            if skip < len(batch):
                yield from _bytes(batch.column(0)[skip:])
                row += len(batch) - skip
            skip = max(0, skip - len(batch))
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"{name} is damaged after row {row:,} ({flat(error)}): copy it again") from None


def _bytes(column: pa.Array) -> Iterator[memoryview | None]:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    column = column.cast(pa.large_binary())
    known: Any = column.is_valid().to_pylist() if column.null_count else [True] * len(column)
    offsets = np.frombuffer(column.buffers()[1], np.int64)[column.offset : column.offset + len(column) + 1].tolist()
    data = memoryview(column.buffers()[2] or b"")
    for there, begin, end in zip(known, offsets, offsets[1:], strict=False):
        yield data[begin:end] if there else None


def _parts(value: memoryview) -> Iterator[memoryview]:
    while len(value) > decode.PART:
        size = decode.cut(value, decode.PART)
        yield value[:size]
        value = value[size:]
    yield value


def _null(name: str, row: int, reading: Reading) -> Problem:
    what = f"is null in column {reading.field!r}"
    if reading.bad == "refuse":
        raise UserError(f"{name}:{row}: the row {what}: fill it in, or have such rows left out (--bad skip)")
    return Problem("bad record", name, row, what)
