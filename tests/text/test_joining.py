"""Does joining take the most frequent pair each time, and count right after it?"""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

from litebert.text.joining import Joining


def joined(left: str, right: str) -> str | None:
    return left + right


def naively(words: dict[tuple[str, ...], int], times: int, least: int) -> tuple[list[str], Counter[str]]:
    """The same, counted anew each time."""
    now = {word: (list(word), count) for word, count in words.items()}
    names: list[str] = []
    while len(names) < times:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, count in now.values():
            for pair in pairwise(word):
                pairs[pair] += count
        found = [pair for pair in pairs if pairs[pair] >= least and "".join(pair) not in names]
        if not found:
            break
        best = min(found, key=lambda pair: (-pairs[pair], pair))
        names.append("".join(best))
        for word, _ in now.values():
            place = 0
            while place < len(word) - 1:
                if (word[place], word[place + 1]) == best:
                    word[place : place + 2] = ["".join(best)]
                place += 1
    used: Counter[str] = Counter()
    for word, count in now.values():
        for piece in word:
            used[piece] += count
    return names, used


def test_it_is_what_counting_anew_gives() -> None:
    for seed in range(12):
        draw = random.Random(seed)
        words = {tuple(draw.choices("abcd", k=draw.randrange(1, 9))): draw.randrange(1, 20) for _ in range(60)}
        joining = Joining(words, joined, 3)
        names = [name for _ in range(40) if (name := joining.join())]
        expected, used = naively(words, 40, 3)
        assert names == expected
        assert +joining.used == used
        assert list(joining.pairs) == names


def test_a_pair_that_overlaps_itself_is_joined_from_the_left() -> None:
    joining = Joining({("a",) * 5: 2}, joined, 1)
    assert joining.join() == "aa"
    assert +joining.used == {"aa": 4, "a": 2}
    assert joining.join() == "aaa"  # not aaaa: both pairs stand there twice, and (aa, a) comes before (aa, aa)
    assert joining.pairs["aaa"] == ("aa", "a")


def test_ties_go_by_the_alphabet() -> None:
    for words in ({("b", "c"): 2, ("a", "b"): 2}, {("a", "b"): 2, ("b", "c"): 2}):
        assert Joining(words, joined, 1).join() == "ab"


def test_rare_pairs_and_forbidden_ones_are_not_joined() -> None:
    words = {("a", "b"): 9, ("b", "c"): 5, ("c", "d"): 4}
    joining = Joining(words, lambda left, right: None if left == "a" else left + right, 5)
    assert [joining.join(), joining.join()] == ["bc", None]
