"""How fast is fine-tuning on sentences of natural length, beside transformers' Trainer in the same run?

What counts are real tokens: padding is work that nobody asked for. All are fed the same rows and begin from random
weights, as only speed is measured. Each puts an epoch into batches by its own ways, and of those batches some are timed
that stand evenly from the narrowest to the widest: so a minute tells of an epoch, whose padding a few batches of their
own would overstate. A competitor has a process of its own; they take turns, and medians are told.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litebert import rng
from litebert.bench import apart
from litebert.bench.train import SIZES
from litebert.config import Config
from litebert.errors import UserError
from litebert.tasks import layout
from litebert.tasks.cutting import Cut
from litebert.tasks.examples import Text, collect
from litebert.tasks.readers import glue
from litebert.text import tokenizer as tokenizers
from litebert.text.tokenizer import Tokenizer

MODES = ("default", "best")  # float32, rows padded to the length; bfloat16, like lengths together, little padding
LENGTH = 128
WARM = 3  # steps that are not counted
LABELS = ("0", "1")
_ALIKE = 6  # where all rows are padded to one length every step costs the same, and one of so many is enough


def measure(
    data: Path, tokenizer: Path, size: str = "base", *, batch: int = 32, steps: int = 24, rounds: int = 2,
    modes: Sequence[str] = MODES, watch: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:  # fmt: skip
    """Real tokens a second, padding and peak memory of all, and how many times faster we are."""
    if size not in SIZES:
        raise UserError(f"size {size!r} is not measured: choose {', '.join(SIZES)}")
    apart.check_modes(modes, MODES)
    words = tokenizers.load(tokenizer)
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.npz"
        lengths = write_rows(_texts(data, batch * (steps + WARM)), words, rows)
        call = {"size": size, "vocab": max(Config().vocab, words.size), "pad": words.specials.pad, "batch": batch,
                "rows": str(rows), "tokenizer": str(tokenizer)}  # fmt: skip
        found: dict[str, list[dict[str, float]]] = {name: [] for name in ("ours", *modes)}
        for number in range(rounds):
            for name, done in found.items():
                module = "ours" if name == "ours" else "peer"
                count = max(1, steps // _ALIKE) if name == "default" else steps
                done.append(apart.measured(f"litebert.bench.finetune_{module}", {**call, "steps": count, "mode": name}))
                watch(f"round {number + 1}, {name}: {done[-1]['real_tokens_per_s']:,.0f} real tokens/s")
    return {"size": size, "batch": batch, "steps": steps, "texts": len(lengths),
            "mean_length": round(float(lengths.mean()), 2), **_told(found)}  # fmt: skip


def write_rows(examples: Sequence[Text], words: Tokenizer, path: Path) -> NDArray[np.int64]:
    """What all competitors read: ids one after another, lengths, classes. Gives the lengths."""
    laid = [row.ids for (row,) in layout.texts(examples, words, Cut(LENGTH))]
    lengths = np.array([len(ids) for ids in laid])
    classes = np.array([LABELS.index(str(example.label)) for example in examples])
    np.savez(path, ids=np.concatenate(laid), lengths=lengths, classes=classes)
    return lengths


def read_rows(path: str) -> tuple[list[NDArray[Any]], list[int]]:
    """Every row's ids, special pieces included, and its class."""
    with np.load(path) as found:
        ends = np.cumsum(found["lengths"])
        return np.split(found["ids"], ends[:-1]), found["classes"].tolist()


def evenly(batches: Sequence[Sequence[int]], lengths: Sequence[int], steps: int) -> list[Sequence[int]]:
    """So many of an epoch's batches, evenly from narrow to wide, in a drawn order; the warm-up stands first."""
    wide = [(len(one) * max(lengths[i] for i in one), sum(lengths[i] for i in one)) for one in batches]
    order = sorted(range(len(batches)), key=wide.__getitem__)
    chosen = [batches[order[(2 * i + 1) * len(order) // (2 * steps)]] for i in range(steps)]
    drawn = rng.generator(0, "bench").permutation(steps).tolist()
    return [*[chosen[-1]] * WARM, *(chosen[i] for i in drawn)]


def rates(tokens: Sequence[int], held: Sequence[int], marks: Sequence[float], batch: int) -> dict[str, float]:
    """Of the steps behind the warm-up: their speed and padding.

    marks[i] is when step i ended, tokens[i] and held[i] what it read without and with padding.
    """
    seconds, real = marks[-1] - marks[WARM - 1], sum(tokens[WARM : len(marks)])
    return {"real_tokens_per_s": real / seconds, "examples_per_s": batch * (len(marks) - WARM) / seconds,
            "padding": 1.0 - real / sum(held[WARM : len(marks)])}  # fmt: skip


def _texts(data: Path, least: int) -> list[Text]:
    """The texts of a file as SST-2 has them."""
    examples = [one for one in collect(glue.read(data, "sst-2")).examples if isinstance(one, Text)]
    if len(examples) < least:
        raise UserError(f"{data} has {len(examples):,} texts, and {least:,} are needed: measure fewer steps (--steps)")
    return examples


def _told(found: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    middle = {name: {key: statistics.median(one[key] for one in runs) for key in runs[0]}
              for name, runs in found.items()}  # fmt: skip
    ours = middle.pop("ours")
    return {
        "threads": int(ours["threads"]), **_shown(ours),
        "peers": {
            name: {
                **_shown(one), "times_faster": round(ours["real_tokens_per_s"] / one["real_tokens_per_s"], 3),
                "memory": round(ours["rss"] / one["rss"], 3),
            }
            for name, one in middle.items()
        },
    }  # fmt: skip


def _shown(one: dict[str, float]) -> dict[str, float]:
    return {"real_tokens_per_s": round(one["real_tokens_per_s"], 1), "examples_per_s": round(one["examples_per_s"], 2),
            "padding": round(one["padding"], 4), "peak_rss_gb": round(one["rss"] / 1e9, 3)}  # fmt: skip
