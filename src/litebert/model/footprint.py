"""How many bytes does a model hold: on disk, and while it trains? In closed form; no torch is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from litebert import family
from litebert.config import Config, Head
from litebert.model import cost
from litebert.model.activations import activation_bytes as activation_bytes

MASKED = 0.15  # of the positions, by custom; what a language-model head is asked for unless the caller knows better
_LOGITS = 3  # as many numbers as a step has logits: their log-probabilities, the gradient of these, and that of them


def weight_bytes(config: Config, heads: Mapping[str, Head] = {}, bytes_each: int = 4) -> int:
    """Every parameter once."""
    return bytes_each * sum(cost.parameters(config, heads).values())


def optimizer_bytes(
    config: Config, heads: Mapping[str, Head] = {}, slots: int = 2, bytes_each: int = 4
) -> dict[str, int]:
    """Gradients, and the optimizer's slots beside every weight: AdamW and LAMB keep two, float32 as a rule.

    A weight that no head depends on has neither; without heads every weight is taken to learn.
    """
    learning = sum(cost.parameters(config, heads).values())
    if heads:
        learning -= sum(cost.unread(config, heads).values())
    return {"gradients": bytes_each * learning, "optimizer": bytes_each * learning * slots}


def checkpoint_bytes(config: Config, heads: Mapping[str, Head] = {}, slots: int = 0, bytes_each: int = 4) -> int:
    """The tensors of a checkpoint on disk: the weights, and with `slots=2` what AdamW or LAMB needs to go on."""
    return weight_bytes(config, heads, bytes_each) * (1 + slots)


def training_memory(
    config: Config, batch: int, length: int, heads: Mapping[str, Head] | None = None, asked: int | None = None,
    bytes_each: int = 4, slots: int = 2, fused: bool = False,
) -> dict[str, int]:  # fmt: skip
    """Bytes that a training step holds by component: float32 weights, and activations of `bytes_each`.

    By default the heads are those of the config's objectives, asked for 15 % of the positions.
    """
    heads = family.pretraining_heads(config) if heads is None else heads
    asked = max(1, round(MASKED * length)) if asked is None else asked
    activations = activation_bytes(config, batch, length, bytes_each, True, heads=heads, asked=asked, fused=fused)
    decoders = sum(head.kind in ("mlm", "plm") for head in heads.values())
    parts = {
        "weights": weight_bytes(config, heads),
        **optimizer_bytes(config, heads, slots),
        "activations": sum(activations.values()),
        "logits": _LOGITS * decoders * batch * asked * config.vocab * 4,
    }
    return {name: size for name, size in parts.items() if size}
