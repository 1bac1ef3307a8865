"""Where do a verb's texts come from, and its model? Arguments, a file or standard input; the folder of a run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from litebert.errors import UserError

if TYPE_CHECKING:
    from litebert.model.model import Model
    from litebert.text.tokenizer import Tokenizer

STDIN = "-"
_LOG = "log.jsonl"  # of a run


def given(arguments: Sequence[str], file: Path | None) -> list[str]:
    """The texts of a call: its arguments, or the lines of a file, or those of standard input."""
    if arguments and list(arguments) != [STDIN]:
        if file is not None:
            raise UserError(f"texts and a file ({file}): give one of them")
        return list(arguments)
    if file is not None and not arguments:
        if not file.is_file():
            raise UserError(f"{file} is no file: name one with a text on each line")
        found = _lines(file.read_bytes(), str(file))
    elif file is None:
        if sys.stdin.isatty():
            raise UserError("no text: give it as an argument, or by standard input (echo ... | litebert ...)")
        found = _lines(sys.stdin.buffer.read(), "standard input")
    else:
        raise UserError(f"standard input and a file ({file}): give one of them")
    if not found:
        raise UserError(f"{file or 'standard input'} holds no text: put one on each line")
    return found


def opened(folder: Path) -> tuple[Model, Tokenizer]:
    """The model of a folder with the heads that it has learnt, none drawn anew, and its tokenizer."""
    from litebert.interop import folder as folders
    from litebert.text.tokenizer import load

    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise UserError(f"{folder} {what}: name the folder of a run, which holds a trained model")
    if (folder / _LOG).is_file() and not (folder / folders.OURS).is_file():
        raise UserError(f"{folder} holds a run without its model yet: let it end, or stop it with Ctrl-C, which saves")
    return folders.load(folder), load(folder)


def _lines(data: bytes, source: str) -> list[str]:
    """Texts that a line feed ends, and nothing else does: the number of a row is the number of its line."""
    try:
        lines = data.decode("utf-8-sig").split("\n")
        return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{source}:{line}: byte 0x{data[error.start]:02x} is not UTF-8: convert the text") from None
