"""Which tasks are known by name? Where their files lie, how they are read, their labels and how they are judged.

A benchmark is a value: `named("sst-2").read(Path("glue"), "dev")` reads glue/SST-2/dev.tsv, `.settings(config)` is what
a fine-tuning of it begins with. Files are looked for as they were published: in the folder given, in one of the
benchmark's name within it, or one further down (glue/SST-2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from litebert.config import Config, unknown_name
from litebert.errors import UserError
from litebert.tasks import defaults
from litebert.tasks.examples import Example, Left, Read, Reader, collect
from litebert.tasks.readers import c3, clue, conll, glue, race, shapes, squad, tables
from litebert.tasks.readers.columns import Kind
from litebert.tasks.readers.faults import Bad
from litebert.tasks.settings import Tuning

Part = Literal["train", "dev", "test"]
PARTS: tuple[Part, ...] = ("train", "dev", "test")
Files = tuple[str, ...]  # all of them are read, one behind the other
Layouts = Mapping[Part, tuple[Files, ...]]  # ways of laying a part out; the first that is there is read
_SHOWN = 8  # names of what a folder holds


class Benchmark(NamedTuple):
    """A task by name."""

    name: str
    about: str
    kind: Kind
    measures: tuple[str, ...]  # the one that decides first
    folders: tuple[str, ...]  # what its folder is called
    files: Layouts
    reader: Reader
    options: Mapping[str, Any] = {}  # of the reader
    labels: tuple[str, ...] = ()  # in their order; () = as the files have them
    bad: Bad = "refuse"  # skip: its published files have rows that are no examples
    judged: bool = False  # the test files have their answers

    def where(self, folder: Path, part: Part) -> list[Path]:
        """The files of a part in a folder, or in the benchmark's folder within it; [] if they are not there."""
        further = sorted(place for name in self.folders for place in folder.glob(f"*/{name}"))
        for place in (folder, *(folder / name for name in self.folders), *further):
            for names in self.files.get(part, ()):
                if all((place / name).exists() for name in names):
                    return [place / name for name in names]
        return []

    def read(self, folder: Path, part: Part, *, labelled: bool | None = None, bad: Bad | None = None) -> Read:
        """All examples of a part. Where `labelled` is not said, those to learn from and judge by must have answers."""
        paths = self.where(folder, part)
        if not paths:
            raise UserError(f"{folder} holds no {part} files of {self.name}{_there(folder)}: {self.wanted(part)}")
        known = (part != "test" or self.judged) if labelled is None else labelled
        return self.read_files(paths, labelled=known, bad=bad)

    def read_files(self, paths: Sequence[Path], *, labelled: bool, bad: Bad | None = None) -> Read:
        """All examples of files in the benchmark's form, wherever they lie and whatever they are called."""
        found = (self.reader(path, **self.options, labelled=labelled, bad=bad or self.bad) for path in paths)
        return collect(chain.from_iterable(found))

    def wanted(self, part: Part) -> str:
        """In words, which files a part wants."""
        ways = [" and ".join(names) for names in self.files.get(part, ())]
        return f"put {', or '.join(ways)} into it" if ways else "none were published"

    def settings(self, config: Config) -> Tuning:
        """What a fine-tuning begins with on a model of this shape."""
        return defaults.settings(self.name, self.kind, config)


def named(name: str) -> Benchmark:
    """The benchmark of a name, in small letters or not."""
    if name.lower() not in BENCHMARKS:
        raise UserError(unknown_name("benchmark", name, BENCHMARKS))
    return BENCHMARKS[name.lower()]


def _there(folder: Path) -> str:
    """What a folder holds instead."""
    if not folder.is_dir():
        return " (it is a file, not a folder)" if folder.exists() else " (there is no such folder)"
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    return f" (it holds {', '.join(names[:_SHOWN]) or 'nothing'}{', …' if len(names) > _SHOWN else ''})"


