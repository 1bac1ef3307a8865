"""The family, as diffs: every preset is another preset and the few values that differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from litebert.config import Config, ConfigError, unknown_name

# name -> (parent, what differs from it). bert-base is the root; the order is the order of `litebert presets`.
_ROOT: dict[str, Any] = {
    "vocab": 30522, "embedding": 768, "hidden": 768, "layers": 12, "heads": 12, "ffn": 3072,
    "activation": "gelu_tanh", "sharing": "none", "objectives": ("mlm", "nsp"),
    "dropout": 0.1, "attention_dropout": 0.1, "classifier_dropout": 0.1,
}  # fmt: skip


def _size(hidden: int, layers: int, heads: int, ffn: int, **more: Any) -> dict[str, Any]:
    return {"hidden": hidden, "layers": layers, "heads": heads, "ffn": ffn, **more}


_DROP = {"dropout": 0.1, "attention_dropout": 0.1}
_DIFFS: dict[str, tuple[str, dict[str, Any]]] = {
    # BERT (Devlin et al. 2018) and its compact sizes (Turc et al. 2019)
    "bert-base": ("", _ROOT),
    "bert-tiny": ("bert-base", _size(128, 2, 2, 512, embedding=128)),
    "bert-mini": ("bert-base", _size(256, 4, 4, 1024, embedding=256)),
    "bert-small": ("bert-base", _size(512, 4, 8, 2048, embedding=512)),
    "bert-medium": ("bert-small", {"layers": 8}),
    "bert-large": ("bert-base", _size(1024, 24, 16, 4096, embedding=1024)),
    # ALBERT (Lan et al. 2019): v2, as released last, is the plain name
    "albert-base": ("bert-base", {
        "vocab": 30000, "embedding": 128, "sharing": "all", "objectives": ("mlm", "sop"),
        "dropout": 0.0, "attention_dropout": 0.0,
    }),
    "albert-tiny": ("albert-base", _size(312, 4, 12, 1248)),
    "albert-small": ("albert-base", _size(384, 6, 12, 1536)),
    "albert-large": ("albert-base", _size(1024, 24, 16, 4096)),
    "albert-xlarge": ("albert-large", _size(2048, 24, 16, 8192)),  # the release has 16 heads, the paper's rule gives 32
    "albert-xxlarge": ("albert-base", _size(4096, 12, 64, 16384)),
    # v1: dropout, but for xxlarge
    "albert-tiny-v1": ("albert-tiny", _DROP),
    "albert-small-v1": ("albert-small", _DROP),
    "albert-base-v1": ("albert-base", _DROP),
    "albert-large-v1": ("albert-large", _DROP),
    "albert-xlarge-v1": ("albert-xlarge", _DROP),
    "albert-xxlarge-v1": ("albert-xxlarge", {}),
    "albert-tiny-v2": ("albert-tiny", {}),
    "albert-small-v2": ("albert-small", {}),
    "albert-base-v2": ("albert-base", {}),
    "albert-large-v2": ("albert-large", {}),
    "albert-xlarge-v2": ("albert-xlarge", {}),
    "albert-xxlarge-v2": ("albert-xxlarge", {}),
    # the Chinese sizes: BERT's Chinese vocabulary of 21,128
    "albert-tiny-zh": ("albert-tiny", {"vocab": 21128}),
    "albert-small-zh": ("albert-small", {"vocab": 21128}),
    "albert-base-zh": ("albert-base", {"vocab": 21128}),
    "albert-large-zh": ("albert-large", {"vocab": 21128}),
    "albert-xlarge-zh": ("albert-xlarge", {"vocab": 21128, "heads": 32}),
    "albert-xxlarge-zh": ("albert-xxlarge", {"vocab": 21128}),
    # two experiments that were asked for and never published
    "albert-xlarge-unshared": ("albert-xlarge", {"sharing": "none"}),
    "albert-12x2048": ("albert-xlarge", {"layers": 12}),
    # RoBERTa (Liu et al. 2019)
    "roberta-base": ("bert-base", {
        "vocab": 50265, "activation": "gelu_erf", "segments": 1, "position_offset": 2, "objectives": ("mlm",),
        "layer_norm_eps": 1e-5, "pad": 1, "pad_frozen": True, "init": "normal",
    }),
    "roberta-large": ("roberta-base", _size(1024, 24, 16, 4096, embedding=1024)),
    # XLNet (Yang et al. 2019)
    "xlnet-base": ("bert-base", {
        "vocab": 32000, "positions": "relative", "max_positions": 0, "visibility": "permutation",
        "objectives": ("plm",), "pooler": "none", "embedding_norm": False, "attention_bias": False,
        "activation_dropout": 0.1, "output_dropout": 0.1, "memory": 384, "reuse": 256, "pad": 5,
        "init": "normal",
    }),
    "xlnet-large": ("xlnet-base", _size(1024, 24, 16, 4096, embedding=1024)),
    # UniLM v1 (Dong et al. 2019): BERT, cased, with six segments and four ways to see; its PyTorch code has the erf
    # form and an epsilon of 1e-5 (microsoft/unilm, unilm-v1/src/pytorch_pretrained_bert/modeling.py)
    "unilm-base": ("bert-base", {
        "vocab": 28996, "segments": 6, "activation": "gelu_erf", "visibility": "mixture", "layer_norm_eps": 1e-5,
        "init": "normal",
    }),
    "unilm-large": ("unilm-base", _size(1024, 24, 16, 4096, embedding=1024)),
    # ELECTRA (Clark et al. 2020): the discriminator
    "electra-base": ("bert-base", {"activation": "gelu_erf", "objectives": ("rtd",), "pooler": "none"}),
    "electra-small": ("electra-base", _size(256, 12, 4, 1024, embedding=128)),
    "electra-large": ("electra-base", _size(1024, 24, 16, 4096, embedding=1024)),
}  # fmt: skip


def names() -> list[str]:
    """Every preset's name, in the order of the family."""
    return list(_DIFFS)


def diff(name: str) -> tuple[str, dict[str, Any]]:
    """A preset's parent ('' for the root) and the values in which it differs from it."""
    if name not in _DIFFS:
        raise ConfigError(unknown_name("preset", name, _DIFFS, "`litebert presets` lists them"))
    return _DIFFS[name]


def nowhere(path: Path) -> str:
    """Why a name leads to no model: it is neither a preset's nor that of a folder."""
    if path.exists():
        return f"{path} is a file: name the folder it lies in"
    if path.name != str(path):
        return f"{path} does not exist: name a folder that holds a model, or a preset (litebert presets lists them)"
    instead = "`litebert presets` lists the presets"
    return f"{unknown_name('preset or folder', str(path), _DIFFS, instead)} (or name a folder that exists)"


def values(name: str) -> dict[str, Any]:
    """All values that the preset and its parents set, the nearest winning."""
    parent, changes = diff(name)
    return {**(values(parent) if parent else {}), **changes}


def preset(name: str) -> Config:
    """The Config of a preset: `preset("albert-base")`."""
    return Config(**values(name))
