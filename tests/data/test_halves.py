"""Is a text cut at the word boundary nearest its middle, wherever in a shard it lies and however long its words are?"""

import random

import numpy as np
import pytest

from data import originals
from litebert.data import halves as module
from litebert.data.halves import halves


@pytest.mark.parametrize(("steps", "at_once"), [(32, 1 << 20), (32, 1), (1, 1 << 20), (0, 1), (0, 50), (3, 1000)])
def test_the_nearest_boundary_is_found(steps: int, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_STEPS", steps)
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    drawn = random.Random(at_once)
    shapes = [(0.05, 20), (0.3, 9), (1.0, 5), (0.005, 300)] * 99
    texts = [[drawn.random() < share for _ in range(drawn.randint(1, most))] for share, most in shapes]
    ends = np.cumsum([len(text) for text in texts])
    begins = ends - [len(text) for text in texts]
    packed = np.packbits([flag for text in texts for flag in text], bitorder="little")
    expected = [originals.nearest_to_the_middle(text) for text in texts]
    assert halves(packed, begins, ends).tolist() == expected
    assert 0 in expected
    some = np.array([5, 3, 200])
    assert halves(packed, begins[some], ends[some]).tolist() == [expected[i] for i in some]


def test_no_text_has_no_halves() -> None:
    none = np.empty(0, dtype=np.int64)
    assert halves(np.empty(0, np.uint8), none, none).tolist() == []
