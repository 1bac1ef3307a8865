"""How do a question and its context become rows? Side by side, a long context in windows that overlap.

A window that does not hold the answer points to CLS (google-research/albert: squad_utils.py). Shapes: I windows,
T tokens, W pieces of a window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.tasks import best_span, offsets, windows
from litebert.tasks.examples import Answer, Question
from litebert.tasks.offsets import Located, Stretch
from litebert.tasks.task import Item
from litebert.tasks.windows import Dress, Window
from litebert.text.encode import Encoder
from litebert.text.tokenizer import Tokenizer


class Target(NamedTuple):
    """Where in its row the answer begins and ends; CLS, both, where the window does not hold it."""

    start: int
    end: int
    absent: bool


class Back(NamedTuple):
    """The way from a row back to its context."""

    located: Located
    window: Window
    at: int  # where in the row the window's pieces stand
    own: NDArray[np.bool_]  # [W] pieces that have most context here
    cls: int
    left: bool  # padding stands in front


def items(examples: Sequence[Question], tokenizer: Tokenizer, length: int, stride: int, most: int) -> list[Item]:
    """The windows of every context beside its question, of which the first `most` pieces are read."""
    contexts = offsets.located([e.context for e in examples], [e.place for e in examples], tokenizer)
    for example in examples:
        offsets.refuse_broken(example.question, example.place)
    asked = Encoder(tokenizer).encode([example.question for example in examples])
    ids, dress = asked.ids.astype(np.int32), windows.dress_of(tokenizer)
    found: list[Item] = []
    begin = 0
    for number, (example, located, size) in enumerate(zip(examples, contexts, asked.lengths.tolist(), strict=True)):
        question = ids[begin : begin + min(size, most)]
        room = length - len(question) - dress.frame.specials(True)
        gold = gold_of(located, example.answers) if example.answers else None
        cut = windows.windows(len(located.ids), room, stride)
        found += _windows(number, located, cut, question, dress, None if example.answers is None else (gold,))
        begin += size
    return found


def gold_of(located: Located, answers: Sequence[Answer]) -> Stretch | None:
    """The first answer that stands in whole pieces, or else the first answer."""
    for answer in answers:
        exact = located.exactly(answer.start, answer.start + len(answer.text))
        if exact is not None:
            return exact
    return best_span.gold(located, *answers[0])


def forbidden(items: Sequence[Item], shifts: Sequence[int], width: int) -> NDArray[np.bool_]:
    """[I, T] all but the context and CLS, which says that there is no answer."""
    found = np.ones((len(items), width), bool)
    for row, item, shift in zip(found, items, shifts, strict=True):
        back: Back = item.back
        begin = back.at + shift
        row[begin : begin + len(back.own)] = False
        row[back.cls + shift] = False
    return found


def _windows(
    number: int, located: Located, cut: Sequence[Window], question: NDArray[np.int32], dress: Dress,
    known: tuple[Stretch | None] | None,
) -> Iterator[Item]:  # fmt: skip
    """known: the answer's pieces, or that there is none; None where nothing is known."""
    owner = windows.owners(cut, len(located.ids))
    at = 0 if dress.left else len(dress.before) + len(question) + len(dress.between)
    for place, window in enumerate(cut):
        pieces = located.ids[window.begin : window.end]
        row = windows.row(dress, pieces, question) if dress.left else windows.row(dress, question, pieces)
        cls = len(row.ids) - 1 if dress.left else 0
        target = None if known is None else _target(known[0], window, at, cls)
        own = owner[window.begin : window.end] == place
        yield Item(number, (row,), target, Back(located, window, at, own, cls, dress.left))


def _target(gold: Stretch | None, window: Window, at: int, cls: int) -> Target:
    if gold is None or gold.first < window.begin or gold.last >= window.end:
        return Target(cls, cls, True)
    return Target(gold.first - window.begin + at, gold.last - window.begin + at, False)
