"""How well does a tokenizer fit a text? Characters a token, tokens a word, and how much of it is unknown."""

from __future__ import annotations

from typing import NamedTuple

from litebert.text.encode import Encoder
from litebert.text.sample import Sample
from litebert.text.tokenizer import Tokenizer

_SIZE = 4 << 20  # bytes of a sample, evenly from all of it: enough for three digits


class Fit(NamedTuple):
    """What a text comes to."""

    characters: int
    words: int  # by the beginnings that the pieces know
    tokens: int
    unknown: int  # tokens

    @property
    def characters_a_token(self) -> float:
        """More is better: the same text in fewer places."""
        return self.characters / max(1, self.tokens)

    @property
    def tokens_a_word(self) -> float:
        """1 where every word is a piece."""
        return self.tokens / max(1, self.words)

    @property
    def unknown_share(self) -> float:
        """Of the tokens."""
        return self.unknown / max(1, self.tokens)


def fit(tokenizer: Tokenizer, sample: Sample) -> Fit:
    """How a sample, or enough of it, is encoded."""
    step = -(-sample.size // _SIZE)
    texts = list(sample._replace(chunks=sample.chunks[::step]).sentences())
    found = Encoder(tokenizer).encode(texts)
    unknown = int((found.ids == tokenizer.specials.unk).sum())
    return Fit(sum(map(len, texts)), int(found.starts.sum()), len(found.ids), unknown)
