"""How is a model loaded and saved? By name, config or folder; what is saved is a Hugging Face folder where it can be.

A folder is one of three: Hugging Face's (config.json, model.safetensors, and litebert.json for what its config cannot
say), our own (litebert.json and model.safetensors under our names), or an original TensorFlow checkpoint.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from litebert import __version__, family, files, presets
from litebert.config import Config, ConfigError, Head, build
from litebert.files import FolderError
from litebert.interop import hf, hf_config, tensors, tf
from litebert.interop.hf import Parts
from litebert.model import init, model, reshape
from litebert.model.model import Model

OURS = "litebert.json"
Form = Literal["auto", "hf", "litebert"]


def load(
    name: str | Path | Config,
    heads: Iterable[str] | Mapping[str, int | Head] | None = None,
    *,
    seed: int = 0,
    dtype: torch.dtype | None = None,
    device: str = "cpu",
    **changes: Any,
) -> Model:
    """A model by preset or Config (new weights) or folder (its own), in eval mode: `load("albert-base", ["mlm"])`.

    heads: those to wear, `["mlm", "order"]` or `{"classify": 3}`; None = a folder's own, none for a preset. A head that
    the folder lacks is new, drawn from `seed`. changes: config fields that no weight depends on, or any for a preset.
    """
    if isinstance(name, Config):
        made = model.build(_changed(name, changes), () if heads is None else heads, seed=seed)
    elif not Path(name).is_dir() and str(name) in presets.names():
        made = model.build(_changed(presets.preset(str(name)), changes), () if heads is None else heads, seed=seed)
    else:
        parts, path = read(Path(name)), Path(name)
        made = _wear(_changed(parts.config, changes), parts, heads, seed, path)
    return made.to(device=device, dtype=dtype).eval()


def read(path: Path) -> Parts:
    """Config, heads and tensors of any folder or TensorFlow checkpoint that we know."""
    if not path.is_dir() and not tf.is_checkpoint(path):
        raise FolderError(presets.nowhere(path))
    if (path / "config.json").is_file() and not tf.is_checkpoint(path):
        return _with_ours(path, hf.read(path))
    if (path / OURS).is_file():
        return _read_ours(path)
    if tf.is_checkpoint(path):
        return tf.read(path)
    if path.is_dir() and any(path.glob("*.safetensors")):
        raise FolderError(f"{path} has tensors but neither config.json nor {OURS}: copy the config beside them")
    tensors.parts(path)
    raise FolderError(f"{path} has no config.json and no {OURS}: name a folder that holds a model")


def save(model: Model, folder: str | Path, to: Form = "auto", extras: Mapping[str, Any] | None = None) -> str:
    """The model in a folder; gives back the form written. auto = Hugging Face where a class exists, else our own.

    `hf` refuses what transformers cannot compute. A shared rotary model leaves as an unshared RoFormer, and
    litebert.json remembers the sharing.
    """
    path = Path(folder)
    against = hf.reasons_against(model.config)
    if to == "hf" and against:
        raise FolderError(f"transformers has no class for {'; '.join(against)}: write it with --to litebert")
    stage = path.resolve().with_name(f".{path.resolve().name}.{os.getpid()}")
    try:
        stage.mkdir(parents=True)
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        shutil.rmtree(stage, ignore_errors=True)
        raise FolderError(f"{path} cannot be made ({error.strerror}): name a folder that you may write") from None
    try:
        if to == "litebert" or against:
            tensors.write_file(stage / tensors.NAME, model.state_dict())
        else:
            hf.write(leaving(model), stage, extras)
        files.write_json(stage / OURS, _ours(model, stage))
        _take_place(stage, path)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return "litebert" if to == "litebert" or against else "hf"


def note(model: Model, folder: Path) -> None:
    """litebert.json beside tensors that were saved under our names: so a folder of somebody else's can be loaded."""
    files.write_json(folder / OURS, _ours(model, folder))


