"""How do words become rows, and which row answers for which word? A word's first piece speaks for it.

A text that is longer than a row is read in windows that overlap. All of its words are answered, each once: by the
window that has most context for it on its poorer side. Shapes: W words of a text, P pieces, w words of a window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.tasks import cutting, offsets, windows
from litebert.tasks.cutting import Cut
from litebert.tasks.examples import Words
from litebert.tasks.task import Item
from litebert.text.encode import Encoder
from litebert.text.tokenizer import Tokenizer

Ints = NDArray[np.int64]

LETTERS = 1000  # of a word are read; what is longer is no word
_SHARE = 4  # no word takes more than a quarter of a row: its neighbours are to be seen beside it
_BESIDE = "。"  # stands before a word that has no space before it: no piece holds it and a letter

_Form = tuple[str, bool]  # what the engine is given, and whether `_BESIDE` comes first


class Back(NamedTuple):
    """The way from a row back to its words."""

    words: Ints  # [w] the words that this row answers for
    places: Ints  # [w] where in the row their first pieces stand
    left: bool  # padding stands in front


class Pool(NamedTuple):
    """Every different word once."""

    ids: NDArray[np.int32]  # [P]
    begins: Ints  # [different words] where each begins
    sizes: Ints  # [different words] its pieces, one at least
    numbers: dict[_Form, int]  # a word's place in both


def items(
    examples: Sequence[Words], tokenizer: Tokenizer, length: int, stride: int,
    target: Callable[[Words], Ints | None],
) -> list[Item]:  # fmt: skip
    """The windows of every text; an item's target is what `target` says [W] of the words it answers for."""
    dress = windows.dress_of(tokenizer)
    cutting.refuse_narrow(Cut(length), dress.frame.specials(False))
    room, lead = length - dress.frame.specials(False), len(dress.before)
    given = _forms(examples, tokenizer)
    pool = _pool(given, tokenizer, max(1, room // _SHARE))
    found: list[Item] = []
    for number, (example, forms) in enumerate(zip(examples, given, strict=True)):
        ids, firsts = laid_out(pool, forms)
        known = target(example)
        cut = windows.windows(len(ids), room, stride)
        owner = windows.owners(cut, len(ids))[firsts]  # [W]
        for place, window in enumerate(cut):
            low, high = np.searchsorted(firsts, window).tolist()
            mine = low + np.flatnonzero(owner[low:high] == place)
            if len(mine) or len(cut) == 1:
                row = windows.row(dress, ids[window.begin : window.end])
                back = Back(mine, firsts[mine] - window.begin + lead, dress.left)
                found.append(Item(number, (row,), None if known is None else known[mine], back))
    return found


def laid_out(pool: Pool, forms: Sequence[_Form]) -> tuple[NDArray[np.int32], Ints]:
    """The pieces of some words, one after another [P], and where each word's first one stands [W]."""
    which = np.fromiter(map(pool.numbers.__getitem__, forms), np.int64, len(forms))
    sizes = pool.sizes[which]
    firsts = np.cumsum(sizes) - sizes
    places = np.repeat(pool.begins[which] - firsts, sizes) + np.arange(sizes.sum())
    return pool.ids[places], firsts


def _forms(examples: Sequence[Words], tokenizer: Tokenizer) -> list[list[_Form]]:
    """What the engine is given for every word: as it stands in its text, where that makes a difference."""
    space = " " if tokenizer.encode(" x") != tokenizer.encode("x") else ""
    apart = tokenizer.specials.unk not in tokenizer.encode(_BESIDE)
    found: list[list[_Form]] = []
    for example in examples:
        offsets.refuse_broken(" ".join(example.words), example.place)
        words = [word[:LETTERS] for word in example.words]
        if example.spaced:
            found.append([(space * (at > 0) + word, False) for at, word in enumerate(words)])
        else:
            found.append([(_BESIDE + word if apart else word, apart) for word in words])
    return found


def _pool(given: Sequence[Sequence[_Form]], tokenizer: Tokenizer, most: int) -> Pool:
    """The first `most` pieces of every different word; what makes no piece stands there as an unknown one."""
    different = list(dict.fromkeys(form for forms in given for form in forms))
    unknown, beside = [tokenizer.specials.unk], tokenizer.encode(_BESIDE)
    encoded = Encoder(tokenizer).encode([text for text, _ in different])
    ids, ends = encoded.ids.tolist(), np.cumsum(encoded.lengths).tolist()
    pieces: list[list[int]] = []
    for (text, apart), start, end in zip(different, [0, *ends], ends, strict=False):
        own = ids[start:end]
        if apart:  # where the two hang together the word is cut on its own
            parted = own[: len(beside)] == beside
            own = own[len(beside) :] if parted else tokenizer.encode(text[len(_BESIDE) :])
        pieces.append(own[:most] or unknown)
    sizes = np.fromiter(map(len, pieces), np.int64, len(pieces))
    flat = np.fromiter(chain.from_iterable(pieces), np.int32, int(sizes.sum()))
    return Pool(flat, np.cumsum(sizes) - sizes, sizes, {form: number for number, form in enumerate(different)})
