"""What did the original TensorFlow code call every tensor, and how did it lie?

The names of transformers beside those of google-research/albert, google-research/bert, google-research/electra and
zihangdai/xlnet, written down by hand.

Nothing here asks litebert. `state` is the state dict of a transformers model with pre-training heads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

State = Mapping[str, Tensor]
Tensors = dict[str, npt.NDArray[Any]]


def plain(state: State, pairs: Mapping[str, str]) -> Tensors:
    """Tensors that lie alike on both sides."""
    return {theirs: state[ours].float().numpy().copy() for ours, theirs in pairs.items()}


def dense(state: State, pairs: Mapping[str, str]) -> Tensors:
    """Layers: a weight [out, in] was a kernel [in, out]."""
    kernels = {f"{theirs}/kernel": state[f"{ours}.weight"].numpy().T.copy() for ours, theirs in pairs.items()}
    return kernels | {f"{theirs}/bias": state[f"{ours}.bias"].numpy().copy() for ours, theirs in pairs.items()}


def norms(state: State, pairs: Mapping[str, str]) -> Tensors:
    """Layer norms: weight and bias were gamma and beta."""
    leaves = (("weight", "gamma"), ("bias", "beta"))
    return {f"{b}/{theirs}": state[f"{a}.{ours}"].numpy().copy() for a, b in pairs.items() for ours, theirs in leaves}


def embeddings(state: State, ours: str, theirs: str) -> Tensors:
    """The three tables and their norm."""
    tables = ("word_embeddings", "position_embeddings", "token_type_embeddings")
    found = plain(state, {f"{ours}.embeddings.{name}.weight": f"{theirs}/embeddings/{name}" for name in tables})
    return found | norms(state, {f"{ours}.embeddings.LayerNorm": f"{theirs}/embeddings/LayerNorm"})


def albert(state: State, groups: int = 1, inner: int = 1, mapped: bool = True) -> Tensors:
    """google-research/albert: every group and inner group under `bert/encoder/transformer`."""
    found = embeddings(state, "albert", "bert")
    if mapped:
        name = "encoder{}embedding_hidden_mapping_in"
        found |= dense(state, {f"albert.{name.format('.')}": f"bert/{name.format('/')}"})
    for g in range(groups):
        for k in range(inner):
            ours = f"albert.encoder.albert_layer_groups.{g}.albert_layers.{k}"
            theirs = f"bert/encoder/transformer/group_{g}/inner_group_{k}"
            found |= dense(state, {
                f"{ours}.attention.query": f"{theirs}/attention_1/self/query",
                f"{ours}.attention.key": f"{theirs}/attention_1/self/key",
                f"{ours}.attention.value": f"{theirs}/attention_1/self/value",
                f"{ours}.attention.dense": f"{theirs}/attention_1/output/dense",
                f"{ours}.ffn": f"{theirs}/ffn_1/intermediate/dense",
                f"{ours}.ffn_output": f"{theirs}/ffn_1/intermediate/output/dense",
            })  # fmt: skip
            found |= norms(state, {f"{ours}.attention.LayerNorm": f"{theirs}/LayerNorm",
                                   f"{ours}.full_layer_layer_norm": f"{theirs}/LayerNorm_1"})  # fmt: skip
    found |= dense(state, {"albert.pooler": "bert/pooler/dense",
                           "predictions.dense": "cls/predictions/transform/dense"})  # fmt: skip
    found |= norms(state, {"predictions.LayerNorm": "cls/predictions/transform/LayerNorm"})
    return found | plain(state, {
        "predictions.bias": "cls/predictions/output_bias",
        "sop_classifier.classifier.weight": "cls/seq_relationship/output_weights",
        "sop_classifier.classifier.bias": "cls/seq_relationship/output_bias",
    })  # fmt: skip


def blocks(state: State, ours: str, theirs: str, layers: int) -> Tensors:
    """The encoder as BERT names it."""
    found: Tensors = {}
    for i in range(layers):
        one, other = f"{ours}.encoder.layer.{i}", f"{theirs}/encoder/layer_{i}"
        found |= dense(state, {
            f"{one}.attention.self.query": f"{other}/attention/self/query",
            f"{one}.attention.self.key": f"{other}/attention/self/key",
            f"{one}.attention.self.value": f"{other}/attention/self/value",
            f"{one}.attention.output.dense": f"{other}/attention/output/dense",
            f"{one}.intermediate.dense": f"{other}/intermediate/dense",
            f"{one}.output.dense": f"{other}/output/dense",
        })  # fmt: skip
        found |= norms(state, {f"{one}.attention.output.LayerNorm": f"{other}/attention/output/LayerNorm",
                               f"{one}.output.LayerNorm": f"{other}/output/LayerNorm"})  # fmt: skip
    return found


def bert(state: State, layers: int) -> Tensors:
    """google-research/bert."""
    found = embeddings(state, "bert", "bert") | blocks(state, "bert", "bert", layers)
    found |= dense(state, {"bert.pooler.dense": "bert/pooler/dense",
                           "cls.predictions.transform.dense": "cls/predictions/transform/dense"})  # fmt: skip
    found |= norms(state, {"cls.predictions.transform.LayerNorm": "cls/predictions/transform/LayerNorm"})
    return found | plain(state, {
        "cls.predictions.bias": "cls/predictions/output_bias",
        "cls.seq_relationship.weight": "cls/seq_relationship/output_weights",
        "cls.seq_relationship.bias": "cls/seq_relationship/output_bias",
    })  # fmt: skip


def electra(state: State, layers: int, mapped: bool = True) -> Tensors:
    """google-research/electra: the discriminator, under `electra`."""
    found = embeddings(state, "electra", "electra") | blocks(state, "electra", "electra", layers)
    if mapped:
        found |= dense(state, {"electra.embeddings_project": "electra/embeddings_project"})
    return found | dense(state, {
        "discriminator_predictions.dense": "discriminator_predictions/dense",
        "discriminator_predictions.dense_prediction": "discriminator_predictions/dense_1",
    })  # fmt: skip


def electra_generator(state: State, layers: int) -> Tensors:
    """Its generator, without the tables, which are the discriminator's."""
    found = blocks(state, "electra", "generator", layers)
    found |= dense(state, {"electra.embeddings_project": "generator/embeddings_project",
                           "generator_predictions.dense": "generator_predictions/dense"})  # fmt: skip
    found |= norms(state, {"generator_predictions.LayerNorm": "generator_predictions/LayerNorm"})
    return found | plain(state, {"generator_lm_head.bias": "generator_predictions/output_bias"})


