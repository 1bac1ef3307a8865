"""What becomes of encoded blocks? Two shards grow side by side and are closed together, after the same document.

So one mark in the corpus says where to go on after both. Shapes: P pieces, S sentences, N tokens, D documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from litebert.data.blocks import Block, Encodings
from litebert.data.manifest import SPLITS, Split
from litebert.data.shards import Arrays, as_ids
from litebert.text.items import Mark, Problem


class Closed(NamedTuple):
    """Shards that are complete, by split; none where a split got no token."""

    arrays: dict[Split, Arrays]
    mark: Mark | None  # where reading goes on; None within a document, where it cannot


class _Row:
    """Numbers that grow at the end of one stretch of memory: when a shard is full, it is not there twice."""

    def __init__(self, kind: DTypeLike) -> None:
        self._room: NDArray[Any] = np.empty(0, kind)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, values: NDArray[Any]) -> None:
        end = self._size + len(values)
        if end > len(self._room):
            room = np.empty(max(end, 2 * len(self._room)), self._room.dtype)
            room[: self._size] = self.all
            self._room = room
        self._room[self._size : end] = values
        self._size = end

    @property
    def all(self) -> NDArray[Any]:
        return self._room[: self._size]


class _Open:
    """The growing shard of one split."""

    def __init__(self, vocabulary: int) -> None:
        self.ids, self.begins = _Row(as_ids([], vocabulary).dtype), _Row(bool)  # [N]
        self.ends = _Row(np.int64)  # [S] of sentences
        self.owners, self.counts = _Row(np.int64), _Row(np.int64)  # [P] document number, sentences

    def close(self) -> Arrays:
        numbers = self.owners.all
        documents = np.bincount(numbers - numbers[0], weights=self.counts.all).astype(np.int64)  # [D], with empty ones
        return Arrays(
            self.ids.all,
            np.concatenate([[0], self.ends.all]),
            np.cumsum(np.concatenate([[0], documents[documents > 0]]), dtype=np.int64),
            np.packbits(self.begins.all, bitorder="little"),
        )


class Growing:
    """Blocks in, closed shards out; `counts` says what was read so far, stored or not."""

    def __init__(self, vocabulary: int, limit: int, counts: Counter[str], problems: Counter[str]) -> None:
        self.vocabulary, self.limit = vocabulary, limit
        self.counts, self.problems = counts, problems
        self._open = [_Open(vocabulary), _Open(vocabulary)]  # train, held-out
        self._number = 0  # of the document that is being read
        self._held = False  # it is held out
        self._own = 0  # its tokens in the open shard
        self._pending = np.zeros(2, np.int64)  # its sentences and tokens, as long as it is not finished

    def feed(self, block: Block, encodings: Encodings) -> Iterator[Closed]:
        """Add a block; shards that it fills are handed out as they close."""
        first = np.array([piece.first for piece in block.pieces], bool)  # [P]
        numbers = self._number + np.cumsum(first)  # [P]
        decided = np.maximum.accumulate(np.where(first, np.arange(len(first)), -1))  # [P] whose word counts
        held = np.where(decided >= 0, encodings.held[decided], self._held)
        unfinished = np.array(block.unfinished, bool)
        begin = 0
        while begin < len(first):
            own, end, full = self._until(begin, encodings.tokens, first, held, unfinished)
            self._add(encodings, held, numbers, begin, end)
            self._count(encodings, first, numbers, begin, end, bool(unfinished[end - 1]))
            self._tally(block.problems, begin, end)
            self._held, self._number = bool(held[end - 1]), int(numbers[end - 1])
            self._own = own if unfinished[end - 1] else 0
            if full and unfinished[end - 1]:  # this document alone is more than a shard
                yield self._close([int(self._held)], None)
            elif full:
                yield self._close([0, 1], block.marks[end - 1])
            begin = end
        self._tally(block.problems, begin, begin + 1)

    def rest(self) -> Closed:
        """What is open when the corpus ends."""
        return self._close([0, 1], None)

    def _until(
        self, begin: int, tokens: NDArray[np.int64], first: NDArray[np.bool_], held: NDArray[np.bool_],
        unfinished: NDArray[np.bool_],
    ) -> tuple[int, int, bool]:  # fmt: skip
        """The next piece after which something closes, if any: its document's tokens, the place after it, whether."""
        tokens, first, held, unfinished = tokens[begin:], first[begin:], held[begin:], unfinished[begin:]
        total = np.cumsum(tokens)  # [P - begin]
        before = np.maximum.accumulate(np.where(first, total - tokens, -self._own))
        own = total - before  # of each piece's document, in the open shard
        sides = (len(self._open[side].ids) + np.cumsum(np.where(held == bool(side), tokens, 0)) for side in (0, 1))
        over = np.logical_or.reduce([side >= self.limit for side in sides])
        closes = np.where(unfinished, own >= self.limit, over)
        last = int(np.argmax(closes)) if closes.any() else len(tokens) - 1
        return int(own[last]), begin + last + 1, bool(closes[last])

    def _add(
        self, encodings: Encodings, held: NDArray[np.bool_], numbers: NDArray[np.int64], begin: int, end: int
    ) -> None:
        pieces, counts, tokens = slice(begin, end), encodings.sentences[begin:end], encodings.tokens[begin:end]
        lead, texts = int(encodings.tokens[:begin].sum()), int(encodings.sentences[:begin].sum())
        stretch = slice(lead, lead + int(tokens.sum()))
        ids, begins = encodings.ids[stretch], encodings.begins[stretch]
        lengths = encodings.lengths[texts : texts + int(counts.sum())]
        for side, shard in enumerate(self._open):
            mine = held[pieces] == bool(side)  # [P]
            if not tokens[mine].sum():
                continue
            if mine.all():
                part = ids, begins, lengths
            else:
                of_token, of_sentence = np.repeat(mine, tokens), np.repeat(mine, counts)
                part = ids[of_token], begins[of_token], lengths[of_sentence]
            shard.ends.add(len(shard.ids) + np.cumsum(part[2]))
            shard.ids.add(part[0])
            shard.begins.add(part[1])
            shard.owners.add(numbers[pieces][mine])
            shard.counts.add(counts[mine])

    def _count(
        self, encodings: Encodings, first: NDArray[np.bool_], numbers: NDArray[np.int64], begin: int, end: int,
        unfinished: bool,
    ) -> None:  # fmt: skip
        pieces = slice(begin, end)
        whose = numbers[pieces] - numbers[begin]
        found = [np.bincount(whose, w[pieces]).astype(np.int64) for w in (encodings.sentences, encodings.tokens)]
        sums = np.stack(found, axis=1)  # [documents, 2]
        sums[0] += self._pending
        self._pending = sums[-1] if unfinished else np.zeros(2, np.int64)
        done = sums[:-1] if unfinished else sums
        self.counts["documents"] += int(first[pieces].sum())
        self.counts["empty_documents"] += int((done[:, 1] == 0).sum())
        self.counts["one_sentence_documents"] += int((done[:, 0] == 1).sum())
        for name, each in (("sentences", encodings.sentences), ("empty_sentences", encodings.empty),
                           ("tokens", encodings.tokens), ("bytes", encodings.sizes)):  # fmt: skip
            self.counts[name] += int(each[pieces].sum())

    def _tally(self, problems: list[tuple[int, Problem]], begin: int, end: int) -> None:
        for place, problem in problems:
            self.problems[problem.kind] += problem.count * (begin <= place < end)

    def _close(self, sides: list[int], mark: Mark | None) -> Closed:
        made: dict[Split, Arrays] = {}
        for side in sides:
            if len(self._open[side].ids):
                made[SPLITS[side]] = self._open[side].close()
                self._open[side] = _Open(self.vocabulary)
        self._own = 0
        return Closed(made, mark)
