"""Where in a text does each of its pieces stand? The engine's answer, mended where it is off.

The engine follows every character through the normaliser, but for three things. What a replacement makes of several
characters stands on the last of them: the `"` that was two quotes would lose the first. A mark that is dropped belongs
to no piece: an answer that ends on it would lose it. And the space that SentencePiece puts before a text stands on the
text's first character. Shapes: P pieces.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.tasks.examples import Place, refuse
from litebert.text.pieces import METASPACE
from litebert.text.tokenizer import Tokenizer

_QUOTES = ("``", "''")  # each becomes one piece
_BATCH = 512  # texts that the engine is given at once


class Stretch(NamedTuple):
    """Pieces `first` to `last`, both among them."""

    first: int
    last: int


class Located(NamedTuple):
    """A text's pieces, and the characters `begins` to `ends` that each was made of; both only ever grow."""

    text: str
    ids: NDArray[np.int32]  # [P]
    begins: NDArray[np.int32]  # [P]
    ends: NDArray[np.int32]  # [P]

    def characters(self, pieces: Stretch) -> tuple[int, int]:
        """What pieces were made of, from where to where, without the space around it; (n, n) if nothing is left."""
        begin, end = int(self.begins[pieces.first]), int(self.ends[pieces.last])
        while begin < end and _is_blank(self.text[begin]):
            begin += 1
        while end > begin and _is_blank(self.text[end - 1]):
            end -= 1
        return begin, end

    def covering(self, begin: int, end: int) -> Stretch | None:
        """The pieces that these characters are in; None where they made no piece."""
        first = int(np.searchsorted(self.ends, begin, side="right"))
        last = int(np.searchsorted(self.begins, end, side="left")) - 1
        return Stretch(first, last) if first <= last else None

    def exactly(self, begin: int, end: int) -> Stretch | None:
        """The pieces that these characters are, no more and no less, space around them aside."""
        pieces = self.covering(begin, end)
        if pieces is None:
            return None
        found = self.characters(pieces)
        return pieces if self.text[slice(*found)] == self.text[begin:end].strip() else None


def located(texts: Sequence[str], places: Sequence[Place], tokenizer: Tokenizer) -> list[Located]:
    """Every text's pieces; a text that comes again is cut only once."""
    for text, place in zip(texts, places, strict=True):
        refuse_broken(text, place)
    different = list(dict.fromkeys(texts))
    bare = tokenizer.engine.token_to_id(METASPACE)
    known: dict[str, Located] = {}
    for start in range(0, len(different), _BATCH):
        batch = different[start : start + _BATCH]
        for text, found in zip(batch, tokenizer.engine.encode_batch(batch, add_special_tokens=False), strict=True):
            known[text] = _mended(text, np.array(found.ids, np.int32), found.offsets, -1 if bare is None else bare)
    return [known[text] for text in texts]


def refuse_broken(text: str, place: Place) -> None:
    """Raise where a text holds what is no character."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        what = f"{text[error.start]!r} at character {error.start + 1} is half a character"
        raise refuse(place, what, "repair the source, or leave the row out") from None


def _mended(text: str, ids: NDArray[np.int32], offsets: Sequence[tuple[int, int]], bare: int) -> Located:
    """bare: the piece that is a space and nothing else."""
    both = np.array(offsets, np.int32).reshape(-1, 2)
    begins, ends = both[:, 0].copy(), both[:, 1].copy()
    for at in np.flatnonzero(ids == bare).tolist():
        if not _is_blank(text[begins[at]]):  # a space that is not in the text
            ends[at] = begins[at]
    ends = np.maximum.accumulate(ends)
    before = np.concatenate([np.zeros(1, np.int32), ends])  # [P + 1] where the text goes on behind each piece
    after = np.append(begins, np.int32(len(text)))  # [P + 1] where its next piece begins
    for at in np.flatnonzero(before < after).tolist():
        begin, end = int(before[at]), int(after[at])
        if text[begin:end].isspace():
            continue
        if at:
            ends[at - 1] = begin + _marks(text, begin, end)
        if end > begin and text[end - 1 : end + 1] in _QUOTES:
            last = at
            while last < len(begins) and begins[last] <= end:  # a bare space stands where its word begins
                ends[last] -= ends[last] == begins[last]
                begins[last] -= 1
                last += 1
    return Located(text, ids, begins, ends)


def _marks(text: str, begin: int, end: int) -> int:
    """How many marks stand there, one after another."""
    count = 0
    while begin + count < end and unicodedata.category(text[begin + count])[0] == "M":
        count += 1
    return count


def _is_blank(character: str) -> bool:
    """Whether it shows nothing: space, control characters, and those that only say how others are to be set."""
    return character.isspace() or unicodedata.category(character) in ("Cc", "Cf")
