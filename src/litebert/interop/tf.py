"""How does an original TensorFlow checkpoint become a model, without TensorFlow?

ALBERT (google's, and brightmart's first Chinese ones, which name and order things differently), BERT, XLNet, ELECTRA.
Optimizer slots and step counters are skipped, a `module/` in front is stripped, kernels are turned, and every other
tensor must find its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from litebert import family
from litebert.config import Config, Head
from litebert.files import FolderError
from litebert.interop import hf_keys, tensors, tf_bundle, tf_config
from litebert.interop.hf import Parts, report
from litebert.interop.tf_config import Dialect
from litebert.model.model import Model

Part = Literal["discriminator", "generator"]

_SLOTS = re.compile(r"(/(adam|lamb)_[mv](_\d+)?|/(Adam|Adam_1|LAMB\w*|Momentum)|/ExponentialMovingAverage)$")
_COUNTERS = re.compile(r"^(global_step|beta[12]_power|Variable(_\d+)?|loss_scale\w*|current_loss_scale|good_steps)$")

_EMBEDDING = {"embedding.word.weight": "embeddings/word_embeddings", "embedding.norm": "embeddings/LayerNorm",
              "embedding.position.weight": "embeddings/position_embeddings",
              "embedding.segment.weight": "embeddings/token_type_embeddings"}  # fmt: skip
_ATTENTION = {"query": "attention/self/query", "key": "attention/self/key", "value": "attention/self/value",
              "output": "attention/output/dense", "norm": "attention/output/LayerNorm"}  # fmt: skip
_FFN = {"up": "intermediate/dense", "down": "output/dense", "norm": "output/LayerNorm"}
_HEADS = {
    "heads.mlm.dense": "cls/predictions/transform/dense",
    "heads.mlm.norm": "cls/predictions/transform/LayerNorm",
    "heads.mlm.bias": "cls/predictions/output_bias",
    "heads.order.out.weight": "cls/seq_relationship/output_weights",
    "heads.order.out.bias": "cls/seq_relationship/output_bias",
    "heads.rtd.dense": "discriminator_predictions/dense",
    "heads.rtd.out": "discriminator_predictions/dense_1",
}
_GENERATOR_HEADS = {
    "heads.mlm.dense": "generator_predictions/dense",
    "heads.mlm.norm": "generator_predictions/LayerNorm",
    "heads.mlm.bias": "generator_predictions/output_bias",
}
_ALBERT_ATTENTION = {
    "query": "attention_1/self/query",
    "key": "attention_1/self/key",
    "value": "attention_1/self/value",
    "output": "attention_1/output/dense",
    "norm": "LayerNorm",
}
_ALBERT_FFN = {"up": "ffn_1/intermediate/dense", "down": "ffn_1/intermediate/output/dense", "norm": "LayerNorm_1"}
_LEAVES = {"weight": "kernel", "bias": "bias"}
_NORM_LEAVES = {"weight": "gamma", "bias": "beta"}
_TURNED = ("/kernel", "word_embeddings_2")


def is_checkpoint(path: Path) -> bool:
    """Whether a path names a TensorFlow checkpoint: its prefix, one of its files, or a folder of it."""
    if path.is_dir():
        return any(path.glob("*.index")) and not (path / tensors.NAME).exists()
    named = path.suffix == ".index" or ".data-" in path.name or ".ckpt" in path.name  # a lone .ckpt is refused by name
    return (named and path.is_file()) or path.with_name(path.name + ".index").is_file()


def read(path: Path, part: Part = "discriminator") -> Parts:
    """Config, heads and tensors of a checkpoint; ELECTRA's holds two models, of which `part` is read."""
    try:
        prefix = tf_bundle.find_prefix(path)
        entries = {_plain(k): v for k, v in tf_bundle.read_index(prefix).items() if not _skipped(k)}
    except tf_bundle.BundleError as error:
        raise FolderError(str(error)) from None
    dialect = _dialect(entries, prefix, part)
    entries = {k: v for k, v in entries.items() if _belongs(k, dialect)}
    config = tf_config.read(prefix, dialect, {k: v.shape for k, v in entries.items()})
    heads = _heads(config, dialect, entries)
    names = table(config, dialect, heads)
    with torch.device("meta"):
        expected = Model(config, heads).state_dict()
    sources = {ours: _source(ours, names) for ours in expected}
    problems = []
    for ours, meta in expected.items():
        source, row = sources[ours]
        shape = _stored(tuple(meta.shape), ours, source, row, config)
        if source not in entries:
            problems.append(f"missing {source} for {ours} {list(shape)}")
        elif entries[source].shape != shape:
            problems.append(f"{source} is {list(entries[source].shape)}, the config asks for {list(shape)}")
    used = {source for source, _ in sources.values()}
    problems += [f"unknown {k} {list(v.shape)}" for k, v in entries.items() if k not in used]
    report(problems, prefix)
    return Parts(config, heads, {ours: _tensor(prefix, entries, ours, *sources[ours]) for ours in expected})


