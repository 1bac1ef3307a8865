"""What is a sentence as one vector? Its token vectors of a layer, pooled over the real tokens.

Shapes: N texts, B texts of a batch, H hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from litebert.config import unknown_name
from litebert.errors import UserError
from litebert.model import pooling as poolers
from litebert.model.model import Model
from litebert.text.tokenizer import Tokenizer
from litebert.vectors import rows
from litebert.vectors.rows import Rows

Pooling = Literal["mean", "cls", "max", "first-last"]
LAST = -1


def encode(
    model: Model, tokenizer: Tokenizer, texts: Sequence[str], *, pooling: Pooling = "mean", layer: int = LAST,
    batch: int = 32, cut: bool = False,
) -> NDArray[np.float32]:  # fmt: skip
    """Texts -> vectors [N, H], in the order of the texts: `encode(model, tokenizer, ["one", "two"])`.

    layer: the state that is pooled, 0 = the mapped embedding, -1 = the last; first-last has its own two. A text longer
    than the model reads is refused, or with `cut` read as far as it goes.
    """
    _check(model, pooling, layer, batch)
    rows.check(model, tokenizer, texts)
    encoded = [_encoded(model, tokenizer, text, cut) for text in texts]
    vectors = np.empty((len(texts), model.config.hidden), np.float32)
    every = pooling == "first-last" or layer not in (LAST, model.config.depth)
    with rows.resting(model):
        for group in rows.batches(model, tokenizer, encoded, batch):
            out = group.through(model, all_hidden=every)
            states = out.hidden if every else (out.last,)
            pooled = _pooled(states, group, pooling, layer if every else LAST, rows.ends_with_cls(tokenizer))
            vectors[group.numbers] = pooled.float().cpu().numpy()
    return vectors


def cosines(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """[N, H] -> [N, N] cosine of every two vectors; that of a vector of zeros is 0."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(lengths > 0, lengths, 1)
    return (unit @ unit.T).astype(np.float32, copy=False)


def _pooled(states: Sequence[Tensor], group: Rows, pooling: Pooling, layer: int, at_end: bool) -> Tensor:
    """States of [B, T, H] -> [B, H]."""
    match pooling:
        case "mean":
            return poolers.mean(states[layer], group.mask)
        case "max":
            return poolers.maximum(states[layer], group.mask)
        case "cls":
            return states[layer][:, -1] if at_end else poolers.first(states[layer])
    return poolers.first_last(states, group.mask)


def _encoded(model: Model, tokenizer: Tokenizer, text: str, cut: bool) -> list[int]:
    ids = tokenizer.encode(text)
    problem = rows.too_long(model, text, len(ids))
    if problem and not cut:
        raise UserError(f"{problem}: shorten it, or have it cut there (cut)")
    return ids[: rows.most(model)] if problem else ids


def _check(model: Model, pooling: str, layer: int, batch: int) -> None:
    depth = model.config.depth
    if pooling not in get_args(Pooling):
        raise UserError(unknown_name("pooling", pooling, get_args(Pooling)))
    if not -depth - 1 <= layer <= depth:
        raise UserError(f"layer {layer} does not exist: choose 0 (the embedding) to {depth}, or -1 for the last")
    if pooling == "first-last" and layer != LAST:
        raise UserError(f"layer {layer} with pooling first-last: it takes its own two layers, leave one of them out")
    if batch < 1:
        raise UserError(f"batch {batch} is no number of texts: choose 1 or more")
