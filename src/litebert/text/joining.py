"""Which neighbours become one piece? The pair that stands together most often, and so on (Sennrich et al. 2016).

Ties go to the pair that comes first in the alphabet, so the outcome is the same every time.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise

Pair = tuple[str, str]


class Joining:
    """Words in pieces, with their counts; `join` makes one piece more.

    `used` says how often each piece stands in the words as they are now, `pairs` what each new one was joined from.
    """

    def __init__(
        self, words: Mapping[tuple[str, ...], int], joined: Callable[[str, str], str | None], least: int
    ) -> None:
        """`joined` gives the name of two pieces as one, or None where they must not be; `least`: how often at least."""
        self._words = [list(word) for word in words]
        self._counts = list(words.values())
        self._joined, self._least = joined, least
        self._pairs: Counter[Pair] = Counter()
        self._where: dict[Pair, set[int]] = defaultdict(set)  # words that hold the pair, or once did
        self.used: Counter[str] = Counter()
        self.pairs: dict[str, Pair] = {}
        for number, word in enumerate(self._words):
            for piece in word:
                self.used[piece] += self._counts[number]
            for pair in pairwise(word):
                self._add(pair, number)
        self._heap = [(-count, pair) for pair, count in self._pairs.items() if count >= least]
        heapq.heapify(self._heap)

    def join(self) -> str | None:
        """The next new piece; None where no pair is left."""
        while self._heap:
            count, pair = heapq.heappop(self._heap)
            now = self._pairs[pair]
            if now != -count:
                if now >= self._least:
                    heapq.heappush(self._heap, (-now, pair))
                continue
            name = self._joined(*pair)
            if name is not None and name not in self.pairs:
                self.pairs[name] = pair
                self._replace(pair, name)
                return name
        return None

    def _replace(self, pair: Pair, name: str) -> None:
        left, right = pair
        touched: set[Pair] = set()
        for number in sorted(self._where.pop(pair)):
            word, count = self._words[number], self._counts[number]
            after = _with(word, pair, name)
            times = len(word) - len(after)
            if not times:
                continue
            self._words[number] = after
            for piece, change in ((left, -times), (right, -times), (name, times)):
                self.used[piece] += change * count
            self._pairs[pair] -= times * count
            for one, other in pairwise(after):
                if name in (one, other):
                    self._pairs[right if one == name else one, left if other == name else other] -= count
                    self._add((one, other), number)
                    touched.add((one, other))
        for new in touched:
            if self._pairs[new] >= self._least:
                heapq.heappush(self._heap, (-self._pairs[new], new))

    def _add(self, pair: Pair, number: int) -> None:
        self._pairs[pair] += self._counts[number]
        self._where[pair].add(number)


def _with(word: Iterable[str], pair: Pair, name: str) -> list[str]:
    """The word with `name` wherever the pair stood."""
    after: list[str] = []
    for piece in word:
        if after and after[-1] == pair[0] and piece == pair[1]:
            after[-1] = name
        else:
            after.append(piece)
    return after
