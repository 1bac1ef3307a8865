"""How does a Hugging Face folder become a model, and a model such a folder? Strict both ways, bytes unchanged.

Heads and a pooler that transformers has no place for go beside, into litebert.safetensors, so that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from litebert import family, files
from litebert.config import Config, Head
from litebert.files import FolderError
from litebert.interop import hf_config, hf_heads, hf_keys, tensors
from litebert.model.model import Model

BESIDE = "litebert.safetensors"

# fields that count something -> from, to; what is beyond could be neither a tensor nor a loop
_COUNTS = {
    **dict.fromkeys(("vocab_size", "embedding_size", "hidden_size", "num_attention_heads", "intermediate_size",
                     "max_position_embeddings", "d_model", "d_inner", "n_head"), (1, 2**24)),
    **dict.fromkeys(("num_hidden_layers", "num_hidden_groups", "inner_group_num", "n_layer"), (1, 10_000)),
    **dict.fromkeys(("type_vocab_size", "pad_token_id", "mem_len", "reuse_len", "clamp_len"), (-1, 2**24)),
}  # fmt: skip
_WORDS = ("model_type", "hidden_act", "ff_activation", "attn_type", "summary_type")


class Parts(NamedTuple):
    """A model in pieces: what it is, what it wears, and its tensors under our names."""

    config: Config
    heads: dict[str, Head]
    state: dict[str, Tensor]


def read(folder: Path) -> Parts:
    """Config, heads and tensors of a Hugging Face folder, with transformers' behaviour."""
    where = str(folder / "config.json")
    values = fields(folder)
    kind, config = hf_config.family_of(values, where), hf_config.read(values, where)
    found = _normalised(tensors.read(folder), kind, folder)
    names = hf_keys.table(kind, config, {k: family.head(config, k) for k in family.kinds()})
    if config.pooler == "cls" and not any(k.startswith(names["pooler.dense"]) for k in found):
        objectives = tuple(o for o in config.objectives if o not in ("sop", "nsp"))
        config = config.but(pooler="none", objectives=objectives)
    heads = hf_heads.read(kind, config, values, found)
    state = assemble(kind, config, heads, found, folder)
    return Parts(config, heads, state)


def fields(folder: Path) -> dict[str, Any]:
    """What config.json says; a field that is not of its kind is refused before anything counts with it."""
    where = folder / "config.json"
    values = files.read_json(where)
    for name, value in values.items():
        low, high = _COUNTS.get(name, (0, 0))
        problem = ""
        if high and (type(value) is not int or not low <= value <= high):
            problem = f"a whole number from {low} to {high:,}"
        elif name in _WORDS and not isinstance(value, str):
            problem = "a word"
        elif name == "is_decoder" and not isinstance(value, bool):
            problem = "true or false"
        elif name == "architectures" and not (isinstance(value, list) and all(isinstance(v, str) for v in value)):
            problem = "a list of names of classes"
        elif name == "id2label" and not (isinstance(value, dict) and all(k.isdecimal() for k in value)):
            problem = "an object of numbers and labels"
        if problem and value is not None:  # null stands for a default
            raise FolderError(f"{where}: {name} {value!r} is not {problem}: copy or mend the file")
    return values


def assemble(
    kind: family.Family, config: Config, heads: Mapping[str, Head], found: Mapping[str, Tensor], folder: Path
) -> dict[str, Tensor]:
    """Their tensors under our names; what is missing, misshapen or unknown is named with its shape."""
    names = hf_keys.table(kind, config, heads)
    with torch.device("meta"):
        expected = Model(config, heads).state_dict()
    state, used, problems = {}, set(), []
    for ours, meta in expected.items():
        theirs = hf_keys.theirs(ours, names)
        to_ours, to_theirs = hf_keys.layout(kind, ours, config)
        shape = tuple(to_theirs(meta).shape)
        if theirs is None or theirs not in found:
            problems.append(f"missing {theirs or ours} {list(shape)}")
        elif tuple(found[theirs].shape) != shape:
            problems.append(f"{theirs} is {list(found[theirs].shape)}, the config asks for {list(shape)}")
        elif not found[theirs].is_floating_point():
            problems.append(f"{theirs} holds {found[theirs].dtype}, not floating-point numbers")
        else:
            state[ours] = to_ours(found[theirs])
        used.add(theirs)
    unknown = [f"unknown {k} {list(v.shape)}" for k, v in found.items() if k not in used]
    report([*problems, *unknown], folder)
    return state


def mismatch(expected: Mapping[str, Tensor], found: Mapping[str, Tensor]) -> list[str]:
    """What is missing, misshapen or unknown among tensors under our names."""
    problems = []
    for name, tensor in expected.items():
        shape = list(tensor.shape)
        if name not in found:
            problems.append(f"missing {name} {shape}")
        elif list(found[name].shape) != shape:
            problems.append(f"{name} is {list(found[name].shape)}, the config asks for {shape}")
    return problems + [f"unknown {k} {list(v.shape)}" for k, v in found.items() if k not in expected]


def report(problems: list[str], folder: Path) -> None:
    """Raise for tensors that do not fit, the first few by name."""
    if problems:
        more = f", and {len(problems) - 4} more" if len(problems) > 4 else ""
        raise FolderError(f"{folder}: the tensors do not fit the config: {'; '.join(problems[:4])}{more}")


