"""Which tensors learn, which of them without decay and trust ratio, and how fast by their depth?

Biases and norms are excluded from decay and adaptation, as in the original code, which looks for "LayerNorm",
"layer_norm" and "bias" in its own names; embeddings are not excluded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from torch import nn

from litebert.config import Config, ConfigError
from litebert.model.model import Model
from litebert.model.sharing import sharing_map

# How far above the top layer the head stands: Sun et al. 2019 (arXiv 1905.05583) give both the full rate; ELECTRA's
# code (google-research/electra optimization.py) counts two more, so that its top layer has decay².
Convention = Literal["sun", "electra"]
_ABOVE: dict[Convention, int] = {"sun": 0, "electra": 2}


class Treated(NamedTuple):
    """A tensor that learns, and how."""

    name: str
    tensor: nn.Parameter
    excluded: bool = False  # from weight decay and from the trust ratio
    factor: float = 1.0  # of the rate


class Row(NamedTuple):
    """One line of the table of what learns how."""

    part: str
    tensors: int
    parameters: int
    excluded: bool
    factor: float


def excluded(name: str) -> bool:
    """Whether a tensor is a bias or belongs to a norm, by its name."""
    module, _, leaf = name.rpartition(".")
    last = module.rpartition(".")[2]
    return leaf == "bias" or last == "norm" or last.endswith("_norm") or name.startswith("encoder.biases.")


def treated(model: nn.Module, layer_decay: float = 1.0, convention: Convention = "sun") -> list[Treated]:
    """Every tensor that learns (`requires_grad`), in the model's order."""
    learning = [(name, tensor) for name, tensor in model.named_parameters() if tensor.requires_grad]
    factors: dict[str, float] = {}
    if layer_decay != 1.0:
        if not isinstance(model, Model):
            raise ConfigError(
                f"layer_decay {layer_decay} needs layers, which {type(model).__name__} has not: set it to 1"
            )
        factors = layerwise(model.config, [name for name, _ in learning], layer_decay, convention)
    return [Treated(name, tensor, excluded(name), factors.get(name, 1.0)) for name, tensor in learning]


def layerwise(config: Config, names: Iterable[str], decay: float, convention: Convention = "sun") -> dict[str, float]:
    """The factor of every tensor's rate: decay^(layers below the top), and the most for the embedding.

    A block that several depths share has the mean of their factors: copies of it, each with its own rate and the same
    gradient, would on average move so far.
    """
    if not 0.0 < decay <= 1.0:
        raise ConfigError(f"layer_decay {decay} is not a share: choose 0.8 to 1.0, 1 to turn it off")
    _refuse_shared(config, decay)
    top = config.depth + _ABOVE[convention]
    found = {}
    for name in names:
        places = _depths(config, name)
        found[name] = sum(decay ** (top - place) for place in places) / len(places) if places else 1.0
    return found


def rows(tensors: Sequence[Treated]) -> list[Row]:
    """What learns how, summed by part of the model: for a person to read before training."""
    found: dict[tuple[str, bool, float], list[int]] = {}
    for one in tensors:
        found.setdefault((_part(one.name), one.excluded, one.factor), []).append(one.tensor.numel())
    return [Row(part, len(sizes), sum(sizes), out, factor) for (part, out, factor), sizes in found.items()]


def _part(name: str) -> str:
    parts = name.split(".")
    return ".".join(parts[: 2 if parts[0] == "heads" else 3 if parts[0] == "encoder" and parts[1] != "norm" else 1])


def _depths(config: Config, name: str) -> list[int]:
    """The depths at which a tensor works, the embedding 0 and the first block 1; none for what stands above."""
    parts, depths = name.split("."), sharing_map(config)
    match parts[0]:
        case "embedding" | "query_vector":
            return [0]
        case "encoder" if parts[1] == "norm":
            return [config.depth]
        case "encoder" if parts[1] == "biases" and not config.untied:
            return list(range(1, config.depth + 1))
        case "encoder":
            users = depths.ffn if parts[1] == "ffn" else depths.attention
            return [depth for depth, index in enumerate(users, 1) if index == int(parts[2])]
    return []


def _refuse_shared(config: Config, decay: float) -> None:
    """Layers differ in rate only where their weights differ: what serves the first and the last has no place."""
    inner, depths = config.inner, sharing_map(config)
    for what, users in (("attention", depths.attention), ("ffn", depths.ffn)):
        if config.layers > 1 and set(users[:inner]) & set(users[-inner:]):
            raise ConfigError(
                f"layer_decay {decay} with one {what} for all {config.layers} layers: the same weights cannot learn at "
                "several rates, set it to 1, or unshare the model (litebert convert --sharing none, or groups)"
            )