def table(config: Config, dialect: Dialect, heads: Mapping[str, Head]) -> dict[str, str]:
    """Our names -> a checkpoint's: modules, or single tensors; `name[i]` is row i of a tensor for all layers."""
    if dialect == "xlnet":
        return _xlnet_table(config)
    scope, tables = tf_config.scopes(dialect)
    names = {k: f"{tables}/{v}" for k, v in _EMBEDDING.items()}
    names |= {"pooler.dense": f"{scope}/pooler/dense"}
    if dialect == "albert-zh":
        names["embedding.map.weight"] = f"{scope}/embeddings/word_embeddings_2"
    else:
        mapping = "encoder/embedding_hidden_mapping_in" if dialect == "albert" else "embeddings_project"
        names["embedding.map"] = f"{scope}/{mapping}"
    attention, ffn = (_ALBERT_ATTENTION, _ALBERT_FFN) if dialect == "albert" else (_ATTENTION, _FFN)
    for i in range(hf_keys.blocks(config)):
        block = f"{scope}/encoder/{_block(dialect, config, i)}"
        names |= {f"encoder.attention.{i}.{k}": f"{block}/{v}" for k, v in attention.items()}
        names |= {f"encoder.ffn.{i}.{k}": f"{block}/{v}" for k, v in ffn.items()}
    return {**names, **(_GENERATOR_HEADS if dialect == "electra-generator" else _HEADS)}


def _belongs(name: str, dialect: Dialect) -> bool:
    """Whether a tensor is part of the model that is read, where a checkpoint holds two."""
    if dialect == "electra":
        return not name.startswith(("generator", "cls/"))
    if dialect == "electra-generator":
        return name.startswith(("generator", "electra/embeddings/"))
    return True


def _block(dialect: Dialect, config: Config, i: int) -> str:
    if dialect == "albert":
        return f"transformer/group_{i // config.inner}/inner_group_{i % config.inner}"
    return "layer_shared" if dialect == "albert-zh" and config.sharing == "all" else f"layer_{i}"


def _xlnet_table(config: Config) -> dict[str, str]:
    body = "model/transformer"
    names = {
        "embedding.word.weight": f"{body}/word_embedding/lookup_table",
        "query_vector": f"{body}/mask_emb/mask_emb",
        "heads.plm.bias": "model/lm_loss/bias",
    }
    for i in range(config.layers):
        layer, ours = f"{body}/layer_{i}", f"encoder.attention.{i}"
        for mine, letter in (("query", "q"), ("key", "k"), ("value", "v"), ("output", "o"), ("relative.project", "r")):
            names[f"{ours}.{mine}.weight"] = f"{layer}/rel_attn/{letter}/kernel"
        names[f"{ours}.norm"] = f"{layer}/rel_attn/LayerNorm"
        names[f"{ours}.relative.segment"] = f"{body}/seg_embed[{i}]"
        names |= {f"encoder.ffn.{i}.up": f"{layer}/ff/layer_1", f"encoder.ffn.{i}.down": f"{layer}/ff/layer_2",
                  f"encoder.ffn.{i}.norm": f"{layer}/ff/LayerNorm"}  # fmt: skip
        row = f"[{i}]" if config.untied else ""
        if config.untied or i == 0:
            for mine, letter in (("content", "w"), ("position", "r"), ("segment", "s")):
                names[f"encoder.biases.{i}.{mine}"] = f"{body}/r_{letter}_bias{row}"
    return names