def _table(
    path: Path, *, kind: Kind, columns: Mapping[str, str], header: bool = True, labels: Sequence[str] = (),
    labelled: bool = True, bad: Bad = "refuse",
) -> Iterator[Example | Left]:  # fmt: skip
    """The examples of a table parted by tabs."""
    table = tables.opened(path, delimiter="\t", quotes=False, header=header)
    return shapes.examples(table, kind, columns, labels=labels, labelled=labelled, bad=bad)


def _files(train: str, dev: str, test: str = "") -> Layouts:
    """How each part is laid out: ways parted by bars, the files of one by blanks; '' = not published."""
    ways = zip(PARTS, (train, dev, test), strict=True)
    return {part: tuple(tuple(names.split()) for names in files.split("|")) for part, files in ways if files}


def _glue(
    name: str, folder: str, about: str, measures: tuple[str, ...], dev: str = "dev.tsv", test: str = "test.tsv",
    train: str = "train.tsv", task: str = "",
) -> Benchmark:  # fmt: skip
    task = task or name
    kind: Kind = "classify" if glue.LABELS[task] else "regress"
    # QQP has rows that are cut off, MNLI some without a label that annotators agreed on
    return Benchmark(name, f"{about} (GLUE)", kind, measures, (folder, name), _files(train, dev, test), glue.read,
                     {"task": task}, glue.LABELS[task], bad="skip")  # fmt: skip


def _race(name: str, about: str, folders: Sequence[str]) -> Benchmark:
    parts = (" ".join(f"{part}/{folder}" for folder in folders) for part in PARTS)
    return Benchmark(name, about, "choice", ("accuracy",), ("RACE", "race"), _files(*parts), race.read, judged=True)


def _clue(name: str, folders: str, about: str, **more: Any) -> Benchmark:
    """A task of CLUE that classifies, with its files as train.json, dev.json and test.json unless `files` says more."""
    given: dict[str, Any] = {
        "measures": ("accuracy", "f1_macro"), "files": _files("train.json", "dev.json", "test.json"),
        "reader": clue.read, "options": {"task": name}, "labels": clue.LABELS.get(name, ()),
    }  # fmt: skip
    given |= more
    return Benchmark(name, f"{about} (CLUE)", "classify", folders=tuple(folders.split()), **given)


_ACCURACY, _BOTH = ("accuracy", "f1_macro", "matthews"), ("accuracy", "f1", "matthews")
_SPANS = ("f1", "exact")

