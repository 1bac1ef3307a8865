"""How does a batch of UniLM's see, and what do its segment ids say of it? One mode for a whole batch.

Shapes: R rows, T tokens.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from litebert import rng
from litebert.data.rows import Rows
from litebert.errors import UserError

# UniLM v1 §2.3: the share of the batches that see in each way.
SHARES = {"bidirectional": 1 / 3, "seq2seq": 1 / 3, "left-to-right": 1 / 6, "right-to-left": 1 / 6}
# microsoft/unilm:unilm-v1: the segment id of the first segment (source) and of the second (target) in each of them.
SEGMENTS = {"bidirectional": (0, 1), "left-to-right": (2, 2), "right-to-left": (3, 3), "seq2seq": (4, 5)}


def mode(seed: int, epoch: int, batch: int) -> str:
    """Which way a global batch sees: a function of its address, the same for every rank."""
    draw = rng.generator(seed, "unilm-mixture", epoch, batch).random()
    *names, last = SHARES
    for name in names:
        draw -= SHARES[name]
        if draw < 0:
            return name
    return last


def segments(rows: Rows, mode: str) -> NDArray[np.uint8]:
    """Segment ids [R, T] that tell the mode; 0 on padding."""
    if mode not in SEGMENTS:
        raise UserError(f"mode '{mode}' is none of UniLM's: choose one of {', '.join(SEGMENTS)}")
    if mode == "bidirectional":
        return rows.segments
    first, second = SEGMENTS[mode]
    columns = np.arange(rows.ids.shape[1])
    told = np.where(columns < rows.source[:, None], np.uint8(first), np.uint8(second))
    return np.where(columns < rows.lengths[:, None], told, np.uint8(0))


def target_only(rows: Rows) -> Rows:
    """Rows of which nothing but the second segment may be hidden, and its closing separator as a word of its own."""
    columns = np.arange(rows.ids.shape[1])
    words = np.where(columns < rows.source[:, None], np.int16(-1), rows.words)
    words[np.arange(len(words)), rows.lengths - 1] = rows.words.max(axis=1) + 1
    return rows._replace(words=words)