def _take_place(stage: Path, path: Path) -> None:
    """Move a written model in; litebert.json last, whose digests tell a folder that was left half-way."""
    old = [tensors.NAME, tensors.INDEX, hf.BESIDE, "config.json", OURS, *(f.name for f in path.glob("model-*-of-*"))]
    for name in old:
        if not (stage / name).exists():
            (path / name).unlink(missing_ok=True)
    for file in sorted(stage.iterdir(), key=lambda file: file.name == OURS):
        os.replace(file, path / file.name)


def leaving(made: Model) -> Model:
    """The model in the shape in which it fits its Hugging Face class, computing the same; tensors may be shared."""
    kind = family.family(made.config)
    if kind == "roformer" and made.config.sharing != "none":
        made = reshape.reshare(made, "none")
    if kind == "xlnet" and not made.config.untied:
        config = made.config.but(untied=True)
        state, _ = reshape.resharing(made.state_dict(), made.config, config)
        made = reshape.with_state(config, made, state)
    if kind == "albert":
        made = reshape.with_mapping(made) if not made.config.mapped else made
    return made


def describe(path: Path) -> tuple[Config, dict[str, Head]]:
    """Config and heads of a folder from its JSON alone, without reading a tensor where litebert.json is there."""
    if (path / OURS).is_file():
        config, heads, stale = _parse_ours(path)
        if not stale:
            return config, heads
    parts = read(path)
    return parts.config, parts.heads


def _wear(
    config: Config, parts: Parts, heads: Iterable[str] | Mapping[str, int | Head] | None, seed: int, path: Path
) -> Model:
    """The parts as a model with the wanted heads, new ones drawn from the seed."""
    wanted = parts.heads if heads is None else _matching(config, parts.heads, heads)
    made = model.build(config, wanted, device="meta")
    expected = made.state_dict()
    state = {k: v for k, v in parts.state.items() if k in expected}
    for name in made.specs:  # a head comes whole or is drawn anew
        mine = [k for k in expected if k.startswith(f"heads.{name}.")]
        misfit = [k for k in mine if k in state and state[k].shape != expected[k].shape]
        if misfit or any(k not in state for k in mine):
            for k in mine:
                state.pop(k, None)
        if misfit:
            had = f"{misfit[0]} is {list(parts.state[misfit[0]].shape)}, not {list(expected[misfit[0]].shape)}"
            warnings.warn(f"head {name} of {path} is another ({had}): a new one is drawn", stacklevel=3)
    body = {k: v for k, v in parts.state.items() if not k.startswith(("heads.", "pooler."))}
    problems = hf.mismatch({k: v for k, v in expected.items() if not k.startswith("heads.")}, {**body, **state})
    hf.report([p for p in problems if " heads." not in f" {p}"], path)
    lacking = [k for k in expected if k not in state]
    if lacking:
        dtype = next(iter(state.values())).dtype
        fresh = model.build(config, wanted, seed=None).to(dtype)
        init.fill(fresh, config, seed, only=lacking)
        state |= {k: v for k, v in fresh.state_dict().items() if k in lacking}
    made.load_state_dict(state, assign=True)
    return made


def _matching(
    config: Config, present: Mapping[str, Head], wanted: Iterable[str] | Mapping[str, int | Head]
) -> dict[str, Head]:
    """The wanted heads, as the folder has them where only the name was given."""
    made = family.heads(config, wanted)
    if isinstance(wanted, Mapping):
        return made
    return {name: present.get(name, spec) for name, spec in made.items()}


def _changed(config: Config, changes: Mapping[str, Any]) -> Config:
    return config.but(**changes) if changes else config


def _ours(made: Model, path: Path) -> dict[str, Any]:
    heads = {name: spec.model_dump(mode="json") for name, spec in made.specs.items()}
    of = {name: files.digest(path / name) for name in (tensors.NAME, hf.BESIDE, "config.json")}
    return {"litebert": __version__, "config": made.config.model_dump(mode="json"), "heads": heads, "sha256": of}


