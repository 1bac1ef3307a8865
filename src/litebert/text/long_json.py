"""How is one text taken out of a JSON object that is too long to be held? It is read once, from left to right.

Strings, numbers, names and the nesting of brackets are checked; of what stands within other fields, no more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NoReturn

_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|NaN|-?Infinity")
_IN_SCALAR = re.compile(r"[\w.+-]*")
# As much of a string as is complete: no half of an escape, and no half of a pair of them that spells one character.
_CHARACTERS = re.compile(
    r'(?:[^"\\]++|\\["\\/bfnrt]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+"
)
_HALF = re.compile(r"\\u([0-9a-fA-F]{4})")
_PAIR = len(r"\ud83d\ude00")
_CLOSES = {"{": "}", "[": "]"}
_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
_BEGUN = {"{": "an object", "[": "a list", '"': "a text", "t": "true or false", "f": "true or false", "n": "null"}
_NUMBER = "a number"
_NAMED, _NAME = 8, 40  # fields that a message names, and characters of each
_LONGEST = 5000  # characters of a field's name or of a number that are looked at: Python's own bound is 4300 digits
_DEEPEST = 1000  # brackets within brackets, as Python's own reader has it


class RecordError(Exception):
    """What is wrong with a record, to stand behind 'the line'."""


def kind_of(value: object) -> str:
    """What a value of JSON is, in words."""
    return _KINDS.get(type(value), _NUMBER)


def not_object(kind: str) -> RecordError:
    """What is said of a line that holds something else."""
    return RecordError(f"is {kind}, not an object")


def not_text(kind: str, field: str) -> RecordError:
    """What is said of a field that holds something else."""
    return RecordError(f"has {kind} in field {field!r}, not a text")


def twice(field: str) -> RecordError:
    """What is said of a record of which no one knows what is meant."""
    return RecordError(f"has the field {field!r} twice")


def missing(field: str, names: Iterable[str]) -> RecordError:
    """What is said of a record without the field."""
    first = [repr(name[:_NAME]) for name in islice(names, _NAMED + 1)]
    shown = ", ".join(first[:_NAMED]) + (", …" if len(first) > _NAMED else "")
    return RecordError(f"has no field {field!r} (it has {shown or 'none'})")


def text_of(chunks: Iterator[str], field: str) -> Iterator[str]:
    """The text in a field of one object, piece by piece; `RecordError` where the object turns out not to be one."""
    line = _Cursor(chunks)
    if line.peek() != "{":
        raise not_object(line.kind())
    line.at += 1
    names: list[str] = []  # the first ones
    found = False
    while line.peek() != "}" or names:
        line.expect('"')
        name = line.name()
        if len(names) <= _NAMED:
            names.append(name[:_NAME])
        line.expect(":")
        if name != field:
            line.skip_value()
        elif found:
            raise twice(field)
        elif line.peek() == '"':
            line.at += 1
            found = True
            yield from line.string()
        else:
            raise not_text(line.kind(), field)
        if line.peek() == "}":
            break
        line.expect(",")
    line.expect("}")
    if line.peek():
        line.fail("something stands after the object")
    if not found:
        raise missing(field, names)


class _Cursor:
    """A place in a text that comes in chunks; only the chunk around it is held."""

    def __init__(self, chunks: Iterator[str]) -> None:
        self.buffer, self.at = "", 0
        self._chunks, self._gone = chunks, 0

    def more(self) -> bool:
        """Whether there was another chunk."""
        chunk = next(self._chunks, None)
        if chunk is None:
            return False
        self._gone += self.at
        self.buffer, self.at = self.buffer[self.at :] + chunk, 0
        return True

    def peek(self) -> str:
        """The next character that is no white space; '' at the end."""
        while True:
            self.at = _SPACE.match(self.buffer, self.at).end()  # type: ignore[union-attr]
            if self.at < len(self.buffer):
                return self.buffer[self.at]
            if not self.more():
                return ""

    def expect(self, character: str) -> None:
        """Go past a character that must be the next one."""
        if self.peek() != character:
            self.fail(f"{character} is missing")
        self.at += 1

    def fail(self, what: str) -> NoReturn:
        """Say where it went wrong."""
        raise RecordError(f"is not JSON ({what}, column {self._gone + self.at + 1:,})")

    def kind(self) -> str:
        """What the value is that begins here."""
        if (opening := self.peek()) not in _BEGUN:
            self.skip_value()  # says so if it is none
        return _BEGUN.get(opening, _NUMBER)

    def name(self) -> str:
        """What stands up to the closing quotation mark, or as much of it as could be a field's name."""
        held = ""
        for piece in self.string():
            held += piece if len(held) < _LONGEST else ""
        return held

    def string(self) -> Iterator[str]:
        """What stands up to the closing quotation mark, in pieces that hold whole characters."""
        while True:
            end = _CHARACTERS.match(self.buffer, self.at).end()  # type: ignore[union-attr]
            piece, self.at = self.buffer[self.at : end], end
            if piece:
                yield json.loads(f'"{piece}"', strict=False) if "\\" in piece else piece
            if self.buffer[self.at : self.at + 1] == '"':
                self.at += 1
                return
            if len(self.buffer) - self.at < _PAIR and self.more():
                continue
            half = _HALF.match(self.buffer, self.at)
            if not half:
                self.fail("a string is not closed" if self.at == len(self.buffer) else "an unknown escape")
            yield chr(int(half[1], 16))
            self.at = half.end()

    def skip_value(self) -> None:
        """Go past one value, with all that it holds."""
        open_: list[str] = []
        while True:
            opening = self.peek()
            if opening in _CLOSES:
                open_.append(_CLOSES[opening])
                if len(open_) > _DEEPEST:
                    self.fail("brackets are nested too deeply")
                self.at += 1
            elif open_ and opening in (open_[-1], ",", ":"):
                self.at += 1
                if opening == open_[-1]:
                    open_.pop()
            elif opening == '"':
                self.at += 1
                for _ in self.string():
                    continue
            else:
                self._skip_scalar()
            if not open_:
                return

    def _skip_scalar(self) -> None:
        while (end := _IN_SCALAR.match(self.buffer, self.at).end()) == len(self.buffer):  # type: ignore[union-attr]
            if end - self.at > _LONGEST:
                self.fail("a number is too long")
            if not self.more():
                break
        if not _SCALAR.fullmatch(self.buffer, self.at, end):
            self.fail("a value is missing")
        self.at = end
