"""May a sentence be encoded word by word? Only where every step of its tokenizer stops at a space; then this says how.

Known to stop there: the usual Unicode steps, BERT's, ALBERT's and SentencePiece's normalisers, with words cut by
Metaspace, by BERT's rule or by GPT-2's. Any other step, and any word that shows an effect on its neighbours, goes the
engine's way.

A word has parts, which the model is given one by one: BERT's and GPT-2's rules say where, and from a unigram model's
word those characters may be taken off the end that no piece holds beside another. (Not off its beginning: sums of
scores would be rounded otherwise, and of two cuts that score alike the other one might come out.)
"""

from __future__ import annotations

import re
import string
from typing import Any, Literal, NamedTuple

from litebert.text import normalise
from litebert.text.pieces import METASPACE
from litebert.text.tokenizer import Tokenizer

_LOCAL = {"NFC", "NFD", "NFKC", "NFKD", "Nmt", "StripAccents", "Lowercase", "Precompiled", "Strip", "BertNormalizer"}
_COMPOSE = {"NFC", "NFKC", "Precompiled"}
_GRAPHIC = string.ascii_letters + string.digits + string.punctuation
_PAIRS = re.compile("``|''")  # what ALBERT makes a quotation mark of
_BERT = re.compile("[A-Za-z0-9]+|.")
_GPT2 = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+")


class Rules(NamedTuple):
    """How the engine treats a word that stands between spaces."""

    cut: Literal["metaspace", "bert", "gpt2"]
    plain: re.Pattern[str]  # words of these characters need no normaliser but lower case
    lower: bool
    lower_first: bool  # whether ASCII letters may be lower-cased before anything else
    lead: bool  # the first word of a sentence is cut as the others are, which have a space before them
    lone: str  # characters that come off the end
    chinese: bool  # Chinese characters are set apart
    special: str  # first characters of text that spells a special piece


def rules(tokenizer: Tokenizer, state: dict[str, Any]) -> Rules | None:
    """The rules of a tokenizer whose tokenizer.json holds `state`; None where it is not known to stop at spaces."""
    steps = normalise.steps(state["normalizer"])
    specials = [one["content"] for one in state["added_tokens"]]
    found = _words(state["pre_tokenizer"], specials)
    if found is None or not all(map(_stops, steps)) or not all(one["special"] for one in state["added_tokens"]):
        return None
    cut, lead = found
    normaliser = tokenizer.engine.normalizer
    normal = {c: normaliser.normalize_str(c) if normaliser else c for c in _GRAPHIC}
    lower = normal["A"] == "a"
    plain = [c for c in _GRAPHIC if normal[c] == (c.lower() if lower else c)]
    special = "".join({name[0] for name in specials}) if cut == "metaspace" else ""
    if not {".", *string.ascii_letters} <= set(plain):
        return None
    kinds = [step["type"] for step in steps]
    before = kinds[: kinds.index("Lowercase")] if "Lowercase" in kinds else kinds
    pattern = re.compile(f"[{re.escape(''.join(c for c in plain if c not in special))}]+")
    return Rules(
        cut, pattern, lower, lower and not _COMPOSE.intersection(before), lead,
        _lone(tokenizer) if cut == "metaspace" else "",
        cut == "bert" and any(step.get("handle_chinese_chars") for step in steps), special,
    )  # fmt: skip


def parts(word: str, tokenizer: Tokenizer, rule: Rules, lead: bool = True) -> list[str] | None:
    """What the model is given for a word with a space before it (or none: `lead`); None if its neighbours have a say.

    A word with rare characters is judged by what the engine makes of it between two others.
    """
    if rule.plain.fullmatch(word) and not _PAIRS.search(word):
        return _plain_parts(word.lower() if rule.lower else word, rule, lead)
    form = _form(word, tokenizer, rule)
    if form is None:
        return None
    space = " " if lead else ""
    return [part for part, _ in tokenizer.engine.pre_tokenizer.pre_tokenize_str(space + form)]


def _plain_parts(word: str, rule: Rules, lead: bool) -> list[str]:
    if rule.cut == "bert":
        return _BERT.findall(word)
    if rule.cut == "gpt2":
        return [part.replace(" ", "Ġ") for part in _GPT2.findall(" " + word if lead else word)]
    core = word.rstrip(rule.lone)
    return [METASPACE + core if lead else core, *word[len(core) :]]


def _form(word: str, tokenizer: Tokenizer, rule: Rules) -> str | None:
    """The normal form of a word, if it is the same beside spaces and beside punctuation, and holds no space."""
    form, normaliser = word, tokenizer.engine.normalizer
    if normaliser is not None:
        seen = normaliser.normalize_str(f"a {word} a .{word}.")
        form = seen[2 : 2 + max(0, len(seen) - 7) // 2]
        if seen != f"a {form} a .{form}.":
            return None
    if rule.cut != "bert" and (not form or METASPACE in form or any(map(str.isspace, form))):
        return None
    return form


def _stops(step: dict[str, Any]) -> bool:
    """Whether a step of a normaliser is known to do the same to a word whatever words stand beside it."""
    if step["type"] == "Replace":
        return normalise.is_local(next(iter(step["pattern"].values())), step["content"])
    return step["type"] in _LOCAL


def _words(
    state: dict[str, Any] | None, specials: list[str]
) -> tuple[Literal["metaspace", "bert", "gpt2"], bool] | None:
    """By which rule a pre-tokenizer cuts words, and whether it puts a space before the first one."""
    steps = state["pretokenizers"] if state and state["type"] == "Sequence" else [state] if state else []
    kinds = [step["type"] for step in steps]
    if kinds == ["BertPreTokenizer"]:
        return "bert", True
    if kinds == ["ByteLevel"] and steps[0]["use_regex"]:
        return "gpt2", steps[0]["add_prefix_space"]
    spaced = kinds[:1] == ["WhitespaceSplit"]
    steps = steps[spaced:]
    if [step["type"] for step in steps] not in (["Metaspace"], ["Metaspace", "Split"]):
        return None
    lead = steps[0]["prepend_scheme"] != "never"
    known = steps[0]["replacement"] == METASPACE and steps[0]["split"] and (lead or not spaced)
    if not known or not all(_cuts_specials(step, specials) for step in steps[1:]):
        return None
    return "metaspace", lead


def _cuts_specials(step: dict[str, Any], specials: list[str]) -> bool:
    """Whether a Split does nothing but cut within text that spells a special piece (spiece.py)."""
    pattern = step["pattern"].get("Regex", "")
    spelled = [re.sub(r"\\(.)", r"\1", one.replace("(?=", "").removesuffix(")")) for one in pattern.split("|")]
    return step["behavior"] == "MergedWithPrevious" and not step["invert"] and set(spelled) <= set(specials)


def _lone(tokenizer: Tokenizer) -> str:
    """ASCII punctuation that stands in one piece only, and alone there."""
    held: dict[str, list[str]] = {c: [] for c in string.punctuation}
    for piece, number in tokenizer.engine.get_vocab().items():
        for c in set() if tokenizer.special[number] else held.keys() & set(piece):
            held[c].append(piece)
    return "".join(c for c, pieces in held.items() if pieces == [c])
