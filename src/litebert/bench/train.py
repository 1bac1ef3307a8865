"""How fast does training go, beside transformers' Trainer in the same run and beside the machine's product rate?

Every competitor runs in a process of its own, so that its memory can be told; they take turns, round by round, so that
a slower minute of the machine slows all, and medians are told. Both are fed full rows of the same ids. The limit: a
step cannot be faster than its matrix products at the best rate that this machine shows for them.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from litebert.bench import apart
from litebert.config import Config
from litebert.data import recipe as recipes
from litebert.data import units
from litebert.data.shards import Shards
from litebert.errors import UserError
from litebert.model import cost

MODES = ("default", "bf16", "best")  # of the peer: float32; bfloat16; bfloat16 and torch.compile
SIZES: dict[str, dict[str, Any]] = {
    "tiny": {"hidden": 312, "layers": 4, "heads": 12, "ffn": 1248},
    "small": {"hidden": 384, "layers": 6, "heads": 6, "ffn": 1536},
    "base": {"hidden": 768, "layers": 12, "heads": 12, "ffn": 3072},
}
_RATE = 0.15  # of the tokens is asked for, by both


def measure(
    size: str = "base",
    *,
    length: int = 128,
    batch: int = 16,
    steps: int = 8,
    rounds: int = 2,
    modes: Sequence[str] = ("default", "best"),
    shards: Shards | None = None,
    compiled: bool = False,
    watch: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Tokens a second and peak memory of all, our share of the product rate, and how many times faster we are."""
    if size not in SIZES:
        raise UserError(f"size {size!r} is not measured: choose {', '.join(SIZES)}")
    apart.check_modes(modes, MODES)
    config = Config(**SIZES[size])
    with tempfile.TemporaryDirectory() as folder:
        ids = Path(folder) / "ids.npy"
        np.save(ids, _ids(shards, config.vocab, (length - 2) * batch * (steps + 4)))
        call = {"size": size, "length": length, "batch": batch, "steps": steps, "ids": str(ids), "compiled": compiled}
        found: dict[str, list[dict[str, float]]] = {name: [] for name in ("ours", *modes)}
        for number in range(rounds):
            for name, done in found.items():
                module = "ours" if name == "ours" else "peer"
                done.append(apart.measured(f"litebert.bench.train_{module}", {**call, "mode": name}))
                watch(f"round {number + 1}, {name}: {done[-1]['tokens_per_s']:,.0f} tokens/s")
    return _told(config, found, size, length, batch, compiled)


def work_of(config: Config, length: int) -> float:
    """Operations of a step's forward and backward pass for a token of a full row."""
    asked = units.most_predictions(recipe(length))
    heads = {"mlm": _masked_lm()}
    return cost.training_flops(config, length, heads=heads, asked=asked) / length


def recipe(length: int) -> recipes.Recipe:
    """What both are fed: full rows of running text, single tokens hidden, by ALBERT's rates."""
    return recipes.recipe("albert", length=length, packing="single", short=0.0, unit="token", spans="one", rate=_RATE)


def _masked_lm() -> Any:
    from litebert.config import Head

    return Head(kind="mlm")


def _ids(shards: Shards | None, vocab: int, count: int) -> np.ndarray[Any, Any]:
    """Ids in a row: of a text, or words as frequent as Zipf has them."""
    if shards is None:
        ranks = 1.0 / np.arange(1, vocab - 4)
        return np.random.default_rng(0).choice(np.arange(5, vocab), count, p=ranks / ranks.sum())
    taken, total = [], 0
    for shard in shards.shards:
        taken.append(np.asarray(shard.ids[: count - total], np.int64))
        total += len(taken[-1])
        if total == count:
            break
    if total < count or shards.vocabulary > vocab:
        raise UserError(f"the shards hold {total:,} tokens of {shards.vocabulary:,} pieces: {count:,} of at most "
                        f"{vocab:,} are needed")  # fmt: skip
    return np.concatenate(taken)


def _told(
    config: Config, found: dict[str, list[dict[str, float]]], size: str, length: int, batch: int, compiled: bool
) -> dict[str, Any]:  # fmt: skip
    middle = {name: {key: statistics.median(one[key] for one in runs) for key in runs[0]}
              for name, runs in found.items()}  # fmt: skip
    ours = middle.pop("ours")
    rate = max(one["gemm"] for one in found["ours"])
    share = work_of(config, length) * ours["tokens_per_s"] / rate
    return {
        "size": size, "seq": length, "batch": batch, "compiled": compiled, "threads": int(ours["threads"]),
        "tokens_per_s": round(ours["tokens_per_s"], 1), "peak_rss_gb": round(ours["rss"] / 1e9, 3),
        "gemm_gflops": round(rate / 1e9, 1), "gemm_share": round(share, 4),
        "peers": {
            name: {
                "tokens_per_s": round(one["tokens_per_s"], 1), "peak_rss_gb": round(one["rss"] / 1e9, 3),
                "times_faster": round(ours["tokens_per_s"] / one["tokens_per_s"], 3),
                "memory": round(ours["rss"] / one["rss"], 3),
            }
            for name, one in middle.items()
        },
    }  # fmt: skip
