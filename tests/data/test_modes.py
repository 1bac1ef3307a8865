"""Does a batch of UniLM's mixture say how it sees, and do the modes have their shares?"""

from collections import Counter

import numpy as np
import pytest
import torch

from data.laid_out import padded, rows
from litebert.data import modes
from litebert.data.masking import corrupt
from litebert.data.recipe import recipe
from litebert.data.vocabulary import plain
from litebert.model import visibility

GIVEN = padded(rows(6, 20, full=False, seed=1), 24)


def test_modes_have_their_shares() -> None:
    drawn = Counter(modes.mode(0, epoch, batch) for epoch in range(10) for batch in range(10_000))
    assert modes.SHARES == {"bidirectional": 1 / 3, "seq2seq": 1 / 3, "left-to-right": 1 / 6, "right-to-left": 1 / 6}
    assert set(drawn) == set(modes.SHARES)
    for name, share in modes.SHARES.items():
        assert drawn[name] / 100_000 == pytest.approx(share, abs=4 * (share * (1 - share) / 100_000) ** 0.5)


def test_a_mode_is_a_function_of_its_address() -> None:
    first = [modes.mode(1, 0, batch) for batch in range(50)]
    assert first == [modes.mode(1, 0, batch) for batch in range(50)]
    assert first != [modes.mode(1, 1, batch) for batch in range(50)]
    assert first != [modes.mode(2, 0, batch) for batch in range(50)]


@pytest.mark.parametrize(
    ("mode", "first", "second"),
    [("bidirectional", 0, 1), ("left-to-right", 2, 2), ("right-to-left", 3, 3), ("seq2seq", 4, 5)],
)
def test_segment_ids_tell_the_mode_and_padding_has_none(mode, first, second):
    told = modes.segments(GIVEN, mode)
    for row in range(6):
        source, end = GIVEN.source[row], GIVEN.lengths[row]
        assert told[row].tolist() == [first] * source + [second] * (end - source) + [0] * (24 - end)
    assert told.dtype == np.uint8


def test_in_seq2seq_the_source_ends_with_its_separator_and_sees_nothing_of_the_target():
    batch = corrupt(GIVEN, recipe("unilm", length=24), plain(30_000), 0, 0, mode="seq2seq")
    assert batch.source is not None
    visible = visibility.seq2seq(torch.from_numpy(batch.source), 24)[:, 0]
    for row, source in enumerate(batch.source.tolist()):
        assert GIVEN.ids[row, source - 1] == plain(30_000).sep
        assert (GIVEN.segments[row] == 0)[:source].all()
        assert not visible[row, :source, source:].any()
        assert visible[row, source:, :source].all()


def test_only_the_target_and_its_end_may_be_hidden():
    left = modes.target_only(GIVEN)
    for row in range(6):
        source, end = GIVEN.source[row], GIVEN.lengths[row]
        words = left.words[row]
        assert (words[:source] == -1).all()
        assert (words[end:] == -1).all()
        assert words[source : end - 1].tolist() == GIVEN.words[row, source : end - 1].tolist()
        assert words[end - 1] > words[: end - 1].max(), "the end is a word of its own"
