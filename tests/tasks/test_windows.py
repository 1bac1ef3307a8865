"""Is all of a long text read, and each piece left to the window that has most context for it?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litebert.tasks import windows
from litebert.tasks.windows import Window
from vectors.tiny import unigram_of, wordpiece_of, xlnet_of

COUNTS, ROOMS = st.integers(0, 300), st.integers(1, 60)


@given(count=COUNTS, room=ROOMS, stride=st.integers(1, 80))
def test_windows_are_those_of_a_walk_through_the_text(count: int, room: int, stride: int) -> None:
    step = stride if stride < room else max(1, room // 2)
    walked, begin = [], 0
    while True:  # google-research/bert: begin, take what there is room for, end where the text ends, else one step on
        walked.append(Window(begin, min(begin + room, count)))
        if begin + room >= count:
            break
        begin += step
    assert windows.windows(count, room, stride) == walked


@given(count=COUNTS, room=ROOMS, stride=st.integers(1, 80))
def test_a_piece_belongs_where_its_poorer_side_is_richest(count: int, room: int, stride: int) -> None:
    found = windows.windows(count, room, stride)
    owner = windows.owners(found, count)
    for piece in range(count):
        scores = [
            min(piece - begin, end - 1 - piece) + 0.01 * (end - begin) if begin <= piece < end else -1
            for begin, end in found
        ]
        assert scores[owner[piece]] == pytest.approx(max(scores))


def test_every_piece_has_some_context_at_a_border() -> None:
    """A stride as long as a window would leave a border that no window sees both sides of."""
    found = windows.windows(100, 10, 10)
    inner = windows.owners(found, 100)[5:-5]
    for piece, number in enumerate(inner.tolist(), 5):
        assert min(piece - found[number].begin, found[number].end - 1 - piece) >= 2


@pytest.mark.parametrize(
    ("layout", "one", "two", "segments", "left"),
    [
        (wordpiece_of, "[CLS] sea [SEP]", "[CLS] sea [SEP] boat x [SEP]", [0, 0, 0, 1, 1, 1], False),
        (unigram_of, "[CLS] ▁sea [SEP]", "[CLS] ▁sea [SEP] ▁boat ▁x [SEP]", [0, 0, 0, 1, 1, 1], False),
        (xlnet_of, "▁sea <sep> <cls>", "▁sea <sep> ▁boat ▁x <sep> <cls>", [0, 0, 1, 1, 1, 2], True),
    ],
)
def test_special_pieces_stand_as_the_family_has_them(
    layout: object, one: str, two: str, segments: list[int], left: bool
) -> None:  # fmt: skip
    tokenizer = layout()  # type: ignore[operator]
    dress = windows.dress_of(tokenizer)
    sea, boat = (np.array(tokenizer.encode(text), np.int32) for text in ("sea", "boat x"))
    assert tokenizer.pieces(windows.row(dress, sea).ids) == one.split()
    row = windows.row(dress, sea, boat)
    assert tokenizer.pieces(row.ids) == two.split()
    assert list(row.segments) == segments
    assert dress.left == left
