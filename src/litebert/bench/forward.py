"""How fast is a forward pass, beside transformers in the same run and beside the machine's matrix-product rate?

The limit: a forward pass cannot be faster than its matrix products at the best rate that this machine shows for them,
by either of PyTorch's two routines. Both models are measured in turn, round by round, so that a slower minute of the
machine slows both; medians are told.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F

from litebert import family
from litebert.config import Config
from litebert.errors import UserError
from litebert.interop import folder, hf_config, hf_keys
from litebert.model import cost
from litebert.model.linear import linear
from litebert.model.model import build

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def measure(config: Config, batch: int = 8, length: int = 128, rounds: int = 9, peer: bool = True) -> dict[str, Any]:
    """Milliseconds of both, tokens per second, ratio, and our share of the matrix-product rate, by dtype."""
    cost.refuse_length(config, length)
    ids = torch.randint(0, config.vocab, (batch, length), generator=torch.Generator().manual_seed(0))
    work = cost.flops(config, length, batch)
    result: dict[str, Any] = {"batch": batch, "length": length, "threads": torch.get_num_threads(), "dtypes": {}}
    with torch.inference_mode():
        for name, dtype in _DTYPES.items():
            ours = build(config, seed=0).to(dtype).eval()
            runs: dict[str, Callable[[], Any]] = {"ours": partial(ours, ids, all_hidden=False)}
            if peer:
                theirs = _peer(config).to(dtype).eval()
                runs["peer"] = partial(theirs, ids)
            seconds = _in_turn(runs, rounds)
            rate = _gemm_rate(config, batch * length, dtype)
            row = {
                "ours_ms": 1000 * seconds["ours"], "tokens_per_s": batch * length / seconds["ours"],
                "gemm_gflops": rate / 1e9, "share_of_gemm": work / seconds["ours"] / rate,
            }  # fmt: skip
            if peer:
                row |= {"peer_ms": 1000 * seconds["peer"], "ratio": seconds["peer"] / seconds["ours"]}
            result["dtypes"][name] = {k: round(v, 4) for k, v in row.items()}
    return result


def _peer(config: Config) -> torch.nn.Module:
    """transformers' own class of the family, random weights."""
    try:
        import transformers
    except ModuleNotFoundError:
        raise UserError("bench runs transformers beside: pip install 'litebert[peers]', or add --no-peer") from None
    from litebert.interop.hf import reasons_against

    against = reasons_against(config)
    if against:
        raise UserError(f"transformers has no class for {'; '.join(against)}: add --no-peer")
    with torch.device("meta"):
        leaving = folder.leaving(build(config, device="meta")).config
    kind = family.family(leaving)
    title = hf_keys.TITLE[kind]
    values = hf_config.write(leaving)
    made: torch.nn.Module = getattr(transformers, f"{title}Model")(getattr(transformers, f"{title}Config")(**values))
    return made


def _in_turn(runs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Median seconds of each, measured alternately after two warm-up rounds."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for round_ in range(rounds + 2):
        for name, run in runs.items():
            began = time.perf_counter()
            run()
            if round_ >= 2:
                times[name].append(time.perf_counter() - began)
    return {name: statistics.median(values) for name, values in times.items()}


def _gemm_rate(config: Config, rows: int, dtype: torch.dtype, tries: int = 8) -> float:
    """The best operations per second over a block's product shapes, by whichever routine is faster here."""
    flops, seconds = 0, 0.0
    for wide, out in ((config.hidden, config.hidden), (config.hidden, config.ffn), (config.ffn, config.hidden)):
        x, layer = torch.randn(rows, wide).to(dtype), torch.nn.Linear(wide, out).to(dtype)
        both = (partial(linear, x, layer), partial(F.linear, x, layer.weight, layer.bias))
        best = min(_once(run) for _ in range(tries) for run in both)
        flops, seconds = flops + 2 * rows * wide * out, seconds + best
    return flops / seconds


def _once(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began
