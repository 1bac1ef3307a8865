"""Which tasks are known by name? Where their files lie, how they are read, their labels and how they are judged.

A benchmark is a value: `named("sst-2").read(Path("glue"), "dev")` reads GLUE/SST-2/dev.tsv, `.settings(config)` is what
a fine-tuning of it begins with. Files are looked for as published, in the folder given or in one of the benchmark's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from litebert.config import Config, unknown_name
from litebert.errors import UserError
from litebert.tasks import defaults
from litebert.tasks.examples import Read, Reader, collect
from litebert.tasks.readers import c3, clue, conll, glue, race, shapes, squad, tables
from litebert.tasks.readers.columns import Kind
from litebert.tasks.readers.faults import Bad
from litebert.tasks.settings import Tuning

Part = Literal["train", "dev", "test"]
PARTS: tuple[Part, ...] = ("train", "dev", "test")
Files = tuple[str, ...]  # all of them are read; `a|b|c` is the first of these that is there


class Benchmark(NamedTuple):
    """A task by name."""

    name: str
    about: str
    kind: Kind
    measures: tuple[str, ...]  # the one that decides first
    folders: tuple[str, ...]  # what its folder is called
    files: Mapping[Part, tuple[Files, ...]]  # ways of laying it out, the first that is there
    reader: Reader
    options: Mapping[str, Any] = {}  # of the reader  # noqa: RUF012
    labels: tuple[str, ...] = ()  # in their order; () = as the files have them
    bad: Bad = "refuse"  # skip: its published files have rows that are no examples
    judged: bool = False  # the test files have their answers

    def where(self, folder: Path, part: Part) -> list[Path]:
        """The files of a part in a folder, or in the benchmark's folder within it; [] if it is not there."""
        for place in (folder, *(folder / name for name in self.folders)):
            for names in self.files.get(part, ()):
                if names and all((place / name).exists() for name in names):
                    return [place / name for name in names]
        return []

    def read(self, folder: Path, part: Part, *, labelled: bool | None = None, bad: Bad | None = None) -> Read:
        """All examples of a part. Where `labelled` is not said, those to learn from and judge by must have answers."""
        paths = self.where(folder, part)
        if not paths:
            raise UserError(f"{folder} holds no {part} files of {self.name}: {self.wanted(part)}{_there(folder)}")
        known = (part != "test" or self.judged) if labelled is None else labelled
        found = (self.reader(path, **self.options, labelled=known, bad=bad or self.bad) for path in paths)
        return collect(chain.from_iterable(found))

    def wanted(self, part: Part) -> str:
        """In words, which files a part wants."""
        ways = [" and ".join(names) for names in self.files.get(part, ()) if names]
        return f"put {', or '.join(ways)} into it" if ways else "nobody published them"

    def settings(self, config: Config) -> Tuning:
        """What a fine-tuning begins with on a model of this shape."""
        return defaults.settings(self.name, self.kind, config)
