"""Are pairs laid out, counted and ordered as in XLNet?"""

import numpy as np
import torch

from litebert.data import permutation
from litebert.model import visibility


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
    assert hidden == [
        [0, 1, 0, 1, 1, 1, 1, 1],
        [0, 1, 0, 1, 1, 1, 1, 1],
        [0, 1, 0, 1, 1, 1, 1, 1],
        [0, 0, 0, 1, 1, 1, 1, 1],
        [0, 0, 0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 1, 1, 1, 1],
        [0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 0, 1, 0],
    ]
