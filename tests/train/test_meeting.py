"""Do the living find each other in a store in which the dead have left their names?"""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from torch.distributed import HashStore, PrefixStore, Store

from litebert.errors import RunError
from litebert.train import meeting

SOON = timedelta(seconds=20)


def meet(store: Store, size: int) -> list[Store]:
    """All ranks of one beginning, as threads: the store that each of them gets."""
    found: dict[int, Store] = {}
    threads = [
        threading.Thread(target=lambda rank=rank: found.update({rank: meeting.met(store, rank, size, SOON)}))
        for rank in reversed(range(size))  # the first one comes last
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(found) == list(range(size)), "somebody still waits"
    return [found[rank] for rank in range(size)]


def test_all_get_the_same_place_and_it_is_empty_however_often_they_begin() -> None:
    store = HashStore()
    for attempt in range(4):
        for place in (places := meet(store, 4 - attempt)):
            assert not place.check(["address"])
        places[0].set("address", str(attempt))
        assert [place.get("address") for place in places] == [str(attempt).encode()] * (4 - attempt)


def test_one_that_died_on_the_way_is_not_waited_for() -> None:
    store = HashStore()
    PrefixStore("meeting", store).set("here 1", "a name that nobody answers to")
    places = meet(store, 3)
    places[2].set("x", "y")
    assert places[1].get("x") == b"y"


def test_one_alone_meets_nobody() -> None:
    assert not meeting.met(HashStore(), 0, 1, SOON).check(["address"])


def test_one_that_never_comes_is_named() -> None:
    with pytest.raises(RunError, match=r"of 3 processes number 1 did not come within 0:00:00.050000: start all anew"):
        meeting.met(HashStore(), 0, 3, timedelta(milliseconds=50))
