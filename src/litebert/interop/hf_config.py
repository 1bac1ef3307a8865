"""How does a Hugging Face config.json read as a Config, and back?

One table of names per family, and the few values that the two sides count differently. Fields that would change what
a model computes and that we cannot follow are refused by name; everything else that we do not know is let through.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from litebert.config import Config, ConfigError, build
from litebert.family import Family, family
from litebert.files import FolderError

_ACTIVATIONS = {
    "gelu": "gelu_erf", "gelu_python": "gelu_erf", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}  # fmt: skip
ROWS = 1536  # RoFormer's table, where a rotary model has no limit of its own
_WRITTEN = {"gelu_erf": "gelu", "gelu_tanh": "gelu_new", "relu": "relu"}

# ours -> theirs, for everything that is the same number under another name
_BERT = {
    "vocab": "vocab_size", "hidden": "hidden_size", "layers": "num_hidden_layers", "heads": "num_attention_heads",
    "ffn": "intermediate_size", "max_positions": "max_position_embeddings", "segments": "type_vocab_size",
    "layer_norm_eps": "layer_norm_eps", "init_std": "initializer_range", "dropout": "hidden_dropout_prob",
    "attention_dropout": "attention_probs_dropout_prob", "pad": "pad_token_id",
}  # fmt: skip
_WIDE = {**_BERT, "embedding": "embedding_size"}
_NAMES: dict[Family, dict[str, str]] = {
    "bert": _BERT,
    "roberta": _BERT,
    "electra": _WIDE,
    "roformer": _WIDE,
    "albert": {**_WIDE, "groups": "num_hidden_groups", "inner": "inner_group_num"},
    "xlnet": {
        "vocab": "vocab_size", "hidden": "d_model", "layers": "n_layer", "heads": "n_head", "ffn": "d_inner",
        "layer_norm_eps": "layer_norm_eps", "init_std": "initializer_range", "dropout": "dropout",
        "pad": "pad_token_id",
    },
}  # fmt: skip

# transformers' class defaults, for files that leave a field out
_BERT_DEFAULTS = {
    "vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1,
    "max_position_embeddings": 512, "type_vocab_size": 2, "initializer_range": 0.02, "layer_norm_eps": 1e-12,
    "pad_token_id": 0, "is_decoder": False,
}  # fmt: skip
_DEFAULTS: dict[Family, dict[str, Any]] = {
    "bert": _BERT_DEFAULTS,
    "roberta": {**_BERT_DEFAULTS, "vocab_size": 50265, "pad_token_id": 1},
    "electra": {
        **_BERT_DEFAULTS, "embedding_size": 128, "hidden_size": 256, "num_attention_heads": 4,
        "intermediate_size": 1024,
    },
    "roformer": {**_BERT_DEFAULTS, "vocab_size": 50000, "embedding_size": None, "max_position_embeddings": 1536},
    "albert": {
        **_BERT_DEFAULTS, "vocab_size": 30000, "embedding_size": 128, "hidden_size": 4096, "num_attention_heads": 64,
        "num_hidden_groups": 1, "inner_group_num": 1, "intermediate_size": 16384, "hidden_act": "gelu_new",
        "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "classifier_dropout_prob": 0.1,
    },
    "xlnet": {
        "vocab_size": 32000, "d_model": 1024, "n_layer": 24, "n_head": 16, "d_inner": 4096, "ff_activation": "gelu",
        "attn_type": "bi", "initializer_range": 0.02, "layer_norm_eps": 1e-12, "dropout": 0.1, "mem_len": 512,
        "reuse_len": None, "bi_data": False, "clamp_len": -1, "same_length": False, "summary_last_dropout": 0.1,
        "pad_token_id": 5,
    },
}  # fmt: skip
# values that a file may carry only like this, and why
_ONLY: dict[str, tuple[tuple[Any, ...], str]] = {
    "position_embedding_type": ((None, "absolute"), "scores by learned key distances"),
    "add_cross_attention": ((None, False), "reads a second sequence"),
    "rotary_value": ((None, False), "turns the values too"),
    "same_length": ((None, False), "gives every token an equally long window"),
    "bi_data": ((None, False), "reads half of every batch backwards"),
    "tie_word_embeddings": ((None, True), "has an output matrix of its own"),
    "ln_type": ((None, "postln"), "is a TensorFlow checkpoint's: convert the checkpoint itself"),
}


def family_of(values: Mapping[str, Any], where: str) -> Family:
    """The family that a config.json names."""
    kind = values.get("model_type")
    if kind not in _NAMES:
        known = ", ".join(_NAMES)
        raise FolderError(f"{where}: model_type {kind!r} is another architecture: litebert reads {known}")
    named: Family = kind
    return named


def read(values: Mapping[str, Any], where: str = "config.json") -> Config:
    """config.json -> Config, with transformers' behaviour where it differs from the original."""
    kind = family_of(values, where)
    for name, (allowed, what) in _ONLY.items():
        if values.get(name) not in allowed:
            raise FolderError(f"{where}: {name} {values[name]!r} {what}, which litebert does not: use another model")
    full = {**_DEFAULTS[kind], **{k: v for k, v in values.items() if v is not None or k in ("mem_len", "reuse_len")}}
    ours = {mine: full[theirs] for mine, theirs in _NAMES[kind].items() if full.get(theirs) is not None}
    ours |= {"activation": _activation(full, where), "init": "normal", "pad_frozen": kind != "xlnet"}
    ours |= _READERS[kind](full, ours)
    if full.get("is_decoder"):
        ours["visibility"] = "left-to-right"
    odd = None if kind != "albert" else floats_err(full["num_hidden_layers"], full["num_hidden_groups"])
    if odd is not None:
        problem = f"num_hidden_groups {full['num_hidden_groups']} of {full['num_hidden_layers']} layers"
        raise FolderError(
            f"{where}: {problem}: transformers' float arithmetic misplaces layer {odd}: use another model"
        )
    try:
        return build(ours)
    except ConfigError as error:
        raise FolderError(f"{where}: {error}") from None


