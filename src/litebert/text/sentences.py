"""Where does a sentence end? At a stop that is none of an abbreviation, a number or a name, in Latin and CJK scripts.

Candidates are found by one regular expression, and only they are looked at. White space is collapsed and no other
character is ever lost: without their blanks, the sentences one after another are the text.
"""

from __future__ import annotations

import re

from litebert.text.abbreviations import EITHER, MEANING, NEVER, ORDINAL, STARTERS
from litebert.text.layout import Lines, paragraphs


def _candidates(stops: str, closing: str, rest: str) -> re.Pattern[str]:
    """What may end a sentence; a long run of stops that cannot, as in a list of contents, is one match of group 1."""
    after = f"[{stops}{closing}]"
    return re.compile(rf"[{stops}](?:{after}*+{rest}|({after}{{7,}}+))")


# A stop and what closes after it (also » after a blank, as French has it, and [3], as an encyclopedia has it), a blank,
# and nothing next that cannot begin a sentence.
_CLOSING = "」』”’）】》〉〕］｝〗﹂﹄"
_NOTE, _GUILLEMET = r"(?:\[\d+\])*+", r"(?: [»›](?= ))?+"
_ASCII = _candidates(".!?", r""""')\]*_""", rf"{_NOTE} (?=[^a-z.,;:!?)\]])")
_LATIN = _candidates(".!?…؟۔।॥", r""""'”’)\]*_»›«""", rf"{_GUILLEMET}{_NOTE} (?=[^a-z.,;:!?…)\]])")
_WIDE = _candidates(
    ".!?…。！？；｡．",
    rf""""'”’)\]*_»›«{_CLOSING}""",
    rf"{_GUILLEMET}{_NOTE} ?+(?=[^.,;:!?…)\]，、：；。！？{_CLOSING}])",
)
_IS_WIDE = re.compile(r"[\u3001-\u9fff\uf900-\ufaff\uff01-\uffef]")
_WIDE_STOPS = "。！？；｡"
_EITHER_WAY = "\"'"
_GOES_ON = "とっをがはにのもでなや的地"  # after a closing quotation mark: the quotation is a part of the sentence
_OPENS = "\"'“‘„‚«»‹›([{*_¿¡—–―「『（《【-"
_OPENING = re.compile(rf"[ {re.escape(_OPENS)}]*")
_WORD = re.compile(r"\w+")
_NUMERAL = re.compile(r"[\W_]*(?:\d|[IVXLC]+\b|[ivxlc]+\b)")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,4}[.-]+)+[^\W\d_]{1,4}")  # U.S, Ph.D, Dipl.-Ing, J.-C
_ENUMERATOR = re.compile(r"[^\W_]|\d{1,3}|[IVXLC]{1,4}")
_ASKS = re.compile(r"[!?]")  # whatever the word before it means
_SHORT = 4  # letters of the longest initial, numeral or enumerator


def split(text: str, one_per_line: bool = False, lines: Lines = "auto") -> list[str]:
    """The sentences of a text. `one_per_line` (the same as `lines="sentence"`): the lines are the sentences."""
    if one_per_line:
        lines = "sentence"
    found: list[str] = []
    for row in paragraphs(text, lines):
        if not row.isprintable() or "  " in row or row[:1] == " " or row[-1:] == " ":
            row = " ".join(row.split())  # any blank but " " is unprintable
        if lines != "sentence":
            _cut(row, found)
        elif row:
            found.append(row)
    return found


def _cut(row: str, found: list[str]) -> None:
    """Add the sentences of a paragraph, which has only single blanks, and none at its ends."""
    wide = False
    candidates = _ASCII
    if not row.isascii():
        wide = _IS_WIDE.search(row) is not None
        candidates = _WIDE if wide else _LATIN
    begin = 0
    for candidate in candidates.finditer(row):
        if candidate.lastindex:
            continue
        stop, end = candidate.span()
        if wide and row[end - 1] in _EITHER_WAY and row.count(row[end - 1], begin, end - 1) % 2 == 0:
            end -= 1  # no quotation is open: one begins
        if _ends_wide(row, begin, stop, end) if wide else _ends(row, begin, stop, end):
            found.append(row[begin : end - 1] if row[end - 1] == " " else row[begin:end])
            begin = end
    if begin < len(row):
        found.append(row[begin:])


def _ends(row: str, begin: int, stop: int, end: int) -> bool:
    """Whether the sentence from `begin` on ends with its stop at `stop`, if the next would begin at `end`."""
    first, next_ = row[end], end
    if not first.isalnum():
        next_ = _OPENING.match(row, end).end()  # type: ignore[union-attr]
        first = row[next_ : next_ + 1]
    if not first or first.islower():
        return False
    if row[stop] != "." or (end - stop > 2 and _ASKS.search(row, stop, end)):
        return True
    token = row[max(begin, row.rfind(" ", begin, stop) + 1) : stop]
    word = token if token.isalnum() else token.lstrip(_OPENS)
    meaning = MEANING.get(word)
    if meaning is None:
        return _ends_after(word, row, begin, stop, next_)
    if meaning == NEVER:
        return False
    if meaning == EITHER:
        return _starts(row, next_)
    return not _NUMERAL.match(row, end)


def _ends_after(word: str, row: str, begin: int, stop: int, next_: int) -> bool:
    """The same for a word that is in no list, with its next word at `next_`."""
    if len(word) > _SHORT and "." not in word:
        return True
    if stop - begin - len(word) <= 1 and _ENUMERATOR.fullmatch(word):
        return False  # 1. or IV. or (a. before a paragraph
    if len(word) == 1 and word.isalpha():  # an initial
        return not row[next_].isdigit() and _starts(row, next_)
    if word.isdigit() and len(word) <= 2:
        following = _WORD.match(row, next_)
        return not following or following[0] not in ORDINAL
    return not _DOTTED.fullmatch(word) or _starts(row, next_)


def _starts(row: str, next_: int) -> bool:
    """Whether the word at `next_` is one that begins sentences; as a single letter with a stop, it is an initial."""
    word = _WORD.match(row, next_)
    if not word or word[0] not in STARTERS:
        return False
    return len(word[0]) > 1 or row[word.end() : word.end() + 1] != "."


def _ends_wide(row: str, begin: int, stop: int, end: int) -> bool:
    """The same in a paragraph with CJK signs, where no blank need follow a stop."""
    last = row[stop]
    if last in _WIDE_STOPS:
        return not (row[end - 1] in _CLOSING and row[end] in _GOES_ON)
    if row[end - 1] == " ":
        return _ends(row, begin, stop, end)
    if last == "．":
        return not row[end].isalnum() or bool(_IS_WIDE.match(row[end]))
    return last != "." and bool(_IS_WIDE.match(row[end])) and bool(_IS_WIDE.match(row[stop - 1 : stop]))
