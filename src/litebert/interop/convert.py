"""How does a model go from one folder to another, changed on the way if asked, and how far did that move it?"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from litebert import family, files, presets
from litebert.files import FolderError
from litebert.interop import folder, hf_keys, tf
from litebert.interop.folder import Form
from litebert.model import factorise, model, onednn, reshape
from litebert.model.model import Model

_TEXT = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.txt",
         "vocab.json", "merges.txt", "*.model", "*.vocab", "generation_config.json")  # fmt: skip
_NOT_CARRIED = ("transformers_version", "architectures", "dtype", "torch_dtype", "id2label", "label2id")


class Converted(NamedTuple):
    """What a conversion did."""

    form: str
    model: Model
    notes: list[str]


class Row(NamedTuple):
    """One line of a check: a layer or head, and the largest difference of the two sides."""

    what: str
    difference: float


def convert(
    source: str | Path,
    target: str | Path,
    to: Form = "auto",
    *,
    sharing: str | None = None,
    groups: int | None = None,
    how: reshape.How = "average",
    embedding: int | None = None,
    part: tf.Part = "discriminator",
    overwrite: bool = False,
) -> Converted:
    """The model of `source` (folder, TensorFlow checkpoint, preset) written to the folder `target`."""
    start, end = Path(source), Path(target)
    if end.exists() and not end.is_dir():
        raise FolderError(f"{end} is a file: name a folder to write")
    if start.exists() and end.resolve() == start.resolve():
        raise FolderError(f"{end} is the source itself: choose another folder")
    if end.exists() and any(end.iterdir()) and not overwrite:
        raise FolderError(f"{end} exists and is not empty: choose another folder, or add --overwrite")
    made, notes = read(source, part), []
    if sharing is not None or groups is not None:
        made, moved = _reshared(made, sharing, groups, how)
        notes.append(moved)
    if embedding is not None:
        result = factorise.factorise(made, embedding)
        made = result.model
        notes.append(
            f"embedding {result.model.config.embedding}: word table off by {result.word_error:.4f} of its length, "
            f"the encoder's input by {result.output_error:.4f}, mean cosine {result.output_cosine:.4f}"
        )
        for name in result.dropped:
            notes.append(f"head {name} is tied to the old width and was left out: train a new one")
    form = folder.save(made, end, to, _extras(start))
    for pattern in _TEXT if overwrite else ():  # another model's tokenizer would stay and be believed
        for file in end.glob(pattern):
            file.unlink()
    if form == "hf" and made.config.sharing != "none" and family.family(made.config) == "roformer":
        notes.append(f"written unshared ({made.config.depth} blocks): transformers' RoFormer shares nothing")
    beside = start.parent if tf.is_checkpoint(start) and not start.is_dir() else start
    for pattern in _TEXT:
        for file in sorted(beside.glob(pattern)) if beside.is_dir() else []:
            shutil.copyfile(file, end / file.name)
    return Converted(form, made, notes)


def read(source: str | Path, part: tf.Part = "discriminator") -> Model:
    """A model from anything that can be converted."""
    path = Path(source)
    if part == "generator":
        if not tf.is_checkpoint(path):
            raise FolderError(f"{path} holds one model: --part generator is for ELECTRA's TensorFlow checkpoints")
        parts = tf.read(path, part)
        made = model.build(parts.config, parts.heads, device="meta")
        made.load_state_dict(parts.state, assign=True)
        return made.eval()
    if not path.exists() and str(source) in presets.names():  # a new model, ready to be pre-trained
        return folder.load(source, family.pretraining_heads(presets.preset(str(source))))
    return folder.load(source)


def check(before: Model, after: Model) -> list[Row]:
    """The largest difference at every layer and head of two models on the same random text, padding included."""
    ids, mask, segments = _probe(before)
    with torch.inference_mode():
        one, other = (m.eval()(ids, mask, segments) for m in (before, after))
        rows = [Row(_layer(i), _gap(a, b)) for i, (a, b) in enumerate(zip(one.hidden, other.hidden, strict=True))]
        if one.pooled is not None and other.pooled is not None:
            rows.append(Row("pooled", _gap(one.pooled, other.pooled)))
        for name in before.specs:
            if name in after.specs:
                a, b = before.logits(name, one), after.logits(name, other)
                rows.append(Row(f"head {name}", _gap(a, b)))
    return rows


def check_transformers(made: Model, path: Path) -> list[Row]:
    """The largest difference at every layer between us and the class that transformers loads from the folder.

    Both compute by PyTorch's own products: what shows is the conversion, not how two kernels round (on random words
    that grows to 1e-4 in 24 layers).
    """
    title = (files.read_json(path / "config.json").get("architectures") or ["AutoModel"])[0]
    ids, mask, segments = _probe(made)
    padding: Tensor | None = mask
    if made.config.positions == "relative" and made.config.visibility == "left-to-right":
        padding = None  # transformers' XLNet adds a batch of masks in place to one mask, and fails
    fed = {"input_ids": ids, "attention_mask": padding, "token_type_ids": segments}
    if title.endswith("MultipleChoice"):
        fed = {k: v[:, None] for k, v in fed.items() if v is not None}
    theirs, way = _theirs(title, path), made.path
    made.path = "fused"  # as theirs is
    with torch.no_grad(), onednn.switched_off():
        result, out = theirs(**fed, output_hidden_states=True), made(ids, padding, segments)
        states = enumerate(zip(out.hidden, result.hidden_states, strict=True))
        rows = [Row(_layer(i), _gap(mine, other.to(mine.dtype))) for i, (mine, other) in states]
        for name, other in _said(result, made, title).items():
            mine = out.pooled if name == "pooled" else made.logits(name, out)
            if name == "span-answerable":  # scores only: two places that score alike may stand in either order
                mine = torch.cat([mine[i].flatten(1) for i in (0, 2)] + [mine[4][:, None]], dim=1)
            rows.append(Row(name if name == "pooled" else f"head {name}", _gap(mine, other.reshape(mine.shape))))
    made.path = way
    return rows


def _theirs(title: str, path: Path) -> torch.nn.Module:
    """What transformers loads; a pooler that its class has no use for is no news here."""
    import transformers

    logging = transformers.utils.logging
    logging.disable_progress_bar()
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    loaded: torch.nn.Module = getattr(transformers, title).from_pretrained(path, local_files_only=True)
    logging.set_verbosity(verbosity)
    return loaded.eval()


def _said(result: Any, made: Model, title: str) -> dict[str, Tensor]:
    """What a transformers result says besides its states, under the names of the heads that its class wears."""
    kind = family.family(made.config)
    worn = hf_keys.CLASSES[kind].get(title.removeprefix(hf_keys.TITLE[kind]), ())
    fields = {"prediction_logits": "mlm", "sop_logits": "order", "seq_relationship_logits": "order"}
    said = {name: result[field] for field, name in fields.items() if result.get(field) is not None}
    if result.get("start_logits") is not None:
        said["span"] = torch.stack([result.start_logits, result.end_logits], dim=-1)
    elif result.get("start_top_index") is not None:
        # What it calls log-probabilities are probabilities, and its pairs lie end first: [B, ends, starts].
        start, end = result.start_top_log_probs.log(), result.end_top_log_probs.log()
        pairs = end.view(len(end), -1, start.shape[1]).mT
        said["span-answerable"] = torch.cat([start, pairs.flatten(1), result.cls_logits[:, None]], dim=1)
    elif result.get("logits") is not None and len(worn) == 1:
        said[worn[0]] = result.logits
    if result.get("pooler_output") is not None and made.config.pooler == "cls":
        said["pooled"] = result.pooler_output
    return said


def _reshared(made: Model, sharing: str | None, groups: int | None, how: reshape.How) -> tuple[Model, str]:
    before = made.config
    after = reshape.other_sharing(before, sharing, groups)
    state, moved = reshape.resharing(made.state_dict(), before, after, how)
    lossless = "nothing moved" if moved == 0 else f"merging ({how}) moved a weight by up to {moved:.4g}"
    note = f"sharing {before.sharing}/{before.groups} → {after.sharing}/{after.groups}: {lossless}"
    return reshape.with_state(after, made, state), note


def _extras(start: Path) -> dict[str, Any]:
    """Fields of the source's config.json that we do not know and carry over."""
    if not (start / "config.json").is_file() or tf.is_checkpoint(start):
        return {}
    return {k: v for k, v in files.read_json(start / "config.json").items() if k not in _NOT_CARRIED}


def _probe(made: Model) -> tuple[Tensor, Tensor, Tensor]:
    """Ids [2, T], mask and segments; the second text is padded."""
    config = made.config
    length = min(24, config.max_positions or 24)
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(0, config.vocab, (2, length), generator=generator)
    ids[ids == config.pad] = (config.pad + 1) % config.vocab
    mask, segments = torch.ones_like(ids), torch.zeros_like(ids)
    mask[1, length // 2 :], ids[1, length // 2 :] = 0, config.pad
    if config.segments > 1:
        segments[:, length // 3 :] = 1
    return ids, mask, segments


def _gap(a: Tensor | Sequence[Tensor], b: Tensor | Sequence[Tensor]) -> float:
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return float((a.detach().double() - b.detach().double()).abs().max())
    return max(_gap(x, y) for x, y in zip(a, b, strict=True))


def _layer(i: int) -> str:
    return "embedding" if i == 0 else f"layer {i}"
