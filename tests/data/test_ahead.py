"""Does the thread that works ahead hand on everything, errors too, and leave nothing running behind?"""

from __future__ import annotations

import contextlib
import gc
import itertools
import threading
import time
import traceback
from collections.abc import Callable, Iterator

import pytest

from litebert.data.ahead import NAME, ahead


def running() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == NAME]


def eventually(true: Callable[[], bool]) -> bool:
    until = time.monotonic() + 5
    while not true() and time.monotonic() < until:
        time.sleep(0.005)
    return true()


@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_everything_arrives_in_order(depth: int, count: int) -> None:
    assert list(ahead(iter(range(count)), depth)) == list(range(count))
    assert running() == []


def test_no_more_is_made_than_fits_and_that_much_is() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for i in itertools.count():
            made.append(i)
            yield i

    with contextlib.closing(ahead(items(), 3)) as got:
        assert next(got) == 0
        assert eventually(lambda: len(made) == 5)  # one is used, three wait, one waits for a place
        time.sleep(0.05)
        assert len(made) == 5
    assert running() == []


def test_it_works_in_a_thread_of_its_own_and_only_when_asked() -> None:
    def items() -> Iterator[str]:
        yield threading.current_thread().name

    idle = ahead(items(), 1)
    assert running() == []
    assert list(idle) == [NAME]
    ahead(items(), 1).close()
    assert running() == []


def broken() -> Iterator[int]:
    yield 1
    raise LookupError("shard 7 is damaged")


def test_an_error_comes_after_what_was_made_before_it_with_its_traceback() -> None:
    got = ahead(broken(), 4)
    assert next(got) == 1
    with pytest.raises(LookupError, match="shard 7 is damaged") as caught:
        next(got)
    assert "in broken" in "".join(traceback.format_tb(caught.value.__traceback__))
    assert running() == []
    assert list(got) == [], "an error ends it"


def endless() -> Iterator[int]:
    return itertools.count()


def by_break() -> None:
    for i in ahead(endless(), 2):
        if i == 3:
            break


def by_an_error_in_the_loop() -> None:
    with contextlib.suppress(ZeroDivisionError):
        for i in ahead(endless(), 2):
            1 // (i - 3)


def by_an_interrupt_in_the_loop() -> None:
    with contextlib.suppress(KeyboardInterrupt):
        for i in ahead(endless(), 2):
            if i == 3:
                raise KeyboardInterrupt


def by_close() -> None:
    got = ahead(endless(), 2)
    next(got)
    got.close()


def by_being_forgotten() -> None:
    got = ahead(endless(), 2)
    next(got)
    del got


def while_it_waits_for_a_place() -> None:
    got = ahead(endless(), 1)
    next(got)
    time.sleep(0.02)
    got.close()


def while_it_makes_an_item() -> None:
    def slow() -> Iterator[int]:
        while True:
            time.sleep(0.03)
            yield 1

    got = ahead(slow(), 1)
    next(got)
    got.close()


@pytest.mark.parametrize("leave", [
    by_break, by_an_error_in_the_loop, by_an_interrupt_in_the_loop, by_close, by_being_forgotten,
    while_it_waits_for_a_place, while_it_makes_an_item,
], ids=lambda leave: leave.__name__)  # fmt: skip
def test_however_it_is_left_no_thread_stays(leave: Callable[[], None]) -> None:
    leave()
    gc.collect()
    assert running() == []


def test_what_it_reads_from_is_closed_too() -> None:
    closed: list[bool] = []

    def items() -> Iterator[int]:
        try:
            yield from itertools.count()
        finally:
            closed.append(True)

    with contextlib.closing(ahead(items(), 2)) as got:
        next(got)
    gc.collect()
    assert closed == [True]


def test_many_quick_openings_and_closings() -> None:
    """Whatever the thread is at when it is told to stop, it does."""
    for i in range(300):
        got = ahead(iter(range(i % 7)), 1 + i % 3)
        for _ in itertools.islice(got, i % 4):
            pass
        got.close()
    assert running() == []
