"""How does a vocab.txt become a tokenizer? BERT's normalisation and words, and one piece a line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import tokenizers
from tokenizers import models, pre_tokenizers

from litebert.errors import UserError
from litebert.text import assemble, normalise
from litebert.text.tokenizer import LENGTH, Tokenizer


def read(
    path: str | Path, lowercase: bool | None = None, strip_accents: bool | None = None, length: int = LENGTH
) -> Tokenizer:
    """A tokenizer from a vocab.txt. Unsaid, lower case is what a vocabulary without capitals asks for."""
    file = Path(path)
    pieces = _pieces(file)
    names = assemble.names_in(pieces, file)
    lower = normalise.is_lower(set(pieces).difference(names.values())) if lowercase is None else lowercase
    return assemble.finished(engine(pieces, names["unk"], lower, lower if strip_accents is None else strip_accents),
                             names, length=length)  # fmt: skip


def engine(pieces: Mapping[str, int], unk: str, lowercase: bool, strip_accents: bool) -> tokenizers.Tokenizer:
    """WordPiece as BERT has it: the longest piece first, `##` on what goes on with a word."""
    made = tokenizers.Tokenizer(models.WordPiece(dict(pieces), unk_token=unk))
    made.normalizer = normalise.bert(lowercase, strip_accents)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made


def _pieces(file: Path) -> dict[str, int]:
    try:
        # Only a line feed ends a piece: U+2028 is a piece of the Chinese BERT's.
        lines = file.read_bytes().decode("utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not UTF-8 (byte {error.start}): a vocab.txt has one piece a line") from None
    pieces: dict[str, int] = {}
    for number, line in enumerate(lines):
        piece = line.removesuffix("\r")
        if not piece:
            raise UserError(f"{file}:{number + 1} is empty: a vocab.txt has one piece a line")
        if piece in pieces:
            raise UserError(
                f"{file}:{number + 1} repeats {piece!r} of line {pieces[piece] + 1}: ids are line numbers, give it one"
            )
        pieces[piece] = number
    return pieces