def _parse_ours(path: Path) -> tuple[Config, dict[str, Head], str]:
    """Config and heads of litebert.json, and why it no longer speaks of the files beside it ('' when it does)."""
    values = files.read_json(path / OURS)
    try:
        config = build(values["config"])
        heads = {k: Head(**{**v, "names": tuple(v.get("names", ()))}) for k, v in values.get("heads", {}).items()}
        written = dict(values["sha256"].items())
        changed = [k for k, v in written.items() if files.digest(path / k) != v]
    except KeyError as error:
        raise FolderError(f"{path / OURS} lacks {error}: save the model again") from None
    except (AttributeError, TypeError):
        raise FolderError(f"{path / OURS} is not as litebert writes it: save the model again") from None
    except ConfigError as error:
        raise FolderError(f"{path / OURS}: {error}") from None
    for name, way_out in (("config.json", ""), (hf.BESIDE, f", or delete {OURS} to do without what lay in it")):
        if written.get(name) and not (path / name).is_file():
            raise FolderError(f"{path / OURS} goes with {name}, which is not in the folder: copy it there{way_out}")
    if "config.json" in changed and written["config.json"]:
        fields = _changed_fields(path, config, heads)
        place = changed.index("config.json")
        changed[place : place + 1] = [f"config.json ({', '.join(fields)})"] if fields else []
    return config, heads, f"{' and '.join(changed)} changed since it was written" if changed else ""


def _changed_fields(path: Path, config: Config, heads: Mapping[str, Head]) -> list[str]:
    """The fields of config.json that are no longer as they were written; what somebody added beside them may stay."""
    now = hf.fields(path)
    hf_config.read(now, str(path / "config.json"))
    written = hf.config_fields(leaving(model.build(config, heads, device="meta")))
    return [name for name, value in written.items() if now.get(name) != value]


def _read_ours(path: Path) -> Parts:
    config, heads, changed = _parse_ours(path)
    state = tensors.read(path)
    problems = hf.mismatch(model.build(config, heads, device="meta").state_dict(), state)
    odd = {k: v.dtype for k, v in state.items() if not v.is_floating_point()}
    problems += [f"{k} holds {dtype}, not floating-point numbers" for k, dtype in odd.items()]
    hf.report(problems, path)
    if changed:
        warnings.warn(f"{path}: {changed} by litebert", stacklevel=3)
    return Parts(config, heads, state)


def _with_ours(path: Path, parts: Parts) -> Parts:
    """The Hugging Face folder's parts, with what litebert.json adds, as long as it still speaks of this model."""
    if not (path / OURS).is_file():
        return parts
    config, heads, stale = _parse_ours(path)
    if stale:
        return _without_ours(path, parts, stale)
    beside: dict[str, Tensor] = tensors.read_file(path / hf.BESIDE) if (path / hf.BESIDE).is_file() else {}
    state = parts.state
    expected = model.build(config, heads, device="meta").state_dict()
    if parts.config.sharing == "none" and config.sharing != "none":
        fold = parts.config.but(sharing=config.sharing, groups=config.groups, untied=config.untied)
    else:
        fold = parts.config.but(untied=config.untied)
    state, moved = reshape.resharing(state, parts.config, fold, "first") if fold != parts.config else (state, 0.0)
    if moved:
        return _without_ours(path, parts, f"blocks that it shares differ by up to {moved:.3g}")
    state = _as_named({**state, **beside}, expected)
    hf.report([p for p in hf.mismatch(expected, state) if p.startswith("missing")], path)
    return Parts(config, heads, {k: v for k, v in state.items() if k in expected})


def _without_ours(path: Path, parts: Parts, why: str) -> Parts:
    """The Hugging Face folder's parts alone, with a word."""
    warnings.warn(f"{path / OURS} is left aside: {why}; the model is as config.json says", stacklevel=4)
    return parts


def _as_named(state: dict[str, Tensor], expected: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A head's dense layer that left as a pooler is that head's again."""
    for name in ("classify", "choice"):
        for leaf in ("weight", "bias"):
            ours = f"heads.{name}.dense.{leaf}"
            if ours in expected and ours not in state and f"pooler.dense.{leaf}" in state:
                state[ours] = state[f"pooler.dense.{leaf}"]
    return state
