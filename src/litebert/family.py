"""Which published family does a config belong to, and what heads does that family wear?

The family is read off the values, never stored: it decides under which Hugging Face class a model leaves, and what a
classifier looks like by custom. Nothing in `model` asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from litebert.config import Config, ConfigError, Head, HeadKind, unknown_name

Family = Literal["albert", "bert", "roberta", "xlnet", "electra", "roformer"]

_OF_OBJECTIVE: dict[str, HeadKind] = {"mlm": "mlm", "sop": "order", "nsp": "order", "plm": "plm", "rtd": "rtd"}


def family(config: Config) -> Family:
    """The family whose class can hold this config, or comes nearest."""
    if config.positions == "relative":
        return "xlnet"
    if config.positions == "rotary":
        return "roformer"
    if config.position_offset:
        return "roberta"
    if "rtd" in config.objectives:
        return "electra"
    shared = config.sharing != "none" or "sop" in config.objectives or config.mapped
    return "albert" if shared else "bert"


def head(config: Config, kind: str, **spec: Any) -> Head:
    """The head of that kind as the family wears it: `head(config, "classify", labels=3)`."""
    kinds = get_args(HeadKind)
    if kind not in kinds:
        raise ConfigError(unknown_name("head", kind, kinds))
    custom: dict[str, Any] = {}
    if kind in ("classify", "choice"):
        custom = _classifier(config, kind)
    return Head(**{"kind": kind, **custom, **spec})


def heads(config: Config, wanted: Iterable[str] | Mapping[str, int | Head]) -> dict[str, Head]:
    """Specs from names (`["mlm", "order"]`), counts of labels (`{"classify": 3}`) or ready specs."""
    if isinstance(wanted, str):
        raise ConfigError(f"heads {wanted!r} is one word: write a list, as in heads=[{wanted!r}]")
    if not hasattr(wanted, "__iter__"):
        fix = "write heads=['mlm'], and attention heads in the config, preset(\"bert-base\").but(heads=4)"
        raise ConfigError(f"heads {wanted!r} is no list of what a model says: {fix}")
    if not isinstance(wanted, Mapping):
        return {name: head(config, name) for name in wanted}
    return {name: spec if isinstance(spec, Head) else head(config, name, labels=spec) for name, spec in wanted.items()}


def head_dropout(config: Config, head: Head) -> float:
    """The rate before a head's last layer."""
    return config.classifier_dropout if head.dropout is None else head.dropout


def pretraining_heads(config: Config) -> dict[str, Head]:
    """The heads that the config's own objectives need."""
    return heads(config, list(dict.fromkeys(_OF_OBJECTIVE[o] for o in config.objectives)))


def _classifier(config: Config, kind: str) -> dict[str, Any]:
    match family(config):
        case "roberta" if kind == "classify":
            return {"source": "first", "dense": "tanh"}
        case "electra":
            return {"source": "first", "dense": "gelu_erf", "first_dropout": kind == "classify"}
        case "roformer" if kind == "classify":
            return {"source": "first", "dense": config.activation}
        case "roformer":
            return {"source": "last"}
        case "xlnet":
            return {"source": "last", "dense": "tanh", "first_dropout": False}
    return {} if config.pooler != "none" else {"source": "first", "dense": "tanh"}


def kinds() -> tuple[HeadKind, ...]:
    """Every kind of head."""
    return get_args(HeadKind)