_ALL: tuple[Benchmark, ...] = (
    _glue("cola", "CoLA", "is an English sentence well formed?", ("matthews", "accuracy", "f1")),
    _glue("sst-2", "SST-2", "does a sentence speak well of a film?", _BOTH),
    _glue("mrpc", "MRPC", "do two sentences of news say the same?", _BOTH),
    _glue("sts-b", "STS-B", "how alike are two sentences, from 0 to 5?", ("pearson", "spearman")),
    _glue("qqp", "QQP", "are two questions the same?", _BOTH),
    _glue("mnli", "MNLI", "does one sentence follow from another? judged on kinds of text that were learnt from",
          _ACCURACY, "dev_matched.tsv", "test_matched.tsv"),
    _glue("mnli-mm", "MNLI", "does one sentence follow from another? judged on other kinds of text", _ACCURACY,
          "dev_mismatched.tsv", "test_mismatched.tsv", task="mnli"),
    _glue("qnli", "QNLI", "does a sentence answer a question?", _BOTH),
    _glue("rte", "RTE", "does one sentence follow from another?", _BOTH),
    _glue("wnli", "WNLI", "does a sentence with its pronoun replaced follow?", _BOTH),
    _glue("ax", "AX", "MNLI's question on sentences made to be hard; nobody has its answers", _ACCURACY, "",
          "diagnostic.tsv", train=""),
    Benchmark("squad-1.1", "where in a paragraph is the answer? (SQuAD 1.1)", "span", _SPANS,
              ("squad", "SQuAD"), _files("train-v1.1.json", "dev-v1.1.json"), squad.read),
    Benchmark("squad-2.0", "where in a paragraph is the answer, if it is there at all? (SQuAD 2.0)", "span", _SPANS,
              ("squad", "SQuAD"), _files("train-v2.0.json", "dev-v2.0.json"), squad.read),
    _race("race", "exams of middle and high schools: which of four answers? (RACE)", ("middle", "high")),
    _race("race-middle", "exams of middle schools: which of four answers? (RACE)", ("middle",)),
    _race("race-high", "exams of high schools: which of four answers? (RACE)", ("high",)),
    Benchmark("conll-2003", "which words name a person, a place, an organisation, or another name? (CoNLL-2003)", "tag",
              ("f1", "precision", "recall"), ("conll2003", "conll-2003", "CoNLL-2003"),
              _files("eng.train|train.txt", "eng.testa|valid.txt|dev.txt", "eng.testb|test.txt"), conll.read,
              judged=True),
    Benchmark("cmrc", "where in a paragraph is the answer? in Chinese (CMRC 2018)", "span", _SPANS,
              ("cmrc", "cmrc2018", "cmrc2018_public"),
              _files("cmrc2018_train.json|train.json", "cmrc2018_dev.json|dev.json", "cmrc2018_test.json|test.json"),
              squad.read),
    Benchmark("c3", "exams in Chinese about dialogues and texts: which answer? (C3)", "choice", ("accuracy",),
              ("c3", "c3_public"),
              _files("c3-m-train.json c3-d-train.json|m-train.json d-train.json|train.json",
                    "c3-m-dev.json c3-d-dev.json|m-dev.json d-dev.json|dev.json",
                    "c3-m-test.json c3-d-test.json|m-test.json d-test.json|test.json"), c3.read),
    Benchmark("chnsenticorp", "does a review speak well of what was bought? in Chinese", "classify", _BOTH,
              ("chnsenticorp", "ChnSentiCorp"), _files("train.tsv", "dev.tsv", "test.tsv"), _table,
              {"kind": "classify", "columns": {"text": "text_a", "label": "label"}, "labels": ("0", "1")}, ("0", "1"),
              judged=True),
    Benchmark("sts-b-zh", "how alike are two sentences, from 0 to 5? in Chinese", "regress", ("pearson", "spearman"),
              ("sts-b", "STS-B", "sts-b-zh"), _files("train.txt", "dev.txt", "test.txt"), _table,
              {"kind": "regress", "columns": {"text": "1", "pair": "2", "label": "3"}, "header": False}, bad="skip",
              judged=True),
    Benchmark("cluener", "which characters name one of ten kinds of things? (CLUE)", "tag",
              ("f1", "precision", "recall"), ("cluener", "cluener_public"),
              _files("train.json", "dev.json", "test.json"), clue.entities),
    _clue("ocnli", "ocnli ocnli_public", "does one sentence follow from another? written in Chinese",
          files=_files("train.50k.json|train.json|train.10k.json|train.5k.json|train.3k.json|train.1k.json",
                      "dev.json", "test.json")),
    _clue("cmnli", "cmnli cmnli_public", "does one sentence follow from another? put into Chinese"),
    _clue("afqmc", "afqmc afqmc_public", "do two questions to a bank mean the same?", measures=_BOTH),
    _clue("tnews", "tnews tnews_public", "which of 15 sections does a headline belong to?"),
    _clue("iflytek", "iflytek iflytek_public", "which of 119 kinds of app is described?"),
    _clue("csl", "csl csl_public", "do all these keywords belong to an abstract?", measures=_BOTH),
    _clue("cluewsc", "cluewsc cluewsc2020 cluewsc2020_public", "does a pronoun stand for this noun?", measures=_BOTH),
)  # fmt: skip
BENCHMARKS: Mapping[str, Benchmark] = {one.name: one for one in _ALL}
