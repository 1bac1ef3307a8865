"""How is a build harmed? At any touch of the disk, by a signal, or by stopping it after some steps."""

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from data import corpora
from data.corpora import OPTIONS
from litebert import files
from litebert.data import blocks
from litebert.data import build as building
from litebert.data.build import build
from litebert.data.options import Options

TOKENIZER = corpora.tokenizer()
TOUCHES = {"replace": os, "mkdir": Path, "unlink": Path, "write_bytes": Path, "write_text": Path}
SYNCS = {"fsync": os}


@contextlib.contextmanager
def at_event(number: int, harm: Callable[[], Any], touches: dict[str, Any] = TOUCHES) -> Iterator[list[int]]:
    """Do harm instead of the n-th thing that is done to the disk; a write has been half done by then."""
    count = [0]

    def touch(name: str, real: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        count[0] += 1
        if count[0] == number:
            if name.startswith("write_"):
                real(arguments[0], arguments[1][: len(arguments[1]) // 2])
            harm()
        return real(*arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        for name, home in touches.items():
            real = getattr(home, name)
            patch.setattr(home, name, lambda *a, _n=name, _r=real, **k: touch(_n, _r, *a, **k))
        yield count


def in_child(work: Callable[[], Any]) -> int:
    """Run in a fork, and say how it ended: 0, the number of the signal, or 99 for an exception."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            os._exit(99)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if not os.WIFSIGNALED(status) else os.WTERMSIG(status)


def finished(out: Path) -> dict[str, tuple[int, int]]:
    """Shards that the journal vouches for, with what changes if they are written again."""
    found = {}
    for path in sorted((out / "journal").glob("[0-9]*.json")):
        for entries in files.read_sealed(path)["shards"].values():
            for entry in entries:
                state = (out / entry["file"]).stat()
                found[entry["file"]] = (state.st_ino, state.st_mtime_ns)
    return found


def stopped(corpus: Path, out: Path, steps: int = 1, options: Options = OPTIONS) -> None:
    """A build that was interrupted after some steps."""

    def watch(progress: building.Progress) -> None:
        if (out / "journal" / f"{steps - 1:05d}.json").exists():
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "blocks", partial(blocks.blocks, size=100))
        with pytest.raises(KeyboardInterrupt):
            build([corpus], TOKENIZER, out, options, workers=1, watch=watch)
