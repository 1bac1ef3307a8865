"""Which words lie near a word, before any text is read? Rows of the word table at the model's width, by their angle.

Shapes: V pieces of the tokenizer, C candidates, W words, H hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from litebert.errors import UserError
from litebert.model.model import Model
from litebert.text.tokenizer import Tokenizer
from litebert.vectors import rows
from litebert.vectors.fill import word as spelled


class Neighbour(NamedTuple):
    """A word, and the cosine of the angle to it."""

    word: str
    cosine: float


def neighbours(
    model: Model, tokenizer: Tokenizer, words: Sequence[str], count: int = 6,
    among: NDArray[np.bool_] | None = None,
) -> dict[str, list[Neighbour]]:  # fmt: skip
    """The nearest words of each word; `among` [V] says which pieces may be named, by default those that are words."""
    rows.check(model, tokenizer, words)
    if count < 1:
        raise UserError(f"count {count} is no number of neighbours: choose 1 or more")
    asked = [_piece(tokenizer, word) for word in words]
    candidates = torch.as_tensor(np.flatnonzero(nameable(tokenizer) if among is None else among))
    if not len(candidates) or not asked:
        return {word: [] for word in words}
    table = mapped(model).cpu()
    # What all rows have in common says nothing of any of them, and would make every angle small.
    shared = table[candidates].mean(0)
    rest, own = (F.normalize(table[ids] - shared, dim=-1) for ids in (candidates, torch.tensor(asked)))
    near = own @ rest.T  # [W, C]
    near.masked_fill_(torch.tensor(asked)[:, None] == candidates, -2.0)  # nobody is one's own neighbour
    best, places = near.topk(min(count + 1, len(candidates)))
    found: dict[str, list[Neighbour]] = {}
    for word, cosines, where in zip(words, best.tolist(), candidates[places].tolist(), strict=True):
        named = [Neighbour(spelled(tokenizer, i), c) for c, i in zip(cosines, where, strict=True) if c > -2.0]
        found[word] = named[:count]
    return found


@torch.inference_mode()
def mapped(model: Model) -> Tensor:
    """[V, H] the rows of the word table, mapped where the model maps them."""
    embedding = model.embedding
    table = embedding.word.weight.detach().float()
    return table if embedding.map is None else F.linear(table, embedding.map.weight.float())


def nameable(tokenizer: Tokenizer) -> NDArray[np.bool_]:
    """[V] pieces that are words: they begin one and are made of letters."""
    texts = (spelled(tokenizer, i) if tokenizer.starts[i] else "" for i in range(tokenizer.size))
    return np.fromiter((text.isalpha() for text in texts), bool, tokenizer.size) & ~tokenizer.special


def _piece(tokenizer: Tokenizer, word: str) -> int:
    ids = tokenizer.encode(word)
    if len(ids) != 1 or ids[0] == tokenizer.specials.unk:
        pieces = " ".join(tokenizer.pieces(ids)) or "nothing"
        raise UserError(f"{word!r} is no single piece of this tokenizer (it reads {pieces}): choose a commoner word")
    return ids[0]
