"""What is there to read on a machine without a corpus and a network? What the Python that runs says of itself.

A document a topic of pydoc, then one a module of the standard library: its docstrings and its longer comments, in their
order. All of it is read as text; nothing is imported and nothing is run.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import sysconfig
import tokenize
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from litebert.text import prose
from litebert.text.items import Document, Problem
from litebert.text.sources import PYDOCS, unreadable

_TOPICS = "pydoc_data/topics.py"
# Of others, tests, and codecs: tables written as Python, with a line of text that all of them share.
_LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idle_test", "encodings", "pydoc_data", "__pycache__"}
_COMMENTS = re.compile(r"(?:^[ \t]*#.*\n?)+", re.MULTILINE)
_SIGN = re.compile(r"^[ \t]*#+[:!]? ?", re.MULTILINE)
_LEAST_WORDS = 8  # of a paragraph in a comment; docstrings are sentences at any length
_LEAST = 200  # characters of a document: what has fewer is a name, a version, a remark


class _UnreadError(Exception):
    """Why a file is not read."""


class _Passage(NamedTuple):
    """Paragraphs that stand together."""

    line: int
    paragraphs: list[str]


def documents(start: int = 0, library: Path | None = None) -> Iterator[tuple[int, Document | Problem]]:
    """The documents after place `start`, each with the place after it; a file that is no Python is a problem."""
    home = library or Path(sysconfig.get_path("stdlib"))
    topics, files = list(_topics(home)), _files(home)
    for place, item in enumerate(topics[start:], start + 1):
        yield place, item
    for number in range(max(0, start - len(topics)), len(files)):
        for item in _module(home, files[number]):
            yield len(topics) + number + 1, item


def _files(home: Path) -> list[str]:
    """The files of Python below a folder, by name."""

    def refuse(error: OSError) -> None:
        raise unreadable(error.filename, error)

    found: list[str] = []
    for folder, below, names in os.walk(home, onerror=refuse) if home.is_dir() else ():
        below[:] = [name for name in below if name not in _LEFT_OUT]
        found += [Path(folder, name).relative_to(home).as_posix() for name in names if name.endswith(".py")]
    return sorted(found)


def _topics(home: Path) -> Iterator[Document | Problem]:
    """The topics in the order of their file, without those that are a part of a longer one."""
    if not (home / _TOPICS).is_file():
        return
    try:
        texts = _table(_parsed(home / _TOPICS)[1])
    except _UnreadError as fault:
        yield _left_out(_TOPICS, fault)
        return
    passages = [_Passage(line, prose.paragraphs(text)) for line, text in texts]
    known = [set(passage.paragraphs) for passage in passages]
    for passage, mine in zip(passages, known, strict=True):
        if not any(len(mine) < len(theirs) and len(mine - theirs) <= 1 for theirs in known):  # the title may differ
            yield from _document(_TOPICS, [passage])


def _table(tree: ast.Module) -> list[tuple[int, str]]:
    """The texts of the dictionary that is written in a file, with their lines."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            values = [(value.lineno, value) for value in node.value.values]
            return [(line, value.value) for line, value in values
                    if isinstance(value, ast.Constant) and isinstance(value.value, str)]  # fmt: skip
    raise _UnreadError("it holds no table of topics")


def _module(home: Path, name: str) -> Iterator[Document | Problem]:
    """The document of a module, if it says enough."""
    try:
        text, tree = _parsed(home / name)
    except _UnreadError as fault:
        yield _left_out(name, fault)
        return
    passages: list[_Passage] = []
    within: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if found := ast.get_docstring(node):
                passages.append(_Passage(node.body[0].lineno, prose.paragraphs(found)))
        elif isinstance(node, ast.Constant | ast.JoinedStr) and (last := node.end_lineno or 0) > node.lineno:
            within.update(range(node.lineno + 1, last + 1))  # lines that begin within a string
    yield from _document(name, sorted([*passages, *_comments(text, within)]))


def _comments(text: str, within: set[int]) -> Iterator[_Passage]:
    line = at = 0
    for found in _COMMENTS.finditer(text):
        line += text.count("\n", at, at := found.start())
        if line + 1 not in within and len(found[0].split()) > _LEAST_WORDS:
            paragraphs = prose.paragraphs(inspect.cleandoc(_SIGN.sub("", found[0])))
            yield _Passage(line + 1, [each for each in paragraphs if len(each.split()) >= _LEAST_WORDS])


def _parsed(path: Path) -> tuple[str, ast.Module]:
    try:
        with tokenize.open(path) as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = file.read()
            return text, ast.parse(text)
    except (SyntaxError, UnicodeError, ValueError, RecursionError, MemoryError) as error:
        raise _UnreadError(f"it is no Python that can be read: {error}") from None
    except OSError as error:
        raise _UnreadError(error.strerror or str(error)) from None


def _document(name: str, passages: list[_Passage]) -> Iterator[Document]:
    told = [passage for passage in passages if passage.paragraphs]
    text = "\n\n".join(each for passage in told for each in passage.paragraphs)
    if len(text) >= _LEAST:
        yield Document(text, f"{PYDOCS}/{name}", told[0].line)


def _left_out(name: str, fault: _UnreadError) -> Problem:
    return Problem("file left out", f"{PYDOCS}/{name}", 0, str(fault))
