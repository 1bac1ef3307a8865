"""How do several processes encode one stream in order, in constant memory, and die loudly? Few blocks are under way.

A worker that is killed fails the run; a worker whose parent is killed leaves by itself.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from pathlib import Path

from litebert.data.blocks import Block, Encodings, Piece
from litebert.data.options import Options
from litebert.data.worker import Worker

_AHEAD = 2  # blocks that wait for each worker, so that none waits for the reader
_task: tuple[Path, Options] | None = None  # in a worker: what it was started for
_worker: Worker | None = None  # in a worker: made at the first block, where an error finds its way back


def encoded(
    blocks: Iterable[Block], folder: Path, options: Options, workers: int
) -> Generator[tuple[Block, Encodings], None, None]:
    """Every block with its encodings, in order; one worker is this process itself."""
    if workers == 1:
        here: Worker | None = None
        for block in blocks:
            here = here or Worker(folder, options)
            yield block, here.encode(block.pieces)
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy threads' locks, held or not
    pool = ProcessPoolExecutor(workers, context, _begin, (folder, options))
    try:
        yield from in_order(pool, blocks, workers * (1 + _AHEAD))
    except BrokenProcessPool:
        raise ChildProcessError(
            "a worker was killed, perhaps for want of memory: what is finished is kept; go on with the same command, "
            "with fewer --workers if it happens again"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def in_order(pool: Executor, blocks: Iterable[Block], most: int) -> Iterator[tuple[Block, Encodings]]:
    """The same from a pool of any kind, which never has more than `most` blocks, waiting and done ones counted."""
    under_way: deque[tuple[Block, Future[Encodings]]] = deque()
    for block in blocks:
        under_way.append((block, pool.submit(_encode, block.pieces)))
        if len(under_way) >= most:
            done, future = under_way.popleft()
            yield done, future.result()
    while under_way:
        done, future = under_way.popleft()
        yield done, future.result()


def _begin(folder: Path, options: Options) -> None:
    global _task
    _task = folder, options
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_leave_with, args=(parent.sentinel,), daemon=True).start()


def _leave_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


def _encode(pieces: list[Piece]) -> Encodings:
    global _worker
    if _worker is None:
        assert _task is not None
        _worker = Worker(*_task)
    return _worker.encode(pieces)
