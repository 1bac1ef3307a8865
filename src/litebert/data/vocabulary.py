"""What must be known of a tokenizer to lay text out and to hide parts of it? Numbers only.

Shapes: V pieces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.errors import UserError

if TYPE_CHECKING:
    from litebert.text.tokenizer import Tokenizer

_SPECIALS = 5  # pad, unk, cls, sep, mask


class Vocabulary(NamedTuple):
    """The pieces as numbers: which ones stand for structure, and which begin a word."""

    size: int
    pad: int
    unk: int
    cls: int
    sep: int
    mask: int
    special: NDArray[np.bool_]  # [V] never drawn as a random piece
    starts: NDArray[np.bool_]  # [V] begins a word


def vocabulary(tokenizer: Tokenizer) -> Vocabulary:
    """What of a tokenizer the data needs."""
    pad, unk, cls, sep, mask = tokenizer.specials
    return Vocabulary(tokenizer.size, pad, unk, cls, sep, mask, tokenizer.special, tokenizer.starts)


def plain(size: int) -> Vocabulary:
    """A vocabulary without text: ids 0 to 4 are pad, unk, cls, sep and mask, every other piece is a word."""
    if size <= _SPECIALS:
        raise UserError(f"a vocabulary of {size} holds nothing but special pieces: choose {_SPECIALS + 1} or more")
    special = np.arange(size) < _SPECIALS
    pad, unk, cls, sep, mask = range(_SPECIALS)
    return Vocabulary(size, pad, unk, cls, sep, mask, special, ~special)
