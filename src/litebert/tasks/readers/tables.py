"""How does a table become rows, whatever file it lies in? CSV, TSV, JSON and parquet open to the same value.

`opened(path)` knows the columns; `table.rows(columns)` gives, for each row, its number and the values of the columns
asked for (None for a column that is not there), or what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from litebert.errors import UserError
from litebert.tasks.readers.faults import RowError
from litebert.tasks.readers.lines import suffix

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
JSON = (".jsonl", ".ndjson", ".json")
SUFFIXES = (*DELIMITERS, *JSON, ".parquet")
NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}  # of what may part columns

Rows = Iterator[tuple[int, Sequence[Any] | RowError]]


class Table(NamedTuple):
    """A table that is opened and not yet read."""

    name: str
    columns: tuple[str, ...]  # of JSON those of the first record
    rows: Callable[[Sequence[str | None]], Rows]
    hint: Callable[[Sequence[str]], str] = lambda _: ""  # why columns may not be found


def opened(path: Path, *, delimiter: str | None = None, quotes: bool | None = None, header: bool = True) -> Table:
    """A table by what the file is called: `.csv`, `.tsv`, `.txt` (tabs), `.jsonl`, `.json`, `.parquet`; or `.gz` of it.

    Quotes hold a field together in CSV, and mean nothing in TSV. Without a header the columns are called 1, 2, 3.
    """
    from litebert.tasks.readers import delimited, parquet, records

    kind = suffix(path)
    if kind not in SUFFIXES and delimiter is None:
        raise UserError(f"{path} does not say by its suffix what it is: choose one of {', '.join(SUFFIXES)}, .gz of it")
    if kind not in (*JSON, ".parquet"):
        parting = delimiter or DELIMITERS[kind]
        return delimited.opened(path, parting, parting != "\t" if quotes is None else quotes, header)
    if delimiter is not None or quotes is not None or not header:
        raise UserError(f"{path} has names for its columns itself: leave out delimiter, quotes and header")
    return parquet.opened(path) if kind == ".parquet" else records.opened(path)
