"""How is the next item made while this one is being used? One thread, a short queue, and no thread left behind."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")
NAME = "litebert-ahead"


class _End(NamedTuple):
    """The thread has no more to give: it came to the end, or to an error."""

    error: BaseException | None


def ahead(items: Iterator[Item], depth: int) -> Generator[Item, None, None]:
    """The same items, up to `depth` of them made beforehand by a thread, which starts with the first request.

    An error of `items` is raised here, where it stopped them, with the traceback of the thread. When this generator
    is closed (by itself when a loop over it is left, by Ctrl-C too), the thread finishes the item it is at and ends.
    """
    made: queue.Queue[Item | _End] = queue.Queue(depth)
    stop = threading.Event()
    thread = threading.Thread(target=_make, args=(items, made, stop), name=NAME, daemon=True)
    thread.start()
    try:
        while not isinstance(item := made.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stop.set()
        _empty(made)  # it may wait for a free place; after this one there is no second wait
        thread.join()


def _make(items: Iterator[Item], made: queue.Queue[Item | _End], stop: threading.Event) -> None:
    end = _End(None)
    try:
        for item in items:
            made.put(item)
            if stop.is_set():
                break
    except BaseException as error:
        end = _End(error)
    if not stop.is_set():
        made.put(end)


def _empty(made: queue.Queue[Item | _End]) -> None:
    while True:
        try:
            made.get_nowait()
        except queue.Empty:
            return