def _source(ours: str, names: Mapping[str, str]) -> tuple[str, int | None]:
    """The checkpoint's tensor, and the row of it, that one of ours comes from."""
    name = names.get(ours)
    if name is None:
        module, _, leaf = ours.rpartition(".")
        leaves = _NORM_LEAVES if module.endswith("norm") else _LEAVES
        name = f"{names.get(module, module)}/{leaves.get(leaf, leaf)}"
    found = re.fullmatch(r"(.*)\[(\d+)\]", name)
    return (found[1], int(found[2])) if found else (name, None)


def _stored(shape: tuple[int, ...], ours: str, source: str, row: int | None, config: Config) -> tuple[int, ...]:
    """The shape in which a checkpoint keeps one of our tensors."""
    if "/rel_attn/" in source and source.endswith("kernel"):
        return config.hidden, config.heads, config.head_width
    if source.endswith(_TURNED):
        return shape[::-1]
    if ours == "query_vector":
        return (1, 1, *shape)
    return shape if row is None else (config.layers, *shape)


def _tensor(prefix: Path, entries: Mapping[str, tf_bundle.Entry], ours: str, source: str, row: int | None) -> Tensor:
    """Kernels lie [in, out] and turn; XLNet's projections lie [H, N, D]; the rest is as it is."""
    try:
        array = tf_bundle.read_tensor(prefix, entries[source])
    except tf_bundle.BundleError as error:
        raise FolderError(str(error)) from None
    tensor = torch.from_numpy(array if row is None else array[row].copy()).float()
    if "/rel_attn/" in source and source.endswith("kernel"):
        flat = tensor.flatten(1)  # [H, N·D]
        return flat if source.endswith("/o/kernel") else flat.t().contiguous()
    if source.endswith(_TURNED):
        return tensor.t().contiguous()
    return tensor.reshape(-1) if ours == "query_vector" else tensor


def _plain(name: str) -> str:
    return name.removeprefix("module/")


def _skipped(name: str) -> bool:
    return bool(_SLOTS.search(name) or _COUNTERS.match(_plain(name)))


def _dialect(entries: Mapping[str, Any], prefix: Path, part: Part) -> Dialect:
    marks: dict[str, Dialect] = {
        "model/transformer/word_embedding/lookup_table": "xlnet",
        "electra/embeddings/word_embeddings": "electra",
        "bert/embeddings/word_embeddings_2": "albert-zh",
        "bert/encoder/transformer/group_0/": "albert",
        "bert/encoder/layer_": "bert",
    }
    for mark, dialect in marks.items():
        if any(name.startswith(mark) for name in entries):
            if part == "discriminator":
                return dialect
            if dialect == "electra":
                return "electra-generator"
            raise FolderError(f"{prefix} is a checkpoint of {dialect}, which has no generator: leave out --part")
    first = ", ".join(sorted(entries)[:3]) or "nothing"
    raise FolderError(f"{prefix} is not a checkpoint of ALBERT, BERT, XLNet or ELECTRA: it holds {first} …")


def _heads(config: Config, dialect: Dialect, entries: Mapping[str, Any]) -> dict[str, Head]:
    scope = "generator_predictions" if dialect == "electra-generator" else "cls/predictions"
    marks = {
        "mlm": f"{scope}/output_bias",
        "order": "cls/seq_relationship/output_weights",
        "plm": "model/lm_loss/bias",
        "rtd": "discriminator_predictions/dense/kernel",
    }
    return {kind: family.head(config, kind) for kind, mark in marks.items() if mark in entries}
