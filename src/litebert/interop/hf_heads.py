"""How do heads travel? Which of them a transformers class computes, and what its config.json says of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from litebert import family
from litebert.config import Config, Head
from litebert.files import FolderError
from litebert.interop import hf_keys
from litebert.model.model import Model

_SUMMARIES = {"tanh": "tanh", "gelu": "gelu_erf", "gelu_new": "gelu_tanh", "relu": "relu"}


def computes(config: Config, name: str, spec: Head) -> bool:
    """Whether the family's class computes this head as it is; one that it does not lies beside."""
    kind = family.family(config)
    if spec.kind != name or (name == "order" and config.pooler != "cls"):
        return False
    if name == "mlm":  # RoBERTa and ELECTRA have the erf form there, whatever the encoder has
        fixed = "gelu_erf" if kind in ("roberta", "electra") else config.activation
        return (config.head_activation or config.activation) == fixed
    if name not in ("classify", "choice"):
        return True
    if kind in ("albert", "bert") or (kind == "roberta" and name == "choice"):
        own = ("pooled", "none") if config.pooler == "cls" else ("first", "tanh")
        return config.pooler in ("cls", "none") and (spec.source, spec.dense) == own
    usual = family.head(config, name)
    if kind == "xlnet":  # which reads place and activation from its config
        return spec.source != "pooled" and spec.dense != "none"
    return (spec.source, spec.dense) == (usual.source, usual.dense)


def class_for(model: Model) -> tuple[str, tuple[str, ...]]:
    """The transformers class that holds most of a model, and the heads that it wears."""
    fitting = {name: spec for name, spec in model.specs.items() if computes(model.config, name, spec)}
    kind = family.family(model.config)
    return hf_keys.class_for(kind, fitting, model.config.visibility == "left-to-right")


def read(
    kind: family.Family, config: Config, values: Mapping[str, Any], found: Mapping[str, Tensor]
) -> dict[str, Head]:
    """The heads that a file holds: those its class wears, and any other whose tensors are there."""
    title = (values.get("architectures") or [""])[0]
    suffix = title.removeprefix(hf_keys.TITLE[kind])
    named = set(hf_keys.CLASSES[kind].get(suffix, ()))
    heads: dict[str, Head] = {}
    for name in family.kinds():
        names = hf_keys.table(kind, config, {name: family.head(config, name)})
        mine = {k: v for k, v in names.items() if k.startswith(f"heads.{name}.")}
        if not mine or not all(any(t == v or t.startswith(f"{v}.") for t in found) for v in mine.values()):
            continue
        shared = name in ("classify", "tag", "choice")  # these go by the same tensor names: the class decides
        if name in named or not shared:
            heads[name] = _spec(config, name, mine, values, found)
    return heads


def _spec(
    config: Config, name: str, mine: Mapping[str, str], values: Mapping[str, Any], found: Mapping[str, Tensor]
) -> Head:
    more: dict[str, Any] = {}
    if name in ("classify", "tag"):
        labels = max([1, *found[f"{mine[f'heads.{name}.out']}.weight"].shape[:1]])
        known = {int(k): v for k, v in (values.get("id2label") or {}).items()}
        names = tuple(str(known.get(i, "")) for i in range(labels))
        given = all(names) and names != tuple(f"LABEL_{i}" for i in range(labels))
        more = {"labels": labels, "names": names if given else ()}
    kind = family.family(config)
    rate = _rate(kind, name, values, config)
    spec = family.head(config, name, **more, dropout=None if rate == config.classifier_dropout else rate)
    summarised = {"xlnet": ("classify", "choice"), "electra": ("choice",), "roformer": ("choice",)}
    if name in summarised.get(kind, ()):
        return spec.model_copy(update=_summary(spec, values))
    return spec


def _rate(kind: family.Family, name: str, values: Mapping[str, Any], config: Config) -> Any:
    """What transformers drops before a head's last layer; some of its classes ask other fields than their siblings."""
    match kind, name:
        case "xlnet", "tag" | "span-answerable":
            return 0.0
        case "electra", "choice":
            return values.get("summary_last_dropout", 0.1)
        case "roformer", "choice":
            return values.get("summary_last_dropout", 0.0)
        case "roberta", "choice":
            return config.dropout
    return config.classifier_dropout


def _summary(spec: Head, values: Mapping[str, Any]) -> dict[str, Any]:
    """What transformers' sequence summary does, as a head's source and dense layer."""
    written = {v: k for k, v in _SUMMARIES.items()}
    place = values.get("summary_type", spec.source)
    projects = values.get("summary_use_proj", spec.dense != "none")
    activation = values.get("summary_activation", written.get(spec.dense))
    if place not in ("first", "last"):
        raise FolderError(f"summary_type {place!r} is not read by litebert's heads: only 'first' and 'last' are")
    if bool(projects) != (spec.dense != "none") or (projects and activation not in _SUMMARIES):
        raise FolderError(
            f"summary_use_proj {projects}, summary_activation {activation!r} are not among litebert's heads: a dense "
            f"layer with {', '.join(_SUMMARIES)} is"
        )
    return {"source": place, "dense": _SUMMARIES[activation] if projects else "none"}


def fields(kind: family.Family, specs: Mapping[str, Head], worn: tuple[str, ...]) -> dict[str, Any]:
    """What config.json says of the heads that a class wears."""
    said: dict[str, Any] = {}
    for name in worn:
        spec = specs[name]
        if name in ("classify", "tag"):
            names = spec.names or tuple(f"LABEL_{i}" for i in range(spec.labels))
            said["id2label"] = {str(i): label for i, label in enumerate(names)}
            said["label2id"] = {label: i for i, label in enumerate(names)}
        if name in ("classify", "choice") and kind == "xlnet":
            written = {v: k for k, v in _SUMMARIES.items()}
            said |= {"summary_type": spec.source, "summary_activation": written[spec.dense]}
    return said
