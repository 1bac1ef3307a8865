"""What is every tensor called in transformers? One reversible table per family: our name -> theirs, and how it lies.

Our names: embedding.*, encoder.attention.I.*, encoder.ffn.I.*, pooler.*, heads.KIND.*. A table entry names a module
(its weight and bias follow) or a single tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from litebert.config import Config, Head
from litebert.family import Family

if TYPE_CHECKING:
    from torch import Tensor

PREFIX: dict[Family, str] = {"albert": "albert.", "bert": "bert.", "roberta": "roberta.", "electra": "electra.",
                             "roformer": "roformer.", "xlnet": "transformer."}  # fmt: skip

# family -> class suffix -> the heads that the class wears; the first class with all of a model's heads is written
_PRETRAINING = ("mlm", "order", "plm", "rtd")
_LM: dict[str, tuple[str, ...]] = {"Model": (), "ForMaskedLM": ("mlm",)}
_TASKS = {"ForSequenceClassification": ("classify",), "ForTokenClassification": ("tag",),
          "ForQuestionAnswering": ("span",), "ForMultipleChoice": ("choice",)}  # fmt: skip
CLASSES: dict[Family, dict[str, tuple[str, ...]]] = {
    "albert": {**_LM, "ForPreTraining": ("mlm", "order"), **_TASKS},
    "bert": {**_LM, "ForPreTraining": ("mlm", "order"), "LMHeadModel": ("mlm",),
             "ForNextSentencePrediction": ("order",), **_TASKS},
    "roberta": {**_LM, "ForCausalLM": ("mlm",), **_TASKS},
    "electra": {**_LM, "ForPreTraining": ("rtd",), "ForCausalLM": ("mlm",), **_TASKS},
    "roformer": {**_LM, "ForCausalLM": ("mlm",), **_TASKS},
    "xlnet": {"Model": (), "LMHeadModel": ("plm",), "ForSequenceClassification": ("classify",),
              "ForTokenClassification": ("tag",), "ForQuestionAnsweringSimple": ("span",),
              "ForQuestionAnswering": ("span-answerable",), "ForMultipleChoice": ("choice",)},
}  # fmt: skip
TITLE: dict[Family, str] = {"albert": "Albert", "bert": "Bert", "roberta": "Roberta", "electra": "Electra",
                            "roformer": "RoFormer", "xlnet": "XLNet"}  # fmt: skip

_BERT_BLOCK = {
    "attention.{a}.query": "encoder.layer.{i}.attention.self.query",
    "attention.{a}.key": "encoder.layer.{i}.attention.self.key",
    "attention.{a}.value": "encoder.layer.{i}.attention.self.value",
    "attention.{a}.output": "encoder.layer.{i}.attention.output.dense",
    "attention.{a}.norm": "encoder.layer.{i}.attention.output.LayerNorm",
    "ffn.{f}.up": "encoder.layer.{i}.intermediate.dense",
    "ffn.{f}.down": "encoder.layer.{i}.output.dense",
    "ffn.{f}.norm": "encoder.layer.{i}.output.LayerNorm",
}
_ALBERT_BLOCK = {
    "attention.{a}.query": "encoder.albert_layer_groups.{g}.albert_layers.{k}.attention.query",
    "attention.{a}.key": "encoder.albert_layer_groups.{g}.albert_layers.{k}.attention.key",
    "attention.{a}.value": "encoder.albert_layer_groups.{g}.albert_layers.{k}.attention.value",
    "attention.{a}.output": "encoder.albert_layer_groups.{g}.albert_layers.{k}.attention.dense",
    "attention.{a}.norm": "encoder.albert_layer_groups.{g}.albert_layers.{k}.attention.LayerNorm",
    "ffn.{f}.up": "encoder.albert_layer_groups.{g}.albert_layers.{k}.ffn",
    "ffn.{f}.down": "encoder.albert_layer_groups.{g}.albert_layers.{k}.ffn_output",
    "ffn.{f}.norm": "encoder.albert_layer_groups.{g}.albert_layers.{k}.full_layer_layer_norm",
}
_XLNET_BLOCK = {
    "attention.{a}.query.weight": "layer.{i}.rel_attn.q",
    "attention.{a}.key.weight": "layer.{i}.rel_attn.k",
    "attention.{a}.value.weight": "layer.{i}.rel_attn.v",
    "attention.{a}.output.weight": "layer.{i}.rel_attn.o",
    "attention.{a}.relative.project.weight": "layer.{i}.rel_attn.r",
    "attention.{a}.relative.segment": "layer.{i}.rel_attn.seg_embed",
    "attention.{a}.norm": "layer.{i}.rel_attn.layer_norm",
    "biases.{a}.content": "layer.{i}.rel_attn.r_w_bias",
    "biases.{a}.position": "layer.{i}.rel_attn.r_r_bias",
    "biases.{a}.segment": "layer.{i}.rel_attn.r_s_bias",
    "ffn.{f}.up": "layer.{i}.ff.layer_1",
    "ffn.{f}.down": "layer.{i}.ff.layer_2",
    "ffn.{f}.norm": "layer.{i}.ff.layer_norm",
}
_EMBEDDING = {
    "embedding.word": "embeddings.word_embeddings",
    "embedding.position": "embeddings.position_embeddings",
    "embedding.segment": "embeddings.token_type_embeddings",
    "embedding.norm": "embeddings.LayerNorm",
}
_BODY: dict[Family, dict[str, str]] = {
    "bert": {**_EMBEDDING, "pooler.dense": "pooler.dense"},
    "roberta": {**_EMBEDDING, "pooler.dense": "pooler.dense"},
    "electra": {**_EMBEDDING, "embedding.map": "embeddings_project"},
    "roformer": {**_EMBEDDING, "embedding.map": "embeddings_project"},
    "albert": {**_EMBEDDING, "embedding.map": "encoder.embedding_hidden_mapping_in", "pooler.dense": "pooler"},
    "xlnet": {"embedding.word": "word_embedding", "query_vector": "mask_emb"},
}
_MLM = {"mlm.dense": "cls.predictions.transform.dense", "mlm.norm": "cls.predictions.transform.LayerNorm",
        "mlm.bias": "cls.predictions.bias"}  # fmt: skip
_PLAIN = {"classify.out": "classifier", "tag.out": "classifier", "choice.out": "classifier", "span.out": "qa_outputs"}
_DENSE = {**_PLAIN, "classify.dense": "classifier.dense", "classify.out": "classifier.out_proj"}
_HEADS: dict[Family, dict[str, str]] = {
    "bert": {**_MLM, **_PLAIN, "order.out": "cls.seq_relationship"},
    "roberta": {**_DENSE, "mlm.dense": "lm_head.dense", "mlm.norm": "lm_head.layer_norm", "mlm.bias": "lm_head.bias"},
    "electra": {
        **_DENSE, "mlm.dense": "generator_predictions.dense", "mlm.norm": "generator_predictions.LayerNorm",
        "mlm.bias": "generator_lm_head.bias", "rtd.dense": "discriminator_predictions.dense",
        "rtd.out": "discriminator_predictions.dense_prediction", "choice.dense": "sequence_summary.summary",
    },
    "roformer": {**_MLM, **_DENSE},
    "albert": {**_PLAIN, "mlm.dense": "predictions.dense", "mlm.norm": "predictions.LayerNorm",
               "mlm.bias": "predictions.bias", "order.out": "sop_classifier.classifier"},
    "xlnet": {
        **_PLAIN, "plm.bias": "lm_loss.bias", "classify.dense": "sequence_summary.summary",
        "classify.out": "logits_proj", "choice.dense": "sequence_summary.summary", "choice.out": "logits_proj",
        "span-answerable.start": "start_logits.dense", "span-answerable.end_dense": "end_logits.dense_0",
        "span-answerable.end_norm": "end_logits.LayerNorm", "span-answerable.end": "end_logits.dense_1",
        "span-answerable.no_answer_dense": "answer_class.dense_0",
        "span-answerable.no_answer": "answer_class.dense_1",
    },
}  # fmt: skip

# tensors that a file may hold besides: copies of tied ones, and tables that are computed
TIED: dict[Family, dict[str, str]] = {
    "albert": {"predictions.decoder.weight": "albert.embeddings.word_embeddings.weight",
               "predictions.decoder.bias": "predictions.bias"},
    "bert": {"cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
             "cls.predictions.decoder.bias": "cls.predictions.bias"},
    "roberta": {"lm_head.decoder.weight": "roberta.embeddings.word_embeddings.weight",
                "lm_head.decoder.bias": "lm_head.bias"},
    "electra": {"generator_lm_head.weight": "electra.embeddings.word_embeddings.weight"},
    "roformer": {"cls.predictions.decoder.weight": "roformer.embeddings.word_embeddings.weight",
                 "cls.predictions.decoder.bias": "cls.predictions.bias"},
    "xlnet": {"lm_loss.weight": "transformer.word_embedding.weight"},
}  # fmt: skip
COMPUTED = ("embeddings.position_ids", "embeddings.token_type_ids", "encoder.embed_positions.weight")


def table(kind: Family, config: Config, heads: Mapping[str, Head]) -> dict[str, str]:
    """Our module and tensor names -> theirs, for a config whose sharing the family can hold."""
    prefix = PREFIX[kind]
    names = {ours: prefix + theirs for ours, theirs in _BODY[kind].items()}
    block = _ALBERT_BLOCK if kind == "albert" else _XLNET_BLOCK if kind == "xlnet" else _BERT_BLOCK
    for i in range(blocks(config)):
        place = {"a": i, "f": i, "i": i, "g": i // config.inner, "k": i % config.inner}
        names |= {f"encoder.{k.format(**place)}": prefix + v.format(**place) for k, v in block.items()}
    for ours, theirs in _HEADS[kind].items():
        if ours.partition(".")[0] in heads:
            names[f"heads.{ours}"] = theirs
    for name in ("classify", "choice"):  # without a pooler of its own, a head's dense layer is what they call pooler
        if name in heads and config.pooler == "none" and "pooler.dense" in _BODY[kind]:
            names.setdefault(f"heads.{name}.dense", prefix + _BODY[kind]["pooler.dense"])
    return names


def blocks(config: Config) -> int:
    """Distinct blocks of a config that shares all or nothing."""
    return config.inner * (config.layers if config.sharing == "none" else config.groups)


def theirs(name: str, names: Mapping[str, str]) -> str | None:
    """Their name of our tensor, or None where they have none."""
    if name in names:
        return names[name]
    module, _, leaf = name.rpartition(".")
    return f"{names[module]}.{leaf}" if module in names else None


def layout(kind: Family, name: str, config: Config) -> tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]:
    """(theirs to ours, ours to theirs) for a tensor: XLNet keeps projections as [H, N, D], all others [out, in]."""
    if kind == "xlnet":
        heads = (config.hidden, config.heads, config.head_width)
        if name.endswith((".query.weight", ".key.weight", ".value.weight", ".project.weight")):
            return lambda t: t.reshape(config.hidden, -1).t(), lambda t: t.t().reshape(heads)
        if name.endswith("attention.output.weight") or (".attention." in name and name.endswith(".output.weight")):
            return lambda t: t.reshape(config.hidden, -1), lambda t: t.reshape(heads)
        if name == "query_vector":
            return lambda t: t.reshape(-1), lambda t: t.reshape(1, 1, -1)
    return lambda t: t, lambda t: t


def class_for(kind: Family, heads: Mapping[str, Head], causal: bool) -> tuple[str, tuple[str, ...]]:
    """(class name, heads it wears): the class that wears most of a model's heads, a task's before pre-training's."""
    fitting = {suffix: wears for suffix, wears in CLASSES[kind].items() if set(wears) <= set(heads)}

    def rank(suffix: str) -> tuple[bool, int, bool]:
        task = bool(fitting[suffix]) and fitting[suffix][0] not in _PRETRAINING
        return task, len(fitting[suffix]), causal == suffix.endswith(("CausalLM", "LMHeadModel"))

    best = max(fitting, key=rank)
    return TITLE[kind] + best, fitting[best]
