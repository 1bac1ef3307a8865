"""How does CLUE hold its tasks? JSON, an object a line or spread over many, each task with fields of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from litebert.config import unknown_name
from litebert.errors import UserError
from litebert.tasks.examples import Left, Place, Text, Words
from litebert.tasks.readers import records
from litebert.tasks.readers.faults import Bad, RowError, left
from litebert.tasks.readers.values import id_of, label_of, text_of

_NLI = ("contradiction", "entailment", "neutral")
_YES_NO = ("0", "1")
_UNDECIDED = "-"  # the annotators did not agree
LABELS: dict[str, tuple[str, ...]] = {
    "ocnli": _NLI,
    "cmnli": _NLI,
    "afqmc": _YES_NO,
    "tnews": tuple(str(code) for code in range(100, 117) if code not in (105, 111)),
    "iflytek": tuple(map(str, range(119))),
    "csl": _YES_NO,
    "cluewsc": ("false", "true"),
}
ENTITIES = ("address", "book", "company", "game", "government", "movie", "name", "organization", "position", "scene")


def read(path: Path, task: str, *, labelled: bool = True, bad: Bad = "refuse") -> Iterator[Text | Left]:
    """The examples of a file of a task that classifies; those on whose label nobody agreed are left out."""
    if task not in LABELS:
        raise UserError(unknown_name("CLUE task", task, LABELS))
    texts = {"csl": _keywords, "cluewsc": _pronoun, "tnews": _single, "iflytek": _single}.get(task, _pair)
    for number, record in _objects(path):
        place = Place(str(path), number)
        one: Text | Left
        try:
            one = _text(record, place, texts, LABELS[task], labelled)
        except RowError as fault:
            one = left(place, fault, bad)
        yield one


def entities(path: Path, *, labelled: bool = True, bad: Bad = "refuse") -> Iterator[Words | Left]:
    """The sentences of a file of CLUENER as characters with BIO tags.

    Of two entities that overlap the longer one is kept, the other counted as left out; the sentence is kept.
    """
    for number, record in _objects(path):
        place = Place(str(path), number)
        try:
            if isinstance(record, RowError):
                raise record
            text = text_of(record.get("text"), "its text")
            if "label" not in record and labelled:
                raise RowError("the record has no label")
            tags, lost = _tags(text, record["label"]) if "label" in record else (None, [])
        except RowError as fault:
            yield left(place, fault, bad)
            continue
        yield from (Left(place, why) for why in lost)
        yield Words(tuple(text), tags, id_of(record.get("id")), place, spaced=False)


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any] | RowError]]:
    """Every record of a file that has some."""
    found = records.objects(path)
    first = next(found, None)
    if first is None:
        raise UserError(f"{path} is empty: name a file with a record for each example")
    return chain([first], found)


def _text(
    record: dict[str, Any] | RowError, place: Place, texts: Callable[[dict[str, Any]], tuple[str, str | None]],
    known: tuple[str, ...], labelled: bool,
) -> Text | Left:  # fmt: skip
    if isinstance(record, RowError):
        raise record
    value = record.get("label")
    if value == _UNDECIDED:
        return Left(place, f"label {_UNDECIDED!r}: the annotators did not agree")
    label = label_of(value, "its label", known)
    if label is None and labelled:
        raise RowError("the record has no label")
    text, pair = texts(record)
    return Text(text, pair, label, id_of(record.get("id")), place)


def _single(record: dict[str, Any]) -> tuple[str, str | None]:
    return text_of(record.get("sentence"), "its sentence"), None


def _pair(record: dict[str, Any]) -> tuple[str, str | None]:
    return text_of(record.get("sentence1"), "sentence1"), text_of(record.get("sentence2"), "sentence2")


def _keywords(record: dict[str, Any]) -> tuple[str, str | None]:
    """CSL asks whether all keywords belong to the abstract."""
    words = record.get("keyword")
    if not isinstance(words, list):
        raise RowError("the record has no list 'keyword'")
    return "、".join(text_of(word, "a keyword") for word in words), text_of(record.get("abst"), "its abstract")


def _pronoun(record: dict[str, Any]) -> tuple[str, str | None]:
    """The Winograd schemas ask whether the pronoun stands for the noun: _noun_ and [pronoun] are marked in the text."""
    text, target = text_of(record.get("text"), "its text"), record.get("target")
    if not isinstance(target, dict):
        raise RowError("the record has no object 'target'")
    marks = []
    for i, (before, after) in enumerate((("_", "_"), ("[", "]")), 1):
        span, start = text_of(target.get(f"span{i}_text"), f"span{i}_text"), target.get(f"span{i}_index")
        if not isinstance(start, int) or start < 0 or not text.startswith(span, start):
            raise RowError(f"span {i} ({span!r}) does not stand at character {start!r} of the text")
        marks += [(start, before), (start + len(span), after)]
    ends = (marks[1], marks[3])  # where one span ends and the other begins, the end comes first
    for at, mark in sorted(marks, key=lambda one: (one[0], one not in ends), reverse=True):
        text = text[:at] + mark + text[at:]
    return text, None


def _tags(text: str, label: Any) -> tuple[tuple[str, ...], list[str]]:
    """BIO over characters from {kind: {surface: [[first, last], ...]}}, and which entities found no place."""
    spans = sorted(_spans(text, label), key=lambda one: (one[0] - one[1], one))  # the longest first
    tags, lost = ["O"] * len(text), []
    for first, last, kind in spans:
        if any(tag != "O" for tag in tags[first : last + 1]):
            lost.append(f"{kind} {text[first : last + 1]!r} overlaps a longer entity (its sentence is kept)")
            continue
        tags[first : last + 1] = [f"B-{kind}", *[f"I-{kind}"] * (last - first)]
    return tuple(tags), lost


def _spans(text: str, label: Any) -> Iterator[tuple[int, int, str]]:
    if not isinstance(label, dict) or not all(isinstance(found, dict) for found in label.values()):
        raise RowError("its label is no object of kinds, each an object of entities")
    for kind, found in label.items():
        if kind not in ENTITIES:
            raise RowError(unknown_name("kind of entity", kind, ENTITIES))
        for surface, places in found.items():
            for place in places if isinstance(places, list) else [places]:
                if not (isinstance(place, list) and len(place) == 2 and all(type(end) is int for end in place)):
                    raise RowError(f"the place of {surface!r} is not a first and a last character")
                first, last = place
                if first < 0 or last - first + 1 != len(surface) or text[first : last + 1] != surface or not surface:
                    raise RowError(f"{surface!r} does not stand at characters {first} to {last} of the text")
                yield first, last, kind
