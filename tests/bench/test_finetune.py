"""Is it real tokens of an epoch's own batches that are counted, for both sides alike, warm-up and padding aside?"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cli.running import litebert, refused
from litebert import rng
from litebert.bench import apart, finetune, finetune_ours, finetune_peer, train
from litebert.bench.finetune import WARM
from litebert.errors import RunError, UserError
from litebert.tasks.batches import Table
from vectors.tiny import WORDS, wordpiece_of

SIZE = {"hidden": 32, "layers": 2, "heads": 4, "ffn": 64}


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    """A folder with one."""
    wordpiece_of().save(tmp_path / "tok")
    return tmp_path / "tok"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Sentences of 1 to 30 words as SST-2 has them."""
    draw = rng.generator(0, "sentences")
    lines = [" ".join(draw.choice(WORDS, int(draw.integers(1, 31)))) + f"\t{number % 2}" for number in range(60)]
    (tmp_path / "train.tsv").write_text("sentence\tlabel\n" + "\n".join(lines) + "\n")
    return tmp_path / "train.tsv"


def call_of(data: Path, tokenizer: Path, rows: Path, mode: str) -> dict[str, Any]:
    """What a competitor is told."""
    finetune.write_rows(finetune._texts(data, 1), wordpiece_of(), rows)
    return {"size": "least", "vocab": 60, "pad": 0, "batch": 4, "rows": str(rows), "tokenizer": str(tokenizer),
            "steps": 3, "mode": mode}  # fmt: skip


@pytest.mark.parametrize("mode", ["ours", "default", "best"])
def test_a_competitor_runs_and_tells_its_padding(
    mode: str, data: Path, tokenizer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(train.SIZES, "least", SIZE)
    found = (finetune_ours if mode == "ours" else finetune_peer).measure(
        **call_of(data, tokenizer, tmp_path / "rows.npz", mode)
    )
    assert set(found) == {"real_tokens_per_s", "examples_per_s", "padding", "rss", "threads"}
    assert found["real_tokens_per_s"] > 0
    lengths = np.array([2 + len(wordpiece_of().encode(one.text)) for one in finetune._texts(data, 1)])
    share = 1 - lengths.mean() / finetune.LENGTH
    if mode == "default":
        assert found["padding"] == pytest.approx(share, abs=0.05)
    else:
        assert 0 < found["padding"] < share / 2


def test_the_command_tells_ratios_and_ends_with_json(
    data: Path, tokenizer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, dict[str, Any]]] = []
    speeds = {"ours": iter([90.0, 100.0, 400.0]), "default": iter([10.0, 5.0, 8.0]), "best": iter([50.0, 40.0, 60.0])}

    def measured(module: str, call: dict[str, Any]) -> dict[str, float]:
        calls.append((module, call))
        return {"real_tokens_per_s": next(speeds[call["mode"]]), "examples_per_s": 1.0, "padding": 0.25, "rss": 2e9,
                "threads": 2}  # fmt: skip

    monkeypatch.setattr(apart, "measured", measured)
    done = litebert("bench", "finetune", "--size", "tiny", "--data", data, "--tokenizer", tokenizer, "--batch", 4,
                    "--steps", 12, "--rounds", 3)  # fmt: skip
    assert done.code == 0
    value = done.value
    assert [call["mode"] for _, call in calls] == ["ours", "default", "best"] * 3  # in turn
    assert [module.rpartition(".")[2] for module, _ in calls[:3]] == ["finetune_ours", "finetune_peer", "finetune_peer"]
    assert [call["steps"] for _, call in calls[:3]] == [12, 2, 12]
    assert (value["bench"], value["real_tokens_per_s"], value["texts"]) == ("finetune", 100.0, 60)
    assert {name: one["times_faster"] for name, one in value["peers"].items()} == {"default": 12.5, "best": 2.0}
    assert value["peers"]["best"]["memory"] == 1.0
    assert "12.50 ×" in done.out


