"""Where do Chinese words begin? jieba says it (extra `zh`), whatever the pieces: within its words no word begins.

Shapes: C characters.
"""

from __future__ import annotations

import logging
import warnings

import numpy as np
from numpy.typing import NDArray

from litebert.errors import UserError
from litebert.text.pieces import has_spaceless, is_spaceless


class Cutter:
    """Cuts text into words by jieba's own dictionary, and by its guess of words that are not in it."""

    def __init__(self) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # its patterns are written as an older Python read them
                import jieba
        except ImportError:
            raise UserError("words by jieba need jieba, which is not installed: pip install 'litebert[zh]'") from None
        jieba.setLogLevel(logging.WARNING)
        self._jieba = jieba.Tokenizer()
        # By itself it would take the dictionary from a file in the common temporary folder, whoever has put it there.
        self._jieba.FREQ, self._jieba.total = self._jieba.gen_pfdict(self._jieba.get_dict_file())
        self._jieba.initialized = True

    def words(self, text: str) -> list[str]:
        """The words of a text; one after another they are the text."""
        return list(self._jieba.cut(text))

    def inside(self, text: str) -> NDArray[np.bool_]:
        """[C] whether each character is a Chinese one that goes on with the word before it."""
        found: NDArray[np.bool_] = np.zeros(len(text), bool)
        if not has_spaceless(text):
            return found
        at = 0
        for word in self.words(text):
            for place in range(at + 1, at + len(word)):
                found[place] = is_spaceless(text[place])
            at += len(word)
        return found
