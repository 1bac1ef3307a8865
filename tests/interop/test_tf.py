"""Does an original TensorFlow checkpoint compute here what transformers computes with the same weights?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from interop import tf_names
from interop.bundle_writer import write_bundle
from interop.peers import peer, text
from interop.tf_names import Tensors

import litebert
from litebert.interop import convert, tf

TANH = {"hidden_act": "gelu_new"}  # what google's own code of ALBERT and BERT calls gelu


class Released(NamedTuple):
    """A checkpoint as its authors published it, and the transformers model that holds the same weights."""

    peer: str
    suffix: str
    changes: dict[str, Any]
    write: Callable[[Any], Tensors]
    config: str


def albert(name: str, **writing: Any) -> Released:
    change = {} if "relu" in name else TANH
    return Released(name, "ForPreTraining", change, lambda s: tf_names.albert(s, **writing), "albert_config.json")


def xlnet(untied: bool) -> Released:
    def write(state: Any) -> Tensors:
        return tf_names.xlnet(state, 3, untied)

    return Released("xlnet", "LMHeadModel", {"ff_activation": "gelu_new"}, write, "xlnet_config.json")


RELEASED = {
    "ALBERT": albert("albert"),
    "ALBERT of two groups": albert("albert-groups2of6", groups=2),
    "ALBERT of three groups": albert("albert-groups3of6-erf", groups=3),
    "ALBERT of two inner blocks, relu": albert("albert-inner2-relu", inner=2),
    "ALBERT of two groups of two inner blocks": albert("albert-groups2-inner2", groups=2, inner=2),
    "ALBERT as wide as its embedding": albert("albert-wide", mapped=False),
    "BERT": Released("bert", "ForPreTraining", TANH, lambda s: tf_names.bert(s, 3), "bert_config.json"),
    "BERT, relu": Released(
        "bert", "ForPreTraining", {"hidden_act": "relu"}, lambda s: tf_names.bert(s, 3), "bert_config_tiny.json"
    ),
    "XLNet": xlnet(untied=True),
    "XLNet of one set of biases": xlnet(untied=False),
    "ELECTRA": Released("electra", "ForPreTraining", {}, lambda s: tf_names.electra(s, 3), "electra_config.json"),
    "ELECTRA as wide as its embedding": Released(
        "electra-wide-relu", "ForPreTraining", {}, lambda s: tf_names.electra(s, 3, mapped=False), "electra_config.json"
    ),
}


def released_config(config: Any) -> dict[str, Any]:
    """The JSON beside a checkpoint, in the original fields."""
    if config.model_type == "xlnet":
        return {"d_head": config.d_head, "d_inner": config.d_inner, "d_model": config.d_model, "ff_activation": "gelu",
                "n_head": config.n_head, "n_layer": config.n_layer, "n_token": config.vocab_size}  # fmt: skip
    same = ("attention_probs_dropout_prob", "hidden_dropout_prob", "hidden_size", "initializer_range", "vocab_size",
            "intermediate_size", "max_position_embeddings", "num_attention_heads", "num_hidden_layers",
            "type_vocab_size")  # fmt: skip
    values = {name: getattr(config, name) for name in same}
    values["hidden_act"] = "relu" if config.hidden_act == "relu" else "gelu"
    if config.model_type == "albert":
        values |= {"embedding_size": config.embedding_size, "num_hidden_groups": config.num_hidden_groups,
                   "inner_group_num": config.inner_group_num, "down_scale_factor": 1, "gap_size": 0,
                   "net_structure_type": 0, "num_memory_blocks": 0}  # fmt: skip
    return values


def make(name: str, folder: Path) -> tuple[torch.nn.Module, Tensors, dict[str, Any]]:
    """The transformers model of a case, its tensors under the original names, and the JSON beside them."""
    case = RELEASED[name]
    theirs = peer(case.peer, case.suffix, folder / "hf", **case.changes)
    values = released_config(theirs.config)
    with torch.no_grad():
        if name == "ALBERT as wide as its embedding":  # transformers insists on a mapping; one that does nothing
            mapping = theirs.albert.encoder.embedding_hidden_mapping_in
            mapping.weight.copy_(torch.eye(32))
            mapping.bias.zero_()
        if case.peer == "xlnet":
            values["untie_r"] = name == "XLNet"
            for layer in theirs.transformer.layer if not values["untie_r"] else ():
                for bias in ("r_w_bias", "r_r_bias", "r_s_bias"):
                    getattr(layer.rel_attn, bias).copy_(getattr(theirs.transformer.layer[0].rel_attn, bias))
    theirs.save_pretrained(folder / "hf")
    return theirs, case.write(theirs.state_dict()), values


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
    assert set(others) - set(mine) == alone and set(mine) <= set(others)
    assert [key for key in mine if not torch.equal(mine[key], others[key])] == []


@pytest.mark.parametrize("slots", [("adam_m", "adam_v"), ("lamb_m", "lamb_v")], ids="-".join)
@pytest.mark.parametrize("name", ["ALBERT", "BERT", "XLNet", "ELECTRA"])
def test_slots_counters_and_the_prefix_of_tf_hub_change_nothing(name: str, slots: Any, tmp_path: Path) -> None:
    _, tensors, values = make(name, tmp_path)
    trained = tf_names.slots(tensors, *slots)
    write_bundle(tmp_path / "plain/model", tensors) if (tmp_path / "plain").mkdir() is None else None
    (tmp_path / "hub").mkdir()
    write_bundle(tmp_path / "hub/model", {f"module/{key}": value for key, value in trained.items()}, shards=2)
    for folder in ("plain", "hub"):
        (tmp_path / folder / RELEASED[name].config).write_text(json.dumps(values))
    mine, other = (litebert.load(tmp_path / folder) for folder in ("plain", "hub"))
    assert mine.config == other.config and mine.specs == other.specs
    same(mine, other)


def same(one: torch.nn.Module, other: torch.nn.Module) -> None:
    assert one.state_dict().keys() == other.state_dict().keys()
    assert [k for k, v in one.state_dict().items() if not torch.equal(v, other.state_dict()[k])] == []


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
    assert len([n for n in tensors if n.startswith("bert/")]) == 25 and len(tensors) == 32
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
    assert config.ffn_output_dropout and not config.pad_frozen and config.order_dropout == 0.0


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
        assert list(ours.specs) == [head] and ours.config.pooler == "none"
        with torch.no_grad():
            out, logits = ours(*batch.values()), theirs.eval()(**batch).logits
        close(ours.logits(head, out), logits, head)


def test_xlnet_s_segments_and_biases_are_cut_out_of_their_stacks(tmp_path: Path) -> None:
    _, tensors, _ = make("XLNet", tmp_path)
    assert tensors["model/transformer/seg_embed"].shape == (3, 2, 4, 8)
    assert tensors["model/transformer/r_r_bias"].shape == (3, 4, 8)
    released("XLNet of one set of biases", tmp_path / "tied")
    model = litebert.load(tmp_path / "tied/tf")
    assert not model.config.untied and len(model.encoder.biases) == 1
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
    assert tf.is_checkpoint(tmp_path) and tf.is_checkpoint(tmp_path / "model")
