"""How is a stretch of a text shown within it? Marked, with what stands around it, and the rest left out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from litebert.lab import page

AROUND = 140  # characters shown on either side of what is marked
_HEAD, _TAIL = 460, 140  # characters of a long text with nothing marked in it
_WORD = 16  # within so many characters a cut is moved to the edge of a word


class Mark(NamedTuple):
    """A stretch `text[start:end]`, how it looks, and a word that stands behind it."""

    start: int
    end: int
    look: str
    name: str = ""


def text(whole: str, marks: Sequence[Mark], around: int = AROUND) -> str:
    """The text with its marks, which may lie over one another; far from all of them it is left out."""
    marks = [mark for mark in marks if 0 <= mark.start < mark.end <= len(whole)]
    if not marks:
        return short(whole)
    kept = _kept(whole, marks, around)
    parts = [_stretch(whole, begin, end, marks) for begin, end in kept]
    before, after = "… " if kept[0][0] else "", " …" if kept[-1][1] < len(whole) else ""
    return f"{before}{' <i>…</i> '.join(parts)}{after}"


def short(whole: str) -> str:
    """The text, a long one without its middle."""
    if len(whole) <= _HEAD + _TAIL + 60:
        return page.text(whole)
    begin, end = _edge(whole, _HEAD, -1), _edge(whole, len(whole) - _TAIL, 1)
    left = f'<i class="soft">[… {end - begin:,} characters …]</i>'
    return f"{page.text(whole[:begin])} {left} {page.text(whole[end:])}"


def _kept(whole: str, marks: Sequence[Mark], around: int) -> list[tuple[int, int]]:
    """Stretches around the marks, those that touch joined."""
    found: list[tuple[int, int]] = []
    for mark in sorted(marks):
        begin = _edge(whole, mark.start - around, -1) if mark.start > around + _WORD else 0
        end = _edge(whole, mark.end + around, 1) if mark.end + around + _WORD < len(whole) else len(whole)
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def _stretch(whole: str, begin: int, end: int, marks: Sequence[Mark]) -> str:
    """From one edge of a mark to the next, each piece with the looks of all marks over it."""
    here = [mark for mark in marks if mark.start < end and mark.end > begin]
    edges = sorted({begin, end, *(edge for mark in here for edge in (mark.start, mark.end) if begin < edge < end)})
    parts = []
    for left, right in pairwise(edges):
        over = [mark for mark in here if mark.start <= left and right <= mark.end]
        piece = page.text(whole[left:right])
        looks = " ".join(dict.fromkeys(mark.look for mark in over))
        behind = "".join(f"<small>{page.text(mark.name)}</small>" for mark in over if mark.name and mark.end == right)
        parts.append(f'<mark class="{looks}">{piece}{behind}</mark>' if over else piece)
    return "".join(parts)


def _edge(whole: str, place: int, way: int) -> int:
    """The edge of a word near a place, looked for one way; the place itself where there is none near."""
    for step in range(_WORD):
        here = place + way * step
        if 0 < here < len(whole) and whole[here - 1 if way > 0 else here].isspace():
            return here
    return place
