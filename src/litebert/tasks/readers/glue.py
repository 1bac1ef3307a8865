"""How does GLUE ship its tasks? As tables without quotes, each with columns of its own, and test files without labels.

The layouts are those of the archives on gluebenchmark.com: CoLA has no header but in its test file, MRPC a byte order
mark, MNLI and QQP a few columns that differ between their files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from litebert.config import unknown_name
from litebert.errors import UserError
from litebert.tasks.examples import Example, Left
from litebert.tasks.readers import shapes, tables
from litebert.tasks.readers.columns import Kind
from litebert.tasks.readers.faults import Bad

_TWO = {"text": "sentence1", "pair": "sentence2", "label": "label", "id": "index"}
_NLI = ("contradiction", "entailment", "neutral")
_ENTAILED = ("entailment", "not_entailment")
_YES_NO = ("0", "1")

# task -> the columns of its files with labels, and the labels; a column that a file has not is not asked for
COLUMNS: dict[str, dict[str, str]] = {
    "cola": {"text": "4", "label": "2"},
    "sst-2": {"text": "sentence", "label": "label", "id": "index"},
    "mrpc": {"text": "#1 String", "pair": "#2 String", "label": "Quality", "id": "index"},
    "sts-b": {**_TWO, "label": "score"},
    "qqp": {"text": "question1", "pair": "question2", "label": "is_duplicate", "id": "id"},
    "mnli": {**_TWO, "label": "gold_label"},
    "qnli": {**_TWO, "text": "question", "pair": "sentence"},
    "rte": _TWO,
    "wnli": _TWO,
    "ax": {**_TWO, "label": "gold_label"},  # the diagnostics, which MNLI's model answers
}
LABELS: dict[str, tuple[str, ...]] = {
    "cola": _YES_NO, "sst-2": _YES_NO, "mrpc": _YES_NO, "sts-b": (), "qqp": _YES_NO, "mnli": _NLI, "qnli": _ENTAILED,
    "rte": _ENTAILED, "wnli": _YES_NO, "ax": _NLI,
}  # fmt: skip
_COLA_TEST = ("index", "sentence")


def read(path: Path, task: str, *, labelled: bool = True, bad: Bad = "refuse") -> Iterator[Example | Left]:
    """The examples of a file of a GLUE task; without `labelled` a file may have no column of labels."""
    if task not in COLUMNS:
        raise UserError(unknown_name("GLUE task", task, COLUMNS))
    kind: Kind = "regress" if task == "sts-b" else "classify"
    columns = COLUMNS[task]
    table = tables.opened(path, delimiter="\t", quotes=False)
    if task == "cola" and table.columns == _COLA_TEST:
        columns = {"text": "sentence", "id": "index"}
    elif task == "cola":
        table = tables.opened(path, delimiter="\t", quotes=False, header=False)
    if labelled and (wanted := columns.get("label", "label")) not in table.columns:
        if columns.get("text", "text") in table.columns:
            raise UserError(f"{path} has no column {wanted!r}: it is a test file, without labels; "
                            f"name one with {', '.join(COLUMNS[task].values())}")  # fmt: skip
        raise UserError(f"{path} has no column {wanted!r} among {', '.join(table.columns)} (parted by tabs): name a "
                        f"file of {task} as GLUE has it, or say {kind} instead for a table of your own")  # fmt: skip
    there = {role: column for role, column in columns.items() if column in table.columns or role not in ("label", "id")}
    return shapes.examples(table, kind, there, labels=LABELS[task], labelled=labelled, bad=bad)
