"""Which examples does a model learn from, and which judge it? A benchmark's files by its name, or files of one's own.

`source("sst-2", Path("glue"))` finds GLUE/SST-2/train.tsv and dev.tsv; `source("classify", Path("mine.csv"))` reads a
table by its columns. Where nothing is there to judge by, a share of the examples is held out, and a note says so.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from litebert.config import unknown_name
from litebert.data import order
from litebert.errors import UserError
from litebert.tasks import entities, splits
from litebert.tasks.benchmarks import BENCHMARKS, Benchmark, Part
from litebert.tasks.evaluation import known, told
from litebert.tasks.examples import Example, Left, Read, Text, Words
from litebert.tasks.readers import own
from litebert.tasks.readers.columns import KINDS, ROLES, Kind
from litebert.tasks.readers.faults import Bad

HELD_OUT = 0.1
_PARTS = {
    "train": ("train", "training"),
    "dev": ("dev", "valid", "validation", "eval"),
}  # files in a folder of one's own


class Reading(NamedTuple):
    """How files of one's own are read."""

    columns: Mapping[str, str] = {}  # what is for what, where it is not called so
    delimiter: str | None = None  # None = by the file's name
    header: bool = True
    several: str = ""  # what parts the labels of one example
    bad: Bad | None = None  # rows that cannot be examples: refuse, skip; None = as the benchmark needs, else refuse


class Source(NamedTuple):
    """What is learnt from, and what judges."""

    kind: Kind
    benchmark: Benchmark | None
    train: list[Example]
    dev: list[Example]
    left: list[Left]  # rows of either that were left out
    notes: list[str]  # what is to be told

    @property
    def name(self) -> str:
        """The benchmark's name, '' for a task of one's own."""
        return self.benchmark.name if self.benchmark else ""

    @property
    def fingerprint(self) -> str:
        """A digest of all examples, wherever their files lie."""
        digest = hashlib.sha256()
        for part in (self.train, self.dev):
            for example in part:
                values = {name: value for name, value in told(example).items() if name != "place"}
                digest.update(json.dumps(values, ensure_ascii=True).encode())
            digest.update(b"\0")
        return digest.hexdigest()


def named(task: str) -> tuple[Kind, Benchmark | None]:
    """What a user calls a task: a kind, or a benchmark."""
    if task in KINDS:
        return task, None
    if task.lower() not in BENCHMARKS:
        raise UserError(f"{unknown_name('task', task, [*KINDS, *BENCHMARKS])} (`litebert tasks` lists them)")
    benchmark = BENCHMARKS[task.lower()]
    return benchmark.kind, benchmark


def source(
    task: str, data: Path, dev: Path | None = None, *, held_out: float = HELD_OUT, reading: Reading = Reading(),
    most: int = 0, seed: int = 0,
) -> Source:  # fmt: skip
    """All examples; most: learn from so many of them at most, drawn by the seed."""
    kind, benchmark = named(task)
    check(kind, benchmark, reading)
    notes: list[str] = []
    train, told_of = _part(kind, benchmark, data, "train", reading)
    judged = _file(kind, benchmark, dev, reading) if dev is not None else None
    if judged is None and not told_of:
        judged, _ = _part(kind, benchmark, data, "dev", reading)
    if train is None:
        train, judged = (judged, None) if dev is None else (None, judged)
        if train is None:
            raise UserError(f"{data} holds no examples to learn from: {_wanted(benchmark)}")
        notes.append(f"{data} has no training files: its development files are parted instead")
    examples, left = train.examples, [*train.left, *(judged.left if judged else ())]
    if judged is None:
        parted = splits.split(examples, held_out, seed)
        examples, answered = parted.train, parted.dev
        notes += [f"{len(answered):,} of {len(answered) + len(examples):,} examples are held out to judge by "
                  f"(a share of {held_out:g}, seed {seed})", *parted.notes]  # fmt: skip
    else:
        answered = judged.examples
        notes += [*_unseen(examples, answered), *splits.on_both(examples, answered)]
    if most and most < len(examples):
        drawn = np.sort(order.permute(np.arange(most), len(examples), seed, 0))
        notes.append(f"{most:,} of {len(examples):,} examples are learnt from, drawn by seed {seed}")
        examples = [examples[i] for i in drawn]
    asked = [one for one in answered if known(one)]
    if len(asked) < len(answered):
        notes.append(f"{len(answered) - len(asked):,} development examples have no answer and are not asked")
    for part, what in ((examples, "learn from"), (asked, "judge by")):
        if not part:
            raise UserError(f"there is no example to {what} in {data if dev is None else dev}: name other files")
    return Source(kind, benchmark, examples, asked, left, notes)


