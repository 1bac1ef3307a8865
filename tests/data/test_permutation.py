"""Are pairs laid out, counted and ordered as in XLNet?"""

import numpy as np
import torch

from data.laid_out import padded, rows
from litebert.data import permutation
from litebert.data.masking import corrupt
from litebert.data.recipe import recipe
from litebert.data.rows import Rows
from litebert.data.vocabulary import plain
from litebert.model import visibility

# The worked example, A A A A SEP B SEP CLS with 1, 3 and 5 selected: 1 where a row may not look.
HIDDEN = [
    [0, 1, 0, 1, 1, 1, 1, 1],
    [0, 1, 0, 1, 1, 1, 1, 1],
    [0, 1, 0, 1, 1, 1, 1, 1],
    [0, 0, 0, 1, 1, 1, 1, 1],
    [0, 0, 0, 0, 0, 0, 1, 0],
    [0, 0, 0, 0, 1, 1, 1, 1],
    [0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 1, 0, 1, 0],
]


def test_one_token_in_six_is_predicted_85_of_512():
    assert permutation.predicted(512) == 85
    assert permutation.predicted(128, share=4) == 32


def test_a_pair_is_a_sep_b_sep_cls_with_the_summary_last_in_a_segment_of_its_own():
    made = permutation.pair([10, 11, 12], [20, 21], sep=4, cls=3)
    assert made.ids.tolist() == [10, 11, 12, 4, 20, 21, 4, 3]
    assert made.segments.tolist() == [0, 0, 0, 0, 1, 1, 1, 2]
    assert made.special.tolist() == [False, False, False, True, False, False, True, True]
    assert permutation.CONSECUTIVE == 1, "the reverse of BERT's and ALBERT's"


def test_the_worked_example_of_who_sees_whom():
    made = permutation.pair([10, 11, 12, 13], [20], sep=4, cls=3)  # A A A A SEP B SEP CLS
    selected = np.isin(np.arange(8), [1, 3, 5])
    rank = permutation.ranks(np.array([3, 0, 6, 1, 5, 2, 7, 4]), selected, made.special)
    target = selected & ~made.special
    _, query = visibility.permutation(torch.from_numpy(rank)[None], torch.from_numpy(target)[None])
    hidden = (~query[0, 0]).int().tolist()
    assert hidden == HIDDEN


def told(given, epoch=0, **changes):
    """A batch of XLNet's, what every token sees in its content and its query stream, and what is predicted."""
    batch = corrupt(given, recipe("xlnet", **{"length": given.ids.shape[1], **changes}), plain(30_000), 0, epoch)
    target = np.zeros(batch.ids.shape, dtype=bool)
    row, slot = np.nonzero(batch.weights)  # an empty slot names place 0, which here may be asked for
    target[row, batch.asked[row, slot]] = True
    assert batch.ranks is not None
    content, query = visibility.permutation(torch.from_numpy(batch.ranks), torch.from_numpy(target))
    return batch, content[:, 0].numpy(), query[:, 0].numpy(), target


def test_85_of_512_are_predicted_and_nothing_stands_in_their_place():
    given = rows(20, 512, layout="xlnet", pieces=1.6)
    batch, *_ = told(given)
    assert batch.asked.shape == (20, 85)
    assert batch.weights.all()
    assert np.array_equal(batch.ids, given.ids)
    assert np.array_equal(batch.targets, np.take_along_axis(given.ids, batch.asked.astype(np.intp), axis=1)), "current"


def test_every_row_sees_what_the_rule_lets_it_see():
    given = padded(rows(8, 30, full=False, layout="xlnet"), 34)
    batch, content, query, target = told(given)
    for row in range(8):
        end = given.lengths[row]
        special = given.words[row, :end] < 0
        places = np.flatnonzero(target[row, :end] | special)
        ranks = batch.ranks[row]
        assert sorted(set(ranks[places])) == sorted(ranks[places]), "a place for each"
        assert 0 <= ranks[places].min() <= ranks[places].max() < end
        assert (np.delete(ranks, places) == -1).all(), "free tokens and padding have none"
        for one in range(end):
            for other in range(end):
                free, like = ranks[other] < 0, ranks[one] < 0
                before = ranks[other] < ranks[one]
                itself = one == other and not target[row, one]
                expected = free or (not like and (before or itself))
                assert query[row, one, other] == expected
                assert content[row, one, other] == (expected or one == other)


def test_the_worked_example_comes_out_of_a_batch(monkeypatch):
    given = Rows(
        ids=np.array([[10, 11, 12, 13, 4, 20, 4, 3]], dtype=np.int32),
        segments=np.array([[0, 0, 0, 0, 0, 1, 1, 2]], dtype=np.uint8),
        words=np.array([[0, 1, 2, 3, -1, 4, -1, -1]], dtype=np.int16),
        lengths=np.array([8], dtype=np.int32),
        source=np.array([5], dtype=np.int32),
        order=np.array([permutation.CONSECUTIVE], dtype=np.int8),
        examples=np.array([0]),
    )
    order = np.array([[3, 0, 6, 1, 5, 2, 7, 4]], dtype=np.int32)
    monkeypatch.setattr(permutation, "orders", lambda *_: order)
    selected = np.isin(np.arange(8), [1, 3, 5])
    for epoch in range(1000):  # until chance selects the example's tokens, which takes ten epochs on average
        batch, _, query, target = told(given, epoch=epoch, share=2, most=3)
        if np.array_equal(target[0], selected):
            break
    assert target[0].tolist() == selected.tolist()
    assert batch.ranks.tolist() == [[-1, 0, -1, 1, 5, 2, 7, 4]]
    assert (~query[0]).astype(int).tolist() == HIDDEN


def test_orders_are_uniform():
    order = permutation.orders(np.arange(24_000), np.full(24_000, 4), 4, 0, 0)
    assert (np.sort(order, axis=1) == np.arange(4)).all()
    counts = np.unique(order @ np.array([64, 16, 4, 1]), return_counts=True)[1]
    assert len(counts) == 24
    assert ((counts - 1000) ** 2 / 1000).sum() < 49.7, "99.9 % point of chi-square at 23 degrees of freedom"


def test_the_same_order_is_repeated_in_blocks_that_follow_one_another():
    order = permutation.orders(np.arange(50), np.full(50, 12), 12, 0, 0, block=4)
    for block in range(3):
        assert np.array_equal(order[:, 4 * block : 4 * block + 4], order[:, :4] + 4 * block)
    assert (np.sort(order[:, :4], axis=1) == np.arange(4)).all()
    assert len({tuple(row) for row in order[:, :4].tolist()}) > 15


def test_an_order_of_a_row_does_not_know_of_its_padding():
    short = permutation.orders(np.array([5]), np.array([7]), 7, 0, 0)
    assert np.array_equal(short, permutation.orders(np.array([4, 5]), np.array([9, 7]), 30, 0, 0)[1:, :7])
    assert sorted(short[0]) == list(range(7))
