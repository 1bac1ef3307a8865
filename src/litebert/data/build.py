"""How does a pile of text become a shard set? Read in order, encoded by many, written by one; restartable, repeatable.

The bytes are a function of corpus, tokenizer and options. The number of workers, and how often the build was killed
and went on, are not in them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from safetensors.numpy import save

import litebert
from litebert import files
from litebert.data import journal, origin, shards
from litebert.data import manifest as manifests
from litebert.data.blocks import Block, Encodings, blocks
from litebert.data.frequencies import Frequencies
from litebert.data.growing import Closed, Growing
from litebert.data.journal import Entries, State
from litebert.data.manifest import SPLITS, ShardError
from litebert.data.options import Options
from litebert.data.shards import Arrays
from litebert.data.workers import encoded
from litebert.errors import UserError
from litebert.text import corpus
from litebert.text.items import Mark, Problem
from litebert.text.sources import Source, sources
from litebert.text.tokenizer import Tokenizer


class Progress(NamedTuple):
    """How far a build has come, all its runs together."""

    share: float  # of the corpus, 0 to 1
    documents: int
    tokens: int
    bytes: int  # of text
    problems: tuple[Problem, ...]  # met since the last time


class Built(NamedTuple):
    """What a build came to."""

    folder: Path
    manifest: dict[str, Any]
    resumed: int  # pairs of shards that were there already
    already: bool  # all of it was


def build(
    paths: Sequence[str | Path],
    tokenizer: Tokenizer,
    out: str | Path,
    options: Options | None = None,
    *,
    workers: int = 0,
    overwrite: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> Built:
    """Encode a corpus into the folder `out`; called again after an interruption, it goes on. 0 workers: all cores.

    With several workers, call it below `if __name__ == "__main__":`, as new processes read the calling script.
    """
    folder, chosen = Path(out), options or Options()
    if workers < 0:
        raise UserError(f"workers {workers} is negative: choose 1 or more, or 0 for all cores")
    if folder.exists() and not folder.is_dir():
        raise ShardError(f"{folder} is a file: name a folder to write")
    found = sources(paths)
    header = _header(found, tokenizer, chosen)
    with journal.alone(folder):
        manifest = None if overwrite else _finished(folder, header)
        if manifest:
            return Built(folder, manifest, 0, True)
        task = _Task(folder, found, tokenizer, chosen, header, watch)
        state = task.begin(overwrite)
        ended = state if state.ended else task.encode(state, workers or cores())
        return Built(folder, task.end(ended), state.steps, False)


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Task:
    """One build: what it reads, and what it writes."""

    def __init__(
        self, folder: Path, found: list[Source], tokenizer: Tokenizer, options: Options, header: dict[str, Any],
        watch: Callable[[Progress], None] | None,
    ) -> None:  # fmt: skip
        self.folder, self.sources, self.tokenizer, self.options = folder, found, tokenizer, options
        self.header, self.watch = header, watch
        self.frequencies = Frequencies(tokenizer.size)

    def begin(self, overwrite: bool) -> State:
        """The state to go on from; finished shards are read once, verified and counted."""
        try:
            state = journal.resume(self.folder, self.header)
            for split in SPLITS if state else ():
                for entry in state.shards[split] if state else ():
                    self.frequencies.add(split, shards.of_file(self.folder, entry).arrays)
        except UserError:
            if not overwrite:
                raise
            state = None
        with _kept(self.folder):
            if state is None:
                self.frequencies = Frequencies(self.tokenizer.size)
                journal.begin(self.folder, self.header, overwrite)
            for split in SPLITS:
                (self.folder / split).mkdir(exist_ok=True)
            self.tokenizer.save(self.folder)
        return state or journal.START

    def encode(self, state: State, count: int) -> State:
        """Read from the state's mark to the end."""
        counts, problems = Counter(state.counts), Counter(state.problems)
        growing = Growing(self.tokenizer.size, self.options.shard_tokens, counts, problems)
        share, pending = origin.Share(self.sources), state.shards  # pending: closed where no mark says how to go on
        items = corpus.read(self.sources, self.options.reading, state.mark)
        self._tell(growing, share(state.mark, growing.counts["bytes"]), ())
        with contextlib.closing(encoded(blocks(items), self.folder, self.options, count)) as done:
            for block, encodings in done:
                state, pending = self._grown(state, pending, growing, block, encodings)
                met = tuple(problem for _, problem in block.problems)
                reached = share(block.marks[-1], growing.counts["bytes"]) if block.marks else 1.0  # problems at the end
                self._tell(growing, reached, met)
        pending = self._write(growing.rest(), pending)
        self._tell(growing, 1.0, ())
        return self._step(state, pending, growing, Mark(len(self.sources)), ended=True)

    def _grown(
        self, state: State, pending: Entries, growing: Growing, block: Block, encodings: Encodings
    ) -> tuple[State, Entries]:
        """After one more block; what it closes is written, and not held any longer than that."""
        for closed in growing.feed(block, encodings):
            pending = self._write(closed, pending)
            if closed.mark is not None:
                state = self._step(state, pending, growing, closed.mark)
        return state, pending

    def end(self, state: State) -> dict[str, Any]:
        """Write what says that the set is whole."""
        stored = {split: sum(entry["tokens"] for entry in state.shards[split]) for split in SPLITS}
        if not stored["train"]:
            journal.clear(self.folder)
            read = f"{state.counts['documents']} documents"
            if stored["held-out"]:
                raise UserError(f"all of {read} fell to the held-out split: lower --held-out, or change the --seed")
            raise UserError(f"the corpus gave no token ({read}, {state.counts['bytes']} bytes): look at its files")
        with _kept(self.folder):
            self.frequencies.write(self.folder)
            manifest = {
                **self.header,
                "corpus": origin.timeless(self.header["corpus"]),
                "counts": dict(sorted(state.counts.items())),
                "problems": dict(sorted(state.problems.items())),
                "files": {name: _entry(self.folder, name) for name in manifests.BESIDE},
                "splits": {split: list(state.shards[split]) for split in SPLITS},
            }
            manifests.write(self.folder, manifest)
            journal.end(self.folder)
        return manifest

    def _tell(self, growing: Growing, share: float, met: tuple[Problem, ...]) -> None:
        if self.watch is not None:
            counts = growing.counts
            self.watch(Progress(share, counts["documents"], counts["tokens"], counts["bytes"], met))

    def _write(self, closed: Closed, before: Entries) -> Entries:
        """Closed shards on the disk, and the entries with theirs."""
        after = dict(before)
        for split, arrays in closed.arrays.items():
            name = f"{split}/{len(after[split]):05d}.safetensors"
            with _kept(self.folder):
                after[split] = (*after[split], _write(self.folder, name, arrays))
            self.frequencies.add(split, arrays)
        return after

    def _step(self, state: State, entries: Entries, growing: Growing, mark: Mark, ended: bool = False) -> State:
        """The state after a pair of shards, written down."""
        read = slice(state.mark.source, mark.source + 1)
        origin.refuse_changed(self.sources[read], self.header["corpus"][read])
        counts, problems = Counter(growing.counts), Counter(growing.problems)
        after = State(mark, entries, counts, problems, state.steps + 1, ended)
        with _kept(self.folder):
            journal.add(self.folder, state, after)
        return after