def check(kind: Kind, benchmark: Benchmark | None, reading: Reading) -> None:
    """Raise where a way of reading fits no file of the task."""
    for name in reading.columns:
        if benchmark is not None:
            raise UserError(f"column {name!r} is named, but {benchmark.name} has columns of its own: leave it out, or "
                            f"say the kind of task, {kind}, instead of its name")  # fmt: skip
        if name not in ROLES[kind]:
            raise UserError(f"{unknown_name(f'column of {kind}', name, ROLES[kind])} (write --columns text=NAME)")


def counted(examples: Sequence[Example]) -> Counter[str]:
    """How often each label occurs, of words each kind of entity; empty where there is none to count."""
    found: Counter[str] = Counter()
    for one in examples:
        if isinstance(one, Words):
            found.update(entity.type for entity in entities.entities(one.tags or ()))
        elif isinstance(one, Text) and isinstance(one.label, frozenset):
            found.update(one.label)
        elif isinstance(one, Text) and isinstance(one.label, str):
            found[one.label] += 1
    return found


def _file(kind: Kind, benchmark: Benchmark | None, path: Path, reading: Reading) -> Read:
    """The examples of one file, in the form of the benchmark if there is one."""
    if not path.exists():
        raise UserError(f"{path} does not exist: name a file with examples, or the folder that holds them")
    if benchmark is None:
        return own.read(
            path, kind, reading.columns, several=reading.several, bad=reading.bad or "refuse",
            delimiter=reading.delimiter, header=reading.header,
        )  # fmt: skip
    return benchmark.read_files([path], labelled=True, bad=reading.bad)


def _part(
    kind: Kind, benchmark: Benchmark | None, data: Path, part: Part, reading: Reading
) -> tuple[Read | None, bool]:  # fmt: skip
    """A part of the data, None if it is not there; and whether `data` was that file itself."""
    if data.is_file():
        return (_file(kind, benchmark, data, reading), True) if part == "train" else (None, True)
    if not data.exists():
        raise UserError(f"{data} does not exist: name a file, or a folder with the files of the task")
    if benchmark is not None:
        there = bool(benchmark.where(data, part))
        return (benchmark.read(data, part, bad=reading.bad) if there else None), False
    found = sorted(path for path in data.iterdir() if path.name.partition(".")[0] in _PARTS[part])
    if len(found) > 1:
        raise UserError(f"{data} has {' and '.join(path.name for path in found)}: name the file itself")
    if not found and part == "train":
        raise UserError(f"{data} has no file train.csv (or .tsv, .jsonl, .parquet): name the file itself")
    return (_file(kind, None, found[0], reading) if found else None), False


def _wanted(benchmark: Benchmark | None) -> str:
    if benchmark is None:
        return "name a file"
    return benchmark.wanted("train" if benchmark.files.get("train") else "dev")


def _unseen(train: Sequence[Example], dev: Sequence[Example]) -> list[str]:
    """Labels from which nothing can be judged, or of which next to nothing can be learnt."""
    learnt, judged = counted(train), counted(dev)
    single = sorted(label for label, count in learnt.items() if count == 1)
    absent = sorted(label for label in learnt if label not in judged)
    notes = []
    if single:
        notes.append(f"labels with a single training example: {', '.join(single[:5])}{', …' if single[5:] else ''}")
    if absent:
        notes.append(
            f"labels that the development set does not have: {', '.join(absent[:5])}{', …' if absent[5:] else ''}"
        )
    return notes
