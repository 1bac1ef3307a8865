"""How do processes find each other that torchrun has begun anew? In a store that still holds what dead ones wrote.

torchrun keeps one store for all beginnings, so a new process may read the address of a dead one and wait for it
(pytorch/pytorch#135712); and the number of the beginning, which the environment holds, differs between machines. So
the first rank makes a name that was never used, and gives it to those only that are alive to answer.
"""

from __future__ import annotations

import time
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING

from litebert.errors import RunError

if TYPE_CHECKING:
    from torch._C._distributed_c10d import Store

_PAUSE = 0.01  # seconds between two looks into the store


def met(store: Store, rank: int, size: int, patience: timedelta) -> Store:
    """A part of the store that holds nothing yet, the same for all the living."""
    from torch._C._distributed_c10d import PrefixStore  # not in every build of PyTorch

    place = PrefixStore("meeting", store)
    name = _called(place, rank) if rank else _calls(place, size, patience)
    return PrefixStore(name, store)


def _called(store: Store, rank: int) -> str:
    """Say that this process is there, and wait for the name."""
    own = uuid.uuid4().hex
    store.set(f"here {rank}", own)
    name = store.get(f"name for {own}").decode()
    store.set(f"heard {name} {rank}", own)
    return name


def _calls(store: Store, size: int, patience: timedelta) -> str:
    """Give the name to all who are there, until every rank has said that it heard it: the dead do not."""
    name, missing = uuid.uuid4().hex, set(range(1, size))
    end = time.monotonic() + patience.total_seconds()
    while missing:
        for rank in sorted(missing):
            if store.check([f"heard {name} {rank}"]):
                missing.discard(rank)
            elif store.check([f"here {rank}"]):
                store.set(f"name for {store.get(f'here {rank}').decode()}", name)
        if time.monotonic() > end:
            raise RunError(f"of {size} processes number {min(missing)} did not come within {patience}: start all anew")
        time.sleep(_PAUSE)
    return name