def reasons_against(config: Config) -> list[str]:
    """Why transformers has no class that computes what this config does; empty when it has."""
    kind = family.family(config)
    xlnet, bert = kind == "xlnet", kind in ("bert", "roberta")
    unshare = "(add --sharing none to leave unshared)"
    shares = config.sharing != "none" and kind not in ("albert", "roformer")
    usual = (False, False) if xlnet else (True, True)
    small_print = (config.embedding_norm, config.attention_bias)
    odd = (
        kind == "albert" and config.sharing == "all" and hf_config.floats_err(config.layers, config.groups) is not None
    )
    against = {
        "norm 'pre' (its classes are post-norm)": config.norm == "pre",
        "mapping 'early' (its classes map after the sum)": config.mapping == "early",
        f"sharing '{config.sharing}' {unshare}": config.sharing in ("attention", "ffn") or shares,
        "segments 0 (it always adds one)": config.segments == 0 and not xlnet,
        f"clamp {config.clamp} with {kind}": bool(config.clamp) and not xlnet,
        f"embedding_norm, attention_bias {small_print} with {kind}": small_print != usual,
        "relative positions without XLNet's own embedding, segments and objective": xlnet
        and (config.mapped or not config.segments or "plm" not in config.objectives),
        f"embedding {config.embedding} of hidden {config.hidden} with {kind}": bert and config.mapped,
        f"position_offset {config.position_offset} with pad {config.pad} (it counts from pad + 1)": kind == "roberta"
        and config.position_offset != config.pad + 1,
        f"inner {config.inner} with {kind}": config.inner > 1 and kind != "albert",
        "visibility 'left-to-right' with albert (its class always looks both ways)": kind == "albert"
        and config.visibility == "left-to-right",
        f"groups {config.groups} of {config.layers} layers (its float arithmetic groups them otherwise)": odd,
        f"a mapping at embedding = hidden with {kind}": config.mapping == "always"
        and config.embedding == config.hidden
        and kind not in ("albert", "bert", "roberta"),
    }
    return [reason for reason, holds in against.items() if holds]


def write(model: Model, folder: Path, extras: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """config.json and model.safetensors, and beside them what has no place there; gives back the config written.

    The model's config must be one that `reasons_against` has nothing against, unshared where the family is RoFormer.
    """
    config, kind = model.config, family.family(model.config)
    title, worn = hf_heads.class_for(model)
    names = hf_keys.table(kind, config, {k: model.specs[k] for k in worn})
    inside, beside = {}, {}
    for ours, tensor in model.state_dict().items():
        theirs = hf_keys.theirs(ours, names)
        if theirs is None:
            beside[ours] = tensor
        else:
            bare = theirs.removeprefix(hf_keys.PREFIX[kind]) if title.endswith("Model") and not worn else theirs
            inside[bare] = hf_keys.layout(kind, ours, config)[1](tensor)
    if kind == "roformer":
        prefix = hf_keys.PREFIX[kind] if worn else ""
        inside[f"{prefix}encoder.embed_positions.weight"] = _angles_table(config, model.embedding.word.weight.dtype)
    written = {**(extras or {}), **config_fields(model)}
    written |= {"dtype": str(model.embedding.word.weight.dtype).removeprefix("torch.")}
    tensors.write_file(folder / tensors.NAME, inside)
    if beside:
        tensors.write_file(folder / BESIDE, beside)
    else:
        (folder / BESIDE).unlink(missing_ok=True)
    files.write_json(folder / "config.json", written)
    return written


def config_fields(model: Model) -> dict[str, Any]:
    """What config.json says of a model of that kind, whatever its numbers are."""
    title, worn = hf_heads.class_for(model)
    heads = hf_heads.fields(family.family(model.config), model.specs, worn)
    return {**hf_config.write(model.config), **heads, "architectures": [title]}


def _normalised(found: dict[str, Tensor], kind: family.Family, folder: Path) -> dict[str, Tensor]:
    """Old spellings made new, the prefix made present, computed tables and tied copies checked and left out."""
    prefix = hf_keys.PREFIX[kind]
    named = {k.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias"): v
             for k, v in found.items()}  # fmt: skip
    if not any(k.startswith(prefix) for k in named):
        named = {prefix + k: v for k, v in named.items()}
    named = {k: v for k, v in named.items() if k.removeprefix(prefix) not in hf_keys.COMPUTED}
    for copy, source in hf_keys.TIED[kind].items():
        if copy in named and source in named:
            if not torch.equal(named[copy], named[source]):
                raise FolderError(f"{folder}: {copy} differs from {source}, but litebert ties them: use a tied model")
            del named[copy]
    return named


def _angles_table(config: Config, dtype: torch.dtype) -> Tensor:
    """RoFormer's stored table [P, D]: sines, then cosines, in float64 and rounded once, as its own class makes it."""
    place = torch.arange(config.max_positions or hf_config.ROWS, dtype=torch.float64)[:, None]
    power = torch.arange(0, config.head_width, 2, dtype=torch.float64) / config.head_width
    angle = place / torch.pow(torch.tensor(10000.0, dtype=torch.float64), power)
    return torch.cat([angle.sin(), angle.cos()], dim=1).float().to(dtype)
