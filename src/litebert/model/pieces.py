"""How does a trained model take in new pieces? Each begins as the mean of the old ones that stood in its place.

Nothing else moves: a text without new pieces gives what it gave, and a language-model head scores a new piece by the
mean of what it gives the old ones. (A new row drawn at random can outweigh all old ones at first: Hewitt 2021,
"Initializing new word embeddings".) Shapes: V pieces, N new ones, E embedding.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from litebert.errors import UserError
from litebert.model import reshape
from litebert.model.model import Model

_TABLE = "embedding.word.weight"


@torch.no_grad()
def with_pieces(model: Model, first: int, made_of: Sequence[Sequence[int]]) -> Model:
    """The model with a row for each of the pieces `first`, `first` + 1, …: the mean of the rows `made_of` names.

    A piece of no old ones begins as the mean of all. Rows that the model has already in these places, as some do to
    round their number up, are filled.
    """
    config = model.config
    if first > config.vocab:
        raise UserError(f"the tokenizer had {first} pieces, the model knows {config.vocab}: they are not of one kind")
    grown = config.but(vocab=max(config.vocab, first + len(made_of)))
    state = model.state_dict()
    biases = [f"heads.{name}.bias" for name, spec in model.specs.items() if spec.kind in ("mlm", "plm")]
    for name in (_TABLE, *biases):
        state[name] = _filled(state[name], first, made_of, grown.vocab)
    return reshape.with_state(grown, model, state)


def _filled(old: Tensor, first: int, made_of: Sequence[Sequence[int]], rows: int) -> Tensor:
    """old [V, …] -> [rows, …] with the new rows in their places."""
    after = torch.cat([old, old.new_zeros(rows - len(old), *old.shape[1:])])
    everything = old[:first].double().mean(dim=0)
    for number, parts in enumerate(made_of, first):
        after[number] = old[list(parts)].double().mean(dim=0) if parts else everything
    return after
