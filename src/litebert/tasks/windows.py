"""How is a text read that is longer than a row? In windows that overlap; what two of them see is left to one.

A piece belongs to the window where it has most context on its poorer side (google-research/bert: run_squad.py,
_check_is_max_context). Shapes: P pieces, W windows, T tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.data.layout import Frame
from litebert.tasks.layout import frame_of
from litebert.tasks.task import Row
from litebert.text.tokenizer import Tokenizer

Ids = NDArray[np.int32]


class Window(NamedTuple):
    """Pieces `begin` to `end` of a text, the last one excluded."""

    begin: int
    end: int


class Dress(NamedTuple):
    """The special pieces that stand around the texts of a row."""

    frame: Frame
    before: Ids
    between: Ids
    after: Ids

    @property
    def left(self) -> bool:
        """Whether the text's own vector stands last, and padding in front (XLNet)."""
        return self.frame.after[-1] == "cls"


def dress_of(tokenizer: Tokenizer) -> Dress:
    """What a tokenizer's family puts around its texts."""
    frame, known = frame_of(tokenizer), tokenizer.specials
    parts = (frame.before, frame.between, frame.after)
    return Dress(frame, *(np.array([getattr(known, role) for role in part], np.int32) for part in parts))


def windows(count: int, room: int, stride: int) -> list[Window]:
    """So many windows of `room` pieces as a text of `count` pieces takes; an empty text has one, too.

    A stride that would leave no overlap is half a window, for else nothing at a border would have any context.
    """
    step = stride if stride < room else max(1, room // 2)
    begins = range(0, max(1, count - room + step), step)
    return [Window(begin, min(begin + room, count)) for begin in begins]


def owners(found: Sequence[Window], count: int) -> NDArray[np.int32]:
    """[P] the window where each piece has most context; of two alike the first."""
    best = np.full(count, -1, np.int64)
    owner = np.zeros(count, np.int32)
    for number, (begin, end) in enumerate(found):
        reach = np.arange(end - begin)
        context = 100 * np.minimum(reach, reach[::-1]) + (end - begin)  # a long window is worth a little
        better = context > best[begin:end]
        best[begin:end][better] = context[better]
        owner[begin:end][better] = number
    return owner


def row(dress: Dress, first: Ids, second: Ids | None = None) -> Row:
    """One text or two between their special pieces."""
    parts = [dress.before, first] if second is None else [dress.before, first, dress.between]
    lead = sum(map(len, parts))
    ids = np.concatenate([*parts, dress.after] if second is None else [*parts, second, dress.after])
    segments = np.zeros(len(ids), np.uint8)
    if dress.frame.typed:
        if second is not None:
            segments[lead:] = 1
        if dress.left:
            segments[-1] = 2
    return Row(ids, segments)
