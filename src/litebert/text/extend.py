"""How does a tokenizer learn the words of a domain? Characters that it lacks, and pieces that often stand together,
become pieces of their own. Their ids follow the old ones, and every old id stays what it was.

Only letters are joined, so numbers and punctuation are cut as before. What was joined on the way to a longer piece, and
is hardly used by itself, is left out again; of byte-level pieces it is kept, as their longer ones are spelled by it.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from litebert.errors import UserError
from litebert.text.joining import Joining
from litebert.text.pieces import METASPACE, characters
from litebert.text.sample import Sample
from litebert.text.tokenizer import ROLES, Tokenizer

LEAST = 5  # times that a new piece stands in the sample: what is hardly met learns nothing
_CONTINUES = "##"
_LONGEST = 32  # characters
_MARGIN = 0.01  # by which a new unigram piece at least scores better than the old ones in its place
_DECIMALS = 10  # of a score, as spiece.py has it

Words = Counter[tuple[str, ...]]  # in pieces, and how often


class Extended(NamedTuple):
    """A tokenizer with more pieces."""

    tokenizer: Tokenizer
    first: int  # the id of the first new one
    pieces: list[str]  # the new ones
    made_of: list[list[int]]  # the old ids in whose place each of them stands; none for a character that was unknown


def extend(tokenizer: Tokenizer, sample: Sample, add: int, least: int = LEAST) -> Extended:
    """The tokenizer with `add` pieces more, chosen by a sample of the domain's text."""
    if add < 1 or least < 1:
        raise UserError(f"add {add} pieces that are met {least} times: choose 1 or more of each")
    _refuse_outside(tokenizer)
    counts = _counted(tokenizer, sample)
    letters = _unknown(tokenizer, counts, least)[:add]
    lettered = _with_letters(tokenizer, letters)
    joining = Joining(_cut(lettered, counts), _Rule(lettered), least)
    idle: set[str] = set()  # joined, but the tokenizer that knows them finds a better way
    while True:
        new = letters + _joined(joining, add - len(letters), idle, least, keep=tokenizer.kind == "bpe")
        if len(new) < add:
            raise UserError(
                f"add {add} is more than the sample gives: {len(new)} new pieces are met {least} times; "
                "choose less, or give more text"
            )
        made = _grown(tokenizer, joining, new)
        used = Counter[str]()
        for word, count in counts.items() if tokenizer.kind != "bpe" else ():
            used.update({token.value: count for token in made.tokenizer.engine.model.tokenize(word)})
        more = {piece for piece in new if piece in joining.pairs and used[piece] < least}
        if tokenizer.kind == "bpe" or not more:
            return made
        idle |= more


def _grown(tokenizer: Tokenizer, joining: Joining, new: list[str]) -> Extended:
    """The tokenizer with these pieces."""
    state = json.loads(tokenizer.text)
    made_of = _made_of(tokenizer, joining, new)
    if tokenizer.kind == "unigram":
        scores = _scores(state, joining.used, new, made_of)
        state["model"]["vocab"] += [[piece, score] for piece, score in zip(new, scores, strict=True)]
    else:
        state["model"]["vocab"] |= {piece: number for number, piece in enumerate(new, tokenizer.size)}
    if tokenizer.kind == "bpe":
        merges = state["model"]["merges"]
        as_text = bool(merges) and isinstance(merges[0], str)  # as an older engine wrote them
        merges += [" ".join(joining.pairs[piece]) if as_text else list(joining.pairs[piece]) for piece in new]
    return Extended(_made(tokenizer, state), tokenizer.size, new, made_of)


def _refuse_outside(tokenizer: Tokenizer) -> None:
    state = json.loads(tokenizer.text)
    vocabulary = state["model"]["vocab"]
    known = {piece for piece, _ in vocabulary} if tokenizer.kind == "unigram" else set(vocabulary)
    outside = sorted(one["content"] for one in state["added_tokens"] if one["content"] not in known)
    if outside:
        raise UserError(
            f"{len(outside)} pieces were added beside the vocabulary ({', '.join(outside[:3])}): extend the tokenizer "
            "as it was before"
        )


def _counted(tokenizer: Tokenizer, sample: Sample) -> Counter[str]:
    """What the model is given of the sample, word by word, and how often."""
    normaliser, cut = tokenizer.engine.normalizer, tokenizer.engine.pre_tokenizer
    counts: Counter[str] = Counter()
    for sentence in sample.sentences():
        text = normaliser.normalize_str(sentence) if normaliser else sentence
        counts.update(word for word, _ in cut.pre_tokenize_str(text))
    return counts


