"""Is the documentation of a Python read whole, as text, in one order, and are those files named that are not?"""

from __future__ import annotations

import os
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from litebert.errors import UserError
from litebert.text import pydocs
from litebert.text.items import Document, Problem
from litebert.text.sentences import split
from text.readings import assert_resumes, read

WHEEL = '''#! /usr/bin/python
# -*- coding: latin-1 -*-
# This comment of more than eight words stands before
# the docstring of the module, as a licence may.
"""The wheel of a mill, and whatever it does when the water stands high enough for turning."""

import nothing_of_this_name
raise SystemExit("this was run")

class Wheel:
    r"""A wheel.

    >>> Wheel().turn()
    """

    async def turn(self):
        # it turns here     (less than eight words)
        # x = self.turn(1, 2, 3, 4, 5, 6, 7, 8)
        text = """
        # Within this string there stands what looks like a comment of many words.
        """
        if self:
            def inner():
                "It turns by one tooth, which \\xe9 is enough, as caf\xe9 says."
            # Here the water is high, and so the wheel turns
            # by two teeth at once, which nobody expects of it.
        return f"""
        # Nor is this one here, for it stands within a string too, of another kind.
        """
'''.encode("latin-1")
TEXT = """This comment of more than eight words stands before the docstring of the module, as a licence may.

The wheel of a mill, and whatever it does when the water stands high enough for turning.

A wheel.

It turns by one tooth, which é is enough, as café says.

Here the water is high, and so the wheel turns by two teeth at once, which nobody expects of it."""
LONG = (
    '"""A module of the mill number {0}, of which there is a lot to say.\n\n'
    + "It says so again, and more than once.\n\n" * 6
    + '"""'
)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A small standard library."""
    for name in ("a.py", "mill/__init__.py", "mill/b.py", "test/c.py", "mill/tests/d.py", "site-packages/e.py",
                 "idlelib/idle_test/f.py", "dist-packages/g.py", "encodings/h.py", "notes.txt"):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LONG.format(name))
    (tmp_path / "mill" / "wheel.py").write_bytes(WHEEL)
    (tmp_path / "short.py").write_text('"""Hardly a word."""\n')
    return tmp_path


def topics(library: Path, **texts: str) -> None:
    (library / "pydoc_data").mkdir()
    (library / "pydoc_data" / "topics.py").write_text(f"# Made by a program\ntopics = {texts!r}\n")


def test_modules_are_read_by_name_without_tests_and_what_others_installed(library: Path) -> None:
    items = [item for _, item in pydocs.documents(library=library)]
    assert [item.source for item in items] == [
        "pydocs/a.py", "pydocs/mill/__init__.py", "pydocs/mill/b.py", "pydocs/mill/wheel.py"
    ]  # fmt: skip


def test_docstrings_and_comments_come_in_their_order_and_nothing_is_run(library: Path) -> None:
    before = set(sys.modules)
    item = [item for _, item in pydocs.documents(library=library)][-1]
    assert item == Document(TEXT, "pydocs/mill/wheel.py", 1)
    assert set(sys.modules) - before == set()


def test_topics_come_first_without_those_that_are_part_of_another(library: Path) -> None:
    river = (
        "The river\n*********\n\nA river runs down to the sea, and nobody has ever asked it why.\n\n"
        + "It ran.\n\n" * 30
    )
    mill = f"The mill\n********\n\nA mill stands.\n\nAnother river\n=============\n{river.split('*********')[1]}"
    topics(library, river=river, mill=mill, sea="The sea\n*******\n\n" + "It is deep here. " * 20, nothing="")
    items = [item for _, item in pydocs.documents(library=library)]
    assert [(item.source, item.place) for item in items[:3]] == [
        ("pydocs/pydoc_data/topics.py", 2), ("pydocs/pydoc_data/topics.py", 2), ("pydocs/a.py", 1)
    ]  # fmt: skip
    assert isinstance(items[0], Document)
    assert items[0].text.startswith("The mill\n\nA mill stands.\n\nAnother river\n\nA river runs down to the sea, and")
    assert isinstance(items[1], Document)
    assert items[1].text.startswith("The sea\n\nIt is deep here.")


@pytest.mark.parametrize("code", ["topics = 1", "", "topics = {'a': "])
def test_topics_that_cannot_be_read_are_named_and_the_modules_are_read(library: Path, code: str) -> None:
    topics(library)
    (library / "pydoc_data" / "topics.py").write_text(code)
    items = [item for _, item in pydocs.documents(library=library)]
    assert isinstance(items[0], Problem)
    assert (items[0].kind, items[0].source) == ("file left out", "pydocs/pydoc_data/topics.py")
    assert len(items) == 5


@pytest.mark.parametrize(
    "data", [b"def (:\n", b"\xff\xfe", b"# coding: nonsense\n", b"x = '\0'\n", b"(" * 10_000, b"x = 08\n"]
)
def test_a_file_that_is_no_python_is_named_with_the_reason(library: Path, data: bytes) -> None:
    (library / "b.py").write_bytes(data)
    items = [item for _, item in pydocs.documents(library=library)]
    [problem] = [item for item in items if isinstance(item, Problem)]
    assert (problem.kind, problem.source, problem.place) == ("file left out", "pydocs/b.py", 0)
    assert problem.detail.startswith("it is no Python that can be read: ")
    assert len(items) == 5


def test_a_file_that_may_not_be_read_is_named(library: Path) -> None:
    (library / "b.py").symlink_to(library / "nowhere")
    [problem] = [item for _, item in pydocs.documents(library=library) if isinstance(item, Problem)]
    assert (problem.source, problem.detail) == ("pydocs/b.py", "No such file or directory")


def test_from_every_place_exactly_the_rest_follows(library: Path) -> None:
    topics(library, sea="The sea\n*******\n\n" + "It is deep here. " * 20)
    (library / "b.py").write_text("def (:")
    everything = list(pydocs.documents(library=library))
    assert len(everything) == 6
    for number, (place, _) in enumerate(everything, 1):
        assert list(pydocs.documents(place, library)) == everything[number:]


def test_the_order_in_which_a_disk_lists_files_does_not_matter(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = list(pydocs.documents(library=library))
    real = os.scandir

    class Reversed:
        def __init__(self, path: str) -> None:
            self.entries = reversed(list(real(path)))

        def __enter__(self) -> Reversed:
            return self

        def __exit__(self, *error: object) -> None:
            return

        def __iter__(self) -> Reversed:
            return self

        def __next__(self) -> os.DirEntry[str]:
            return next(self.entries)

        def close(self) -> None:
            return

    monkeypatch.setattr(os, "scandir", Reversed)
    assert list(pydocs.documents(library=library)) == before


def test_a_python_without_sources_is_an_error_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for home in (tmp_path, tmp_path / "nowhere", tmp_path / "python311.zip"):
        monkeypatch.setattr(sysconfig, "get_path", lambda name, home=home: str(home))
        with pytest.raises(UserError, match="pydocs: this Python comes without its documentation and sources: n"):
            read("pydocs")


def test_a_library_is_a_corpus_and_every_mark_of_it_resumes(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(library))
    assert assert_resumes("pydocs", library / "notes.txt") == 4 + 8


def test_the_running_python_has_megabytes_of_prose_and_gives_them_in_seconds() -> None:
    """2.7 MB in 550 documents and 3 seconds of 3.11; 2.4 MB as Debian packs it."""
    began = time.process_time()
    items = [item for _, item in pydocs.documents()]
    assert time.process_time() - began < 20
    if not Path(sysconfig.get_path("stdlib"), "argparse.py").is_file():
        pytest.skip("this Python comes without its sources")
    found = [item for item in items if isinstance(item, Document)]
    assert len(items) - len(found) <= len(found) // 100
    assert sum(len(document.text) for document in found) > 1 << 20
    sentences = [each for document in found for each in split(document.text)]
    assert min(len(split(document.text)) for document in found) > 1
    letters = [sum(map(str.isalpha, each)) / len(each) for each in sentences]
    assert sum(letters) / len(letters) > 0.75
    assert not any(">>>" in each and each.startswith(">>>") for each in sentences)
