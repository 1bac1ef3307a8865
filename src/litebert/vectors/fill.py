"""Which words does a model put where a mask stands? The likeliest pieces for every mask, with their probabilities.

Masks are guessed each for itself, from everything else that stands there, other masks included.
Shapes: R masks of a batch, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from litebert.errors import UserError
from litebert.model.model import Model
from litebert.text.tokenizer import Tokenizer
from litebert.vectors import rows

MASK = "[MASK]"  # understood for every tokenizer, whatever it calls its own
HEAD = "mlm"


class Guess(NamedTuple):
    """A piece that may stand where a mask does."""

    word: str  # as a person writes it
    probability: float
    id: int
    begins: bool  # a word; else it goes on with the one before


class Filled(NamedTuple):
    """A text, and for each of its masks the likeliest guesses, the best first."""

    text: str
    masks: tuple[tuple[Guess, ...], ...]

    @property
    def best(self) -> str:
        """The text with every mask's best guess in its place."""
        text = self.text
        for guesses in self.masks:
            text = text.replace(MASK, guesses[0].word, 1)
        return text


def fill(model: Model, tokenizer: Tokenizer, texts: Sequence[str], top: int = 5, *, batch: int = 32) -> list[Filled]:
    """The `top` guesses for every [MASK] of every text: `fill(model, tokenizer, ["Paris is in [MASK]."])`."""
    if HEAD not in model.specs:
        wears = ", ".join(model.specs) or "none"
        raise UserError(f"this model guesses no words (heads: {wears}): use one that was trained with mlm")
    if top < 1:
        raise UserError(f"top {top} is no number of guesses: choose 1 or more")
    rows.check(model, tokenizer, texts)
    named = [text.replace(tokenizer.name("mask"), MASK) for text in texts]
    encoded = [_encoded(model, tokenizer, text) for text in named]
    found: list[tuple[tuple[Guess, ...], ...]] = [()] * len(texts)
    hidden = torch.as_tensor(tokenizer.special, device=model.embedding.word.weight.device)
    with rows.resting(model):
        for group in rows.batches(model, tokenizer, encoded, batch):
            asked = group.ids == tokenizer.specials.mask
            logits = model.logits(HEAD, group.through(model), asked)  # [R, V]
            guesses = iter(_guesses(logits, hidden, tokenizer, top))
            for number, count in zip(group.numbers, asked.sum(1).tolist(), strict=True):
                found[number] = tuple(next(guesses) for _ in range(count))
    return [Filled(text, masks) for text, masks in zip(named, found, strict=True)]


def _encoded(model: Model, tokenizer: Tokenizer, text: str) -> list[int]:
    if MASK not in text:
        raise UserError(f"text {rows.shown(text)} has no {MASK}: write {MASK} where a word is to be guessed")
    ids = tokenizer.with_masks(text, MASK)
    problem = rows.too_long(model, text, len(ids))
    if problem:
        raise UserError(f"{problem}: shorten it")
    return ids


def _guesses(logits: Tensor, hidden: Tensor, tokenizer: Tokenizer, top: int) -> list[tuple[Guess, ...]]:
    """logits [R, V] -> the best of each row; what no text has is no guess, its share is not given away."""
    shares = logits.float().softmax(-1)[:, : tokenizer.size].masked_fill(hidden, -1.0)
    count = min(top, int((~hidden).sum()))
    shares, ids = shares.topk(count)
    names = {i: word(tokenizer, i) for i in set(ids.flatten().tolist())}
    return [
        tuple(Guess(names[i], share, i, bool(tokenizer.starts[i])) for share, i in zip(*row, strict=True))
        for row in zip(shares.tolist(), ids.tolist(), strict=True)
    ]


def word(tokenizer: Tokenizer, number: int) -> str:
    """A piece as a person writes it, without its tokenizer's marks."""
    if tokenizer.kind == "wordpiece":
        return tokenizer.pieces([number])[0].removeprefix("##")
    return tokenizer.decode([number]).strip()
