"""Whose tokenizer is this? A file that another program wrote is read by what it is, with what is said beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from litebert import files
from litebert.errors import UserError
from litebert.text import spiece, tokenizer, wordpiece
from litebert.text.tokenizer import LENGTH, Tokenizer

_NAMES = ("tokenizer.json", "spiece.model", "spm.model", "vocab.txt")
_CHOICES = "a SentencePiece .model, a vocab.txt, a tokenizer.json, or a folder with one of them"


def read(
    path: str | Path, *, lowercase: bool | None = None, strip_accents: bool | None = None, split_commas: bool = True,
    length: int | None = None,
) -> Tokenizer:  # fmt: skip
    """A tokenizer from a .model, a vocab.txt or a tokenizer.json, or from a folder that holds one.

    Unsaid, case, accents and length are as the tokenizer_config.json beside it has them, else as the vocabulary asks.
    """
    file = _file(Path(path))
    if file.suffix == ".json":
        if lowercase is not None or strip_accents is not None or not split_commas:
            raise UserError(f"{file} says itself what becomes of case, accents and commas: leave these options out")
        made = tokenizer.load(file)
        return Tokenizer(made.text, {role: made.name(role) for role in tokenizer.ROLES}, length or made.length)
    said = _said(file)
    if lowercase is None:
        lowercase = said.get("do_lower_case")
    if strip_accents is None:
        kept = said.get("keep_accents")
        strip_accents = said.get("strip_accents") if kept is None else not kept
    size = length or said.get("model_max_length", LENGTH)
    if file.suffix == ".model":
        return spiece.read(file, lowercase, strip_accents, split_commas, size)
    if not split_commas:
        raise UserError(f"{file} has no pieces of digits and commas to split: leave this option out")
    return wordpiece.read(file, lowercase, strip_accents, size)


def _file(path: Path) -> Path:
    if path.is_dir():
        found = [path / name for name in _NAMES if (path / name).is_file()] or sorted(path.glob("*.model"))
        if not found:
            raise UserError(f"{path} holds none of {', '.join(_NAMES)}: name {_CHOICES}")
        return found[0]
    if not path.is_file():
        raise UserError(f"{path} is not there: name {_CHOICES}")
    if path.suffix not in (".model", ".txt", ".json"):
        raise UserError(f"{path} does not say by its suffix what it is: name {_CHOICES}")
    return path


def _said(file: Path) -> dict[str, Any]:
    """What tokenizer_config.json has of what matters here, where it is there and is of the right kind."""
    beside = file.with_name("tokenizer_config.json")
    values = files.read_json(beside) if beside.is_file() else {}
    said = {name: values[name] for name in ("do_lower_case", "keep_accents", "strip_accents")
            if isinstance(values.get(name), bool)}  # fmt: skip
    length = values.get("model_max_length")
    if isinstance(length, int) and 0 < length < 2**31:
        said["model_max_length"] = length
    return said
