"""How do texts become rows? Between their special pieces, and of what is too long the part that is asked for.

All texts are laid out at once: a row is a few stretches of one long array of ids (the texts, and the special pieces
behind them), and NumPy sets all stretches of all rows one after another. Shapes: N texts, R rows, P tokens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from litebert.data.layout import FRAMES, Frame
from litebert.errors import UserError
from litebert.tasks import cutting
from litebert.tasks.cutting import Cut, Ints, Kept, Stretch
from litebert.tasks.examples import Choice, Place, Text, refuse
from litebert.tasks.task import Row
from litebert.text.encode import Encoder
from litebert.text.tokenizer import Tokenizer

FEW = 64  # texts that the engine is given one by one
_BLANK = re.compile(r"_+")  # where an option is to stand in a question (RACE)
_SPACES = re.compile(r"[ \t\r\n]{2,}|[\t\r\n]")


class _Pool(NamedTuple):
    """Every different text once, one after another, and behind them the special pieces of a row."""

    ids: NDArray[np.int32]  # [P]
    begins: Ints  # [different texts] where each begins
    sizes: Ints  # [different texts] its tokens
    numbers: dict[str, int]  # a text's place in both
    frame: Frame
    structure: tuple[int, int, int]  # where the pieces before, between and after begin


def frame_of(tokenizer: Tokenizer) -> Frame:
    """The special pieces around one text or two, by the family whose names the tokenizer uses."""
    return FRAMES[{"<s>": "roberta", "<cls>": "xlnet"}.get(tokenizer.name("cls"), "bert")]  # type: ignore[index]


def texts(examples: Sequence[Text], tokenizer: Tokenizer, cut: Cut) -> list[tuple[Row, ...]]:
    """The rows of every text or pair: one, or with long=mean one for each of its windows."""
    if not examples:
        return []
    paired = np.array([example.pair is not None for example in examples])
    seconds = [example.pair or "" for example in examples]
    pool = _pool([e.text for e in examples] + seconds, [e.place for e in examples] * 2, tokenizer)
    cutting.refuse_narrow(cut, pool.frame.specials(bool(paired.any())))
    one, two = (_numbers(pool, [e.text for e in examples]), _numbers(pool, seconds))
    room = cut.length - np.where(paired, pool.frame.specials(True), pool.frame.specials(False))
    found = cutting.kept(pool.sizes[one], pool.sizes[two], room, cut)
    rows = _rows(pool, found, one, two, paired)
    counts = np.bincount(found.text, minlength=len(examples))
    return [(row,) for row in rows] if len(rows) == len(examples) else _parted(rows, counts)


def choices(examples: Sequence[Choice], tokenizer: Tokenizer, cut: Cut, most: int) -> list[tuple[Row, ...]]:
    """A row for every option: the context, then question and option, of which at most the last `most` tokens stay.

    Only the context is cut to the length (google-research/albert: race_utils.py).
    """
    frame = frame_of(tokenizer)
    if most > cut.length - frame.specials(True) - 1:
        raise UserError(f"question {most} leaves no room for the context in length {cut.length}: "
                        f"choose {max(1, cut.length - frame.specials(True) - 1)} or less")  # fmt: skip
    cutting.refuse_narrow(cut, frame.specials(True))
    asked = [[asking(example.question, option) for option in example.options] for example in examples]
    counts = np.array([len(one) for one in asked], np.int64)
    if not counts.sum():
        return [() for _ in examples]
    flat, places = [text for one in asked for text in one], [example.place for example in examples]
    repeated = [place for place, one in zip(places, asked, strict=True) for _ in one]
    pool = _pool([e.context for e in examples] + flat, places + repeated, tokenizer)
    one = np.repeat(_numbers(pool, [e.context for e in examples]), counts)  # [R]
    two = _numbers(pool, flat)
    first, second = pool.sizes[one], pool.sizes[two]
    tail = np.minimum(second, most)
    room = cut.length - frame.specials(True) - tail
    passage = cutting.ends(first, np.minimum(first, room), room, cut)
    end = (Stretch(second - tail, tail), Stretch(np.zeros_like(tail), np.zeros_like(tail)))
    kept = Kept(np.arange(len(one)), passage, end)
    return _parted(_rows(pool, kept, one, two, np.ones(len(one), bool)), counts)


def asking(question: str, option: str) -> str:
    """Question and option as one text: in the question's blanks, or behind it."""
    if "_" in question:
        return _BLANK.sub(lambda _: option, question)
    return f"{question} {option}" if question else option