def _header(found: list[Source], tokenizer: Tokenizer, options: Options) -> dict[str, Any]:
    """All that decides the bytes."""
    return {
        "format": manifests.FORMAT,
        "litebert": litebert.__version__,
        "tokenizer": {"fingerprint": tokenizer.fingerprint, "vocabulary": tokenizer.size, "kind": tokenizer.kind},
        "options": options.model_dump(),
        "corpus": origin.known(found),
    }


def _finished(folder: Path, header: dict[str, Any]) -> dict[str, Any] | None:
    """The manifest of the same build, if it is there; that of another one is an error."""
    if not (folder / manifests.NAME).is_file():
        return None
    manifest = manifests.read(folder)
    now = {**header, "corpus": origin.timeless(header["corpus"])}
    journal.refuse_difference(folder, {name: manifest[name] for name in now}, now)
    journal.end(folder)
    return manifest


def _write(folder: Path, name: str, arrays: Arrays) -> dict[str, Any]:
    """A shard's file, and its entry in the manifest."""
    data = save(arrays._asdict())
    with files.whole(folder / name) as temporary:
        temporary.write_bytes(data)
    counts = {"tokens": len(arrays.ids), "sentences": len(arrays.sentences) - 1, "documents": len(arrays.documents) - 1}
    return {"file": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), **counts}


def _entry(folder: Path, name: str) -> dict[str, Any]:
    return {"bytes": (folder / name).stat().st_size, "sha256": files.digest(folder / name)}


@contextlib.contextmanager
def _kept(folder: Path) -> Iterator[None]:
    """A disk that is full or fails while we write: the error says that nothing is lost."""
    try:
        yield
    except OSError as error:
        reason = f"{error.strerror or error}: what is finished in {folder} is kept"
        raise OSError(error.errno, f"{reason}; make room or mend the disk, and go on with the same command") from error
