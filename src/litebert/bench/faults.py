"""Is a shard set the same bytes from any number of workers, and after it was killed again and again? On any text.

A build is killed with all of its processes, by SIGKILL, at random moments, and begun again by the same call. Where it
comes to its end before the last kill, another one is begun in an empty folder.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from litebert import files, rng
from litebert.data.build import build
from litebert.data.options import Options
from litebert.errors import UserError
from litebert.text.tokenizer import load

WORKERS = (1, 2, 4)
_START = 1.0  # seconds that a build needs before it encodes, about


def measure(
    paths: Sequence[str | Path],
    tokenizer: str | Path,
    kills: int = 20,
    options: Options | None = None,
    *,
    workers: Sequence[int] = WORKERS,
    seed: int = 0,
    watch: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """The digest of each set, and whether all are the same; killed builds use the most workers."""
    if os.name != "posix":
        raise UserError("a build can be killed with all its processes on POSIX systems only: run this bench on one")
    chosen = options or Options()
    load(tokenizer)  # a mistake is told here, not by a build that ends at once
    _begin_tracking()
    sets: dict[str, str] = {}
    took = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for count in workers:
            out, began = Path(folder, str(count)), time.monotonic()
            build(paths, load(tokenizer), out, chosen, workers=count)
            took = time.monotonic() - began
            sets[f"{count} workers"] = _taken(out)
            watch(f"{count} workers: {sets[f'{count} workers'][:16]}… after {took:.1f} s")
        draw, done, number = rng.generator(seed, "bench faults"), 0, 0
        while done < kills:
            number += 1
            out = Path(folder, f"killed {number}")
            start = partial(_started, paths, tokenizer, out, chosen, max(workers))
            process = start()
            while done < kills and not _ends(process, 2 * draw.random() * (_START + took / kills)):
                _kill(process)
                done += 1
                process = start()
            process.join()
            if process.exitcode:
                raise ChildProcessError(f"a build ended with {process.exitcode}: run `litebert data build` to see why")
            sets[f"killed, set {number}"] = _taken(out)
            watch(f"set {number}: {sets[f'killed, set {number}'][:16]}… after {done} kills")
    return {"kills": done, "sets": sets, "same": len(set(sets.values())) == 1}


def _begin_tracking() -> None:
    """Python's tracker takes away what killed processes leave in the system, and would end with a warning about it."""
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore"  # the tracker's, which starts here
    try:
        resource_tracker.ensure_running()
    finally:
        os.environ.pop("PYTHONWARNINGS")
        if before is not None:
            os.environ["PYTHONWARNINGS"] = before


def _taken(out: Path) -> str:
    """SHA-256 of the names and digests of all files of a set, which is removed."""
    named = [(path.relative_to(out).as_posix(), files.digest(path)) for path in out.rglob("*") if path.is_file()]
    shutil.rmtree(out)
    return hashlib.sha256("\n".join(" ".join(each) for each in sorted(named)).encode()).hexdigest()


def _started(
    paths: Sequence[str | Path], tokenizer: str | Path, out: Path, options: Options, workers: int
) -> BaseProcess:  # fmt: skip
    arguments = paths, tokenizer, out, options, workers
    process = multiprocessing.get_context("spawn").Process(target=_build, args=arguments)
    process.start()
    return process


def _build(
    paths: Sequence[str | Path], tokenizer: str | Path, out: Path, options: Options, workers: int
) -> None:  # fmt: skip
    os.setsid()  # a group of its own, so that all of it can be killed at once
    build(paths, load(tokenizer), out, options, workers=workers)


def _ends(process: BaseProcess, seconds: float) -> bool:
    """Whether it comes to its end within so long."""
    process.join(seconds)
    return not process.is_alive()


def _kill(process: BaseProcess) -> None:
    """All of a build's processes; one that has not made its group yet is alone."""
    try:
        os.killpg(process.pid or 0, signal.SIGKILL)
    except ProcessLookupError:
        process.kill()
    process.join()