def xlnet(state: State, layers: int, untied: bool = True) -> Tensors:
    """zihangdai/xlnet: projections [H, N, D] on both sides, score biases and segments stacked over the layers."""
    body = "model/transformer"
    found = plain(state, {
        "transformer.word_embedding.weight": f"{body}/word_embedding/lookup_table",
        "transformer.mask_emb": f"{body}/mask_emb/mask_emb",
        "lm_loss.bias": "model/lm_loss/bias",
    })  # fmt: skip
    for i in range(layers):
        ours, theirs = f"transformer.layer.{i}", f"{body}/layer_{i}"
        found |= plain(state, {f"{ours}.rel_attn.{x}": f"{theirs}/rel_attn/{x}/kernel" for x in "qkvor"})
        found |= dense(state, {f"{ours}.ff.layer_{n}": f"{theirs}/ff/layer_{n}" for n in (1, 2)})
        found |= norms(state, {f"{ours}.rel_attn.layer_norm": f"{theirs}/rel_attn/LayerNorm",
                               f"{ours}.ff.layer_norm": f"{theirs}/ff/LayerNorm"})  # fmt: skip

    def stack(name: str) -> npt.NDArray[Any]:
        """One tensor of all layers, as [L, …]."""
        return np.stack([state[f"transformer.layer.{i}.rel_attn.{name}"].numpy() for i in range(layers)])

    found[f"{body}/seg_embed"] = stack("seg_embed")
    for name in ("r_w_bias", "r_r_bias", "r_s_bias"):
        found[f"{body}/{name}"] = stack(name) if untied else stack(name)[0]
    return found


def slots(tensors: Tensors, *names: str) -> Tensors:
    """What a training run leaves beside every tensor: the optimizer's slots, and a count of steps."""
    beside = {f"{tensor}/{slot}": np.full_like(value, 7) for tensor, value in tensors.items() for slot in names}
    return tensors | beside | {"global_step": np.array(125_000, np.int64)}
