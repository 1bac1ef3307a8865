"""How does a SentencePiece .model become a tokenizer.json with the same ids? Read as the protocol buffer that it is.

Two things the engine cannot say as SentencePiece does. Where two cuts of a word score alike but for the rounding of
32-bit sums, either may come out. And ALBERT cuts a piece that ends digit and comma once more, after the fact
(tokenization.py: encode_pieces): here such pieces score so low that the word is cut without them, as transformers
has it. In 15.6 million words of the English Wikipedia 29 sentences are cut otherwise (LOG.md).
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import tokenizers
from tokenizers import Regex, models, pre_tokenizers

from litebert.errors import UserError
from litebert.text import assemble, normalise
from litebert.text.pieces import METASPACE
from litebert.text.tokenizer import LENGTH, Tokenizer

_NORMAL, _UNKNOWN, _CONTROL, _USER = 1, 2, 3, 4
_TYPES = {_NORMAL, _UNKNOWN, _CONTROL, _USER}
_UNIGRAM = 1
_COMMA = 100.0  # what a piece that ends digit and comma loses of its score
_DECIMALS = 10  # of a score: as many as every reader of JSON, the engine's too, reads back to the last bit
_MODEL_NAMES = {2: "BPE", 3: "word", 4: "character"}


class Piece(NamedTuple):
    """An entry of the vocabulary."""

    text: str
    score: float
    type: int


class Model(NamedTuple):
    """What a .model says."""

    pieces: list[Piece]
    charsmap: bytes  # the compiled map of characters
    rule: str  # what it was compiled from: nmt_nfkc


def read(
    path: str | Path, lowercase: bool | None = None, strip_accents: bool | None = None, split_commas: bool = True,
    length: int = LENGTH,
) -> Tokenizer:  # fmt: skip
    """A tokenizer from a .model. Unsaid, case and accents are dropped if the vocabulary knows neither."""
    file = Path(path)
    return converted(parse(file.read_bytes(), file), lowercase, strip_accents, split_commas, length, file)


def converted(
    model: Model, lowercase: bool | None = None, strip_accents: bool | None = None, split_commas: bool = True,
    length: int = LENGTH, where: object = "the model",
) -> Tokenizer:  # fmt: skip
    """A tokenizer with a model's ids."""
    texts = [piece.text for piece in model.pieces if piece.type == _NORMAL]
    lower = normalise.is_lower(texts) if lowercase is None else lowercase
    strip = not any(map(normalise.has_accent, texts)) if strip_accents is None else strip_accents
    names = assemble.names_in((piece.text for piece in model.pieces), where)
    unknown = [i for i, piece in enumerate(model.pieces) if piece.type == _UNKNOWN]
    if len(unknown) != 1:
        raise UserError(f"{where} has {len(unknown)} unknown pieces, not one: copy it again, or train another")
    try:
        engine = tokenizers.Tokenizer(models.Unigram(_scores(model.pieces, split_commas), unk_id=unknown[0]))
        engine.normalizer = normalise.albert(lower, strip, model.charsmap, model.rule)
    except Exception as error:
        raise UserError(f"{where} does not make a tokenizer ({' '.join(str(error).split())}): copy it again") from None
    engine.pre_tokenizer = _pre_tokenizer(engine, model.pieces)
    controls = [piece.text for piece in model.pieces if piece.type in (_CONTROL, _UNKNOWN)]
    return assemble.finished(engine, names, controls, length)


def parse(data: bytes, where: object) -> Model:
    """The parts of a .model that decide ids, checked (sentencepiece_model.proto: ModelProto)."""
    pieces: list[Piece] = []
    trainer: dict[int, Any] | None = None
    normalizer: dict[int, Any] | None = None
    try:
        for field, value in _fields(data):
            if field == 1:
                piece = dict(_fields(value))
                pieces.append(Piece(bytes(piece[1]).decode(), _float(piece.get(2, b"\0" * 4)), piece.get(3, _NORMAL)))
            elif field == 2:
                trainer = dict(_fields(value))
            elif field == 3:
                normalizer = dict(_fields(value))
        if not pieces or trainer is None or normalizer is None:
            raise ValueError("it ends before its normaliser" if pieces else "it has no pieces")
        charsmap, rule = bytes(normalizer.get(2, b"")), bytes(normalizer.get(1, b"")).decode()
        if charsmap and struct.unpack_from("<I", charsmap)[0] + 4 > len(charsmap):
            raise ValueError("its map of characters is cut short")
        _check(pieces, trainer, normalizer)
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    except (ValueError, KeyError, IndexError, TypeError, struct.error) as error:
        raise UserError(f"{where} is not a SentencePiece model, or damaged ({error}): copy it again") from None
    return Model(pieces, charsmap, rule)


