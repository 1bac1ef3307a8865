"""What does an example look like to a person? Its tokens as they stand and as they stood, and its label in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from litebert.data import masking, modes, packing, segments, stream
from litebert.data.epochs import Epoch
from litebert.data.packing import Plan
from litebert.data.pairs import SWAPPED
from litebert.data.permutation import CONSECUTIVE
from litebert.data.reading import spaced, spelled
from litebert.data.recipe import Recipe
from litebert.data.rows import NO_ORDER, Batch, Rows
from litebert.data.shards import Shards
from litebert.data.stream import START, Position
from litebert.data.vocabulary import vocabulary
from litebert.errors import UserError

if TYPE_CHECKING:
    from litebert.text.tokenizer import Tokenizer

Kind = Literal["special", "text", "masked", "random", "kept"]


class Token(NamedTuple):
    """A place of a row."""

    text: str  # what the model reads there
    was: str  # what stood there; asked for unless the kind is special or text
    kind: Kind
    begins: bool  # a word
    space: bool  # is written before it
    segment: int  # the id that the model is told
    span: int = -1  # which span of the row it belongs to
    rank: int = -1  # XLNet's place in the order


class Example(NamedTuple):
    """A row for a person."""

    epoch: int
    place: int  # in the epoch's order
    example: int  # its number: the address of its draws
    label: str  # in words
    mode: str
    parts: tuple[tuple[Token, ...], ...]  # one segment or two
    padding: int

    @property
    def tokens(self) -> list[Token]:
        """All of them."""
        return [token for part in self.parts for token in part]

    def values(self) -> dict[str, Any]:
        """The same for JSON."""
        parts = [[token._asdict() for token in part] for part in self.parts]
        return {**self._asdict(), "parts": parts, "asked": sum(token.span >= 0 for token in self.tokens)}


def examples(
    shards: Shards, recipe: Recipe, tokenizer: Tokenizer, count: int = 3, position: Position = START, seed: int = 0
) -> Iterator[Example]:
    """The examples that a stream by rows reads from a position on; of a mixture each is told in a mode of its own."""
    known = vocabulary(tokenizer)
    epoch = Epoch(position.epoch, packing.plan(shards, recipe, seed, position.epoch), seed)
    if not 0 <= position.index < epoch.count:
        raise UserError(f"place {position.index} is not in epoch {epoch.number}: choose 0 to {epoch.count - 1}")
    text = stream.sample(shards) if recipe.replacements == "text" else None
    for place in range(position.index, min(position.index + count, epoch.count)):
        which = epoch.order(place, place + 1)
        rows = segments.rows(epoch.plan, which, known)
        mode = modes.mode(seed, epoch.number, place) if recipe.task == "mixture" else "bidirectional"
        batch = masking.corrupt(rows, recipe, known, seed, epoch.number, text=text, mode=mode)
        tokens = _tokens(rows, batch, tokenizer)
        second = int(rows.source[0])
        parts = (tokens[:second], tokens[second:]) if epoch.plan.pair else (tokens,)
        label = _label(epoch.plan, int(which[0]), int(batch.order[0]))
        padding = recipe.length - len(tokens)
        yield Example(epoch.number, place, int(rows.examples[0]), label, mode, tuple(map(tuple, parts)), padding)


def _tokens(rows: Rows, batch: Batch, tokenizer: Tokenizer) -> list[Token]:
    length = int(rows.lengths[0])
    was, shown, words = rows.ids[0, :length], batch.ids[0, :length], rows.words[0, :length]
    spans = np.full(length, -1)
    used = batch.weights[0] > 0
    spans[batch.asked[0, used]] = batch.spans[0, used]
    ranks = np.full(length, -1) if batch.ranks is None else batch.ranks[0, :length]
    begins = np.append(True, words[1:] != words[:-1])
    kinds = np.where(words < 0, "special", "text").astype(object)
    asked = spans >= 0
    kinds[asked] = np.where(
        shown == tokenizer.specials.mask, "masked", np.where(shown == was, "kept", "random")
    )[asked]  # fmt: skip
    columns = spelled(tokenizer, shown), spelled(tokenizer, was), kinds, begins.tolist(), spaced(tokenizer, was)
    numbers = (part.tolist() for part in (batch.segments[0, :length], spans, ranks))
    return [Token(*column) for column in zip(*columns, *numbers, strict=True)]


def _label(plan: Plan, example: int, order: int) -> str:
    """Asked of the pair, and the answer."""
    if not plan.pair:
        first, end = packing.crossings(plan, np.array([example]))
        documents = 1 + int((end - first).item())
        return "one segment" if documents == 1 else f"one segment of {documents} documents"
    if order == NO_ORDER:
        return "order not asked"
    elsewhere = bool(plan.others[example] >= 0)
    if plan.recipe.packing in SWAPPED:
        words = "from elsewhere, called swapped" if elsewhere else "swapped" if order else "in order"
    else:
        follows = order == (CONSECUTIVE if plan.recipe.layout == "xlnet" else 0)
        words = "next" if follows else "random next"
    return f"{words} (label {order})"
