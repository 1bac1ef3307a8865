"""How does text stand before a model? With its special pieces, beside texts of like length, padding told by a mask.

Shapes: B texts of a batch, T tokens of its longest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from litebert.errors import UserError
from litebert.model.model import Model
from litebert.model.output import Output
from litebert.text.tokenizer import Tokenizer

SPECIALS = 2  # the pieces that one text is dressed with
_CLS_SEGMENT = 2  # of XLNet, whose cls stands last and apart from its text
_SHOWN = 40  # characters of a text that an error quotes


class Rows(NamedTuple):
    """A batch, and which texts it holds."""

    numbers: list[int]
    ids: Tensor  # [B, T]
    mask: Tensor | None  # [B, T] 1 at real tokens; None where no row is padded
    segments: Tensor | None  # [B, T]; None = all of one

    def through(self, model: Model, *, all_hidden: bool = False) -> Output:
        """What the model makes of them."""
        return model(self.ids, self.mask, self.segments, all_hidden=all_hidden)  # type: ignore[no-any-return]


@contextlib.contextmanager
def resting(model: Model) -> Iterator[None]:
    """The model as it is used: no dropout, no gradient; afterwards it trains on, if it did."""
    training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        model.train(training)


def ends_with_cls(tokenizer: Tokenizer) -> bool:
    """Whether the text's own vector stands last (XLNet), not first."""
    return tokenizer.name("cls") == "<cls>"


def check(model: Model, tokenizer: Tokenizer, texts: Sequence[str]) -> None:
    """That model and tokenizer belong together, and that the texts are text."""
    if tokenizer.size > model.config.vocab:
        raise UserError(
            f"the tokenizer has {tokenizer.size:,} pieces and the model {model.config.vocab:,}: "
            "use the tokenizer.json that the model was trained with"
        )
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            lone = text[error.start]
            raise UserError(f"text {shown(text)} holds {lone!r}, which is no character: repair its source") from None


def most(model: Model) -> int:
    """Tokens of one text that fit between the special pieces; 0 = any number."""
    limit = model.config.max_positions
    return max(0, limit - SPECIALS) if limit else 0


def too_long(model: Model, text: str, tokens: int) -> str:
    """Why a text does not fit, '' if it does."""
    limit = most(model)
    if not limit or tokens <= limit:
        return ""
    return f"text {shown(text)} has {tokens} tokens and the model reads {limit} (max_positions {limit + SPECIALS})"


def shown(text: str) -> str:
    """A text in an error: its beginning, in quotes."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def batches(model: Model, tokenizer: Tokenizer, texts: Sequence[Sequence[int]], size: int) -> Iterator[Rows]:
    """Encoded texts in batches of like length, the longest first: what fits in memory once, fits always."""
    order = sorted(range(len(texts)), key=lambda number: -len(texts[number]))
    for start in range(0, len(order), size):
        numbers = order[start : start + size]
        yield _rows(model, tokenizer, [texts[number] for number in numbers], numbers)


def _rows(model: Model, tokenizer: Tokenizer, texts: Sequence[Sequence[int]], numbers: list[int]) -> Rows:
    pieces, last, device = tokenizer.specials, ends_with_cls(tokenizer), model.embedding.word.weight.device
    width = max(map(len, texts)) + SPECIALS
    ids = torch.full((len(texts), width), pieces.pad)
    mask = torch.zeros(len(texts), width, dtype=torch.long)
    for row, text in enumerate(texts):
        whole = [*text, pieces.sep, pieces.cls] if last else [pieces.cls, *text, pieces.sep]
        place = slice(width - len(whole), width) if last else slice(len(whole))
        ids[row, place], mask[row, place] = torch.tensor(whole), 1
    segments = None
    if last and model.config.positions == "relative":  # which asks only whether two are the same
        segments = torch.zeros_like(ids)
        segments[:, -1] = _CLS_SEGMENT
        segments = segments.to(device)
    padded = len({len(text) for text in texts}) > 1
    return Rows(numbers, ids.to(device), mask.to(device) if padded else None, segments)
