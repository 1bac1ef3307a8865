"""How is a user's own file read? As a table with the columns of its kind of task, or in a benchmark's published form.

`read(Path("reviews.csv"), "classify", {"text": "review"})`. The form is seen unless it is said: a folder of passages is
RACE's, JSON of articles SQuAD's, JSON of lists of lists C3's, `.conll` or `.bio` a word a line; all else is a table.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import islice
from pathlib import Path
from typing import Literal, get_args

from litebert.config import unknown_name
from litebert.errors import UserError
from litebert.tasks.examples import Read, Reader, collect
from litebert.tasks.readers import c3, conll, race, shapes, squad, tables
from litebert.tasks.readers.columns import KINDS, Kind
from litebert.tasks.readers.faults import Bad
from litebert.tasks.readers.lines import Lines, suffix

Form = Literal["table", "conll", "squad", "race", "c3"]
FORMS: tuple[Form, ...] = get_args(Form)
WORD_A_LINE = (".conll", ".bio", ".iob", ".iob2", ".bioes")
_READERS: dict[Form, Reader] = {"conll": conll.read, "squad": squad.read, "race": race.read, "c3": c3.read}
_OF_KIND: dict[Kind, tuple[Form, ...]] = {"tag": ("conll",), "span": ("squad",), "choice": ("race", "c3")}
_ARTICLES = re.compile(r'\s*\{\s*(?:"version"\s*:\s*"[^"]*"\s*,\s*)?"data"\s*:\s*\[')
_DOCUMENTS = re.compile(r"\s*\[\s*\[\s*\[")


def read(
    path: Path, kind: Kind, columns: Mapping[str, str] | None = None, *, form: Form | None = None,
    labels: Collection[str] = (), labelled: bool = True, several: str = "", bad: Bad = "refuse",
    delimiter: str | None = None, header: bool = True,
) -> Read:  # fmt: skip
    """All examples of a file. several: what parts the labels of one row; delimiter and header: of tables of text."""
    if kind not in KINDS:
        raise UserError(unknown_name("kind of task", kind, KINDS))
    form = form or form_of(path, kind)
    known = ("table", *_OF_KIND.get(kind, ()))
    if form not in known:
        raise UserError(f"{path}: a file in form {form!r} has no examples for {kind}: choose {' or '.join(known)}")
    if form == "table":
        table = tables.opened(path, delimiter=delimiter, header=header)
        found = shapes.examples(table, kind, columns, labels=labels, labelled=labelled, several=several, bad=bad)
        return collect(found)
    if columns or delimiter or several or not header:
        raise UserError(f"{path} is read in the form of {form}, which is no table: leave out columns, delimiter, "
                        "header and several")  # fmt: skip
    return collect(_READERS[form](path, labelled=labelled, bad=bad))


def form_of(path: Path, kind: Kind) -> Form:
    """What a file is by its name and, where JSON may be one thing or another, by how it begins."""
    if kind == "tag" and suffix(path) in WORD_A_LINE:
        return "conll"
    if kind == "choice" and path.is_dir():
        return "race"
    if kind in ("span", "choice") and suffix(path) == ".json":
        begin = "\n".join(islice(Lines(path), 3))
        if (_ARTICLES if kind == "span" else _DOCUMENTS).match(begin):
            return "squad" if kind == "span" else "c3"
    return "table"
