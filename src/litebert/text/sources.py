"""Which files are meant? Folders, patterns and names become a list of sources, in one order on every machine."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from litebert.errors import UserError

Form = Literal["text", "records", "table", "pydocs", "unknown"]
Packing = Literal["none", "gzip", "zstd"]

PYDOCS = "pydocs"  # the word for the documentation of the Python that runs; a folder of that name is ./pydocs
_FORMS: dict[str, Form] = {".txt": "text", ".jsonl": "records", ".ndjson": "records", ".parquet": "table"}
_PACKINGS: dict[str, Packing] = {".gz": "gzip", ".zst": "zstd"}
SUFFIXES = (*_FORMS, *(f"{form}{packing}" for form in _FORMS if form != ".parquet" for packing in _PACKINGS))
_PATTERN = re.compile(r"[*?[]")


class Source(NamedTuple):
    """A file to be read."""

    name: str  # as it is named in every document and message; text, though a path may be any bytes
    path: Path
    form: Form
    packing: Packing
    size: int  # bytes on the disk


def sources(paths: Iterable[str | Path]) -> list[Source]:
    """The files of folders (and of folders within), of patterns (`wiki/**/*.txt`), and those named; `pydocs` is a word.

    The order is that of `paths`, and by name below each. A file that is met twice is read once. What has another suffix
    than `SUFFIXES` is refused if it was named, and a source of unknown form, to be counted, if it was found. Names that
    begin with a dot are not looked at.
    """
    found: dict[str, Source] = {}
    for path in paths:
        for source in _below(os.fspath(path)):
            known = PYDOCS if source.form == PYDOCS else os.path.realpath(source.path)
            found.setdefault(known, source)
    if not found:
        raise UserError(f"no corpus was named: give folders, files ({', '.join(SUFFIXES)}) or the word {PYDOCS}")
    return list(found.values())


def _below(name: str) -> list[Source]:
    if name == PYDOCS:
        return [Source(PYDOCS, Path(PYDOCS), "pydocs", "none", 0)]
    try:
        if os.path.isdir(name):
            found = list(_within(name, set()))
        elif os.path.lexists(name):
            return [_named(name)]
        elif _PATTERN.search(name):
            matches = sorted(glob.glob(name, recursive=True))
            found = [each for match in matches for each in _matched(match)]
            if not matches:
                raise UserError(f"{_shown(name)} matches no file: check the folder that it begins with")
        else:
            os.stat(name)  # says which: it is not there, or we may not look
            raise UserError(f"{_shown(name)} is neither a file nor a folder: name one that is")
    except OSError as error:
        raise unreadable(_shown(error.filename or name), error) from None
    if all(source.form == "unknown" for source in found):
        raise UserError(f"{_shown(name)} holds no file to read: give one with a suffix of {', '.join(SUFFIXES)}")
    return found


def _matched(match: str) -> Iterator[Source]:
    if os.path.isdir(match):
        yield from _within(match, set())
    else:
        yield _source(match)


def _within(folder: str, above: set[str]) -> Iterator[Source]:
    """Files below a folder; links are followed, but not in a circle."""
    real = os.path.realpath(folder)
    if real in above:
        return
    for entry in sorted(os.listdir(folder)):
        path = os.path.join(folder, entry)
        if entry.startswith("."):
            continue
        if os.path.isdir(path):
            yield from _within(path, above | {real})
        else:
            yield _source(path)


def _named(name: str) -> Source:
    source = _source(name)
    if not source.path.is_file():
        raise UserError(f"{source.name} is not a regular file: copy what it holds into one")
    if source.form == "unknown":
        raise UserError(f"{source.name} has a suffix that is not read: choose one of {', '.join(SUFFIXES)}")
    return source


def _source(name: str) -> Source:
    path = Path(name)
    stem, last = os.path.splitext(name.lower())
    packing = _PACKINGS.get(last, "none")
    suffix = last if packing == "none" else os.path.splitext(stem)[1]
    form = _FORMS.get(suffix, "unknown")
    if (form == "table" and packing != "none") or not path.is_file():
        form = "unknown"
    return Source(_shown(name), path, form, packing, path.stat().st_size if path.is_file() else 0)


def _shown(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "replace")


def unreadable(name: str, error: OSError) -> UserError:
    """What is said of a file or folder that the system does not let us read."""
    reason = error.strerror or str(error)
    return UserError(f"{name} cannot be read ({reason[:1].lower()}{reason[1:]}): check the name and its permissions")
