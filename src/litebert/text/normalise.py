"""How is text made uniform before it is cut into pieces? ALBERT's steps, and BERT's, as values of the engine.

ALBERT's preprocessing (google-research/albert, tokenization.py: preprocess_text) is Python: white space collapsed,
`` and '' made ", NFKD, combining marks dropped, lower case; then SentencePiece applies the map of characters that lies
in its model. All of it is said here in steps that tokenizer.json can hold, so that transformers does the same. One
letter differs: Python's lower case of a Greek word's last Σ is ς, the engine's is σ.
"""

from __future__ import annotations

import functools
import sys
import unicodedata
from collections.abc import Callable, Collection
from typing import Any

from tokenizers import Regex, normalizers

_SURROGATES = range(0xD800, 0xE000)
_WORDS = {
    "NFKD": "decompose (NFKD)", "NFD": "decompose (NFD)", "NFC": "compose (NFC)", "NFKC": "compose (NFKC)",
    "StripAccents": "drop accents", "Lowercase": "lower-case", "Precompiled": "the model's own map of characters",
    "Nmt": "control characters out, rare spaces to spaces", "Strip": "no space at the ends", "Prepend": "prepend",
}  # fmt: skip
_QUOTES = {"``": '`` to "', "''": "'' to \""}
_RUNS = " {2,}"
_JOINER = "\u200d"
# What `Nmt` of the engine makes spaces of, and what it drops; the first without the joiner.
_NMT_SPACES = r"[\t\n\f\r\x{1680}\x{200b}\x{200c}\x{200e}\x{200f}\x{2028}\x{2029}\x{2581}\x{feff}\x{fffd}]"
_NMT_CONTROLS = r"[\x{1}-\x{8}\x{b}\x{e}-\x{1f}\x{7f}\x{8f}\x{9f}]"
_CAPITALS = 0.001  # of the pieces; the Chinese BERT, which lower-cases, has two with a capital among 21,128


def albert(
    lowercase: bool, strip_accents: bool, charsmap: bytes = b"", rule: str = "nmt_nfkc"
) -> normalizers.Normalizer:
    """ALBERT's normaliser around the map of characters of a SentencePiece model, whose rule is called `rule`.

    SentencePiece applies its map to the longest match, the engine to what looks like one character: what the map would
    compose is composed before, so that single characters remain. (With accents kept, the rare ligature that wears a
    mark of its own, as ⅲ̀ does, is composed as well, which SentencePiece does not do.)
    """
    steps: list[Any] = [normalizers.Replace(Regex(f"{spaces()}+"), " ")]
    steps += [normalizers.Replace(quote, '"') for quote in _QUOTES]
    if strip_accents:
        steps += [normalizers.NFKD(), normalizers.Replace(Regex(marks()), "")]
    if lowercase:
        steps.append(normalizers.Lowercase())
    if "nfkc" in rule:
        steps.append(normalizers.NFC() if strip_accents else normalizers.NFKC())
    precompiled = [normalizers.Precompiled(charsmap)] if charsmap else []
    if rule.startswith("nmt"):
        steps += _nmt(joins=any(step.normalize_str(_JOINER) == _JOINER for step in precompiled))
    steps += precompiled
    return normalizers.Sequence([*steps, normalizers.Replace(Regex(_RUNS), " "), normalizers.Strip()])


def _nmt(joins: bool) -> list[Any]:
    """What nmt_nfkc does to control characters and rare spaces; of late it leaves the joiner of emoji as it is."""
    if not joins:
        return [normalizers.Nmt()]
    return [normalizers.Replace(Regex(_NMT_SPACES), " "), normalizers.Replace(Regex(_NMT_CONTROLS), "")]


def bert(lowercase: bool, strip_accents: bool) -> normalizers.Normalizer:
    """BERT's: control characters out, a space around every Chinese character, accents and case as wished."""
    return normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=strip_accents, lowercase=lowercase
    )


def plain(lowercase: bool, strip_accents: bool) -> normalizers.Normalizer | None:
    """As little as possible, for byte-level pieces, which can spell everything: None if nothing is to change."""
    steps: list[Any] = [normalizers.NFD(), normalizers.StripAccents(), normalizers.NFC()] if strip_accents else []
    steps += [normalizers.Lowercase()] if lowercase else []
    return normalizers.Sequence(steps) if steps else None


def has_accent(text: str) -> bool:
    """Whether stripping accents would change a text."""
    return any(map(unicodedata.combining, unicodedata.normalize("NFKD", text)))


def is_lower(pieces: Collection[str]) -> bool:
    """Whether a vocabulary knows no capitals worth the name."""
    return sum(any(map(str.isupper, piece)) for piece in pieces) <= _CAPITALS * len(pieces)


@functools.cache
def spaces() -> str:
    """A class of what Python's `str.split` takes for white space, control characters U+001C to U+001F among it."""
    return _class(str.isspace)


@functools.cache
def marks() -> str:
    """A class of the characters with a combining class: not all of Mn, so that vowel signs of Indic scripts stay."""
    return _class(lambda character: unicodedata.combining(character) != 0)


def _class(member: Callable[[str], bool]) -> str:
    found = [code for code in range(sys.maxunicode + 1) if code not in _SURROGATES and member(chr(code))]
    ranges: list[list[int]] = []
    for code in found:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "[" + "".join(f"\\x{{{a:x}}}" + (f"-\\x{{{b:x}}}" if b > a else "") for a, b in ranges) + "]"


def is_local(pattern: str, content: str) -> bool:
    """Whether replacing this by that, a step of ours, does the same to a word whatever words stand beside it."""
    return (pattern, content) in {
        (f"{spaces()}+", " "), (marks(), ""), (_RUNS, " "), *((quote, '"') for quote in _QUOTES),
        (_NMT_SPACES, " "), (_NMT_CONTROLS, ""),
    }  # fmt: skip


def steps(state: dict[str, Any] | None) -> list[dict[str, Any]]:
    """The single steps of a normaliser as tokenizer.json writes it, in order."""
    if state is None:
        return []
    if state["type"] == "Sequence":
        return [step for one in state["normalizers"] for step in steps(one)]
    return [state]


def in_words(state: dict[str, Any] | None) -> list[str]:
    """The same for a person."""
    return [_step_in_words(step) for step in steps(state)]


def _step_in_words(step: dict[str, Any]) -> str:
    if step["type"] == "BertNormalizer":
        accents = step["lowercase"] if step["strip_accents"] is None else step["strip_accents"]
        said = {"control characters out": step["clean_text"], "Chinese characters apart": step["handle_chinese_chars"],
                "drop accents": accents, "lower-case": step["lowercase"]}  # fmt: skip
        return ", ".join(name for name, on in said.items() if on)
    if step["type"] == "Replace":
        pattern = next(iter(step["pattern"].values()))
        known = {
            **_QUOTES, _RUNS: "collapse spaces", f"{spaces()}+": "collapse white space", marks(): "drop accents",
            _NMT_SPACES: "rare spaces to spaces", _NMT_CONTROLS: "control characters out",
        }  # fmt: skip
        return known.get(pattern, f"{pattern} to {step['content'] or 'nothing'}")
    return _WORDS.get(step["type"], str(step["type"]))
