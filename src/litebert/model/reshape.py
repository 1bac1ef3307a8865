"""How is a trained model's sharing changed? Unshare, share, regroup: every new block is made from the old ones that ran
where it will run. Unsharing copies, so outputs stay bit-identical; sharing averages them, or takes the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor

from litebert.config import Config
from litebert.errors import UserError
from litebert.model.model import Model, build
from litebert.model.sharing import sharing_map

How = Literal["average", "first"]


@torch.no_grad()
def resharing(
    state: Mapping[str, Tensor], old: Config, new: Config, how: How = "average"
) -> tuple[dict[str, Tensor], float]:
    """Tensors of `new` out of those of `old`, and the largest change that merging made to any number (0 = lossless).

    The two configs may differ in sharing, groups and `untied` only.
    """
    allowed = ("sharing", "groups", "untied")
    other = [name for name in old.diff(new) if name not in allowed]
    if other:
        raise UserError(f"resharing cannot change {', '.join(other)}: only {', '.join(allowed)}")
    sources = _sources(old, new)
    result, worst = {}, 0.0
    groups: dict[str, list[str]] = {}
    for name in state:
        for target in _targets(name, sources):
            groups.setdefault(target, []).append(name)
    for target, names in groups.items():
        parts = [state[name] for name in names]
        if len(parts) == 1 or how == "first":
            merged = parts[0].clone()
        else:
            merged = torch.stack([part.double() for part in parts]).mean(dim=0).to(parts[0].dtype)
        if len(parts) > 1:
            worst = max(worst, *(float((part.double() - merged.double()).abs().max()) for part in parts))
        result[target] = merged
    return result, worst


def reshare(model: Model, sharing: str | None = None, groups: int | None = None, how: How = "average") -> Model:
    """A new model with other sharing: `reshare(model, "none")` unshares it, outputs bit-identical."""
    config = other_sharing(model.config, sharing, groups)
    state, _ = resharing(model.state_dict(), model.config, config, how)
    return with_state(config, model, state)


def other_sharing(config: Config, sharing: str | None = None, groups: int | None = None) -> Config:
    """The config with what is given changed; without sharing there are no groups."""
    changes: dict[str, object] = {} if sharing is None else {"sharing": sharing}
    if groups is not None:
        changes["groups"] = groups
    elif sharing == "none":
        changes["groups"] = 1
    return config.but(**changes)


def with_mapping(model: Model) -> Model:
    """A model whose embedding is mapped by the identity: the same numbers, where a class insists on a mapping."""
    config = model.config.but(mapping="always")
    if config == model.config:
        return model
    table = model.embedding.word.weight
    state = dict(model.state_dict())
    state["embedding.map.weight"] = torch.eye(config.hidden, dtype=table.dtype, device=table.device)
    state["embedding.map.bias"] = torch.zeros(config.hidden, dtype=table.dtype, device=table.device)
    return with_state(config, model, state)


def with_state(config: Config, like: Model, state: Mapping[str, Tensor]) -> Model:
    """A model of `config` with the heads of `like`, holding these tensors, in the same mode."""
    model = build(config, like.specs, device="meta")
    model.load_state_dict(dict(state), assign=True)
    return model.train(like.training)


def _sources(old: Config, new: Config) -> dict[str, dict[int, list[int]]]:
    """kind -> old index -> the new indexes that it goes into, in the order of depth."""
    before, after = sharing_map(old), sharing_map(new)
    moves = {"attention": (before.attention, after.attention), "ffn": (before.ffn, after.ffn)}
    bias_before = before.attention if old.untied else (0,) * len(before.attention)
    bias_after = after.attention if new.untied else (0,) * len(after.attention)
    moves["biases"] = (bias_before, bias_after)
    sources: dict[str, dict[int, list[int]]] = {}
    for kind, (froms, tos) in moves.items():
        goes: dict[int, list[int]] = {}
        for source, target in zip(froms, tos, strict=True):
            if target not in goes.setdefault(source, []):
                goes[source].append(target)
        sources[kind] = goes
    return sources


def _targets(name: str, sources: Mapping[str, Mapping[int, list[int]]]) -> list[str]:
    """The names under which a tensor lives on: `encoder.ffn.0.up.weight` under every block that replaces block 0."""
    parts = name.split(".")
    if parts[0] != "encoder" or parts[1] not in sources:
        return [name]
    return [".".join([*parts[:2], str(i), *parts[3:]]) for i in sources[parts[1]][int(parts[2])]]
