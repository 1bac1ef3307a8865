"""Does the measurement measure what it says: the same model on both sides, in turn, against the machine's own rate?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from cli.running import litebert, refused
from litebert import presets
from litebert.bench import forward
from litebert.config import Config
from litebert.errors import UserError
from litebert.model import model

TINY = Config(vocab=60, embedding=16, hidden=32, layers=2, heads=4, ffn=64, max_positions=32)
SETTINGS = [part for name in ("vocab", "embedding", "hidden", "layers", "heads", "ffn", "max_positions")
            for part in ("--set", f"{name}={getattr(TINY, name)}")]  # fmt: skip


def test_the_last_line_is_json_with_both_dtypes_and_a_ratio() -> None:
    done = litebert("bench", "forward", "--size", "tiny", "--batch", 2, "--length", 16, "--rounds", 2, *SETTINGS)
    assert done.code == 0
    value = done.value
    assert {key: value[key] for key in ("bench", "model", "batch", "length", "threads")} == {
        "bench": "forward", "model": "albert-tiny", "batch": 2, "length": 16, "threads": torch.get_num_threads(),
    }  # fmt: skip
    assert list(value["dtypes"]) == ["float32", "bfloat16"]
    for row in value["dtypes"].values():
        assert all(math.isfinite(number) and number > 0 for number in row.values())
        assert row["ratio"] == pytest.approx(row["peer_ms"] / row["ours_ms"], rel=0.02)
        assert row["tokens_per_s"] == pytest.approx(2 * 16 / row["ours_ms"] * 1000, rel=0.02)
    assert "albert-tiny, 2 × 16" in done.out


def test_without_a_peer_there_is_no_ratio() -> None:
    done = litebert("bench", "forward", "--batch", 1, "--length", 8, "--rounds", 1, "--no-peer", *SETTINGS)
    assert done.code == 0
    for row in done.value["dtypes"].values():
        assert set(row) == {"ours_ms", "tokens_per_s", "gemm_gflops", "share_of_gemm"}


def test_a_model_that_transformers_has_not_is_refused_with_the_way_out() -> None:
    message = refused("bench", "forward", *SETTINGS, "--length", 8, "--set", "sharing=attention")
    assert message.startswith("transformers has no class for sharing 'attention'")
    assert message.endswith("add --no-peer")
    done = litebert("bench", "forward", *SETTINGS, "--length", 8, "--rounds", 1, "--set", "sharing=ffn", "--no-peer")
    assert done.code == 0


def test_without_transformers_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(UserError, match=r"pip install 'litebert\[peers\]', or add --no-peer"):
        forward.measure(TINY, 1, 8, 1)


SMALL = {"vocab": 60, "hidden": 32, "layers": 2, "heads": 4, "ffn": 64}


@pytest.mark.parametrize("name,changes", [
    ("albert-base", {"embedding": 16}), ("albert-base", {"embedding": 16, "groups": 2}),
    ("albert-base", {"embedding": 32}), ("bert-base", {"embedding": 32}), ("roberta-base", {"embedding": 32}),
    ("xlnet-base", {"embedding": 32}), ("electra-small", {"embedding": 16}),
    ("albert-base", {"embedding": 16, "positions": "rotary", "objectives": ("mlm",), "pooler": "none"}),
], ids=lambda v: v if isinstance(v, str) else "")  # fmt: skip
def test_the_peer_has_the_same_blocks_of_the_same_sizes(name: str, changes: dict[str, Any]) -> None:
    config = presets.preset(name).but(**SMALL, **changes)
    peer = forward._peer(config)
    ours = model.build(config, device="meta")

    def matrices(module: torch.nn.Module) -> list[int]:
        """Sizes of what a token is multiplied by in the stack."""
        stack = getattr(module, "encoder", None) or module.layer
        return sorted(p.numel() for key, p in stack.named_parameters() if p.dim() > 1 and "mapping_in" not in key
                      and "embed_positions" not in key and p.numel() > 2 * 32)  # fmt: skip

    wanted = matrices(ours)
    if config.positions == "rotary":  # transformers shares nothing there
        wanted = sorted(wanted * 2)
    assert matrices(peer) == wanted
    assert next(iter(peer.parameters())).device.type == "cpu"


def test_both_run_in_turn_and_the_first_two_rounds_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now, calls = [0.0], []
    costs: dict[str, Iterator[float]] = {"ours": iter([90.0, 90.0, 1.0, 3.0, 2.0]), "peer": iter([90.0, 90.0, 8, 4, 6])}
    monkeypatch.setattr(forward.time, "perf_counter", lambda: now[0])

    def run(name: str) -> Callable[[], None]:
        def step() -> None:
            calls.append(name)
            now[0] += next(costs[name])

        return step

    assert forward._in_turn({name: run(name) for name in costs}, 3) == {"ours": 2.0, "peer": 6.0}
    assert calls == ["ours", "peer"] * 5


def test_the_rate_of_the_machine_is_its_best_over_the_shapes_of_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen tries a shape; the best of each is counted."""
    seconds = iter([5.0] * 15 + [1.0] + [5.0] * 15 + [2.0] + [1.0] + [5.0] * 15)
    monkeypatch.setattr(forward, "_once", lambda _: next(seconds))
    work = 2 * 10 * (32 * 32 + 32 * 64 + 64 * 32)
    assert forward._gemm_rate(TINY, 10, torch.float32) == work / 4.0
