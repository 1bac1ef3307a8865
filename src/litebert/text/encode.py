"""How are sentences encoded several times faster than the engine does it, to the same ids? Each word once.

A language says the same words again and again, and a sentence's ids are its words' ids one after another wherever
nothing reaches across a space (words.py). So the words of a block are counted out by Arrow's hash table, each new one
is encoded and remembered, and NumPy lays the remembered ids side by side. Sentences with a word whose neighbours have a
say in it take the engine's way, and so do all sentences of a tokenizer whose rules are not known.

What is remembered is bounded and can be forgotten at any time: it changes no id. Blocks of a megabyte or so are best;
a call has some tenths of a millisecond of its own.

Shapes: S sentences, W words of a block, U different ones, N tokens.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from itertools import repeat
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.errors import UserError
from litebert.text import chinese, spaced
from litebert.text import words as splitting
from litebert.text.tokenizer import Tokenizer

Ids = NDArray[np.unsignedinteger[Any]]  # of 16 bits where the vocabulary allows it, else of 32
_BLOCK = 1 << 22  # characters that are encoded at a time
_WORDS, _LETTERS = 150_000, 1 << 22  # remembered at most, give or take a block: some 40 MB
_NEW = -1
_APART = 0  # the slot of words that are not to be cut apart from their neighbours


class Encoded(NamedTuple):
    """Sentences as numbers, one after another."""

    ids: Ids  # [N]
    lengths: NDArray[np.int32]  # [S] tokens, 0 for a sentence that has none
    starts: NDArray[np.bool_]  # [N] the token begins a word


class Encoder:
    """Encodes sentences without special pieces; what begins a word is said by the pieces, or in Chinese by jieba."""

    def __init__(self, tokenizer: Tokenizer, words: Literal["pieces", "jieba"] = "pieces") -> None:
        self.tokenizer = tokenizer
        self.rules = splitting.rules(tokenizer, json.loads(tokenizer.text))
        self.type: type[np.uint16] | type[np.uint32] = np.uint16 if tokenizer.size <= 1 << 16 else np.uint32
        self._forget()
        if words not in ("pieces", "jieba"):
            raise UserError(f"words {words!r} is no way to tell words: choose pieces or jieba")
        self._cutter = chinese.Cutter() if words == "jieba" else None

    def encode(self, sentences: Sequence[str]) -> Encoded:
        """The ids of every sentence, exactly as the engine would give them one by one."""
        done: list[Encoded] = []
        begin = size = 0
        for end, sentence in enumerate(sentences, 1):
            size += len(sentence)
            if size >= _BLOCK or end == len(sentences):
                done.append(self._block(sentences[begin:end]))
                begin, size = end, 0
        if len(done) == 1:
            return done[0]
        if not done:
            return Encoded(np.empty(0, self.type), np.empty(0, np.int32), np.empty(0, bool))
        ids, lengths, starts = (np.concatenate(parts) for parts in zip(*done, strict=True))
        return Encoded(ids, lengths, starts)

    def _block(self, sentences: Sequence[str]) -> Encoded:
        try:
            ids, lengths = self._slowly(sentences) if self.rules is None else self._quickly(sentences, self.rules)
        except UnicodeEncodeError as error:
            raise UserError(
                f"a sentence is no text, it holds {error.object[error.start]!r}: repair its source"
            ) from None
        starts = self.tokenizer.starts[ids]
        firsts = np.cumsum(lengths) - lengths  # [S]
        starts[firsts[lengths > 0]] = True
        if self._cutter is not None:
            for sentence, first, length in zip(sentences, firsts.tolist(), lengths.tolist(), strict=True):
                inside = self._inside(sentence, self._cutter)
                if inside is not None:
                    starts[first : first + length] &= ~inside
        return Encoded(ids.astype(self.type, copy=False), lengths, starts)

    def _inside(self, sentence: str, cutter: chinese.Cutter) -> NDArray[np.bool_] | None:
        """[tokens of a sentence] whether they begin inside a Chinese word; None where no token does."""
        within = cutter.inside(sentence)
        if not within.any():
            return None
        found = self.tokenizer.engine.encode(sentence, add_special_tokens=False)
        return within[[begin for begin, _ in found.offsets]]

    def _slowly(self, sentences: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        encode, ids = self.tokenizer.engine.encode, array("i")
        lengths = np.empty(len(sentences), np.int32)
        for i, sentence in enumerate(sentences):
            found = encode(sentence, add_special_tokens=False).ids
            ids.extend(found)
            lengths[i] = len(found)
        return np.array(ids, np.int32), lengths

    def _quickly(self, sentences: Sequence[str], rules: splitting.Rules) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        found = spaced.split(sentences, rules)
        different = found.values.dictionary_encode()
        slots = self._slots(different.dictionary.to_pylist(), rules)[different.indices.to_numpy()]  # [U] -> [W]
        borders = found.offsets.to_numpy()  # [S + 1] into the words
        ends = np.frombuffer(self._ends, np.int64)
        begins = ends[slots]  # [W] into what is remembered
        sizes = ends[slots + 1] - begins  # [W]
        after = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])  # [W + 1]
        # Each token's place is its word's place, less what stands before the word, plus what stands before the token.
        places = np.repeat(begins - after[:-1], sizes) + np.arange(after[-1])  # [N]
        ids: NDArray[np.int32] = np.frombuffer(self._ids, np.int32)[places]
        lengths = np.diff(after[borders]).astype(np.int32)  # [S]
        apart = np.flatnonzero(slots == _APART)
        if len(apart):
            which = np.unique(np.searchsorted(borders, apart, "right") - 1)
            ids, lengths = self._mended(sentences, which, ids, lengths)
        if len(self._slot) > _WORDS or self._letters > _LETTERS:
            self._forget()
        return ids, lengths

    def _mended(
        self, sentences: Sequence[str], which: NDArray[np.int64], ids: NDArray[np.int32], lengths: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The same ids and lengths, with the sentences `which` as the engine encodes them."""
        theirs, counts = self._slowly([sentences[i] for i in which])
        wrong = np.zeros(len(lengths), bool)
        wrong[which] = True
        kept = ids[np.repeat(~wrong, lengths)]
        lengths[which] = counts
        of_engine = np.repeat(wrong, lengths)  # [N]
        whole = np.empty(len(of_engine), np.int32)
        whole[of_engine], whole[~of_engine] = theirs, kept
        return whole, lengths

    def _slots(self, different: list[str], rules: splitting.Rules) -> NDArray[np.int64]:
        """[U] where each word's ids are remembered; words that are new are encoded."""
        slots = np.fromiter(map(self._slot.get, different, repeat(_NEW)), np.int64, len(different))
        for i in np.flatnonzero(slots == _NEW).tolist():
            word = different[i]
            lead = not word.startswith(spaced.FIRST)
            parts = splitting.parts(word if lead else word[1:], self.tokenizer, rules, lead)
            if parts is None or word.endswith(spaced.ODD):
                slots[i] = _APART
            else:
                for part in parts:
                    self._ids.frombytes(self._part_ids(part))
                slots[i] = len(self._ends) - 1
                self._ends.append(len(self._ids))
            self._slot[word] = int(slots[i])
            self._letters += len(word)
        return slots

    def _part_ids(self, part: str) -> bytes:
        found = self._parts.get(part)
        if found is None:
            ids = array("i", [token.id for token in self.tokenizer.engine.model.tokenize(part)])
            found = self._parts[part] = ids.tobytes()  # a third of what a list takes
        return found

    def _forget(self) -> None:
        self._slot: dict[str, int] = {}
        self._parts: dict[str, bytes] = {}
        self._ids, self._ends = array("i"), array("q", [0, 0])  # slot 0 has no ids
        self._letters = 0
