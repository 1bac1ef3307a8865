"""Is it said in words what was trained, and are times and shares written as people write them?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from litebert import presets
from litebert.lab import told
from litebert.lab.history import History
from litebert.train import recipe

MODELS = {
    "albert-base": ("12 layers of width 768 with 12 heads, all of them one block, learnt positions; "
                    "30,000 pieces of width 128; 11,813,810 parameters."),
    "bert-tiny": ("2 layers of width 128 with 2 heads, each with its own weights, learnt positions; "
                  "30,522 pieces; 4,433,468 parameters."),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_told_by_its_shape(name: str) -> None:
    assert told.model(presets.preset(name)) == MODELS[name]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"groups": 3}, "made of 3 blocks"),
        ({"sharing": "attention"}, "with shared attention and each its own ffn"),
        ({"sharing": "ffn"}, "with shared ffn and each its own attention"),
        ({"positions": "rotary"}, "rotary positions"),
    ],
)
def test_sharing_and_positions_are_told(changes: dict[str, object], text: str) -> None:
    assert text in told.model(presets.preset("albert-base").but(**changes))


def trained(tmp_path: Path, tables: dict[str, object], **start: object) -> str:
    """What is said of a run."""
    (tmp_path / "log.jsonl").write_text(json.dumps({"event": "start", **start}) + "\n")
    run = recipe.build({"model": {"preset": "albert-base"}, "data": {"recipe": "albert", "length": 128}, **tables})
    return told.training(run, History(tmp_path))


def test_training_is_told_with_its_budget_and_rule(tmp_path: Path) -> None:
    schedule = {"kind": "linear", "peak": 0.00176, "warmup": 0.1, "total": "55 minutes"}
    said = trained(tmp_path, {"optimizer": {"rule": "lamb"}, "schedule": schedule}, precision="bfloat16, as asked")
    assert said == (
        "It learnt to guess masked words (15 % of the tokens, in spans of up to 3 words) and to tell the order of two "
        "segments, from random weights (seed 0), on rows of 128 tokens, 64 rows a step, with LAMB at a peak rate of "
        "0.00176 (linear), for 55 min. Precision: bfloat16, as asked."
    )


def test_another_start_other_phases_and_other_rules_are_told(tmp_path: Path) -> None:
    phases = [{"share": 0.9, "length": 128}, {"share": 0.1, "length": 512}]
    said = trained(tmp_path, {"start": "old", "phase": phases, "optimizer": {"rule": "adamw"},
                              "schedule": {"total": 12_000}, "training": {"batch": 0, "tokens": 8192}})  # fmt: skip
    assert "from the weights of old, on rows of 128 then 512 tokens, 8,192 tokens a step, with AdamW" in said
    assert said.endswith("for 12,000 steps.")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (48.4, "48 s"),
        (180, "3 min"),
        (150.02, "2 min 30 s"),
        (3290, "55 min"),
        (3300, "55 min"),
        (12_030, "3 h 20 min"),
        (0, "0 s"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert told.duration(seconds) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0456, "4.6 %"), (0.0, "0 %"), (1.0, "100 %"), (0.0001, "< 0.1 %"), (0.9994, "99.9 %"), (0.99999, "100 %")],
)
def test_shares(share: float, text: str) -> None:
    assert told.percent(share) == text


def test_sizes() -> None:
    assert [told.size(value) for value in (2.04e7, 999, 3.1e9, 12_345)] == ["20.4 M", "999", "3.1 G", "12.3 k"]
