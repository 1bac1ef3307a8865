"""How fast does text become shards, beside the bare tokenizer engine on the same text, and in how much memory?

The peer only encodes: the text lies in memory, nothing is read, split into sentences or written, and its threads use
every core that our workers use. The limit of ours is the slower of what one process can read and what all can encode.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
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
    workers: int = 0,
    rounds: int = 3,
    options: Options | None = None,
) -> dict[str, Any]:
    """MB of text per second: ours from files to shards, the peer's two ways to encode a batch; medians of rounds."""
    count, chosen = workers or cores(), options or Options()
    if count != cores():
        raise UserError(
            f"the peer uses all {cores()} cores that it may: run with --workers {cores()}, or under taskset"
        )
    batches = list(_batches(paths, chosen.reading))
    megabytes = sum(len(text.encode("utf-8", "surrogatepass")) for batch in batches for text in batch) / 1e6
    engine = load(tokenizer).engine
    ways: dict[str, Callable[..., Any]] = {"batch": engine.encode_batch, "batch_fast": engine.encode_batch_fast}
    seconds: dict[str, list[float]] = {"ours": [], **{name: [] for name in ways}}
    peaks, tokens = [], 0
    for _ in range(rounds):
        took, peak, tokens = _ours(paths, tokenizer, chosen, count)
        seconds["ours"].append(took)
        peaks.append(peak)
        for name, way in ways.items():
            began = time.perf_counter()
            for batch in batches:
                way(batch, add_special_tokens=False)
            seconds[name].append(time.perf_counter() - began)
    rates = {name: megabytes / statistics.median(each) for name, each in seconds.items()}
    return {
        "workers": count, "megabytes": round(megabytes, 1), "tokens": tokens,
        "mb_per_s": round(rates["ours"], 2), "tokens_per_s": round(tokens / statistics.median(seconds["ours"])),
        "peer_batch_mb_per_s": round(rates["batch"], 2), "peer_batch_fast_mb_per_s": round(rates["batch_fast"], 2),
        "ratio": round(rates["ours"] / max(rates["batch"], rates["batch_fast"]), 3),
        "peak_rss_gb": round(max(peaks) / 1e9, 3),
    }  # fmt: skip


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


def _ours(paths: Sequence[str | Path], tokenizer: str | Path, options: Options, workers: int) -> tuple[float, int, int]:
    """Seconds, the most memory that all processes of a build took together, and tokens; the build has its own."""
    with tempfile.TemporaryDirectory() as folder:
        process = multiprocessing.get_context("spawn").Process(
            target=_build, args=(paths, tokenizer, folder, options, workers)
        )
        began, peak = time.perf_counter(), 0
        process.start()
        while process.is_alive():
            peak = max(peak, _memory(process.pid or 0))
            process.join(_EVERY)
        took = time.perf_counter() - began
        if process.exitcode:
            raise ChildProcessError(f"the build ended with {process.exitcode}: run `litebert data build` to see why")
        return took, peak, open_shards(folder).manifest["counts"]["tokens"]


def _build(
    paths: Sequence[str | Path], tokenizer: str | Path, folder: str, options: Options, workers: int
) -> None:  # fmt: skip
    build(paths, load(tokenizer), folder, options, workers=workers)


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