def _check(pieces: list[Piece], trainer: dict[int, Any], normalizer: dict[int, Any]) -> None:
    kind = trainer.get(3, _UNIGRAM)
    if kind != _UNIGRAM:
        raise UserError(f"a {_MODEL_NAMES.get(kind, kind)} model: only unigram models are read, train one of them")
    if not (normalizer.get(3, 1) and normalizer.get(4, 1) and normalizer.get(5, 1)) or trainer.get(24, 0):
        raise UserError("it treats spaces otherwise than ALBERT does: train it with SentencePiece's defaults for them")
    seen: set[str] = set()
    for number, piece in enumerate(pieces):
        if piece.type not in _TYPES:
            raise UserError(f"piece {number} {piece.text!r} is of type {piece.type}: train without byte_fallback")
        if piece.text in seen or not piece.text or not math.isfinite(piece.score):
            raise ValueError(f"piece {number} {piece.text!r} is empty, repeated or without a score")
        seen.add(piece.text)


def _fields(data: bytes | memoryview) -> Iterator[tuple[int, Any]]:
    """(number, value) of a message's fields: integers, 4 or 8 raw bytes, or the bytes of a string or message."""
    view, at = memoryview(data), 0
    while at < len(view):
        key, at = _varint(view, at)
        if key & 7 == 0:
            value, at = _varint(view, at)
            yield key >> 3, value
            continue
        if key & 7 == 2:
            size, at = _varint(view, at)
        elif key & 7 in (1, 5):
            size = 8 if key & 7 == 1 else 4
        else:
            raise ValueError(f"wire type {key & 7} at byte {at}")
        if at + size > len(view):
            raise ValueError(f"cut short at byte {len(view)}")
        yield key >> 3, view[at : at + size]
        at += size


def _varint(view: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = view[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def _float(data: Any) -> float:
    return float(struct.unpack("<f", data)[0])


def _scores(pieces: list[Piece], split_commas: bool) -> list[tuple[str, float]]:
    """Scores as the engine needs them; a user's symbol scores by its bytes (unigram_model.cc: EncodeOptimized)."""
    best = max((piece.score for piece in pieces if piece.type == _NORMAL), default=0.0)
    scores = []
    for text, score, kind in pieces:
        if kind == _USER:
            score = len(text.encode()) * best - 0.1
        elif split_commas and kind == _NORMAL and text[-1] == "," and text[-2:-1].isdigit():
            score -= _COMMA
        scores.append((text, round(score, _DECIMALS)))
    return scores


def _pre_tokenizer(engine: tokenizers.Tokenizer, pieces: list[Piece]) -> pre_tokenizers.PreTokenizer:
    """Words at spaces; and a cut within whatever text spells a control piece, which would match it otherwise."""
    metaspace = pre_tokenizers.Metaspace(METASPACE, prepend_scheme="always")
    spelled = [
        piece.text for piece in pieces
        if piece.type in (_CONTROL, _UNKNOWN) and engine.normalizer.normalize_str(piece.text) == piece.text
    ]  # fmt: skip
    cuts = "|".join(_cut(text, pieces) for text in spelled if len(text) > 1)
    if not cuts:
        return metaspace
    return pre_tokenizers.Sequence([metaspace, pre_tokenizers.Split(Regex(cuts), "merged_with_previous")])


def _cut(control: str, pieces: Iterable[Piece]) -> str:
    """A pattern that ends within a control piece, where no other piece goes across: so the cut changes nothing else."""
    texts = [piece.text for piece in pieces if piece.type in (_NORMAL, _USER)]
    known = {character for text in texts for character in text}
    places = range(1, len(control))
    free = [i for i in places if not any(control[i - 1 : i + 1] in text for text in texts)]
    # Between two characters that are both unknown a cut would make two unknown pieces of one.
    place = next((i for i in free if known.intersection(control[i - 1 : i + 1])), next(iter(free), 1))
    return f"{re.escape(control[:place])}(?={re.escape(control[place:])})"
