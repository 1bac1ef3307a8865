"""How is a wide embedding made narrow? By its best low-rank copy, placed so that the norm after it keeps its meaning.

A model computes x = LN(z)·M + c with z = word + segment + position of width E (M the identity where there is no
mapping). LN first takes the mean out, so only the centred rows matter. Keep their best e-1 directions B, turned into
a frame of e numbers that sum to zero, F, and scaled so that the new LN finds mean 0 and the old variance (its ε too
then counts as before):
    z' = √(e/E) · zB·F        M' = √(E/e) · Fᵀ·Bᵀ·diag(γ)·M        c' = β·M + c
Exact when the centred rows have rank e-1 or less. A head that is tied to the table reads the old width through an
activation and a norm, which no such step can carry over: it is left out, and said to be.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from litebert.errors import UserError
from litebert.model.model import Model, build


class Factorised(NamedTuple):
    """The narrower model and what it cost."""

    model: Model
    word_error: float  # |Z - ZBBᵀ| / |Z| over the centred word table (Frobenius)
    output_error: float  # the same over what the encoder receives for every word, alone at position 0
    output_cosine: float  # mean cosine of the two
    dropped: tuple[str, ...]  # heads that could not come along


def factorise(model: Model, width: int) -> Factorised:
    """The model with an embedding of `width` instead of its own."""
    config = model.config
    if not 2 <= width < config.embedding:
        raise UserError(f"embedding {width} does not narrow {config.embedding}: choose 2 to {config.embedding - 1}")
    if not config.embedding_norm or config.mapping == "early":
        raise UserError("this embedding has no norm at its own width to fold into: only models like BERT and ALBERT")
    new = config.but(embedding=width, mapping="auto")
    dropped = tuple(name for name, spec in model.specs.items() if spec.kind in ("mlm", "plm"))
    made = build(new, {k: v for k, v in model.specs.items() if k not in dropped}, device="meta")
    state = {k: v.clone() for k, v in model.state_dict().items() if k in made.state_dict()}
    with torch.no_grad(), model.embedding.word.weight.device:
        narrow, word_error = _narrow(model, width)
        made.load_state_dict({**state, **narrow}, assign=True)
        error, cosine = _compare(model, made)
    return Factorised(made, word_error, error, cosine, dropped)


def _narrow(model: Model, width: int) -> tuple[dict[str, Tensor], float]:
    """The tensors of the narrow embedding, and the share of the word table that no kept direction holds."""
    embedding = model.embedding
    tables = {"word": embedding.word, "position": embedding.position, "segment": embedding.segment}
    centred = {k: _centred(t.weight) for k, t in tables.items() if t is not None}
    old, held = model.config.embedding, model.state_dict()
    rows = torch.cat([*centred.values(), torch.zeros(old, old, dtype=torch.float64)])  # never fewer than directions
    basis = torch.linalg.svd(rows, full_matrices=False).Vh[: width - 1].T  # [E, e-1]
    frame = (width / old) ** 0.5 * _frame(width)  # [e-1, e]
    gamma, beta = held["embedding.norm.weight"].double(), held["embedding.norm.bias"].double()
    matrix = torch.eye(old, dtype=torch.float64) if embedding.map is None else embedding.map.weight.double().T
    bias = (
        torch.zeros(model.config.hidden, dtype=torch.float64) if embedding.map is None else embedding.map.bias.double()
    )
    mapped = old / width * frame.T @ basis.T @ (gamma[:, None] * matrix)  # [e, H]
    dtype = embedding.word.weight.dtype
    state = {f"embedding.{k}.weight": (table @ basis @ frame).to(dtype) for k, table in centred.items()}
    state |= {"embedding.norm.weight": torch.ones(width, dtype=dtype)}
    state |= {"embedding.norm.bias": torch.zeros(width, dtype=dtype)}
    state["embedding.map.weight"] = mapped.T.contiguous().to(dtype)
    state["embedding.map.bias"] = (beta @ matrix + bias).to(dtype)
    left = centred["word"] - centred["word"] @ basis @ basis.T
    return state, float(left.norm() / centred["word"].norm())


def _frame(width: int) -> Tensor:
    """[e-1, e] orthonormal rows that all sum to zero."""
    ones = torch.ones(width, 1, dtype=torch.float64)
    rotation: Tensor = torch.linalg.svd(ones, full_matrices=True).U
    return rotation[:, 1:].T.contiguous()


def _centred(table: Tensor) -> Tensor:
    rows = table.double()
    centred: Tensor = rows - rows.mean(dim=1, keepdim=True)
    return centred


def _compare(model: Model, made: Model) -> tuple[float, float]:
    """Relative error and mean cosine of what the encoder receives, word by word."""
    ids = torch.arange(model.config.vocab, device=model.embedding.word.weight.device)[:, None]
    training = model.training
    before, after = (m.eval().embedding(ids).double()[:, 0] for m in (model, made))
    model.train(training)
    made.train(training)
    error = (before - after).norm() / before.norm()
    return float(error), float(torch.cosine_similarity(before, after, dim=1).mean())
