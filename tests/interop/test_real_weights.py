"""Does a real ALBERT-large, 24 applications of one block, compute here what it computes in transformers?"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

import litebert
from cli.running import litebert as run
from litebert.model import reshape
from litebert.model.model import Model

LENGTHS = (24, 15)  # tokens of the two texts


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    """A Chinese ALBERT-large with a classifier of consecutive segments."""
    return shared_data / "weights" / "albert-large-zh"


@pytest.fixture(scope="module")
def model(folder: Path) -> Model:
    """It, in float32."""
    return litebert.load(folder)


@pytest.fixture(scope="module")
def batch() -> dict[str, Tensor]:
    """Two texts of Chinese characters in two segments, the second padded."""
    ids = torch.randint(672, 7992, (2, max(LENGTHS)), generator=torch.Generator().manual_seed(0))  # 一 … 龟
    mask, segments = torch.ones_like(ids), torch.zeros_like(ids)
    for row, length in enumerate(LENGTHS):
        ids[row, 0], ids[row, length // 2], ids[row, length - 1] = 101, 102, 102  # [CLS] … [SEP] … [SEP]
        segments[row, length // 2 + 1 : length] = 1
        ids[row, length:], mask[row, length:] = 0, 0
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": segments}


@pytest.fixture(scope="module")
def told(model: Model, batch: dict[str, Tensor]) -> tuple[list[Tensor], Tensor]:
    """What it says to them."""
    return said(model, batch)


def said(model: Model, batch: dict[str, Tensor]) -> tuple[list[Tensor], Tensor]:
    """Every state, and the classifier's logits."""
    with torch.inference_mode():
        out = model(*batch.values())
        return list(out.hidden), model.logits("classify", out)


def furthest(one: Tensor, other: Tensor, batch: dict[str, Tensor]) -> float:
    """The largest difference at real tokens."""
    return float((one.float() - other.float())[batch["attention_mask"].bool()].abs().max())


def test_all_25_states_and_the_classifier_are_those_of_transformers(
    folder: Path, model: Model, batch: dict[str, Tensor], told: tuple[list[Tensor], Tensor]
) -> None:
    transformers = pytest.importorskip("transformers")
    theirs = transformers.AlbertForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        result = theirs(**batch, output_hidden_states=True)
    states, logits = told
    assert (len(states), list(model.specs)) == (25, ["classify"])
    for i, (mine, other) in enumerate(zip(states, result.hidden_states, strict=True)):
        assert furthest(mine, other, batch) < 1e-4, f"layer {i}"
    torch.testing.assert_close(logits, result.logits, atol=1e-4, rtol=0)


def test_a_check_shows_the_conversion_and_not_how_two_kernels_round(folder: Path, tmp_path: Path) -> None:
    """On random words 24 layers make 1e-4 of the rounding of oneDNN's products against PyTorch's own."""
    pytest.importorskip("transformers")
    report = run("convert", folder, tmp_path / "out", "--check", "--json").value
    assert max(report["source"].values()) == 0.0
    assert list(report["transformers"]) == ["embedding", *(f"layer {i + 1}" for i in range(24)), "head classify"]
    assert max(report["transformers"].values()) < 2e-5


def test_its_account_is_that_of_the_paper_s_large_with_21128_words(folder: Path) -> None:
    account = run("describe", folder, "--json").value
    counts = account["parameters"]
    assert (counts["total"], counts["total"] - counts["without_pooler"]) == (16_548_352, 1024 * 1024 + 1024)
    assert counts["components"]["head classify"] == 2 * 1024 + 2
    assert account["sharing"] == {"attention": [0] * 24, "ffn": [0] * 24}
    assert account["config"]["activation"] == "relu"


def test_unsharing_moves_no_bit(model: Model, batch: dict[str, Tensor]) -> None:
    short = {name: tensor[:1, :8] for name, tensor in batch.items()}
    states, logits = said(model, short)
    wide, wide_logits = said(reshape.reshare(model, "none"), short)
    assert all(torch.equal(one, other) for one, other in zip(states, wide, strict=True))
    assert torch.equal(logits, wide_logits)


def test_another_activation_loads_and_is_wrong(
    folder: Path, batch: dict[str, Tensor], told: tuple[list[Tensor], Tensor]
) -> None:
    """These weights were trained with relu; gelu raises no error, so only numbers can tell."""
    states, logits = told
    other, other_logits = said(litebert.load(folder, activation="gelu_tanh"), batch)
    assert furthest(states[0], other[0], batch) == 0.0
    assert furthest(states[1], other[1], batch) > 0.01
    assert furthest(states[-1], other[-1], batch) > 1.0
    assert float((logits - other_logits).abs().max()) > 0.1


def test_bfloat16_stays_near(folder: Path, batch: dict[str, Tensor], told: tuple[list[Tensor], Tensor]) -> None:
    """Rounding to 8 bits in 24 layers: the directions of the last states hold to a few degrees, the decision holds."""
    half = litebert.load(folder, dtype=torch.bfloat16)
    assert {tensor.dtype for tensor in half.parameters()} == {torch.bfloat16}
    states, logits = told
    other, other_logits = said(half, batch)
    real = batch["attention_mask"].bool()
    for i, least in ((0, 0.9999), (12, 0.99), (24, 0.99)):
        cosine = torch.cosine_similarity(states[i][real], other[i][real].float(), dim=-1)
        assert float(cosine.min()) > least, f"layer {i}"
    torch.testing.assert_close(other_logits.float(), logits, atol=0.1, rtol=0.05)


def test_the_released_albert_base_v2_says_what_transformers_own_test_has_on_record(shared_data: Path) -> None:
    place = shared_data / "weights" / "albert-base-v2"
    if not place.is_dir():
        pytest.skip(f"{place.name} is not among the real weights: put the released folder there to run this test")
    ids = torch.tensor([[0, 345, 232, 328, 740, 140, 1695, 69, 6078, 1588, 2]])
    with torch.inference_mode():
        found = litebert.load(place)(ids, (torch.arange(11) > 0).long()[None]).last[0, 1:4, 1:4]
    expected = [[-0.6513, 1.5035, -0.2766], [-0.6515, 1.5046, -0.2780], [-0.6512, 1.5049, -0.2784]]
    torch.testing.assert_close(found, torch.tensor(expected), atol=1e-4, rtol=0)
