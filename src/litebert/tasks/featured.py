"""What learns on hidden states that stand still? A linear head, or one on a BiLSTM, on chosen layers of a frozen body.

To a task it looks like a model: a forward pass gives an `Output`, `logits` what the head says of it. While it learns,
the numbers that it is fed are addresses of vectors that were computed before (`tasks.hidden`); later they are ids, and
the body reads them. A text as a whole is the mean of its tokens' vectors.

Shapes: R rows, T tokens, N vectors, K layers side by side, H hidden, F = K · H of a vector, W of what the head reads.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from litebert import family, rng
from litebert.config import Head
from litebert.errors import UserError
from litebert.model import heads, init
from litebert.model.model import Model
from litebert.model.output import Output
from litebert.tasks import layers as choice
from litebert.tasks.settings import Layers

Network = Literal["linear", "bilstm"]

_WHOLE = ("classify", "choice")  # kinds of head that answer for a text as a whole


class How(NamedTuple):
    """What of a body is read, and by what."""

    layers: Layers
    network: Network
    name: str  # of the head
    head: Head

    @property
    def pooled(self) -> bool:
        """Whether the mean over a row's tokens can be taken first: it says the same, and is so much smaller."""
        return self.network == "linear" and self.head.kind in _WHOLE


class Featured(nn.Module):
    """The head. The body is at hand, but no part of it: it is not saved, moved or trained with it."""

    def __init__(self, body: Model, how: How, vectors: Tensor | None = None) -> None:
        """vectors [N, F] to look up by address; None = the body reads ids."""
        super().__init__()
        self.config, self.how = body.config, how
        self.body: Model
        object.__setattr__(self, "body", body.eval())  # as an attribute, nn.Module would make it a part
        self._vectors = vectors
        hidden, count = body.config.hidden, choice.count(how.layers, body.config.depth)
        self.mean: Tensor
        self.spread: Tensor
        self.register_buffer("mean", torch.zeros(count * hidden))  # of the training rows' vectors [F]
        self.register_buffer("spread", torch.ones(count * hidden))
        mixes = choice.weighted(how.layers)
        self.mix = nn.Parameter(torch.empty(count)) if mixes else None
        width, half = hidden if mixes else count * hidden, hidden // 2
        dropout = family.head_dropout(body.config, how.head)
        self.network = BiLSTM(width, half, dropout) if how.network == "bilstm" else None
        reading = body.config.but(hidden=2 * half if self.network else width, heads=1)
        plain = how.head.model_copy(update={"source": "pooled", "dense": "none"})
        self.specs = {how.name: plain}
        self.heads = nn.ModuleDict({how.name: heads.build(reading, plain)})

    def forward(
        self, ids: Tensor, mask: Tensor | None = None, segments: Tensor | None = None, *, all_hidden: bool = False
    ) -> Output:  # fmt: skip
        """ids [R, T], or addresses -> Output, whose last state [R, T, W] is the network's; a pooled one has T = 1."""
        if self._vectors is None:
            states = read(self.body, self.how, ids, mask, segments)
        else:
            states = self._vectors[ids.to(self._vectors.device)].to(ids.device)
        real = None if self.how.pooled else mask
        with torch.autocast(ids.device.type, enabled=False):  # little is to be gained on a head, and an LSTM cannot
            x = (states.float() - self.mean) / self.spread
            if self.mix is not None:
                x = torch.einsum("rtkh,k->rth", x.view(*x.shape[:2], len(self.mix), -1), self.mix.softmax(dim=0))
            if self.network is not None:
                x = self.network(x, real)
            return Output(last=x, hidden=(), pooled=_mean(x, real))

    def logits(self, name: str, out: Output, asked: Tensor | None = None, **more: Any) -> Any:
        """What the head says, as `Model.logits`."""
        with torch.autocast(out.last.device.type, enabled=False):
            return self.heads[name](out, self.body.embedding, asked, **more)


class BiLSTM(nn.Module):
    """Two layers, both directions together as wide as the body's hidden states (768 for a base model)."""

    def __init__(self, width: int, hidden: int, dropout: float) -> None:
        """hidden: of each direction."""
        super().__init__()
        self.lstm = nn.LSTM(width, hidden, 2, batch_first=True, dropout=dropout, bidirectional=True)

    @torch.no_grad()
    def draw(self, seed: int) -> None:
        """Initial values, as wide as PyTorch's."""
        edge = 1.0 / math.sqrt(self.lstm.hidden_size)
        for name, tensor in self.lstm.named_parameters():
            generator = torch.Generator().manual_seed(rng.key(seed, f"init:lstm.{name}"))
            drawn = torch.empty(tensor.shape).uniform_(-edge, edge, generator=generator)
            tensor.copy_(drawn if name.startswith("weight") else torch.zeros_like(drawn))

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """x [R, T, W], mask [R, T] -> [R, T, H]; padding, in front or behind, is not read."""
        if mask is None:
            whole: Tensor = self.lstm(x)[0]
            return whole
        real = mask.bool()
        order = (~real).byte().argsort(dim=1, stable=True)  # [R, T] real tokens first, as they stand
        packed = pack_padded_sequence(_at(x, order), real.sum(dim=1).cpu(), batch_first=True, enforce_sorted=False)
        said, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=x.shape[1])
        return _at(said, order.argsort(dim=1))


@torch.no_grad()
def read(body: Model, how: How, ids: Tensor, mask: Tensor | None, segments: Tensor | None) -> Tensor:
    """What the body says of the rows: [R, T, F] in float16, or [R, 1, F] where its mean over the tokens is enough."""
    states = choice.chosen(body(ids, mask, segments).hidden, how.layers).float()
    found = (_mean(states, mask)[:, None] if how.pooled else states).half()
    if not found.isfinite().all():
        raise UserError(f"hidden states of layers {how.layers!r} are beyond {torch.finfo(torch.float16).max:,.0f}, or "
                        "no numbers: choose other layers, or fine-tune with mode=full")  # fmt: skip
    return found


def drawn(body: Model, how: How, seed: int, vectors: Tensor | None = None) -> Featured:
    """A new head, every weight a function of seed and name."""
    with torch.device("meta"):
        made = Featured(body, how, vectors)
    made._apply(lambda one: torch.empty(one.shape, dtype=one.dtype))  # type: ignore[no-untyped-call]
    names = [name for name, _ in made.named_parameters()]
    init.fill(made, body.config, seed, only=[name for name in names if name.startswith("heads.")])
    with torch.no_grad():
        made.mean.zero_()
        made.spread.fill_(1.0)
        if made.mix is not None:
            made.mix.zero_()  # every layer counts alike
        if made.network is not None:
            made.network.draw(seed)
    return made


def _at(x: Tensor, places: Tensor) -> Tensor:
    """x [R, T, W] at places [R, T]."""
    return x.gather(1, places[..., None].expand(-1, -1, x.shape[-1]))


def _mean(x: Tensor, mask: Tensor | None) -> Tensor:
    """[R, T, W] -> [R, W], over the real tokens."""
    if mask is None:
        return x.mean(dim=1)
    real = mask.bool()[..., None]
    return x.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