def floats_err(layers: int, groups: int) -> int | None:
    """The first layer that transformers' `int(i / (L/G))` puts in another group than `i*G//L`; None when all agree."""
    return next((i for i in range(layers) if int(i / (layers / groups)) != i * groups // layers), None)


def write(config: Config) -> dict[str, Any]:
    """Config -> the config.json of its family, without what depends on the heads."""
    kind = family(config)
    theirs = {name: getattr(config, mine) for mine, name in _NAMES[kind].items()}
    theirs["model_type"] = kind
    theirs["ff_activation" if kind == "xlnet" else "hidden_act"] = _WRITTEN[config.activation]
    theirs["tie_word_embeddings"] = True
    if kind == "xlnet":
        theirs |= {
            "d_head": config.head_width, "attn_type": "uni" if config.visibility == "left-to-right" else "bi",
            "mem_len": config.memory or None, "reuse_len": config.reuse or None, "clamp_len": config.clamp or -1,
            "bi_data": False, "same_length": False, "summary_last_dropout": config.classifier_dropout,
        }  # fmt: skip
        return theirs
    if kind == "albert":
        theirs["classifier_dropout_prob"] = config.classifier_dropout
        if config.sharing == "none":
            theirs["num_hidden_groups"] = config.layers
        return theirs
    theirs["is_decoder"] = config.visibility == "left-to-right"
    theirs["max_position_embeddings"] = (config.max_positions or ROWS) + config.position_offset
    if kind == "roformer":
        theirs["rotary_value"] = False
    else:
        theirs["classifier_dropout"] = config.classifier_dropout
    return theirs


def _activation(values: Mapping[str, Any], where: str) -> str:
    name = values.get("ff_activation", values.get("hidden_act"))
    if name not in _ACTIVATIONS:
        raise FolderError(f"{where}: activation {name!r} is not one of {', '.join(_ACTIVATIONS)}: use another model")
    return _ACTIVATIONS[name]


def _read_albert(values: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    layers, groups = int(values["num_hidden_layers"]), int(values["num_hidden_groups"])
    drop = values["classifier_dropout_prob"]
    own = {"sharing": "none", "groups": 1} if groups == layers > 1 else {"sharing": "all"}
    mapping = "always" if values["embedding_size"] == values["hidden_size"] else "auto"
    return {"objectives": ["mlm", "sop"], "mapping": mapping, "ffn_output_dropout": False, "order_dropout": drop,
            "classifier_dropout": drop, **own}  # fmt: skip


def _unshared(values: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    drop = values.get("classifier_dropout")
    return {"sharing": "none", "classifier_dropout": values["hidden_dropout_prob"] if drop is None else drop, **more}


def _read_bert(values: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    return _unshared(values, embedding=ours["hidden"], objectives=["mlm", "nsp"])


def _read_roberta(values: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    offset = ours["pad"] + 1
    head = None if ours["activation"] == "gelu_erf" else "gelu_erf"
    return _unshared(values, embedding=ours["hidden"], objectives=["mlm"], position_offset=offset,
                     max_positions=ours["max_positions"] - offset, head_activation=head)  # fmt: skip


def _read_electra(values: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    head = None if ours["activation"] == "gelu_erf" else "gelu_erf"
    return _unshared(values, objectives=["rtd"], pooler="none", head_activation=head)


def _read_roformer(values: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    width, drop = ours.get("embedding", ours["hidden"]), ours["dropout"]  # the classes know no rate of a classifier
    return _unshared(values, embedding=width, objectives=["mlm"], pooler="none", positions="rotary",
                     classifier_dropout=drop)  # fmt: skip


def _read_xlnet(values: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    drop = values["dropout"]
    return {
        "embedding": ours["hidden"], "sharing": "none", "positions": "relative", "max_positions": 0, "pooler": "none",
        "visibility": "permutation" if values["attn_type"] == "bi" else "left-to-right", "objectives": ["plm"],
        "embedding_norm": False, "attention_bias": False, "attention_dropout": drop, "activation_dropout": drop,
        "output_dropout": drop, "classifier_dropout": values["summary_last_dropout"],
        "memory": values["mem_len"] or 0, "reuse": values["reuse_len"] or 0, "clamp": max(values["clamp_len"], 0),
    }  # fmt: skip


_READERS = {"albert": _read_albert, "bert": _read_bert, "roberta": _read_roberta, "electra": _read_electra,
            "roformer": _read_roformer, "xlnet": _read_xlnet}  # fmt: skip
