"""Which streams do the tests read? Small ones, from one text."""

from __future__ import annotations

from typing import Any

from data.texts import shards, vocabulary
from litebert.data.recipe import recipe
from litebert.data.rows import Batch
from litebert.data.stream import START, Position, Stream

TEXT, WORDS = shards(80), vocabulary()


def opened(name: str = "albert", **more: Any) -> Stream:
    """A stream by the seed 5 of rows of 48 tokens."""
    changes = more.pop("changes", {})
    return Stream(TEXT, recipe(name, **{"length": 48, **changes}), WORDS, **{"seed": 5, **more})


def walked(found: Stream, count: int, position: Position = START) -> list[tuple[Batch, Position]]:
    """So many batches, one asked for after another, without a thread."""
    made = []
    for _ in range(count):
        made.append(found.batch(position))
        position = made[-1][1]
    return made
