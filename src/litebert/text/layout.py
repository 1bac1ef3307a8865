"""Which line ends mean something, and which are only the edge of the page? Lines of a text become its paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

# paragraph: every line is one. wrapped: lines follow on, up to a blank one. sentence: every line is one, as it stands.
# auto: paragraph, but where lines look broken at a margin they follow on.
Lines = Literal["auto", "paragraph", "wrapped", "sentence"]

_NARROWEST, _WIDEST = 30, 120  # margins that lines are broken at
_FULL = 0.85  # a line is full if, with the next word, it would reach so far towards the margin
# Line ends of a block of which lines follow on: so many after full lines, and so many within a sentence. Prose has 0.93
# and 0.81 at least, verse up to 0.93 of the first but 0.25 of the second (13 English books); German nouns are capital.
_SHARE_FULL, _SHARE_WITHIN = 0.5, 0.4
_PRIOR = 4  # line ends that the text as a whole counts for when a block is judged
_LAST = re.compile(r"[.!?…:;。！？；：][\"'”’»)\]」』）]*$")  # of a line that may end a sentence
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")  # scripts that join lines without a space


class _End(NamedTuple):
    """What is known of a line end."""

    full: bool  # the next word had no place on the line
    within: bool  # within a sentence
    hung: bool  # the next line is set in, as the rest of a line too long for the page


def paragraphs(text: str, lines: Lines = "auto") -> list[str]:
    """The paragraphs of a text; a blank line always ends one."""
    rows = text.splitlines()
    if lines == "wrapped":
        return [_joined(block) for block in _blocks(rows)]
    if lines == "auto" and len(rows) > 1 and len(text) < _WIDEST * len(rows):
        return list(_unbroken(rows))
    return rows


def _blocks(rows: list[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for row in [*rows, ""]:
        if row and not row.isspace():
            block.append(row.rstrip())
        elif block:
            yield block
            block = []


def _joined(rows: list[str]) -> str:
    text = rows[0]
    for row in map(str.lstrip, rows[1:]):
        broken = text[-1] == "-" and text[-2:-1].isalpha() and row[0].islower()  # a word, or a compound
        close = broken or (_WIDE.match(text[-1]) and _WIDE.match(row[0]))
        text += row if close else f" {row}"
    return text


def _unbroken(rows: list[str]) -> Iterator[str]:
    blocks = list(_blocks(rows))
    widths = sorted(len(row) for block in blocks for row in block[:-1])
    margin = widths[len(widths) * 9 // 10] if widths else 0
    if not _NARROWEST <= margin <= _WIDEST:
        yield from (row for block in blocks for row in block)
        return
    ends = [[_end(row, then, margin) for row, then in pairwise(block)] for block in blocks]
    full = sum(end.full for each in ends for end in each) / len(widths) * _PRIOR
    within = sum(end.within for each in ends for end in each) / len(widths) * _PRIOR
    for block, of in zip(blocks, ends, strict=True):
        most = len(of) + _PRIOR
        follow = full + sum(end.full for end in of) > _SHARE_FULL * most
        follow = follow and within + sum(end.within for end in of) > _SHARE_WITHIN * most
        begun = [block[0]]
        for row, end in zip(block[1:], of, strict=True):
            if (follow and (end.full or end.within)) or (end.full and end.hung):
                begun.append(row)
            else:
                yield _joined(begun)
                begun = [row]
        yield _joined(begun)


def _end(row: str, then: str, margin: int) -> _End:
    start = then.lstrip()
    within = start[0].islower() or (not start[0].isupper() and not _LAST.search(row))
    hung = len(then) - len(start) > len(row) - len(row.lstrip()) and (start[0].islower() or row[-1].isalnum())
    return _End(len(row) + 1 + len(start.split(None, 1)[0]) > _FULL * margin, within, hung)
