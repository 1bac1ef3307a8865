"""Which checkpoints of the original code do the tests read? Tiny twins of the released ones, under their names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

from interop import tf_names
from interop.peers import peer
from interop.tf_names import Tensors

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
