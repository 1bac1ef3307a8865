"""How does a build that was killed go on? By what it wrote down after each pair of shards, in the folder `journal`.

`begin.json` says what is built from what; `00000.json` and so on, each written whole after its shards are on the disk,
say what is finished and where in the corpus to go on. A build from another corpus, tokenizer or choice is refused.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from litebert import files
from litebert.data import manifest as manifests
from litebert.data.manifest import JOURNAL, SPLITS, ShardError, Split
from litebert.text.items import Mark

_BEGIN = "begin.json"
_TEMPORARY = re.compile(r"^\..+\.\d+$")  # what `files.whole` writes to


Entries = dict[Split, tuple[dict[str, Any], ...]]  # as the manifest has them


class State(NamedTuple):
    """What is finished."""

    mark: Mark  # where reading goes on
    shards: Entries
    counts: Counter[str]
    problems: Counter[str]
    steps: int  # pairs of shards written down
    ended: bool  # the corpus was read to its end


START = State(Mark(), dict.fromkeys(SPLITS, ()), Counter(), Counter(), 0, False)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """The only build in this folder; the system lets go of the claim however the process ends."""
    if os.name != "posix":
        yield
        return
    import fcntl

    folder.mkdir(parents=True, exist_ok=True)
    opened = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ShardError(f"another build is at work in {folder}: wait for it, or choose another folder") from None
        yield
    finally:
        os.close(opened)


def begin(folder: Path, header: dict[str, Any], overwrite: bool) -> None:
    """Write down what is built from what, before anything else; `overwrite` leaves what is not ours where it is."""
    if overwrite:
        clear(folder)
    elif any(child.name != JOURNAL for child in folder.iterdir()):
        raise ShardError(f"{folder} is not empty: choose another folder, or add --overwrite")
    _write(folder / JOURNAL / _BEGIN, header)


def resume(folder: Path, header: dict[str, Any]) -> State | None:
    """Where to go on, if this very build was begun here; the name of a difference if it was another one.

    What makes no difference to the finished shards may have changed: files not read yet, and whether something bad
    that was not met yet is refused.
    """
    path = folder / JOURNAL / _BEGIN
    if not path.is_file():
        return None
    for here in (folder, folder / JOURNAL, *(folder / split for split in SPLITS)):
        for left in here.iterdir() if here.is_dir() else ():
            if _TEMPORARY.match(left.name):
                left.unlink()
    state = _last(folder)
    before = files.read_sealed(path)
    if state.steps:
        begun = state.mark.source + (state.mark != Mark(state.mark.source))
        refuse_difference(folder, _without_leniency(before), _without_leniency(header), begun)
    if before != header:
        _write(path, header)
    return state


def _last(folder: Path) -> State:
    state = START
    while (path := folder / JOURNAL / f"{state.steps:05d}.json").is_file():
        values = files.read_sealed(path)
        shards: Entries = {split: (*state.shards[split], *values["shards"][split]) for split in SPLITS}
        counts, problems = Counter(values["counts"]), Counter(values["problems"])
        state = State(Mark(*values["mark"]), shards, counts, problems, state.steps + 1, values["ended"])
    return state


def _without_leniency(header: dict[str, Any]) -> dict[str, Any]:
    """A header without what to do about bad records and bytes: in what is finished there was none, or it may be."""
    reading = {name: value for name, value in header["options"]["reading"].items() if name not in ("bad", "invalid")}
    return {**header, "options": {**header["options"], "reading": reading}}


def add(folder: Path, before: State, after: State) -> None:
    """Write down what is finished since the step before; its shards are on the disk already."""
    fresh = {split: after.shards[split][len(before.shards[split]) :] for split in SPLITS}
    values = {**after._asdict(), "mark": list(after.mark), "shards": fresh}
    _write(folder / JOURNAL / f"{before.steps:05d}.json", values)


def end(folder: Path) -> None:
    """Nothing is left to go on with: the manifest is there."""
    shutil.rmtree(folder / JOURNAL, ignore_errors=True)


def clear(folder: Path) -> None:
    """Remove a shard set or the beginnings of one, and nothing else; what makes it valid goes first."""
    for name in (manifests.NAME, *manifests.BESIDE):
        (folder / name).unlink(missing_ok=True)
    end(folder)
    for split in SPLITS:
        for shard in (folder / split).glob("*.safetensors"):
            shard.unlink()
        with contextlib.suppress(OSError):  # not there, or something else is in it
            (folder / split).rmdir()


def refuse_difference(folder: Path, was: dict[str, Any], now: dict[str, Any], read: int | None = None) -> None:
    """The first thing in which two builds differ is an error; of the corpus, only what has been `read` counts."""
    for name in dict.fromkeys([*was, *now]):
        old, new = was.get(name), now.get(name)
        what = None
        if name == "corpus":
            what = _other_corpus(was[name], now[name], read)
        elif isinstance(old, dict) and isinstance(new, dict):
            inner = [key for key in dict.fromkeys([*old, *new]) if old.get(key) != new.get(key)]
            what = f"{name} {inner[0]} was {old.get(inner[0])}, and is {new.get(inner[0])}" if inner else None
        elif old != new:
            what = f"{name} was {old}, and is {new}"
        if what:
            raise ShardError(
                f"{folder} holds another build: {what}; ask for the same, or add --overwrite to begin anew"
            )


def _other_corpus(old: list[dict[str, Any]], new: list[dict[str, Any]], read: int | None) -> str | None:
    """The first of the files that were read to which something has happened."""
    names = {line["name"] for line in new}
    for before, after in zip_longest(old[:read], new[:read]):
        if before == after:
            continue
        if before is None or (after and after["name"] != before["name"] in names):
            return f"corpus file {after['name']} is new, or in another place"
        happened = "has changed" if before["name"] in names else "is no longer there"
        return f"corpus file {before['name']} {happened}"
    return None


def _write(path: Path, values: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with files.whole(path) as temporary:
        temporary.write_bytes(files.sealed(values))
