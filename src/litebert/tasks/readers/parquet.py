"""How does a parquet file become rows? In batches of the columns asked for, each of a few megabytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from litebert.errors import UserError
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
                    found = {name: batch.column(name).to_pylist() for name in wanted}
                    for i in range(len(batch)):
                        number += 1
                        yield number, [None if column is None else found[column][i] for column in columns]
            except (OSError, pa.ArrowException) as error:
                raise UserError(f"{path} is damaged after row {number:,} ({flat(error)}): copy it again") from None

    return Table(str(path), names, rows)
