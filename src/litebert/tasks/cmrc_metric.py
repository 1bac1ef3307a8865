"""How near is a Chinese answer to the gold ones? Exact match and F1 as the script of CMRC 2018 has them, 0 to 1.

Texts lose case and punctuation. For F1 each Chinese character is a piece, what stands between is cut into English words
(`english`), and what counts is the longest run of pieces that both texts have, not how many they share. The script's
ways are kept: the single … stays where all other Chinese marks go, and F1 of a text without pieces is 0.

It cuts English by NLTK (Treebank words within sentences). The cuts are the same but for abbreviations: of "mr. lee" we
cut the period off, as NLTK knows 150 abbreviations and we none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from litebert.tasks.metrics import same_length
from litebert.tasks.squad_metric import Judged

_PUNCTUATION = str.maketrans("", "", "-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』")
_CHINESE = re.compile(r"([\u4e00-\u9fa5])")

# After . ? or !, but not after a number or a letter that stands alone before a period.
_SENTENCE = re.compile(r"""(?:(?<=[?!])|(?<=[^\W\d_]{2}\.)|(?<=[^\w\s]\.)|(?<=[a-z]\d\.))["')\]}»”’]*\s+""")
# What is put between spaces, in this order; of " it is seen whether it opens.
_CUTS = (
    (re.compile(r"""(?:^|(?<=[ (\[{<«“‘„]))"|(?<=[ (\[{<«“‘„])''"""), " `` "),
    (re.compile(r"(?<!\w)'(?=\w)(?!(?:re|ve|ll|m|t|s|d|n)\b)"), "' "),
    (re.compile(r"""(?<=[^.])\.(?=[\])}>"'»”’\s]*$)"""), " . "),
    (re.compile(r"[«“‘„;@#$%&?!\u2012-\u2015]|\.{2,}|,(?!\d)"), r" \g<0> "),
    (re.compile(r"(?<=[^'])'(?= )"), " '"),
    (re.compile(r"[\[\](){}<>»”’]"), r" \g<0> "),
    (re.compile(r"\"|''"), " '' "),
    (re.compile(r"\s+|$"), " "),
    (re.compile(r"(?<=[^' ])('[smd]?) "), r" \1 "),
    (re.compile(r"(?<=[^' ])('ll|'re|'ve|n't) "), r" \1 "),
)
_JOINED = re.compile(r"\b(?:(can)(not)|(d)('ye)|(gim)(me)|(gon)(na)|(got)(ta)|(lem)(me)|(more)('n)|(wan)(na))\b")


def judged(answer: str, gold: Sequence[str]) -> Judged:
    """An answer beside all gold ones, the best of which counts, for exact match and F1 each."""
    said = pieces(answer)
    exact = any(_bare(one) == _bare(answer) for one in gold)
    return Judged(float(exact), max((_f1(pieces(one), said) for one in gold), default=0.0))


def cmrc(answers: Sequence[str], gold: Sequence[Sequence[str]]) -> dict[str, float]:
    """Means over all questions: exact, f1, and the average of both, by which CMRC ranks."""
    same_length(gold, answers)
    each = [judged(answer, known) for answer, known in zip(answers, gold, strict=True)]
    exact, f1 = (math.fsum(column) / len(each) for column in zip(*each, strict=True))
    return {"exact": exact, "f1": f1, "average": (exact + f1) / 2, "total": float(len(each))}


def pieces(text: str) -> list[str]:
    """A text without punctuation, in Chinese characters and English words."""
    found: list[str] = []
    for part in _CHINESE.split(_bare(text)):
        found += [part] if _CHINESE.match(part) else english(part)
    return found


def longest_run(one: Sequence[str], other: Sequence[str]) -> int:
    """How many pieces the longest run has that stands in both."""
    best, above = 0, [0] * (len(other) + 1)  # above[j]: the run that ends with the piece before and other[j - 1]
    for piece in one:
        here = [0] * (len(other) + 1)
        for j, beside in enumerate(other, 1):
            if piece == beside:
                here[j] = above[j - 1] + 1
        best, above = max(best, *here), here
    return best


def english(text: str) -> list[str]:
    """Lower-case text without hyphens and colons, cut as the Penn Treebank cuts: do n't, it 's, 3.5 %, the end ."""
    return [word for sentence in _sentences(text) for word in _sentence_words(sentence)]


def _bare(text: str) -> str:
    """A text as exact match compares it."""
    return text.lower().strip().translate(_PUNCTUATION)


def _f1(gold: Sequence[str], said: Sequence[str]) -> float:
    run = longest_run(gold, said)
    return 2 * run / (len(gold) + len(said)) if run else 0.0


def _sentences(text: str) -> list[str]:
    """Sentences, the closing marks after their end included."""
    ends = [match.end() for match in _SENTENCE.finditer(text)]
    return [text[start:end].strip() for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def _sentence_words(sentence: str) -> list[str]:
    """The words of one sentence."""
    for pattern, instead in _CUTS:
        sentence = pattern.sub(instead, sentence)
    return _JOINED.sub(lambda found: " ".join(["", *filter(None, found.groups()), ""]), sentence).split()
