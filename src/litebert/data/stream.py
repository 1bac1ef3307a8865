"""Which batch comes next, and for whom? A stream is a function of a position: two integers, and no state beside them.

A global batch is what all ranks together read at one step. It is the same for any number of ranks, and a rank lays out
only its own rows of it: the r-th of equal stretches.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Generator, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.data import buckets, joining, masking, modes, packing, segments
from litebert.data.ahead import ahead
from litebert.data.epochs import Epoch, Epochs
from litebert.data.recipe import Recipe
from litebert.data.rows import Batch
from litebert.data.shards import Shards
from litebert.data.units import most_predictions
from litebert.data.vocabulary import Vocabulary
from litebert.errors import UserError

AT_ONCE = 65_536  # tokens that are laid out together: enough that NumPy's calls cost little beside its work
AHEAD = 2  # such portions made beforehand


class Position(NamedTuple):
    """Where a stream stands, before a global batch.

    By rows, `index` is the place of its first row in the epoch's order. By tokens it is the first place of a window
    plus the batch's number in that window (a window has no more batches than places).
    """

    epoch: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of a position


START = Position(0, 0)


class _Global(NamedTuple):
    """One global batch: which examples of which epochs, in what shape, and where the next one stands."""

    parts: Sequence[tuple[Epoch, NDArray[np.int64]]]
    rows: int  # of all ranks, empty ones too
    width: int
    mode: str
    following: Position


class Stream:
    """The batches of one rank. `batch` is in rows, of all ranks; or `tokens` bounds rows times the longest of them.

    By rows an epoch's last batch is completed from the next epoch, so that no example is left out and every batch is
    full. By tokens, rows of like length are batched; rows come in multiples of `share`, for which one of an epoch's
    last batches is completed by empty rows. Rows are padded to the longest of the global batch, rounded up to a
    multiple of `pad_to` (0: always to the recipe's length).
    """

    def __init__(
        self, shards: Shards, recipe: Recipe, vocabulary: Vocabulary, *, batch: int = 0, tokens: int = 0, seed: int = 0,
        rank: int = 0, world: int = 1, pad_to: int = 8, share: int = 8,
    ) -> None:  # fmt: skip
        _check(recipe, batch, tokens, rank, world, pad_to, share)
        if vocabulary.size != shards.vocabulary:
            raise UserError(
                f"the shards have {shards.vocabulary:,} pieces, this vocabulary has {vocabulary.size:,}: "
                f"use the tokenizer in the shards' folder"
            )
        self.recipe, self.vocabulary, self.seed = recipe, vocabulary, seed
        self.rank, self.world = rank, world
        self._rows, self._tokens, self._pad_to, self._share = batch, tokens, pad_to or recipe.length, share
        self._window = buckets.window(tokens, recipe.length, share)
        self._cut: tuple[Position, list[NDArray[np.int64]]] = (Position(-1, 0), [])  # the last window, and its batches
        self._shards = shards
        self._epochs = Epochs(lambda epoch: packing.plan(shards, recipe, seed, epoch), seed)

    def count(self, epoch: int) -> int:
        """Examples in an epoch."""
        return self._epochs.get(epoch).count

    def batch(self, position: Position = START) -> tuple[Batch, Position]:
        """This rank's rows of the global batch at a position, and the position of the next."""
        found = self._find(position)
        return self._made([found])[0], found.following

    def batches(self, position: Position = START) -> Generator[tuple[Batch, Position], None, None]:
        """`batch` again and again without end, made by a thread beforehand; close the generator to end the thread."""
        try:
            with contextlib.closing(ahead(self._portions(position), AHEAD)) as portions:
                for portion in portions:
                    yield from portion
        finally:
            self._epochs.join()

    def _portions(self, position: Position) -> Iterator[list[tuple[Batch, Position]]]:
        size = (self._rows * self.recipe.length or self._tokens) // self.world
        while True:
            found = []
            for _ in range(max(1, AT_ONCE // size)):
                found.append(self._find(position))
                position = found[-1].following
            yield list(zip(self._made(found), [one.following for one in found], strict=True))
            epoch = self._epochs.get(position.epoch)
            if position.index >= epoch.count - epoch.count // 8:  # the border shall not have to wait for a plan
                self._epochs.prepare(position.epoch + 1)

    def _find(self, position: Position) -> _Global:
        if position.epoch < 0:
            raise UserError(f"epoch {position.epoch} is negative: the first is 0")
        epoch = self._epochs.get(position.epoch)
        if not 0 <= position.index < epoch.count:
            raise UserError(
                f"place {position.index} is not in epoch {position.epoch}, which has {epoch.count} examples: "
                f"was the position saved with another corpus, recipe or seed?"
            )
        mode = modes.mode(self.seed, *position) if self.recipe.task == "mixture" else "bidirectional"
        return self._by_rows(epoch, position, mode) if self._rows else self._by_tokens(epoch, position, mode)

    def _by_rows(self, epoch: Epoch, position: Position, mode: str) -> _Global:
        parts, missing, index = [], self._rows, position.index
        while True:
            taken = min(missing, epoch.count - index)
            parts.append((epoch, epoch.order(index, index + taken)))
            missing, index = missing - taken, index + taken
            following = Position(epoch.number, index) if index < epoch.count else Position(epoch.number + 1, 0)
            if not missing:
                return _Global(parts, self._rows, self._width(parts), mode, following)
            epoch, index = self._epochs.get(epoch.number + 1), 0

    def _by_tokens(self, epoch: Epoch, position: Position, mode: str) -> _Global:
        start = position.index // self._window * self._window
        number = position.index - start
        examples = epoch.order(start, min(start + self._window, epoch.count))
        batches = self._batches(epoch, start, examples)
        if number >= len(batches):
            raise UserError(
                f"batch {number} is not in the window at {start} of epoch {epoch.number}, which has {len(batches)}: "
                f"was the position saved with another corpus, recipe, seed or number of tokens?"
            )
        following = Position(epoch.number, position.index + 1)
        if number + 1 == len(batches):
            end = start + self._window
            following = Position(epoch.number, end) if end < epoch.count else Position(epoch.number + 1, 0)
        parts = [(epoch, examples[batches[number]])]
        rows = -(-len(batches[number]) // self._share) * self._share
        return _Global(parts, rows, self._width(parts), mode, following)

    def _batches(self, epoch: Epoch, start: int, examples: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        where, batches = self._cut  # read once: another thread may replace it
        if where != (epoch.number, start):
            wide = buckets.widths(epoch.lengths[examples], self._pad_to, self.recipe.length)
            batches = buckets.cut(wide, self._tokens, self._share, self.seed, epoch.number, start)
            self._cut = Position(epoch.number, start), batches
        return batches

    def _width(self, parts: Sequence[tuple[Epoch, NDArray[np.int64]]]) -> int:
        lengths = np.array([epoch.lengths[examples].max() for epoch, examples in parts])
        return int(buckets.widths(lengths, self._pad_to, self.recipe.length).max())

    def _made(self, found: Sequence[_Global]) -> list[Batch]:
        """This rank's rows of some global batches, laid out together as far as epoch and mode are the same."""
        groups: dict[tuple[int, str], list[tuple[int, Epoch, NDArray[np.int64]]]] = {}
        for number, one in enumerate(found):
            for epoch, examples in self._own(one):
                groups.setdefault((epoch.number, one.mode), []).append((number, epoch, examples))
        pieces: list[list[Batch]] = [[] for _ in found]
        for (_, mode), asked in sorted(groups.items()):
            width = max(found[owner].width for owner, _, _ in asked)
            batch = self._laid_out(asked[0][1], np.concatenate([each for _, _, each in asked]), width, mode)
            begin = 0
            for owner, _, examples in asked:
                pieces[owner].append(joining.taken(batch, begin, begin + len(examples)))
                begin += len(examples)
        return [self._shaped(piece, one) for piece, one in zip(pieces, found, strict=True)]

    def _laid_out(self, epoch: Epoch, examples: NDArray[np.int64], width: int, mode: str) -> Batch:
        rows = segments.rows(epoch.plan, examples, self.vocabulary, width)
        text = self._text if self.recipe.replacements == "text" else None
        return masking.corrupt(rows, self.recipe, self.vocabulary, self.seed, epoch.number, text=text, mode=mode)

    def _shaped(self, pieces: Sequence[Batch], one: _Global) -> Batch:
        slots = most_predictions(self.recipe, one.width)
        return joining.joined(pieces, one.rows // self.world, one.width, slots, self.vocabulary.pad)

    @functools.cached_property
    def _text(self) -> NDArray[np.integer]:
        """Running text from all over the corpus, from which random replacements are drawn."""
        return sample(self._shards)

    def _own(self, one: _Global) -> Iterator[tuple[Epoch, NDArray[np.int64]]]:
        """What of a global batch belongs to this rank: a stretch of its rows, the parts laid end to end."""
        own = one.rows // self.world
        start, stop = self.rank * own, (self.rank + 1) * own
        begin = 0
        for epoch, examples in one.parts:
            mine = examples[max(0, start - begin) : max(0, stop - begin)]
            if len(mine) or len(one.parts) == 1:  # a rank may get nothing but empty rows, which need a form
                yield epoch, mine
            begin += len(examples)


def sample(shards: Shards, runs: int = 256, length: int = 256) -> NDArray[np.integer]:
    """Tokens of the text as it runs: stretches that stand evenly in it, or all of it where it is short."""
    if shards.tokens <= runs * length:
        return np.concatenate([shard.ids for shard in shards.shards])
    begins = np.arange(runs) * ((shards.tokens - length) // runs)
    holders = np.searchsorted(shards.token_bases, begins, side="right") - 1
    return np.concatenate([
        shards.shards[holder].ids[begin : begin + length]
        for holder, begin in zip(holders, begins - shards.token_bases[holders], strict=True)
    ])  # fmt: skip


def _check(recipe: Recipe, batch: int, tokens: int, rank: int, world: int, pad_to: int, share: int) -> None:
    if (batch > 0) == (tokens > 0):
        raise UserError(f"batch {batch} and tokens {tokens}: give one of them, and more than 0")
    if not 0 <= rank < world:
        raise UserError(f"rank {rank} is not one of {world}: choose 0 to {world - 1}")
    if batch % world:
        raise UserError(
            f"batch {batch} is not divisible by {world} ranks: choose "
            + (f"{batch // world * world} or {-(-batch // world) * world}" if batch > world else f"{world}")
        )
    if pad_to < 0:
        raise UserError(f"pad_to {pad_to} is negative: choose 8, or 0 for the recipe's length")
    if tokens and (share < 1 or share % world):
        raise UserError(f"share {share} is not divisible by {world} ranks: choose {-(-max(1, share) // world) * world}")
    if tokens and tokens < share * recipe.length:
        raise UserError(
            f"{tokens} tokens do not hold {share} rows of length {recipe.length}: choose {share * recipe.length} "
            f"or more, or a smaller share"
        )
