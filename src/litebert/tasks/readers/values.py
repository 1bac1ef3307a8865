"""What may stand in a field? A text that is not empty, a label, a score that is a number; what is not is said."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from typing import Any

from litebert.config import unknown_name
from litebert.tasks.readers.faults import RowError
from litebert.text.long_json import kind_of

_HALF = re.compile(r"[\ud800-\udfff]")
_SHOWN = 40  # characters of a value that a message shows


def text_of(value: Any, what: str) -> str:
    """A text with something in it."""
    if type(value) is not str:
        raise RowError(f"{what} is {_kind(value)}, not text")
    if not value or value.isspace():
        raise RowError(f"{what} is empty")
    if not value.isascii() and (half := _HALF.search(value)):  # JSON can spell it, UTF-8 cannot hold it
        raise RowError(f"{what} holds \\u{ord(half[0]):04x}, which is half a character")
    if "\0" in value:
        raise RowError(f"{what} holds a NUL, character {value.index(chr(0)) + 1:,}: nothing that was written as text")
    return value


def label_of(value: Any, what: str, known: Collection[str] = ()) -> str | None:
    """A label as text, None where there is none."""
    if type(value) is not str:
        if value is None:
            return None
        if isinstance(value, bool):
            value = "true" if value else "false"
        elif isinstance(value, int):
            value = str(value)
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise RowError(f"{what} is {value}, not a label")
            value = str(int(value)) if value.is_integer() else str(value)
        else:
            raise RowError(f"{what} is {_kind(value)}, not a label")
    label = str(value).strip()
    if "\0" in label:
        raise RowError(f"{what} holds a NUL: nothing that was written as text")
    if known and label and label not in known:
        raise RowError(unknown_name("label", label[:_SHOWN], known))
    return label or None


def labels_of(value: Any, what: str, known: Collection[str] = (), several: str = "") -> frozenset[str] | None:
    """Several labels at once: a list, or a text that `several` parts; an empty one says that none applies."""
    if isinstance(value, str):
        value = value.split(several) if several and value.strip() else [] if several else [value]
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise RowError(f"{what} is {_kind(value)}, not a list of labels")
    return frozenset(one for each in value if (one := label_of(each, what, known)) is not None)


def score_of(value: Any, what: str) -> float | None:
    """A score, None where there is none."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        score = float(value)
    except OverflowError:
        raise RowError(f"{what} is a number too large to be compared") from None
    except (TypeError, ValueError):
        shown = repr(value[:_SHOWN]) if isinstance(value, str) else _kind(value)
        raise RowError(f"{what} {shown} is not a number") from None
    if not math.isfinite(score) or isinstance(value, bool):
        raise RowError(f"{what} {value} is not a number")
    return score


def list_of(value: Any, what: str) -> list[str]:
    """A list of texts, or a text whose blanks part them."""
    found = value.split() if isinstance(value, str) else value
    if not isinstance(found, list | tuple):
        raise RowError(f"{what} is {_kind(value)}, not a list of texts")
    return [text_of(one, f"{what}, number {i},") for i, one in enumerate(found, 1)]


def id_of(value: Any) -> str:
    """What a source calls an example."""
    return "" if value is None else str(value)


def _kind(value: Any) -> str:
    if value is None:
        return "missing"
    if isinstance(value, bytes):
        return "bytes"
    return kind_of(value) if isinstance(value, int | float | str | list | dict) else f"a {type(value).__name__}"
