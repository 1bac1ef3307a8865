"""How fast does text become shards, beside the bare tokenizer engine on the same text, and in how much memory?

The peer only encodes: the text lies in memory, nothing is read, split into sentences or written. Both use every core
that this process may use. The limit of ours is the slower of what one process can read and what all can encode.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from litebert.data.build import build, cores
from litebert.data.options import Options
from litebert.data.shards import open_shards
from litebert.errors import UserError
from litebert.text import corpus
from litebert.text.items import Document, Reading
from litebert.text.sources import sources
from litebert.text.tokenizer import load

_BATCH = 1 << 20  # characters that the peer gets at once: it is slower with more, and with less
_EVERY = 0.02  # seconds between two looks at the memory


def measure(
    paths: Sequence[str | Path],
    tokenizer: str | Path,
    rounds: int = 3,
    options: Options | None = None,
    *,
    peer: bool = True,
) -> dict[str, Any]:
    """MB of text per second: ours from files to shards, the peer's two ways to encode a batch; medians of rounds."""
    chosen = options or Options()
    seconds: dict[str, list[float]] = {}
    counts: dict[str, int] = {}
    peaks = []
    for _ in range(rounds):
        took, peak, counts = _ours(paths, tokenizer, chosen)
        seconds.setdefault("ours", []).append(took)
        peaks.append(peak)
        if peer:
            _theirs(paths, tokenizer, chosen.reading, seconds)
    megabytes, tokens = counts["bytes"] / 1e6, counts["tokens"]
    rates = {name: megabytes / statistics.median(each) for name, each in seconds.items()}
    result = {
        "workers": cores(), "megabytes": round(megabytes, 1), "tokens": tokens,
        "mb_per_s": round(rates["ours"], 2), "tokens_per_s": round(tokens / statistics.median(seconds["ours"])),
        "peak_rss_gb": round(max(peaks) / 1e9, 3),
    }  # fmt: skip
    if peer:
        result |= {
            "peer_batch_mb_per_s": round(rates["batch"], 2), "peer_batch_fast_mb_per_s": round(rates["batch_fast"], 2),
            "ratio": round(rates["ours"] / max(rates["batch"], rates["batch_fast"]), 3),
        }  # fmt: skip
    return result


def _theirs(
    paths: Sequence[str | Path], tokenizer: str | Path, reading: Reading, seconds: dict[str, list[float]]
) -> None:
    """Add what the engine's ways to encode a batch take for all of the text; to read it is not counted."""
    engine = load(tokenizer).engine
    ways: dict[str, Callable[..., Any]] = {"batch": engine.encode_batch, "batch_fast": engine.encode_batch_fast}
    spent = dict.fromkeys(ways, 0.0)
    for batch in _batches(paths, reading):
        for name, way in ways.items():
            began = time.perf_counter()
            way(batch, add_special_tokens=False)
            spent[name] += time.perf_counter() - began
    for name, took in spent.items():
        seconds.setdefault(name, []).append(took)


def _batches(paths: Sequence[str | Path], reading: Reading) -> Iterator[list[str]]:
    batch: list[str] = []
    filled = 0
    for item, _ in corpus.read(sources(paths), reading):
        if isinstance(item, Document):
            batch.append(item.text)
            filled += len(item.text)
        if filled >= _BATCH:
            yield batch
            batch, filled = [], 0
    if batch:
        yield batch


def _ours(paths: Sequence[str | Path], tokenizer: str | Path, options: Options) -> tuple[float, int, dict[str, int]]:
    """Seconds, the most memory that all processes of a build took together, and what it counted."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    with tempfile.TemporaryDirectory() as folder, ours:
        process = context.Process(target=_build, args=(paths, tokenizer, folder, options, theirs))
        began, peak = time.perf_counter(), 0
        process.start()
        theirs.close()
        while process.is_alive():
            peak = max(peak, _memory(process.pid or 0))
            process.join(_EVERY)
        took = time.perf_counter() - began
        if ours.poll():
            with contextlib.suppress(EOFError):  # nothing was told
                raise UserError(ours.recv_bytes().decode())
        if process.exitcode:
            raise ChildProcessError(f"the build ended with {process.exitcode}: run `litebert data build` to see why")
        return took, peak, open_shards(folder).manifest["counts"]


def _build(
    paths: Sequence[str | Path], tokenizer: str | Path, folder: str, options: Options, told: Connection
) -> None:  # fmt: skip
    with told:
        try:
            build(paths, load(tokenizer), folder, options)
        except UserError as error:
            told.send_bytes(str(error).encode())


def _memory(process: int) -> int:
    """Resident bytes of a process and all below it, what they share counted for each; 0 where no one tells."""
    total, left = 0, [str(process)]
    while left:
        proc = Path("/proc", left.pop())
        with contextlib.suppress(OSError, IndexError):  # it may end at any moment
            total += int((proc / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            for task in (proc / "task").iterdir():
                left += (task / "children").read_text().split()
    return total
