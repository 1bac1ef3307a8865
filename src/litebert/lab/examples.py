"""What has a model learnt, to look at? Words of held-out sentences hidden one at a time, and what it says of them.

Sentences and words are drawn by address, not chosen: another model is asked the same. A word is asked for only where it
is one piece for every tokenizer at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert import rng
from litebert.data import frequencies
from litebert.data.shards import open_shards
from litebert.lab import sentences
from litebert.model.model import Model
from litebert.text import tokenizer as tokenizers
from litebert.text.tokenizer import Tokenizer
from litebert.vectors import neighbours
from litebert.vectors.fill import MASK, Filled, Guess, fill, word

_SHORTEST, _LONGEST = 10, 48  # tokens of a sentence that is drawn
LETTERS = 4  # at least, of a word that is asked for: shorter ones mostly hold a sentence together
_UNKNOWN = 0.1  # share of unknown pieces from which on a language is not the tokenizer's
_RANKS = (60, 2500)  # of words whose neighbours are shown, among words by their frequency
_WORDS = 12  # of them
_COMMON = 8000  # words that may be named as neighbours, where frequencies are known
_WIDE = "\u2e80"  # from here on a character may be a word


class Question(NamedTuple):
    """A sentence with one word hidden."""

    before: str
    answer: str
    after: str

    @property
    def masked(self) -> str:
        """The sentence as the model reads it."""
        return f"{self.before}{MASK}{self.after}"

    @property
    def whole(self) -> str:
        """The sentence as it was."""
        return f"{self.before}{self.answer}{self.after}"


class Answer(NamedTuple):
    """What a model says of a question, the likeliest first, and where among it the right word stands."""

    guesses: tuple[Guess, ...]
    place: int  # 0 = the first guess; -1 = not among them


class Drawn(NamedTuple):
    """Held-out sentences, and where they are from."""

    texts: list[str]
    source: str
    common: frozenset[str]  # words that may be named as neighbours; empty = any
    words: list[str]  # some whose neighbours may be shown


def drawn(shards: Path | None, tokenizer: Tokenizer, count: int, seed: int = 0) -> Drawn:
    """Sentences of the held-out split of a shard set; without one, our own."""
    if shards is None:
        texts, words = _own(tokenizer)
        return Drawn(texts[:count], "sentences written for litebert", frozenset(), words)
    held, own = open_shards(shards, "held-out"), tokenizers.load(shards)
    order = rng.generator(seed, "report sentences").permutation(held.sentences)
    texts = []
    for number in order.tolist():
        shard = int(np.searchsorted(held.bases, number, "right")) - 1
        here = held.shards[shard]
        start, stop = here.sentences[number - held.bases[shard] :][:2]
        if _SHORTEST <= stop - start <= _LONGEST:
            texts.append(own.decode(here.ids[start:stop]).strip())
        if len(texts) == count:
            break
    ranked = _ranked(shards, own)
    source = f"the held-out sentences of {shards.resolve().name}"
    return Drawn(texts, source, frozenset(ranked[:_COMMON]), _shown(ranked))


def questions(
    texts: Sequence[str], readers: Sequence[Tokenizer], count: int, seed: int = 0, most: int = 0
) -> list[Question]:
    """One word of each text hidden, until there are so many; the word is one piece for every tokenizer.

    most: tokens that all the models read; 0 = any number.
    """
    found = []
    for number, text in enumerate(texts):
        if most and any(len(reader.encode(text)) > most for reader in readers):
            continue
        candidates = [each for each in _words(text, readers[0]) if all(_piece(reader, each) >= 0 for reader in readers)]
        if candidates:
            found.append(candidates[int(rng.generator(seed, "report word", number).integers(len(candidates)))])
        if len(found) == count:
            break
    return found


def answers(model: Model, tokenizer: Tokenizer, asked: Sequence[Question], top: int = 5) -> list[Answer]:
    """What a model says of every question."""
    filled: list[Filled] = fill(model, tokenizer, [question.masked for question in asked], top)
    found = []
    for question, each in zip(asked, filled, strict=True):
        guesses, right = each.masks[0], _piece(tokenizer, question)
        found.append(Answer(guesses, next((i for i, guess in enumerate(guesses) if guess.id == right), -1)))
    return found


def among(tokenizer: Tokenizer, common: frozenset[str]) -> NDArray[np.bool_]:
    """[V] the pieces that may be named as neighbours: words, and common ones where frequencies are known."""
    words = neighbours.nameable(tokenizer)
    if common:
        for i in np.flatnonzero(words).tolist():
            words[i] = word(tokenizer, i) in common
    return words


def near(
    model: Model, tokenizer: Tokenizer, words: Sequence[str], allowed: NDArray[np.bool_], count: int = 6
) -> dict[str, list[neighbours.Neighbour]]:
    """The neighbours of those words that are one piece."""
    single = [each for each in words if len(ids := tokenizer.encode(each)) == 1 and not tokenizer.special[ids[0]]]
    return neighbours.neighbours(model, tokenizer, single, count, allowed)


def _own(tokenizer: Tokenizer) -> tuple[list[str], list[str]]:
    """Our sentences in a language that the tokenizer knows; none if it knows neither."""
    for language in (sentences.CHINESE, sentences.ENGLISH):  # who knows Chinese was made for it, but knows letters too
        ids = [i for text in language.texts for i in tokenizer.encode(text)]
        if ids.count(tokenizer.specials.unk) < _UNKNOWN * len(ids):
            return list(language.texts), list(language.words)
    return [], []


def _ranked(shards: Path, tokenizer: Tokenizer) -> list[str]:
    """The words of the training text, the most frequent first."""
    counts = frequencies.read(shards, tokenizer.size).tokens[0]
    words = np.flatnonzero(neighbours.nameable(tokenizer) & (counts > 0))
    order = words[np.argsort(-counts[words], kind="stable")]
    return [word(tokenizer, int(i)) for i in order]


def _shown(ranked: Sequence[str]) -> list[str]:
    """Some words from the frequent to the rare, but for those that only hold a sentence together."""
    long = [text for text in ranked if len(text) >= LETTERS or text >= _WIDE]
    if not long:
        return []
    first, last = min(_RANKS[0], 1 + len(long) // 20), min(_RANKS[1], -(-len(long) // 3))
    return [long[rank - 1] for rank in dict.fromkeys(np.geomspace(first, last, _WORDS).round().astype(int).tolist())]


def _words(text: str, tokenizer: Tokenizer) -> Iterator[Question]:
    """Every word of a text that is one piece, as a question."""
    for start, stop in tokenizer.engine.encode(text, add_special_tokens=False).offsets:
        answer = text[start:stop]
        start += len(answer) - len(answer.lstrip())
        answer = answer.strip()
        if answer.isalpha() and (len(answer) >= LETTERS or answer >= _WIDE):
            before, after = text[:start], text[start + len(answer) :]
            if not (_goes_on(before[-1:], answer[0]) or _goes_on(after[:1], answer[-1])):
                yield Question(before, answer, after)


def _goes_on(one: str, other: str) -> bool:
    """Whether two characters side by side are of one word."""
    return one.isalnum() and one < _WIDE and other < _WIDE


def _piece(tokenizer: Tokenizer, question: Question) -> int:
    """The piece that stands where the mask does; -1 where no single piece does."""
    masked, whole = tokenizer.with_masks(question.masked, MASK), tokenizer.encode(question.whole)
    place = masked.index(tokenizer.specials.mask)
    single = len(whole) == len(masked) and masked == [*whole[:place], masked[place], *whole[place + 1 :]]
    return whole[place] if single and not tokenizer.special[whole[place]] else -1
