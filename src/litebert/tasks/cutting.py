"""Which part of a text that is too long is read? Its head, its tail, both, or all of it in windows.

Only lengths are asked for, so that all texts are cut at once. Shapes: N texts (or pairs of texts), R rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.errors import UserError
from litebert.tasks.settings import Long, Tuning

Ints = NDArray[np.int64]
MOST_WINDOWS = 64  # of one text; a longer one is read in as many, spread evenly over it


class Cut(NamedTuple):
    """How much is read; the fields are those of `Tuning`."""

    length: int = 128
    long: Long = "head"
    head: int = 128
    stride: int = 128


class Stretch(NamedTuple):
    """Of each row some tokens of a text, one after another."""

    begin: Ints  # [R] from the text's first token
    size: Ints  # [R]


class Kept(NamedTuple):
    """What is left: the two stretches of either text stand side by side."""

    text: Ints  # [R] which text, or pair, the row reads
    first: tuple[Stretch, Stretch]
    second: tuple[Stretch, Stretch]


def cut_of(tuning: Tuning) -> Cut:
    """What a tuning says of long texts."""
    return Cut(tuning.length, tuning.long, tuning.head, tuning.stride)


def kept(first: Ints, second: Ints, room: Ints, cut: Cut) -> Kept:
    """Rows for texts of `first` tokens, paired with `second` (0 where there is none), that have this room [N]."""
    if cut.long == "mean":
        return _windowed(first, second, room, cut.stride)
    one, two = longest_first(first, second, room)
    return Kept(np.arange(len(first)), ends(first, one, room, cut), ends(second, two, room, cut))


def longest_first(first: Ints, second: Ints, room: Ints) -> tuple[Ints, Ints]:
    """How many tokens each of two texts keeps: the longer one loses first, then both are halves.

    An odd room leaves one more to the longer, and of two equal ones to the second: so the engine counts
    (huggingface/tokenizers: utils/truncation.rs), and not as transformers once did in Python.
    """
    less = np.minimum(first, second)
    small = np.where(2 * less <= room, less, room // 2)
    large = room - small
    over, swapped = first + second > room, first > second
    one, two = np.where(swapped, large, small), np.where(swapped, small, large)
    return np.where(over, one, first), np.where(over, two, second)


def ends(size: Ints, stays: Ints, room: Ints, cut: Cut) -> tuple[Stretch, Stretch]:
    """The two stretches of a text of which so much stays: from its beginning, and up to its end."""
    front = stays if cut.long == "head" else np.zeros_like(stays)
    if cut.long == "head-tail":  # of a pair each gives the same share of what it keeps
        front = stays * cut.head // np.maximum(room, 1)
    front = np.where(stays < size, front, stays)
    back = stays - front
    return Stretch(np.zeros_like(front), front), Stretch(size - back, back)


def refuse_narrow(cut: Cut, specials: int) -> None:
    """Raise where a row so long has no place for text beside its special pieces."""
    room = cut.length - specials
    if room < 2:
        raise UserError(f"length {cut.length} leaves {max(0, room)} tokens between {specials} special pieces: "
                        f"choose {specials + 2} or more")  # fmt: skip
    if cut.long == "head-tail" and cut.head >= room:
        raise UserError(f"head {cut.head} leaves no room for a tail in length {cut.length}, of which {specials} are "
                        f"special pieces: choose less than {room}")  # fmt: skip


def _windowed(first: Ints, second: Ints, room: Ints, stride: int) -> Kept:
    """All of the longer text, window by window; a shorter one beside it keeps half the room at most, and repeats.

    The last window ends where the text ends, so that every window is full.
    """
    over, leads = first + second > room, first > second
    longer, shorter = np.maximum(first, second), np.minimum(first, second)
    beside = np.where(over, np.minimum(shorter, room // 2), shorter)
    width = np.minimum(longer, room - beside)
    begins = [
        _begins(size, wide, stride) if wide < size else [0]
        for size, wide in zip(longer.tolist(), width.tolist(), strict=True)
    ]
    text = np.repeat(np.arange(len(first)), [len(one) for one in begins])  # [R]
    moved = Stretch(np.array([at for one in begins for at in one], np.int64), width[text])
    still = Stretch(np.zeros_like(text), beside[text])
    none = Stretch(np.zeros_like(text), np.zeros_like(text))
    lead = leads[text]
    one = Stretch(np.where(lead, moved.begin, still.begin), np.where(lead, moved.size, still.size))
    two = Stretch(np.where(lead, still.begin, moved.begin), np.where(lead, still.size, moved.size))
    return Kept(text, (one, none), (two, none))


def _begins(size: int, width: int, stride: int) -> list[int]:
    """Where the windows of a text of `size` tokens begin."""
    found = [*range(0, size - width, min(stride, width)), size - width]
    if len(found) <= MOST_WINDOWS:
        return found
    return [int(place) for place in np.linspace(0, size - width, MOST_WINDOWS).round()]