def test_only_what_is_behind_the_warm_up_counts() -> None:
    marks = [10.0, 20.0, 30.0, 31.0, 33.0]  # when steps ended: two of 1 and 2 seconds follow three of warm-up
    found = finetune.rates([900, 900, 900, 60, 30, 999], [900, 900, 900, 80, 40, 999], marks, batch=4)
    assert found == {"real_tokens_per_s": 30.0, "examples_per_s": pytest.approx(8 / 3), "padding": 0.25}


def test_batches_stand_for_all_of_an_epoch() -> None:
    lengths = list(range(1, 201))
    batches = [list(range(i, i + 4)) for i in range(0, 200, 4)]
    chosen = finetune.evenly(batches, lengths, 5)
    assert chosen[:WARM] == [batches[45]] * WARM  # the widest of them, for the memory
    assert sorted(chosen[WARM:]) == [batches[i] for i in (5, 15, 25, 35, 45)]
    mean = np.mean([lengths[i] for one in chosen[WARM:] for i in one])
    assert mean == pytest.approx(np.mean(lengths), abs=2.0)


def test_both_sides_read_the_same_rows(data: Path, tmp_path: Path) -> None:
    texts = finetune._texts(data, 1)
    lengths = finetune.write_rows(texts, wordpiece_of(), tmp_path / "rows.npz")
    ids, classes = finetune.read_rows(str(tmp_path / "rows.npz"))
    assert [len(one) for one in ids] == lengths.tolist()
    cls, sep = wordpiece_of().specials.cls, wordpiece_of().specials.sep
    assert ids[7].tolist() == [cls, *wordpiece_of().encode(texts[7].text), sep]
    assert classes == [int(str(one.label)) for one in texts]
    items = finetune_ours.items_of(str(tmp_path / "rows.npz"))
    table = Table(items, 0)
    assert sorted(itertools.chain(*finetune_ours.epoch(table, 7))) == list(range(60))
    rows = [{"input_ids": ids[i].tolist(), "labels": classes[i]} for i in (3, 4)]
    made = finetune_peer.laid_side_by_side(rows, 0, 0)
    width = max(len(ids[3]), len(ids[4]))
    assert made["input_ids"].shape == (2, width)
    assert [row[mask.bool()].tolist() for row, mask in zip(made["input_ids"], made["attention_mask"], strict=True)] == [
        ids[3].tolist(), ids[4].tolist(),
    ]  # fmt: skip
    assert finetune_peer.laid_side_by_side(rows, 0, 50)["input_ids"].shape == (2, 50)
    assert torch.equal(made["labels"], torch.tensor([classes[3], classes[4]]))


def test_the_peers_epoch_is_that_of_its_own_sampler() -> None:
    lengths = rng.generator(0, "lengths").integers(3, 80, 400).tolist()
    default, best = (finetune_peer._epoch(lengths, 8, mode) for mode in ("default", "best"))
    for batches in (default, best):
        assert sorted(itertools.chain(*batches)) == list(range(400))
    spread = [np.mean([np.ptp([lengths[i] for i in one]) for one in batches]) for batches in (default, best)]
    assert spread[1] < spread[0] / 3


def test_misuse_is_told(data: Path, tokenizer: Path, tmp_path: Path) -> None:
    given = ("bench", "finetune", "--data", data, "--tokenizer", tokenizer, "--no-peer")
    assert "has 60 texts, and 864 are needed: measure fewer steps (--steps)" in refused(*given)
    assert "size 'huge' is not measured: choose tiny, small, base" in refused(*given, "--size", "huge")
    with pytest.raises(UserError, match="mode 'fast' of the peer is unknown: choose default, best"):
        finetune.measure(data, tokenizer, modes=["fast"])


def test_a_competitor_that_fails_is_named() -> None:
    with pytest.raises(RunError, match="best could not be measured: TypeError"):
        apart.measured("litebert.bench.finetune_ours", {"mode": "best"})