def _unknown(tokenizer: Tokenizer, counts: Counter[str], least: int) -> list[str]:
    """The pieces of one character that the sample asks for and the vocabulary lacks, the most frequent first."""
    unk, found = tokenizer.specials.unk, Counter[str]()
    known = tokenizer.engine.get_vocab()
    for word, count in counts.items():
        for token in tokenizer.engine.model.tokenize(word):
            if token.id != unk:
                continue
            if tokenizer.kind == "wordpiece":  # all of the word is unknown, though it may be for one character
                names = [_CONTINUES * (place > 0) + letter for place, letter in enumerate(word)]
                found.update({name: count for name in names if name not in known})
            else:
                for letter in token.value:
                    found[letter] += count
    printed = {name: count for name, count in found.items() if unicodedata.category(name[-1])[0] in "LMNPS"}
    return sorted((name for name, count in printed.items() if count >= least), key=lambda name: (-printed[name], name))


def _with_letters(tokenizer: Tokenizer, letters: list[str]) -> Tokenizer:
    """The tokenizer with these pieces, to cut words with."""
    state = json.loads(tokenizer.text)
    if tokenizer.kind == "unigram":
        vocabulary = state["model"]["vocab"]
        vocabulary += [[letter, min(score for _, score in vocabulary)] for letter in letters]
    else:
        state["model"]["vocab"] |= {letter: number for number, letter in enumerate(letters, tokenizer.size)}
    return _made(tokenizer, state)


def _cut(tokenizer: Tokenizer, counts: Counter[str]) -> Words:
    """The words in pieces; what is still unknown is left out."""
    words: Words = Counter()
    for word, count in counts.items():
        tokens = tokenizer.engine.model.tokenize(word)
        if all(token.id != tokenizer.specials.unk for token in tokens):
            words[tuple(token.value for token in tokens)] += count
    return words


class _Rule:
    """What two pieces are called as one, if they may be one: letters only, and a name that is not taken."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.vocabulary = tokenizer.engine.get_vocab()
        self.spells = characters if tokenizer.kind == "bpe" else _bare

    def __call__(self, left: str, right: str) -> str | None:
        name = left + right.removeprefix(_CONTINUES)
        text = self.spells(name).strip()
        return name if name not in self.vocabulary and len(text) <= _LONGEST and _is_word(text) else None


def _bare(piece: str) -> str:
    return piece.removeprefix(_CONTINUES).removeprefix(METASPACE)


def _is_word(text: str) -> bool:
    return all(unicodedata.category(letter)[0] in "LM" for letter in text)


def _joined(joining: Joining, wanted: int, idle: set[str], least: int, keep: bool) -> list[str]:
    """So many pieces of those that are joined in turn, or fewer: all, or those that are met often enough in the end."""
    met = {piece for piece in joining.pairs if keep or (joining.used[piece] >= least and piece not in idle)}
    while len(met) < wanted:
        name = joining.join()
        if name is None:
            break
        met |= {name} if keep or joining.used[name] >= least else set()
        met -= set() if keep else {part for part in joining.pairs[name] if joining.used[part] < least}
    return [piece for piece in joining.pairs if piece in met]


def _made_of(tokenizer: Tokenizer, joining: Joining, new: Iterable[str]) -> list[list[int]]:
    old = tokenizer.engine.get_vocab()

    def parts(piece: str) -> Iterator[int]:
        if piece in joining.pairs:
            for part in joining.pairs[piece]:
                yield from parts(part)
        elif piece in old:
            yield old[piece]

    return [list(parts(piece)) for piece in new]


def _scores(
    state: dict[str, Any], used: Counter[str], new: list[str], made_of: list[list[int]]
) -> list[float]:  # fmt: skip
    """Of unigram pieces: the logarithm of their share, or what puts them before the old pieces in their place."""
    total = used.total()
    old = [score for _, score in state["model"]["vocab"]]
    found = []
    for piece, parts in zip(new, made_of, strict=True):
        share = math.log(max(1, used[piece]) / total)
        found.append(max(share, sum(old[part] for part in parts) + _MARGIN) if parts else share)
    return [round(score, _DECIMALS) for score in found]


def _made(tokenizer: Tokenizer, state: dict[str, Any]) -> Tokenizer:
    names = {role: tokenizer.name(role) for role in ROLES}
    return Tokenizer(json.dumps(state, ensure_ascii=False), names, tokenizer.length)
