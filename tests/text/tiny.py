"""Which tokenizers do these tests run? Tiny ones of every kind, trained here on made-up text, the same every time."""

from __future__ import annotations

import functools
import random
import unicodedata

from litebert.text import sample, train
from litebert.text.sample import Sample
from litebert.text.tokenizer import Kind, Tokenizer

KINDS: tuple[Kind, ...] = ("unigram", "wordpiece", "bpe")
SIZES = {"unigram": 260, "wordpiece": 260, "bpe": 400}
# Syllables of which words are made: some are frequent, so that pieces of several lengths come out.
_HEADS = ("ba", "do", "fen", "gra", "ki", "lo", "mar", "nu", "pel", "sto", "té", "vi")
_TAILS = ("", "", "n", "ra", "ling", "son", "rt", "ck")
_CHINESE = "山川日月水火木金土人口手"
# Characters of many scripts, with those among them that normalisers treat: ligatures, marks, wide forms, rare spaces.
_RANGES = (
    (0x20, 0x7F), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x500), (0x590, 0x700), (0x900, 0x980), (0x1E00, 0x1F00),
    (0x2000, 0x2070), (0x20A0, 0x2300), (0x3000, 0x3100), (0x4E00, 0x4E80), (0xAC00, 0xAC40), (0xFB00, 0xFB50),
    (0xFDF0, 0xFDFE), (0xFF00, 0xFFEF), (0x1F300, 0x1F340),
)  # fmt: skip
_TRAPS = (
    "``",
    "''",
    "  ",
    "\t",
    "1,",
    "92,000,",
    "[MASK]",
    "<pad>",
    "<unk>",
    "<s>",
    "##",
    "▁",
    "Ġ",
    "\x01",
    "\x02",
    "\n",
)


def sentences(count: int, seed: int = 0) -> list[str]:
    """Sentences of made-up words, some with a number, a capital, an accent, or Chinese characters."""
    draw = random.Random(seed)
    return [_sentence(draw) for _ in range(count)]


def _sentence(draw: random.Random) -> str:
    words = []
    for _ in range(draw.randrange(2, 12)):
        roll = draw.random()
        if roll < 0.06:
            words.append(f"{draw.randrange(100_000):,}")
        elif roll < 0.1:
            words.append("".join(draw.choices(_CHINESE, k=draw.randrange(1, 5))))
        else:
            words.append("".join(draw.choices(_HEADS, weights=range(12, 0, -1), k=draw.randrange(1, 4))))
            words[-1] += draw.choice(_TAILS)
    return " ".join([words[0].capitalize(), *words[1:]]) + draw.choice((".", ".", "?", "!", ",", ""))


def odd(count: int, seed: int = 0, of_class_0: bool = True) -> list[str]:
    """Strings of all scripts, where whatever can go wrong stands beside ordinary letters.

    of_class_0: with marks of combining class 0 among them, which the originals of ALBERT and BERT treat differently.
    """
    alphabet = [chr(code) for first, end in _RANGES for code in range(first, end)]
    alphabet = [each for each in alphabet if "Σ" not in unicodedata.normalize("NFKD", each)]  # test_normalise.py
    if not of_class_0:
        alphabet = [each for each in alphabet if not any(map(_is_class_0, unicodedata.normalize("NFKD", each)))]
    alphabet += _TRAPS
    draw = random.Random(seed)
    return [
        "".join(
            draw.choice(alphabet) if draw.random() < 0.5 else draw.choice("abdegiklmno ,.0123459")
            for _ in range(draw.randrange(1, 30))
        )
        for _ in range(count)
    ]


def _is_class_0(character: str) -> bool:
    return unicodedata.category(character)[0] == "M" and not unicodedata.combining(character)


@functools.cache
def text() -> Sample:
    """What the tokenizers are trained on."""
    return sample.of_texts(["\n".join(sentences(60, seed)) for seed in range(20)])


@functools.cache
def trained(kind: Kind, *, keep: bool = False) -> Tokenizer:
    """A tokenizer of that kind; `keep`: with case and accents."""
    return train.train(text(), kind, SIZES[kind], lowercase=not keep and kind != "bpe")
