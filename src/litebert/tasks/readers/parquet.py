"""How does a parquet file become rows? In batches of the columns asked for, each of a few megabytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from litebert.errors import UserError
from litebert.tasks.readers.faults import RowError
from litebert.tasks.readers.lines import source
from litebert.tasks.readers.tables import Rows, Table
from litebert.text import table as texts
from litebert.text.unpack import flat

_ROWS = 1024


def opened(path: Path) -> Table:
    """A table of a parquet file; rows count from 1."""
    with texts.opened(source(path)) as file:
        names = tuple(file.schema_arrow.names)
        if not file.metadata.num_rows:
            raise UserError(f"{path} is empty: name a file with a row for each example")
        bytes_ = max(file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups))
        size = max(1, min(_ROWS, texts.BATCH * file.metadata.num_rows // max(bytes_, 1)))

    def rows(columns: Sequence[str | None]) -> Rows:
        wanted = list(dict.fromkeys(column for column in columns if column is not None))
        number = 0
        with texts.opened(source(path)) as file:
            try:
                for batch in file.iter_batches(size, columns=wanted, use_threads=False):
                    found = {name: _values(batch.column(name)) for name in wanted}
                    for i in range(len(batch)):
                        number += 1
                        values = [None if column is None else found[column][i] for column in columns]
                        yield number, next((one for one in values if isinstance(one, RowError)), values)
            except (OSError, pa.ArrowException) as error:
                raise UserError(f"{path} is damaged after row {number:,} ({flat(error)}): copy it again") from None

    return Table(str(path), names, rows)


def _values(column: pa.Array) -> list[Any]:
    """The values of a column as Python has them, and what is wrong where that fails."""
    try:
        found: list[Any] = column.to_pylist()
    except ValueError:  # a text that is not UTF-8: pyarrow looks at none when it reads
        found = [_value(one) for one in column]
    return found


def _value(one: pa.Scalar) -> Any:
    try:
        return one.as_py()
    except ValueError as error:
        return RowError(f"a value cannot be read ({flat(error)})")
