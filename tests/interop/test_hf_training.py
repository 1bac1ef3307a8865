"""Does a folder of transformers train here as it would there: the same rates, in the same places, and the same rows?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import litebert
from interop.peers import peer, text
from interop.test_parity import heads_of
from litebert.interop import hf_keys

RATES = {"hidden_dropout_prob": 0.11, "attention_probs_dropout_prob": 0.12, "classifier_dropout": 0.13}
XLNET = {"dropout": 0.14, "summary_last_dropout": 0.15}

# what a config.json says -> what the model has
SAID: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "albert": ("albert", {**RATES, "classifier_dropout_prob": 0.16}, {
        "dropout": 0.11, "attention_dropout": 0.12, "classifier_dropout": 0.16, "order_dropout": 0.16,
        "ffn_output_dropout": False, "init": "normal", "pad_frozen": True, "mapping": "auto"}),
    "albert as wide as hidden": ("albert-wide", {}, {"mapping": "always"}),
    "bert": ("bert", RATES, {
        "dropout": 0.11, "attention_dropout": 0.12, "classifier_dropout": 0.13, "order_dropout": 0.0,
        "ffn_output_dropout": True, "init": "normal", "pad_frozen": True}),
    "bert without a rate of its own": ("bert", {"hidden_dropout_prob": 0.11}, {"classifier_dropout": 0.11}),
    "roberta": ("roberta", RATES, {
        "dropout": 0.11, "attention_dropout": 0.12, "classifier_dropout": 0.13, "init": "normal", "pad_frozen": True}),
    "electra": ("electra", RATES, {
        "dropout": 0.11, "attention_dropout": 0.12, "classifier_dropout": 0.13, "init": "normal", "pad_frozen": True}),
    "roformer, which knows no rate of a classifier": ("roformer", RATES, {
        "dropout": 0.11, "attention_dropout": 0.12, "classifier_dropout": 0.11, "init": "normal", "pad_frozen": True}),
    "xlnet": ("xlnet", XLNET, {
        "dropout": 0.14, "attention_dropout": 0.14, "activation_dropout": 0.14, "output_dropout": 0.14,
        "classifier_dropout": 0.15, "init": "normal", "pad_frozen": False}),
}  # fmt: skip


@pytest.mark.parametrize("name, said, wanted", SAID.values(), ids=SAID.keys())
def test_a_field_is_read_as_transformers_reads_it_and_written_as_it_was(
    name: str, said: Any, wanted: Any, tmp_path: Path
) -> None:
    peer(name, "Model", tmp_path / "theirs", **said)
    model = litebert.load(tmp_path / "theirs")
    assert {field: getattr(model.config, field) for field in wanted} == wanted
    litebert.save(model, tmp_path / "ours")
    written = json.loads((tmp_path / "ours/config.json").read_text())
    kept = {field: value for field, value in said.items() if field in written}
    assert kept == {field: written[field] for field in kept}
    assert len(kept) >= min(len(said), 2)


# Rates that are asked for by one class of a family and not by its siblings: (family, class) -> the head's own.
OWN = {
    ("roberta", "ForMultipleChoice"): ({**RATES}, 0.11), ("roberta", "ForSequenceClassification"): ({**RATES}, None),
    ("electra", "ForMultipleChoice"): ({**RATES, "summary_last_dropout": 0.17}, 0.17),
    ("electra", "ForTokenClassification"): ({**RATES, "summary_last_dropout": 0.17}, None),
    ("roformer", "ForMultipleChoice"): (RATES, 0.0), ("roformer", "ForSequenceClassification"): (RATES, None),
    ("xlnet", "ForTokenClassification"): (XLNET, 0.0), ("xlnet", "ForQuestionAnswering"): (XLNET, 0.0),
    ("xlnet", "ForSequenceClassification"): (XLNET, None), ("xlnet", "ForMultipleChoice"): (XLNET, None),
}  # fmt: skip


@pytest.mark.parametrize("name, suffix", OWN, ids=lambda value: value)
def test_a_head_has_the_rate_that_its_class_asks_for(name: str, suffix: str, tmp_path: Path) -> None:
    said, rate = OWN[name, suffix]
    peer(name, suffix, tmp_path, **said)
    (head,) = litebert.load(tmp_path).specs.values()
    assert head.dropout == rate


NONE = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
ALONE = {"classifier_dropout": 0.5, "classifier_dropout_prob": 0.5, "summary_last_dropout": 0.5}
CASES = [(name, suffix) for name, classes in hf_keys.CLASSES.items() for suffix, worn in classes.items() if worn]


@pytest.mark.parametrize("name, suffix", CASES, ids=lambda value: value)
def test_a_classifier_s_rate_acts_on_the_heads_that_it_acts_on_there(name: str, suffix: str, tmp_path: Path) -> None:
    causal = suffix.endswith(("CausalLM", "LMHeadModel")) and name != "xlnet"
    still = {"dropout": 0.0} if name == "xlnet" else NONE
    theirs = peer(name, suffix, tmp_path, **still, **ALONE, **({"is_decoder": True} if causal else {})).train()
    ours = litebert.load(tmp_path).train()
    batch = text(name, ours.config.pad)
    fed = {k: v[:, None] for k, v in batch.items()} if suffix == "ForMultipleChoice" else batch
    said: dict[str, list[list[Any]]] = {"theirs": [], "ours": []}
    for seed in (0, 1):
        torch.manual_seed(seed)
        said["theirs"].append([flat(value) for value in heads_of(theirs(**fed), suffix, ours).values()])
        out = ours(*batch.values())
        said["ours"].append([flat(ours.logits(head, out)) for head in ours.specs])
    moves = {side: [not torch.equal(*pair) for pair in zip(*twice, strict=True)] for side, twice in said.items()}
    assert moves["ours"] == moves["theirs"]


def flat(value: Any) -> torch.Tensor:
    parts = value if isinstance(value, tuple) else (value,)
    return torch.cat([part.detach().double().flatten() for part in parts])


def test_the_ffn_of_albert_drops_nothing_there_nor_here_and_that_of_a_preset_does(tmp_path: Path) -> None:
    theirs = peer("albert", "Model", tmp_path, hidden_dropout_prob=0.5).train()
    layer = theirs.encoder.albert_layer_groups[0].albert_layers[0]
    x = torch.randn(2, 5, 32, generator=torch.Generator().manual_seed(0))
    loaded = litebert.load(tmp_path).train()
    faithful = litebert.load(loaded.config.but(ffn_output_dropout=True)).train()
    with torch.no_grad():
        assert torch.equal(layer.ff_chunk(x), layer.ff_chunk(x))
        assert torch.equal(loaded.encoder.ffn[0](x), loaded.encoder.ffn[0](x))
        assert not torch.equal(faithful.encoder.ffn[0](x), faithful.encoder.ffn[0](x))


@pytest.mark.parametrize("name", hf_keys.CLASSES)
def test_the_padding_row_learns_where_it_learns_there(name: str, tmp_path: Path) -> None:
    theirs = peer(name, "Model", tmp_path)
    ours = litebert.load(tmp_path)
    batch = text(name, ours.config.pad)
    for result in (theirs(**batch)[0], ours(*batch.values()).last):
        result.square().sum().backward()
    slopes = [theirs.get_input_embeddings().weight.grad, ours.embedding.word.weight.grad]
    rows = [sorted(slope.abs().sum(-1).nonzero().flatten().tolist()) for slope in slopes]
    assert rows[0] == rows[1]
    assert (ours.config.pad in rows[1]) is (name == "xlnet")
