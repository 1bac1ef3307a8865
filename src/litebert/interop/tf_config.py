"""What model does a TensorFlow checkpoint hold? The JSON released beside it says, and its tensors' shapes must agree.

ELECTRA's checkpoints come without one: there the shapes tell all but the heads, which are 64 wide in every release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from litebert import files
from litebert.config import Config, ConfigError, build
from litebert.files import FolderError

Dialect = Literal["albert", "albert-zh", "bert", "xlnet", "electra", "electra-generator"]

_CONFIGS = ("albert_config*.json", "bert_config*.json", "xlnet_config*.json", "electra_config*.json", "config.json",
            "*config*.json")  # fmt: skip
_SHAPED = {"vocab": "vocab_size", "hidden": "hidden_size", "ffn": "intermediate_size", "segments": "type_vocab_size",
           "max_positions": "max_position_embeddings"}  # fmt: skip


def read(prefix: Path, dialect: Dialect, shapes: Mapping[str, tuple[int, ...]]) -> Config:
    """The Config of the checkpoint with this prefix, of tensors of these shapes."""
    folder, where = prefix.parent, None
    for pattern in _CONFIGS:
        for candidate in sorted(folder.glob(pattern)):
            where = where or candidate
    if where is None and not dialect.startswith("electra"):
        raise FolderError(f"{folder} has no config beside the checkpoint: copy its {dialect.split('-')[0]}_config.json")
    values = files.read_json(where) if where else {}
    if dialect == "electra-generator":  # a config beside ELECTRA is the discriminator's: only shapes count
        values = {}
    try:
        if dialect == "xlnet":
            return build(_xlnet_fields(values))
        fields = _bert_fields(values, dialect, shapes)
        for ours, theirs in _SHAPED.items():
            if values.get(theirs, fields[ours]) != fields[ours]:
                raise ConfigError(f"{theirs} {values[theirs]}, but the tensors have {fields[ours]}: copy the right one")
        return build(fields)
    except (KeyError, ConfigError) as error:
        problem = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise FolderError(f"{where or prefix}: {problem}") from None


def scopes(dialect: Dialect) -> tuple[str, str]:
    """(scope of the encoder, scope of the embedding tables); ELECTRA's generator reads the discriminator's tables."""
    if dialect == "electra-generator":
        return "generator", "electra"
    scope = "electra" if dialect == "electra" else "bert"
    return scope, scope


def _bert_fields(values: Mapping[str, Any], dialect: Dialect, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    scope, tables = scopes(dialect)
    vocab, width = _matrix(shapes, f"{tables}/embeddings/word_embeddings")
    positions, _ = _matrix(shapes, f"{tables}/embeddings/position_embeddings")
    segments, _ = _matrix(shapes, f"{tables}/embeddings/token_type_embeddings")
    hidden, _ = _matrix(shapes, f"{scope}/encoder/", "/self/query/kernel")
    _, ffn = _matrix(shapes, f"{scope}/encoder/", "/intermediate/dense/kernel")
    electra = dialect.startswith("electra")
    layers = 1 + max((int(m[1]) for k in shapes if (m := re.search(r"/layer_(\d+)/", k))), default=-1)
    custom = {"num_hidden_layers": layers, "num_attention_heads": max(1, hidden // 64)} if electra else {}
    values = {**custom, **values}
    pooled = f"{scope}/pooler/dense/kernel" in shapes
    fields: dict[str, Any] = {
        "vocab": vocab, "embedding": width, "hidden": hidden, "layers": values["num_hidden_layers"],
        "heads": values["num_attention_heads"], "ffn": ffn,
        "activation": _activation(values.get("hidden_act", "gelu"), "gelu_erf" if electra else "gelu_tanh"),
        "max_positions": positions, "segments": segments, "init_std": values.get("initializer_range", 0.02),
        "dropout": values.get("hidden_dropout_prob", 0.1), "sharing": "none",
        "attention_dropout": values.get("attention_probs_dropout_prob", 0.1), "pooler": "cls" if pooled else "none",
    }  # fmt: skip
    if values.get("ln_type") == "preln":
        fields |= {"norm": "pre", "final_norm": False}
    if dialect == "albert":
        fields |= {"sharing": "all", "groups": values.get("num_hidden_groups", 1),
                   "inner": values.get("inner_group_num", 1), "objectives": ["mlm", "sop"]}  # fmt: skip
    elif dialect == "albert-zh":
        shared = any("/layer_shared/" in k for k in shapes)
        fields |= {"sharing": "all" if shared else "none", "mapping": "early", "objectives": ["mlm", "sop"]}
    else:
        fields["objectives"] = ["rtd"] if electra else ["mlm", "nsp"]
    if not pooled:
        fields["objectives"] = [o for o in fields["objectives"] if o not in ("sop", "nsp")]
    return fields


def _matrix(shapes: Mapping[str, tuple[int, ...]], start: str, end: str = "") -> tuple[int, int]:
    """The shape of the first matrix whose name starts and ends so; without one there is nothing to go by."""
    for name, shape in shapes.items():
        if len(shape) == 2 and name.startswith(start) and name.endswith(end) and (end or name == start):
            return shape[0], shape[1]
    raise ConfigError(f"the checkpoint has no matrix {start}{'…' if end else ''}{end}: use a complete one")


def _activation(name: Any, gelu: str) -> str:
    """ALBERT, BERT and XLNet write GELU by tanh, ELECTRA by erf (google-research/electra, model/modeling.py)."""
    known = {"gelu": gelu, "relu": "relu"}
    if str(name).lower() not in known:
        raise ConfigError(f"activation {name!r} is not one of {', '.join(known)}: use another checkpoint")
    return known[str(name).lower()]


def _xlnet_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    hidden = values["d_model"]
    return {
        "vocab": values["n_token"], "embedding": hidden, "hidden": hidden, "layers": values["n_layer"],
        "heads": values["n_head"], "ffn": values["d_inner"], "sharing": "none",
        "activation": _activation(values["ff_activation"], "gelu_tanh"), "positions": "relative", "max_positions": 0,
        "pooler": "none", "embedding_norm": False, "attention_bias": False, "visibility": "permutation",
        "objectives": ["plm"], "untied": values["untie_r"], "dropout": 0.1, "attention_dropout": 0.1,
        "activation_dropout": 0.1, "output_dropout": 0.1, "pad": 5, "memory": 384, "reuse": 256,
    }  # fmt: skip
