"""What does a worker do with a block? It splits sentences, encodes them, and says on which side each document falls.

Nothing here depends on which block a document stands in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from litebert import rng
from litebert.data.blocks import Encodings, Piece
from litebert.data.options import Options
from litebert.data.shards import as_ids
from litebert.errors import UserError
from litebert.text import encode, sentences, tokenizer


class Worker:
    """An encoder, which remembers words from block to block."""

    def __init__(self, folder: Path, options: Options) -> None:
        self.options = options
        self.tokenizer = tokenizer.load(folder)
        self.encoder = encode.Encoder(self.tokenizer, options.words)

    def encode(self, pieces: Sequence[Piece]) -> Encodings:
        """All of a block, or an error that names the document."""
        try:
            return self._encode(pieces)
        except Exception:
            for piece in pieces:  # once more, one by one, to know which
                try:
                    self._encode([piece])
                except Exception as error:
                    raise _named(error, piece) from error
            raise

    def _encode(self, pieces: Sequence[Piece]) -> Encodings:
        texts: list[str] = []
        counts, sizes, held = [], [], []
        for piece in pieces:
            found = sentences.split(piece.text, self.options.lines)
            data = piece.text.encode("utf-8", "surrogatepass")
            texts += found
            counts.append(len(found))
            sizes.append(len(data))
            held.append(piece.first and held_out(data, self.options.seed, self.options.held_out))
        encoded = self.encoder.encode(texts)
        owner = np.repeat(
            np.arange(len(pieces)), np.array(counts, np.int64)
        )  # [all sentences] the piece that each belongs to
        lengths = np.asarray(encoded.lengths, np.int64)
        return Encodings(
            as_ids(encoded.ids, self.tokenizer.size),
            np.asarray(encoded.starts, bool),
            lengths[lengths > 0],
            np.bincount(owner[lengths > 0], minlength=len(pieces)),
            np.bincount(owner[lengths == 0], minlength=len(pieces)),
            np.bincount(owner, weights=lengths, minlength=len(pieces)).astype(np.int64),
            np.array(sizes, np.int64),
            np.array(held, bool),
        )


def held_out(text: bytes, seed: int, share: float) -> bool:
    """Whether a document is for validation: its content decides, so a copy of it falls on the same side."""
    if not share:
        return False
    content = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
    return rng.key(seed, "held-out", content) < share * 2.0**64


def _named(error: Exception, piece: Piece) -> Exception:
    where = f"{piece.source}:{piece.place}"
    if isinstance(error, UserError):
        return UserError(f"{where}: {error}")
    return ChildProcessError(f"{where} could not be encoded ({type(error).__name__}: {error})")
