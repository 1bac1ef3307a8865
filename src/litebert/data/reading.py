"""How does a piece look to a person, and what kind of piece is it? Without its tokenizer's marks for words.

Shapes: V pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

import numpy as np
from numpy.typing import NDArray

from litebert.data.vocabulary import Vocabulary

if TYPE_CHECKING:
    from litebert.text.tokenizer import Tokenizer

KINDS = ("word starts", "continuations", "digits", "punctuation", "special and unknown")
_CONTINUES, _SPACE, _BYTE_SPACE = "##", "▁", "Ġ"


def spelled(tokenizer: Tokenizer, ids: Iterable[int]) -> list[str]:
    """What each piece spells; of a character that is cut in two, as bytes can be, a replacement character."""
    wanted = [int(i) for i in ids]
    names = tokenizer.pieces(wanted)
    bare = [name.removeprefix(_CONTINUES).replace(_SPACE, " ").strip() for name in names]
    if tokenizer.kind != "bpe":
        return bare
    return [
        text if tokenizer.special[i] else tokenizer.decode([i]).strip() for i, text in zip(wanted, bare, strict=True)
    ]


def spaced(tokenizer: Tokenizer, ids: Iterable[int]) -> list[bool]:
    """Whether a space is written before each piece of a row, as far as its tokenizer remembers."""
    wanted = [int(i) for i in ids]
    names, texts = tokenizer.pieces(wanted), spelled(tokenizer, wanted)
    if tokenizer.kind != "wordpiece":
        return [
            name[:1] in (_SPACE, _BYTE_SPACE) or bool(tokenizer.special[i])
            for i, name in zip(wanted, names, strict=True)
        ]
    found, before = [], ""
    for name, text in zip(names, texts, strict=True):
        joined = before and text and all(east_asian_width(each) in "WF" for each in (before[-1], text[0]))
        found.append(not name.startswith(_CONTINUES) and not joined)
        before = text
    return found


def kinds(vocabulary: Vocabulary, texts: Sequence[str] = ()) -> NDArray[np.uint8]:
    """[V] which of KINDS every piece is, by what it spells; without `texts` only as far as the vocabulary tells."""
    found = np.where(vocabulary.starts, 0, 1).astype(np.uint8)
    for number, text in enumerate(texts):
        if text and all(character.isnumeric() for character in text):
            found[number] = 2
        elif text and not any(character.isalnum() for character in text):
            found[number] = 3
    found[vocabulary.special] = 4
    return found
