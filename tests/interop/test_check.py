"""Does `convert --check` see every layer and head, and the one that moved?"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import litebert
from cli.running import litebert as run
from interop.peers import peer
from interop.test_convert import saved
from litebert.interop import convert, tensors


@pytest.mark.parametrize("name,suffix,said", [
    ("albert-groups2-inner2", "ForPreTraining", ["mlm", "order"]), ("bert", "ForMultipleChoice", ["choice"]),
    ("roberta", "ForTokenClassification", ["tag"]), ("electra", "ForPreTraining", ["rtd"]),
    ("roformer", "ForMaskedLM", ["mlm"]), ("xlnet", "ForQuestionAnswering", ["span-answerable"]),
    ("xlnet-uni", "LMHeadModel", ["plm"]), ("bert", "LMHeadModel", ["mlm"]),
    ("bert", "ForPreTraining", ["mlm", "order"]),
    ("roformer", "ForQuestionAnswering", ["span"]), ("xlnet", "ForSequenceClassification", ["classify"]),
    ("albert", "Model", []), ("bert", "Model", []),
], ids=lambda v: v if isinstance(v, str) else "")  # fmt: skip
def test_a_check_has_a_row_for_every_layer_and_head(name: str, suffix: str, said: list[str], tmp_path: Path) -> None:
    peer(name, suffix, tmp_path / "a", **({"is_decoder": True} if suffix == "LMHeadModel" and name == "bert" else {}))
    done = run("convert", tmp_path / "a", tmp_path / "b", "--check", "--json").value
    model = litebert.load(tmp_path / "b")
    layers = ["embedding", *(f"layer {i + 1}" for i in range(model.config.depth))]
    others = ["pooled"] * (model.config.pooler == "cls") + [f"head {head}" for head in model.specs]
    assert list(done["source"]) == [*layers, *others]
    assert max(done["source"].values()) == 0.0
    assert list(done["transformers"]) == [*layers, *(["pooled"] * (suffix == "Model")), *(f"head {h}" for h in said)]
    assert max(done["transformers"].values()) < 1e-5


def test_a_check_leaves_the_model_and_transformers_as_they_were(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    model = saved(tmp_path / "a", ["mlm"])
    logging = transformers.utils.logging
    before = logging.get_verbosity()
    try:
        logging.set_verbosity_info()
        convert.check_transformers(model, tmp_path / "a")
        assert (model.path, logging.get_verbosity()) == ("auto", transformers.logging.INFO)
    finally:
        logging.set_verbosity(before)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_changed_weight_shows_in_its_layer_and_after_it(tmp_path: Path) -> None:
    before = saved(tmp_path / "a", ["mlm", "order", "tag"], sharing="none")
    changes = {
        "encoder.ffn.1.up.bias": ["layer 2", "layer 3", "layer 4", "pooled", "head mlm", "head order", "head tag"],
        "encoder.attention.3.key.weight": ["layer 4", "pooled", "head mlm", "head order", "head tag"],
        "pooler.dense.bias": ["pooled", "head order"],
        "heads.tag.out.bias": ["head tag"],
        "embedding.norm.bias": ["embedding", "layer 1", "layer 2", "layer 3", "layer 4", "pooled", "head mlm",
                                "head order", "head tag"],
    }  # fmt: skip
    for name, moved in changes.items():
        after = litebert.load(tmp_path / "a")
        with torch.no_grad():
            after.get_parameter(name).flatten()[0] += 0.5
        assert [row.what for row in convert.check(before, after) if row.difference > 1e-4] == moved, name


def test_a_weight_changed_on_disk_shows_against_transformers(tmp_path: Path) -> None:
    model = saved(tmp_path / "a", sharing="none")
    held = load_file(tmp_path / "a/model.safetensors")
    held["encoder.albert_layer_groups.2.albert_layers.0.ffn_output.bias"][3] += 1
    tensors.write_file(tmp_path / "a/model.safetensors", held)
    rows = convert.check_transformers(model, tmp_path / "a")
    assert [row.what for row in rows if row.difference > 1e-3] == ["layer 3", "layer 4", "pooled"]
    assert max(row.difference for row in rows if row.what in ("embedding", "layer 1", "layer 2")) < 1e-5


@pytest.mark.parametrize("head,name", [
    ("span-answerable", "start_logits.dense.weight"), ("span-answerable", "end_logits.dense_1.weight"),
    ("span-answerable", "answer_class.dense_1.weight"), ("plm", "lm_loss.bias"), ("classify", "logits_proj.bias"),
    ("span", "qa_outputs.weight"),
], ids=lambda v: v)  # fmt: skip
def test_a_head_changed_on_disk_shows_against_transformers(head: str, name: str, tmp_path: Path) -> None:
    suffix = {"span-answerable": "ForQuestionAnswering", "plm": "LMHeadModel", "classify": "ForSequenceClassification",
              "span": "ForQuestionAnsweringSimple"}[head]  # fmt: skip
    peer("xlnet", suffix, tmp_path)
    model = litebert.load(tmp_path)
    held = load_file(tmp_path / "model.safetensors")
    held[name].flatten()[1] += 1
    tensors.write_file(tmp_path / "model.safetensors", held)
    rows = convert.check_transformers(model, tmp_path)
    assert [row.what for row in rows if row.difference > 1e-3] == [f"head {head}"]
