"""What is a model? Embedding, encoder, pooler and heads, put together from one config.

Shapes: B batch, T tokens, M predicted rows, H hidden, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from litebert import family
from litebert.config import Config, Head
from litebert.model import heads, init, inputs, memory, relative, rotary, two_stream, visibility
from litebert.model.attention import Path, Surroundings, surroundings_of
from litebert.model.embedding import Embedding
from litebert.model.encoder import Encoder
from litebert.model.output import Output
from litebert.model.pooling import Pooler


class Model(nn.Module):
    """Any member of the family.

    >>> import litebert
    >>> model = litebert.load("albert-tiny", heads=["mlm"]).eval()
    >>> ids = torch.tensor([[2, 48, 25, 4, 1289, 3]])
    >>> out = model(ids)
    >>> out.last.shape, len(out.hidden), model.logits("mlm", out, asked=torch.tensor([[3]])).shape
    (torch.Size([1, 6, 312]), 5, torch.Size([1, 1, 30000]))
    """

    def __init__(self, config: Config, wanted: Iterable[str] | Mapping[str, int | Head] = ()) -> None:
        super().__init__()
        self.config, self.specs = config, family.heads(config, wanted)
        self.embedding = Embedding(config)
        self.encoder = Encoder(config)
        self.pooler = Pooler(config)
        # The query stream's only input: one vector that means "someone, here".
        self.query_vector = nn.Parameter(torch.empty(config.hidden)) if "plm" in config.objectives else None
        self.heads = nn.ModuleDict({name: heads.build(config, spec) for name, spec in self.specs.items()})
        self.path: Path = "auto"  # how attention is computed: auto, eager or fused

    def forward(
        self,
        ids: Tensor,
        mask: Tensor | None = None,
        segments: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        visible: Tensor | None = None,
        targets: Tensor | None = None,
        memory: Sequence[Tensor] | None = None,
        remember: bool = False,
        frozen: int = 0,
        all_hidden: bool = True,
    ) -> Output:
        """ids [B, T] -> Output.

        mask: 1 at real tokens [B, T], or 1 where a row may look [B, T, T]. visible: a value of `model.visibility`,
        used beside the mask. positions: places [B, T] that are not 0 … T-1. targets: places [B, M] to predict by the
        query stream; `visible` is then what that stream may see, and the content stream sees itself as well. memory:
        what an earlier call with remember=True gave back. frozen: so many blocks from below (and the embedding) get no
        gradient. all_hidden=False keeps only the last state.
        """
        inputs.check(self.config, ids, mask, segments, positions, visible, memory)
        self._check_frozen(frozen, targets)
        past = 0 if memory is None else memory[0].shape[1]
        seen = self._visible(ids, mask, visible, past)
        with torch.set_grad_enabled(torch.is_grad_enabled() and not frozen):
            hidden = self.embedding(ids, segments, positions)  # [B, T, H]
        around = self._surroundings(hidden, segments, positions, past)
        if targets is not None:
            return self._two_streams(hidden, seen, around, targets, memory, remember)
        if seen is not None and self.query_vector is not None:
            seen = visibility.see_self(seen)  # XLNet's content stream always does, padding included
        bias, lonely = surroundings_of(seen, hidden.dtype)
        keep = all_hidden or remember or self.config.pooler == "first-last"
        states = self.encoder(hidden, around._replace(bias=bias, seen=lonely), memory, frozen, keep)
        last = F.dropout(states[-1], self.config.output_dropout, self.training)
        real = mask if mask is None else mask[:, -ids.shape[1] :] if mask.dim() == 2 else ids != self.config.pad
        return Output(
            last=last,
            hidden=tuple(states) if all_hidden else (),
            pooled=self.pooler(states, real),
            memory=self._remember(states, memory) if remember else None,
        )

    def logits(self, name: str, out: Output, asked: Tensor | None = None, **more: Any) -> Any:
        """What head `name` says of an output; `asked` names the positions (see `model.heads`)."""
        if name not in self.heads:
            raise ValueError(f"this model has no head {name!r}: it has {', '.join(self.heads) or 'none'}")
        return self.heads[name](out, self.embedding, asked, **more)

    def _two_streams(
        self, hidden: Tensor, query_sees: Tensor | None, around: Surroundings, targets: Tensor,
        earlier: Sequence[Tensor] | None, remember: bool,
    ) -> Output:  # fmt: skip
        if self.query_vector is None:
            raise ValueError("targets need a query stream, and this model has none: set objectives=plm")
        content_sees = None if query_sees is None else visibility.see_self(query_sees)
        bias, lonely = surroundings_of(content_sees, hidden.dtype)
        content = around._replace(bias=bias, seen=lonely)
        query = self.query_vector.expand(*targets.shape, -1)  # [B, M, H]
        query = F.dropout(query, self.config.dropout, self.training)
        reading = _rows_of(around, query_sees, targets, hidden.dtype)
        states, queries = two_stream.run(self.encoder, hidden, query, content, reading, earlier)
        last = F.dropout(queries[-1], self.config.output_dropout, self.training)
        kept = self._remember(states, earlier) if remember else None
        return Output(last=last, hidden=tuple(states), pooled=None, memory=kept, query=tuple(queries))

    def _visible(self, ids: Tensor, mask: Tensor | None, visible: Tensor | None, past: int) -> Tensor | None:
        if visible is not None and past and visible.shape[-1] == ids.shape[1]:
            visible = F.pad(visible, (past, 0), value=True)  # memory may be seen by all
        parts = [] if visible is None else [visible]
        if mask is not None:
            parts.append(visibility.padding(mask, past if mask.shape[-1] == ids.shape[1] else 0))
        if self.config.visibility == "left-to-right":
            parts.append(visibility.left_to_right(ids.shape[1], past, ids.device))
        value = None
        for part in parts:
            value = part if value is None else value & part
        if value is not None and value.shape[2] == 1 and self.query_vector is not None:
            value = value.expand(-1, -1, ids.shape[1], -1)
        return value

    def _surroundings(
        self, hidden: Tensor, segments: Tensor | None, positions: Tensor | None, past: int
    ) -> Surroundings:
        config, count = self.config, hidden.shape[1]
        around = Surroundings(path=self.path)
        if config.positions == "rotary":
            places = torch.arange(past + count, device=hidden.device)
            keys = rotary.angles(places, config.head_width)
            queries = rotary.angles(places[past:], config.head_width)
            if positions is not None:
                keys = queries = rotary.angles(positions, config.head_width)
            around = around._replace(query_angles=queries, key_angles=keys)
        elif config.positions == "relative":
            table = relative.sinusoid(count, past + count, config.hidden, config.clamp, hidden.device, hidden.dtype)
            table = F.dropout(table, config.dropout, self.training)
            around = around._replace(distances=relative.Distances(table, None, _differ(segments, past)))
        return around

    def _remember(self, states: Sequence[Tensor], earlier: Sequence[Tensor] | None) -> tuple[Tensor, ...]:
        """The inputs of all blocks, cut to the config's memory; the last state is no block's input."""
        config = self.config
        return tuple(
            memory.remember(None if earlier is None else earlier[i], state, config.memory, config.reuse)
            for i, state in enumerate(states[:-1])
        )

    def _check_frozen(self, frozen: int, targets: Tensor | None) -> None:
        if not 0 <= frozen <= self.config.depth:
            raise ValueError(f"frozen {frozen} is not a number of blocks: choose 0 to {self.config.depth}")
        if targets is not None and frozen:
            raise ValueError(f"frozen {frozen} with targets: the query stream reads every depth, freeze none of them")


def build(
    config: Config, wanted: Iterable[str] | Mapping[str, int | Head] = (), *, seed: int | None = 0, device: str = "cpu"
) -> Model:
    """A new model; on device "meta" or with seed None its weights hold no values."""
    with torch.device("meta"):
        model = Model(config, wanted)
    if device != "meta":
        # As model.to_empty, which to read a shape from the device meta imports a library of symbols: half a second.
        model._apply(lambda one: torch.empty(one.shape, dtype=one.dtype, device=device))  # type: ignore[no-untyped-call]
        if seed is not None:
            init.fill(model, config, seed)
    return model


def _rows_of(around: Surroundings, sees: Tensor | None, rows: Tensor, dtype: torch.dtype) -> Surroundings:
    """The surroundings of the rows [B, M] that ask, out of those of all rows."""
    batch, asking = rows.shape
    if sees is not None:
        sees = sees.expand(batch, -1, -1, -1)
        index = rows[:, None, :, None].expand(batch, 1, asking, sees.shape[-1])
        sees = sees.gather(2, index)  # [B, 1, M, K]
    bias, lonely = surroundings_of(sees, dtype)
    angles, distances = around.query_angles, around.distances
    if angles is not None:
        angles = rotary.Angles(*(_picked(part, rows) for part in angles))
    if distances is not None:
        different = distances.different
        if different is not None:
            different = different.gather(1, rows[..., None].expand(-1, -1, different.shape[-1]))  # [B, M, K]
        distances = distances._replace(rows=rows, different=different)
    return around._replace(bias=bias, seen=lonely, query_angles=angles, distances=distances)


def _picked(part: Tensor, rows: Tensor) -> Tensor:
    """Angles [T, 1, D/2] or [B, T, 1, D/2] of the rows [B, M] -> [B, M, 1, D/2]."""
    if part.dim() == 3:
        return part[rows]
    return part.gather(1, rows[..., None, None].expand(-1, -1, 1, part.shape[-1]))


def _differ(segments: Tensor | None, past: int) -> Tensor | None:
    """[B, T, memory + T]: true where query and key lie in different segments; memory counts as segment 0."""
    if segments is None:
        return None
    keys = F.pad(segments, (past, 0))
    return segments[:, :, None] != keys[:, None, :]