def _pool(found: Sequence[str], places: Sequence[Place], tokenizer: Tokenizer) -> _Pool:
    numbers = {text: number for number, text in enumerate(dict.fromkeys(found))}
    try:
        flat, sizes = _encoded(list(numbers), tokenizer)
    except (UserError, TypeError):  # half a character is no text to the engine
        _refuse_broken(found, places)
        raise
    frame, pieces = frame_of(tokenizer), tokenizer.specials
    parts = [[getattr(pieces, name) for name in part] for part in (frame.before, frame.between, frame.after)]
    at = np.cumsum([len(flat), *map(len, parts)]).tolist()
    ids = np.concatenate([flat, np.array([i for part in parts for i in part], np.int32)])
    return _Pool(ids, np.cumsum(sizes) - sizes, sizes, numbers, frame, (at[0], at[1], at[2]))


def _encoded(found: list[str], tokenizer: Tokenizer) -> tuple[NDArray[np.int32], Ints]:
    """The ids of all texts, one after another [P], and how many each has. A few are not worth an encoder."""
    if len(found) > FEW:
        encoded = Encoder(tokenizer).encode(_evenly_spaced(found, tokenizer))
        return encoded.ids.astype(np.int32), encoded.lengths.astype(np.int64)
    ids = [tokenizer.encode(text) for text in found]
    flat = np.fromiter((one for text in ids for one in text), np.int32)
    return flat, np.fromiter(map(len, ids), np.int64, len(ids))


def _evenly_spaced(found: list[str], tokenizer: Tokenizer) -> list[str]:
    """The texts with one space where several, tabs or line ends stand, if that is all the same to the tokenizer.

    The encoder is fastest where words stand one space apart.
    """
    if any(tokenizer.encode(odd) != tokenizer.encode("x y") for odd in (" x y", "x y ", "x  y", "x\ty", "x\r\ny")):
        return found
    return [_SPACES.sub(" ", text).strip(" ") for text in found]


def _refuse_broken(found: Sequence[str], places: Sequence[Place]) -> None:
    """Name the text that is none."""
    for text, place in zip(found, places, strict=True):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            what = f"{text[error.start]!r} at character {error.start + 1} is half a character"
            raise refuse(place, what, "repair the source, or leave the row out") from None


def _rows(pool: _Pool, kept: Kept, first: Ints, second: Ints, paired: NDArray[np.bool_]) -> list[Row]:
    """The rows that texts `first` and `second` [N] leave, with pieces between them where they are `paired` [N]."""
    pair = paired[kept.text]  # [R]
    before, between, after = (_structure(pool, part, np.ones_like(pair)) for part in range(3))
    between = between._replace(size=between.size * pair)
    one = [_within(part, pool.begins[first[kept.text]]) for part in kept.first]
    two = [_within(part, pool.begins[second[kept.text]]) for part in kept.second]
    stretches = [before, *one, between, *two, after]
    begins, sizes = (np.stack(parts, axis=1) for parts in zip(*stretches, strict=True))  # [R, 7]
    flat = sizes.reshape(-1)
    places = np.repeat(begins.reshape(-1) - np.cumsum(flat) + flat, flat) + np.arange(flat.sum())  # [P]
    ids, ends = pool.ids[places], np.cumsum(sizes.sum(axis=1)).tolist()
    made: dict[tuple[int, int], NDArray[np.uint8]] = {}
    rows = []
    leads = np.where(pair, sizes[:, :4].sum(axis=1), sizes.sum(axis=1))  # [R] tokens up to the second text
    for (start, end), lead in zip(pairwise([0, *ends]), leads.tolist(), strict=True):
        key = (lead, end - start)
        if key not in made:
            made[key] = _segments(pool.frame, *key)
        rows.append(Row(ids[start:end], made[key]))
    return rows


def _structure(pool: _Pool, part: int, rows: NDArray[np.bool_]) -> Stretch:
    """The special pieces before (0), between (1) and after (2) the texts of every row."""
    size = len((pool.frame.before, pool.frame.between, pool.frame.after)[part])
    return Stretch(rows * np.int64(pool.structure[part]), rows * np.int64(size))


def _within(part: Stretch, begin: Ints) -> Stretch:
    """A stretch of a text as one of the pool."""
    return Stretch(begin + part.begin, part.size)


def _segments(frame: Frame, lead: int, total: int) -> NDArray[np.uint8]:
    """Whose token each is: 0 up to the second text, 1 from there on, 2 for a summary at the end."""
    segments = np.zeros(total, np.uint8)
    if frame.typed:
        segments[lead:] = 1
        if frame.after[-1] == "cls":
            segments[-1] = 2
    return segments


def _numbers(pool: _Pool, found: Sequence[str]) -> Ints:
    """[N] where the pool has each text."""
    return np.fromiter(map(pool.numbers.__getitem__, found), np.int64, len(found))


def _parted(rows: Sequence[Row], counts: Ints) -> list[tuple[Row, ...]]:
    """So many rows for each, one after another."""
    return [tuple(rows[start:end]) for start, end in pairwise([0, *np.cumsum(counts).tolist()])]
