"""Which pieces begin a word? Said for every piece of any tokenizer, from what is written in the piece itself.

A piece begins a word if it carries its tokenizer's mark for that (`▁`, `Ġ`, no `##`). Without the mark it still begins
one if its first character cannot go on with a word: punctuation stands alone, as BERT's words have it, and so does a
character of a script that writes no spaces. google-research/albert counts every piece with something else than a to z
as a beginning, accents and Cyrillic with it; here letters, digits and marks of any script go on with their word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

METASPACE = "▁"  # U+2581, which SentencePiece writes for a space
_SPACELESS = re.compile("[\u3040-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]")


def begins(pieces: Iterable[str], mark: str, text: Callable[[str], str] = str) -> NDArray[np.bool_]:
    """[V] whether each piece begins a word: `mark` is `▁` or `Ġ`, `text` gives the characters of what follows it."""
    return np.array([piece.startswith(mark) or not _goes_on(text(piece)) for piece in pieces], bool)


def begins_unless(pieces: Iterable[str], prefix: str) -> NDArray[np.bool_]:
    """[V] the same where the pieces that go on with a word are marked, by WordPiece's `##`."""
    return np.array([not piece.startswith(prefix) for piece in pieces], bool)


def is_spaceless(character: str) -> bool:
    """Whether a character is of a script that writes no spaces and whose characters are words by themselves."""
    return bool(_SPACELESS.match(character))


def has_spaceless(text: str) -> bool:
    """Whether any character of a text is of such a script."""
    return not text.isascii() and bool(_SPACELESS.search(text))


def _goes_on(text: str) -> bool:
    return not text or (unicodedata.category(text[0])[0] in "LNM" and not is_spaceless(text[0]))


def _bytes_of_letters() -> dict[str, int]:
    """GPT-2's letters for bytes: printable Latin-1 stands for itself, the other bytes follow from U+0100 on."""
    itself = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in itself]
    return {chr(byte): byte for byte in itself} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


_BYTES = _bytes_of_letters()


def characters(piece: str) -> str:
    """The whole characters that a byte-level piece spells."""
    return bytes(_BYTES[letter] for letter in piece if letter in _BYTES).decode("utf-8", "ignore")


def first_character(piece: str) -> str:
    """The first character that a byte-level piece spells: of one cut short, a neighbour; of a rest of one, nothing."""
    data = bytes(_BYTES[letter] for letter in piece[:4] if letter in _BYTES)
    lead = data[0] if data else 0
    size = 1 if lead < 0x80 else 0 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    return (data[:size] + b"\x80" * (size - len(data))).decode("utf-8", "ignore")
