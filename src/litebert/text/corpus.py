"""From files of text to a stream of documents: in constant memory, in one order, and from any place on.

`read` gives items and the `Mark` after each: reading from that mark gives exactly the items that follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from litebert.errors import UserError
from litebert.text import plain, pydocs, records, table
from litebert.text.items import Document, Mark, Problem, Reading, Unit
from litebert.text.sources import SUFFIXES, Form, Source, sources
from litebert.text.tally import Tally

__all__ = ["Document", "Mark", "Problem", "Reading", "Source", "Tally", "read", "sources"]


def read(
    sources: Sequence[Source], reading: Reading, start: Mark = Mark()
) -> Iterator[tuple[Document | Problem, Mark]]:
    """Every document from `start` on, and whatever was wrong with it before it, each with the mark after it."""
    for file in range(start.source, len(sources)):
        begin = start if file == start.source else Mark(file)
        skip = begin.item
        here = begin._replace(item=0)
        for items, after in _UNITS[sources[file].form](sources[file], reading, here):
            if len(items) == 1 and not skip:  # nearly always
                yield items[0], after
                here = after
                continue
            for number, item in enumerate(items[skip:], skip + 1):
                yield item, after if number == len(items) else here._replace(item=number)
            here, skip = after, 0


def _embedded(source: Source, reading: Reading, start: Mark) -> Iterator[Unit]:
    empty = not start.record
    for place, item in pydocs.documents(start.record):
        empty = False
        yield [item], Mark(start.source, place)
    if empty:
        raise UserError(f"{source.name}: this Python comes without its documentation and sources: name files instead")


def _left_out(source: Source, reading: Reading, start: Mark) -> Iterator[Unit]:
    detail = f"not a file with a suffix of {', '.join(SUFFIXES)}"
    yield [Problem("file left out", source.name, 0, detail)], Mark(start.source + 1)


_UNITS: dict[Form, Callable[[Source, Reading, Mark], Iterator[Unit]]] = {
    "text": plain.documents,
    "records": records.documents,
    "table": table.documents,
    "pydocs": _embedded,
    "unknown": _left_out,
}
