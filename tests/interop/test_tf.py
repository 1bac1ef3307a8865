"""Does an original TensorFlow checkpoint compute here what transformers computes with the same weights?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import litebert
from interop import tf_names
from interop.bundle_writer import write_bundle
from interop.peers import peer, text
from interop.tf_cases import RELEASED, make, released_config
from litebert.interop import convert, tf


def released(name: str, folder: Path) -> torch.nn.Module:
    """The checkpoint of a case in `folder`, as released; gives back the transformers model."""
    theirs, tensors, values = make(name, folder)
    (folder / "tf").mkdir()
    write_bundle(folder / "tf/model.ckpt-best", tensors)
    (folder / "tf" / RELEASED[name].config).write_text(json.dumps(values))
    return theirs


@pytest.mark.parametrize("name", RELEASED)
def test_every_state_and_head_is_that_of_transformers(name: str, tmp_path: Path) -> None:
    theirs = released(name, tmp_path)
    ours = litebert.load(tmp_path / "tf")
    batch = text(RELEASED[name].peer, ours.config.pad)
    with torch.no_grad():
        result, out = theirs(**batch, output_hidden_states=True), ours(*batch.values())
    for i, (mine, other) in enumerate(zip(out.hidden, result.hidden_states, strict=True)):
        close(mine, other, f"layer {i}")
    said = {
        "albert": ("prediction_logits", "sop_logits"), "bert": ("prediction_logits", "seq_relationship_logits"),
        "xlnet": ("logits",), "electra": ("logits",),
    }[RELEASED[name].peer.partition("-")[0]]  # fmt: skip
    assert len(ours.specs) == len(said)
    for head, field in zip(ours.specs, said, strict=True):
        close(ours.logits(head, out), getattr(result, field), head)


def close(mine: torch.Tensor, other: torch.Tensor, what: str) -> None:
    torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-5, msg=lambda told: f"{what}: {told}")


@pytest.mark.parametrize("name", [n for n in RELEASED if n not in ("XLNet of one set of biases",)])
def test_every_tensor_is_that_of_transformers_own_folder_to_the_byte(name: str, tmp_path: Path) -> None:
    released(name, tmp_path)
    mine, others = (litebert.load(tmp_path / form).state_dict() for form in ("tf", "hf"))
    alone = {"embedding.map.weight", "embedding.map.bias"} if name == "ALBERT as wide as its embedding" else set()
    assert set(others) - set(mine) == alone
    assert set(mine) <= set(others)
    assert [key for key in mine if not torch.equal(mine[key], others[key])] == []


@pytest.mark.parametrize("slots", [("adam_m", "adam_v"), ("lamb_m", "lamb_v")], ids="-".join)
@pytest.mark.parametrize("name", ["ALBERT", "BERT", "XLNet", "ELECTRA"])
def test_slots_counters_and_the_prefix_of_tf_hub_change_nothing(name: str, slots: Any, tmp_path: Path) -> None:
    _, tensors, values = make(name, tmp_path)
    trained = tf_names.slots(tensors, *slots)
    hub = {f"module/{key}": value for key, value in trained.items()}
    loaded = []
    for form, written in (("plain", tensors), ("trained", trained), ("hub", hub)):
        folder = tmp_path / form
        folder.mkdir()
        write_bundle(folder / "model", written, shards=2)
        (folder / RELEASED[name].config).write_text(json.dumps(values))
        loaded.append(litebert.load(folder))
    for other in loaded[1:]:
        assert (other.config, other.specs) == (loaded[0].config, loaded[0].specs)
        assert other.state_dict().keys() == loaded[0].state_dict().keys()
        assert [k for k, v in other.state_dict().items() if not torch.equal(v, loaded[0].state_dict()[k])] == []


@pytest.mark.parametrize("which", [".", "model", "model.index", "model.data-00000-of-00002"])
def test_a_checkpoint_goes_by_its_folder_its_prefix_and_any_of_its_files(which: str, tmp_path: Path) -> None:
    _, tensors, values = make("ALBERT", tmp_path)
    write_bundle(tmp_path / "model", tensors, shards=2)
    (tmp_path / "albert_config.json").write_text(json.dumps(values))
    model = litebert.load(tmp_path / which)
    assert list(model.specs) == ["mlm", "order"]


def test_albert_s_25_body_and_7_head_tensors_each_find_one_place(tmp_path: Path) -> None:
    """Every number of the checkpoint is another one, so that none can be lost, doubled or come from elsewhere."""
    _, tensors, values = make("ALBERT", tmp_path)
    assert (len([name for name in tensors if name.startswith("bert/")]), len(tensors)) == (25, 32)
    count = 0
    for name, tensor in tensors.items():
        tensors[name] = np.arange(count, count + tensor.size, dtype=np.float32).reshape(tensor.shape)
        count += tensor.size
    write_bundle(tmp_path / "model", tensors)
    (tmp_path / "albert_config.json").write_text(json.dumps(values))
    state = litebert.load(tmp_path).state_dict()
    assert len(state) == 32
    assert torch.cat([t.flatten() for t in state.values()]).sort().values.tolist() == list(range(count))
    kernel = torch.from_numpy(tensors["bert/encoder/transformer/group_0/inner_group_0/attention_1/self/key/kernel"])
    assert torch.equal(state["encoder.attention.0.key.weight"], kernel.T)
    order = torch.from_numpy(tensors["cls/seq_relationship/output_weights"])
    assert torch.equal(state["heads.order.out.weight"], order)


def test_what_is_loaded_behaves_as_google_s_code_and_not_as_transformers(tmp_path: Path) -> None:
    released("ALBERT", tmp_path)
    config = litebert.load(tmp_path / "tf").config
    assert (config.activation, config.layer_norm_eps, config.init, config.mapping) == (
        "gelu_tanh", 1e-12, "truncated", "auto",
    )  # fmt: skip
    assert (config.ffn_output_dropout, config.pad_frozen, config.order_dropout) == (True, False, 0.0)


@pytest.mark.parametrize("beside", [True, False], ids=["with a config", "without a config"])
def test_both_halves_of_electra_come_out_of_one_checkpoint(beside: bool, tmp_path: Path) -> None:
    """Without a config the shapes tell all: heads of 64, as every released size has them."""
    wide = {"hidden_size": 128, "num_attention_heads": 2}
    big = peer("electra", "ForPreTraining", tmp_path / "d", **wide)
    small = peer("electra", "ForMaskedLM", tmp_path / "g", hidden_size=64, num_attention_heads=1, intermediate_size=96)
    small.electra.embeddings.load_state_dict(big.electra.embeddings.state_dict())
    tensors = tf_names.electra(big.state_dict(), 3) | tf_names.electra_generator(small.state_dict(), 3)
    (tmp_path / "tf").mkdir()
    write_bundle(tmp_path / "tf/electra_small", tf_names.slots(tensors, "adam_m", "adam_v"))
    if beside:
        (tmp_path / "tf/config.json").write_text(json.dumps(released_config(big.config)))
    batch = text("electra", 0)
    for theirs, head, part in ((big, "rtd", "discriminator"), (small, "mlm", "generator")):
        ours = convert.read(tmp_path / "tf", part)
        assert (list(ours.specs), ours.config.pooler) == ([head], "none")
        with torch.no_grad():
            out, logits = ours(*batch.values()), theirs.eval()(**batch).logits
        close(ours.logits(head, out), logits, head)


def test_xlnet_s_segments_and_biases_are_cut_out_of_their_stacks(tmp_path: Path) -> None:
    _, tensors, _ = make("XLNet", tmp_path)
    assert tensors["model/transformer/seg_embed"].shape == (3, 2, 4, 8)
    assert tensors["model/transformer/r_r_bias"].shape == (3, 4, 8)
    released("XLNet of one set of biases", tmp_path / "tied")
    model = litebert.load(tmp_path / "tied/tf")
    assert (model.config.untied, len(model.encoder.biases)) == (False, 1)
    assert model.encoder.attention[2].relative.segment.shape == (2, 4, 8)


def test_a_body_alone_loads_without_heads_and_without_a_pooler(tmp_path: Path) -> None:
    _, tensors, values = make("BERT", tmp_path)
    kept = {k: v for k, v in tensors.items() if not k.startswith("cls/") and "pooler" not in k}
    write_bundle(tmp_path / "model", kept)
    (tmp_path / "bert_config.json").write_text(json.dumps(values))
    model = litebert.load(tmp_path)
    assert (dict(model.specs), model.config.pooler, model.config.objectives) == ({}, "none", ("mlm",))


def test_is_checkpoint_tells_a_checkpoint_from_a_sharded_folder(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors.index.json").write_text("{}")
    assert not tf.is_checkpoint(tmp_path)
    write_bundle(tmp_path / "model", {"a": np.zeros(1, np.float32)})
    assert tf.is_checkpoint(tmp_path)
    assert tf.is_checkpoint(tmp_path / "model")
