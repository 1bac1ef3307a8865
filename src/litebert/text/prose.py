"""What of a docstring or a comment is prose? Its paragraphs without markup; code, doctests, grammars and tables go.

An encoder learns which words stand together, and which sentence follows which. In code the first are brackets and names
that occur once, and the second are no sentences. So code goes where it stands alone; within a sentence only the marks
around it go, never the name.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

_RULE = re.compile(r"([^\w\s])\1{2,}")  # under a heading, or between parts
_NOT_PROSE = re.compile(  # a directive, rows of tables, a rule of a grammar, an editor's line, a version keyword
    r"\.\. (?:[\w:-]+::|_[^:]+:|\[)|\|.*|\+.*\+$|[=+-]{2,}(?: +[=+-]{2,})+$|.*\s::=\s|-\*-|vim?:|\$\w+(?::.*)?\$$"
)
_DOCTEST, _LITERAL = ">>>", "::"
_BULLET = re.compile(r"(?:[*+•–o#-]|\(?(?:\d{1,2}|[a-zA-Z])[.)])\s+(?=\S)")
_FIELD = re.compile(r"[:@](?:(?:param|arg|argument|key|keyword|raises?|type|[ic]?var)\s+(?=[\w.]+:)|)(?=\w+:)")
_ENTRY = re.compile(r"[\w.*'\"/-]+(?:\([^)]*\))?(?:: | --? | {2,}(?:-- ?)?)(?=\S)")  # name: what it is
_MARKS = [
    (re.compile(pattern), plain)
    for pattern, plain in (
        (r":pep:`(?:[^`<]*<)?(\d+)>?`", r"PEP \1"),
        (r":rfc:`(?:[^`<]*<)?(\d+)>?`", r"RFC \1"),
        (r":(?:\w+:)?\w+:`([^`<]+?)\s*<[^`>]*>`", r"\1"),  # a role with words of its own
        (r":(?:\w+:)?\w+:`(?:~(?:\w+\.)*|!)?([^`]+)`", r"\1"),
        (r"``([^`]+)``", r"\1"),
        (r"`([^`<]+?)\s*<[^`>]*>`_{1,2}", r"\1"),  # a link with words of its own
        (r"`([^`']+)[`'](?:_{1,2}(?!\w))?", r"\1"),
        (r"(?<![\w*])(\*{1,2})(?=\w)([^*]*?\w)\1(?![\w*])", r"\2"),  # emphasis, but not *args
        (r"\\([*_`|])", r"\1"),
    )
]
_WORD = re.compile(r"""["'‘“(\[]*[^\W\d_]+(?:['’/-][^\W\d_]+)*[)\]"'’”]*[.,;:!?]*["'’”)]*""")
_SYMBOL = re.compile(r"[=()\[\]{}.:,+*/<>@|&%-]")
_END = (".", ":", "!", "?", ";")
_SHORT = 0.75  # of the widest line: one that ends before this, though the next word had its place on it, ends something
_LEAST, _SHARE = 2, 0.6  # words, and of what is between blanks


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text that is indented as a docstring is after cleaning, each in one line."""
    found: list[str] = []
    announced = -1  # the indent of the line that announced a literal block
    rows = text.expandtabs().split("\n")
    widest = max(map(len, rows))
    for block in _blocks(rows):
        indent = min(map(_indent, block))
        if indent > announced >= 0:
            continue
        announced = indent if block[-1].endswith(_LITERAL) else -1
        if not is_code("\n".join(row[indent:] for row in block)):
            found += filter(_reads, map(_plain, _joined(block, widest)))
    return found


def is_code(text: str) -> bool:
    """Whether Python would take a text; a lone word is none."""
    if not _SYMBOL.search(text):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def _blocks(rows: list[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for row in [*rows, ""]:
        if row.strip():
            block.append(row.rstrip())
        elif block:
            yield block
            block = []


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())


def _joined(block: list[str], widest: int) -> Iterator[str]:
    """The paragraphs of a block without blank lines."""
    held, first, last = "", "", ""  # the paragraph, its first row, the row before
    for row in block:
        bare = row.strip()
        if bare.startswith(_DOCTEST):
            break  # what follows up to the blank line is its output
        if _RULE.fullmatch(bare) or _NOT_PROSE.match(bare):
            yield held
            held = ""
            continue
        bullet, field = _BULLET.match(bare), _FIELD.match(bare)
        if held and (bullet or field or _starts(row, first, last, widest)):
            yield held
            held = ""
        if not held:
            first = row
            bare = bare[max(found.end() if found else 0 for found in (bullet, field)) :]
        broken = held[-1:] == "-" and held[-2:-1].isalpha() and bare[:1].islower()
        held += bare if broken or not held else f" {bare}"
        last = row
    yield held


def _starts(row: str, first: str, last: str, widest: int) -> bool:
    """Whether a row begins a paragraph, after the first and the last row of the one before."""
    bare = row.strip()
    if last.endswith(":") and _indent(row) > _indent(last):
        return True
    if _ENTRY.match(bare) and _indent(row) == _indent(first) and _ENTRY.match(first.strip()):
        return True
    short = len(last) + 1 + len(bare.split(None, 1)[0]) <= _SHORT * widest
    return short and not bare[0].islower() and (last.endswith(_END) or _indent(row) != _indent(last))


def _plain(paragraph: str) -> str:
    """Without the marks of markup."""
    text = " ".join(paragraph.split())
    if "`" in text or "*" in text or "\\" in text:
        for pattern, plain in _MARKS:
            text = pattern.sub(plain, text)
    return text.removesuffix(":") if text.endswith(_LITERAL) else text


def _reads(paragraph: str) -> bool:
    """Whether most of it are words."""
    words = paragraph.split()
    return sum(_WORD.fullmatch(word) is not None for word in words) >= max(_LEAST, _SHARE * len(words))
