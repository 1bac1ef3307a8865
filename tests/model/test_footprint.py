"""Are the bytes of weights, gradients, optimizer and checkpoint, and the peak of a training step, those counted?"""

from __future__ import annotations

from pathlib import Path

import pytest
import safetensors.torch
import torch
import torch.nn.functional as F

from litebert import family
from litebert.config import Config, Head
from litebert.model import cost, footprint
from litebert.model.model import Model, build
from litebert.presets import preset
from model.test_activations import Living

BATCH, LENGTH, ASKED = 8, 32, 5
SMALL = Config(vocab=997, embedding=64, hidden=64, layers=4, heads=4, ffn=256, max_positions=64, sharing="none")
TRAINED = {
    "albert": SMALL.but(sharing="all", embedding=32),
    "bert": SMALL.but(objectives=("mlm", "nsp"), dropout=0.1, attention_dropout=0.1),
    "roberta, whose pooler learns nothing": SMALL.but(objectives=("mlm",), position_offset=2),
    "xlnet": SMALL.but(objectives=("plm",), positions="relative", max_positions=0, pooler="none"),
    "electra": SMALL.but(objectives=("rtd",), pooler="none"),
    "rotary, pre-norm": SMALL.but(objectives=("mlm",), positions="rotary", norm="pre"),
}


def loss(model: Model) -> torch.Tensor:
    """What pre-training of the config's objectives would compute, on made-up texts."""
    ids = torch.arange(BATCH * LENGTH).reshape(BATCH, LENGTH) % (model.config.vocab - 1) + 1
    places, labels = ids[:, :ASKED] % LENGTH, ids[:, :ASKED]
    two = "plm" in model.specs
    out = model(ids, torch.ones_like(ids), torch.zeros_like(ids), targets=places if two else None)
    terms = []
    for name in model.specs:
        logits = model.logits(name, out, places if name == "mlm" else None)
        match name:
            case "mlm" | "plm":
                terms.append(F.cross_entropy(logits.flatten(0, -2), labels.flatten()))
            case "order":
                terms.append(F.cross_entropy(logits, labels[:, 0] % 2))
            case _:
                terms.append(F.binary_cross_entropy_with_logits(logits, torch.zeros_like(logits)))
    return torch.stack(terms).sum()


@pytest.mark.parametrize("name", TRAINED)
def test_a_training_step_peaks_within_a_twentieth_of_what_is_counted(name: str) -> None:
    config = TRAINED[name]
    model = build(config, family.pretraining_heads(config)).train()
    model.path = "eager"
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    with Living() as living:
        for _ in range(2):  # the second step begins with gradients and slots in place
            loss(model).backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
    measured = living.peak + sum(parameter.nbytes for parameter in model.parameters())
    counted = footprint.training_memory(config, BATCH, LENGTH)
    assert set(counted) - {"logits"} == {"weights", "gradients", "optimizer", "activations"}
    assert measured == pytest.approx(sum(counted.values()), rel=0.05)


@pytest.mark.parametrize("name", TRAINED)
def test_gradients_and_slots_are_those_of_what_learns(name: str) -> None:
    config = TRAINED[name]
    heads = family.pretraining_heads(config)
    model = build(config, heads).train()
    optimizer = torch.optim.AdamW(model.parameters())
    loss(model).backward()
    optimizer.step()
    gradients = sum(parameter.grad.nbytes for parameter in model.parameters() if parameter.grad is not None)
    slots = [slot for state in optimizer.state.values() for slot in (state["exp_avg"], state["exp_avg_sq"])]
    counted = footprint.optimizer_bytes(config, heads)
    assert counted == {"gradients": gradients, "optimizer": sum(slot.nbytes for slot in slots)}
    assert sum(parameter.nbytes for parameter in model.parameters()) == footprint.weight_bytes(config, heads)


def test_without_heads_every_weight_is_taken_to_learn() -> None:
    config = preset("roberta-base")
    assert footprint.optimizer_bytes(config, slots=1)["optimizer"] == 4 * cost.total(config)
    pooler = 768 * 769
    words = {"words": Head(kind="mlm")}
    learning = cost.total(config) + cost.parameters(config, words)["head words"] - pooler
    assert footprint.optimizer_bytes(config, words)["gradients"] == 4 * learning


def test_the_step_asks_for_15_percent_and_keeps_three_numbers_a_logit() -> None:
    config = preset("albert-base")
    parts = footprint.training_memory(config, 32, 512)
    assert parts["logits"] == 3 * 32 * 77 * 30000 * 4
    assert parts["weights"] == 4 * 11_813_810
    assert parts["optimizer"] == 2 * parts["gradients"] == 8 * 11_813_810
    fused = footprint.training_memory(config, 32, 512, fused=True)
    weights = 12 * 32 * 12 * 512 * 4  # layers, texts, heads, rows, bytes: a row of 512 becomes one number
    mixed = 12 * 32 * 512 * 768 * 4  # the kernel keeps its own mixture beside the one whose blind rows are zeroed,
    mask = 32 * 512 * 4  # and who may be seen
    assert parts["activations"] - fused["activations"] == 511 * weights - mixed - mask


@pytest.mark.parametrize("name, megabytes", [("albert-base", 46.7), ("bert-base", 437.9)])
def test_a_checkpoint_on_disk(name: str, megabytes: float) -> None:
    config = preset(name)
    assert round(footprint.checkpoint_bytes(config) / 1e6, 1) == megabytes
    assert footprint.checkpoint_bytes(config, slots=2) == 3 * footprint.checkpoint_bytes(config)
    assert footprint.checkpoint_bytes(config, bytes_each=2) == cost.total(config) * 2


def test_a_written_checkpoint_is_as_large_as_counted(tmp_path: Path) -> None:
    config = TRAINED["albert"]
    heads = family.pretraining_heads(config)
    safetensors.torch.save_file(build(config, heads).state_dict(), tmp_path / "model.safetensors")
    data = (tmp_path / "model.safetensors").read_bytes()
    header = 8 + int.from_bytes(data[:8], "little")
    assert len(data) - header == footprint.checkpoint_bytes(config, heads)
