"""A process that holds a run folder until it is killed."""

from __future__ import annotations

import time
from multiprocessing.connection import Connection
from pathlib import Path

from litebert.train.claim import claimed


def hold(folder: Path, told: Connection) -> None:
    """Claim it, say so, and stay."""
    with claimed(folder):
        told.send("held")
        time.sleep(600)
