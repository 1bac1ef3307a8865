"""How do the tests read? Whole, from every mark, in small parts and blocks, and with an eye on the memory."""

from __future__ import annotations

import contextlib
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from litebert.text import corpus, decode, plain, records, unpack
from litebert.text.items import Document, Mark, Problem, Reading

Item = Document | Problem


def read(*paths: str | Path, start: Mark = Mark(), **reading: Any) -> list[tuple[Item, Mark]]:
    """Everything, with the mark after each."""
    return list(corpus.read(corpus.sources(paths), Reading(**reading), start))


def documents(*paths: str | Path, **reading: Any) -> list[Document]:
    """The documents and their parts, where nothing is wrong."""
    items = [item for item, _ in read(*paths, **reading)]
    assert [item for item in items if isinstance(item, Problem)] == []
    return [item for item in items if isinstance(item, Document)]


def texts(*paths: str | Path, **reading: Any) -> list[str]:
    """What the documents say."""
    return [document.text for document in documents(*paths, **reading)]


def problems(*paths: str | Path, **reading: Any) -> list[tuple[str, int, int]]:
    """Kind, place and count of whatever is wrong."""
    items = [item for item, _ in read(*paths, **reading)]
    return [(item.kind, item.place, item.count) for item in items if isinstance(item, Problem)]


def whole(items: Iterable[Item]) -> list[tuple[int, str]]:
    """Place and text of every document, its parts in one, without blanks; between them the kinds of problems."""
    found: list[tuple[int, str]] = []
    for item in items:
        if isinstance(item, Problem):
            found.append((item.place, item.kind))
        elif item.part:
            found[-1] = (found[-1][0], found[-1][1] + "".join(item.text.split()))
        else:
            found.append((item.place, "".join(item.text.split())))
    return found


def assert_resumes(*paths: str | Path, **reading: Any) -> int:
    """From every mark exactly what follows it; returns how many marks there were."""
    items = read(*paths, **reading)
    for number, (_, mark) in enumerate(items, 1):
        assert read(*paths, start=mark, **reading) == items[number:], mark
    assert len({mark for _, mark in items}) == len(items)
    return len(items)


@contextlib.contextmanager
def small(part: int, block: int) -> Iterator[None]:
    """Parts and blocks of so many bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decode, "PART", part)
        for module in (plain, records, unpack):
            patch.setattr(module, "BLOCK", block)
        patch.setattr(unpack.Stream.read, "__defaults__", (block,))
        yield


def peak(work: Callable[[], Any]) -> int:
    """The most bytes that were held at once by what Python allocates."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
