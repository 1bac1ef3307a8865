"""Which tiny random transformers models do the parity tests speak to?"""

from __future__ import annotations

from pathlib import Path

import torch
import transformers

_SHAPE = {"vocab_size": 60, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4,
          "intermediate_size": 48, "max_position_embeddings": 40}  # fmt: skip
_XLNET = {"vocab_size": 60, "d_model": 32, "n_layer": 3, "n_head": 4, "d_inner": 48}

CONFIGS = {
    "albert": (transformers.AlbertConfig, {**_SHAPE, "embedding_size": 16}),
    "albert-groups2of6": (transformers.AlbertConfig, {**_SHAPE, "embedding_size": 16, "num_hidden_layers": 6,
                                                      "num_hidden_groups": 2}),
    "albert-groups3of6-erf": (transformers.AlbertConfig, {**_SHAPE, "embedding_size": 16, "num_hidden_layers": 6,
                                                          "num_hidden_groups": 3, "hidden_act": "gelu"}),
    "albert-inner2-relu": (transformers.AlbertConfig, {**_SHAPE, "embedding_size": 16, "inner_group_num": 2,
                                                       "hidden_act": "relu"}),
    "albert-groups2-inner2": (transformers.AlbertConfig, {**_SHAPE, "embedding_size": 16, "num_hidden_layers": 4,
                                                          "num_hidden_groups": 2, "inner_group_num": 2}),
    "albert-unshared": (transformers.AlbertConfig, {**_SHAPE, "embedding_size": 16, "num_hidden_groups": 3}),
    "albert-wide": (transformers.AlbertConfig, {**_SHAPE, "embedding_size": 32}),
    "bert": (transformers.BertConfig, _SHAPE),
    "bert-tanh": (transformers.BertConfig, {**_SHAPE, "hidden_act": "gelu_new", "type_vocab_size": 6}),
    "roberta": (transformers.RobertaConfig, {**_SHAPE, "type_vocab_size": 1, "layer_norm_eps": 1e-5}),
    "roberta-relu": (transformers.RobertaConfig, {**_SHAPE, "type_vocab_size": 1, "hidden_act": "relu"}),
    "electra": (transformers.ElectraConfig, {**_SHAPE, "embedding_size": 16}),
    "electra-wide-relu": (transformers.ElectraConfig, {**_SHAPE, "embedding_size": 32, "hidden_act": "relu"}),
    "roformer": (transformers.RoFormerConfig, {**_SHAPE, "embedding_size": 16}),
    "roformer-wide": (transformers.RoFormerConfig, {**_SHAPE, "hidden_act": "relu"}),
    "xlnet": (transformers.XLNetConfig, {**_XLNET, "mem_len": None}),
    "xlnet-uni": (transformers.XLNetConfig, {**_XLNET, "mem_len": 6, "reuse_len": 5, "attn_type": "uni"}),
    "xlnet-clamp": (transformers.XLNetConfig, {**_XLNET, "mem_len": None, "clamp_len": 3}),
}  # fmt: skip

TITLES = {"albert": "Albert", "bert": "Bert", "roberta": "Roberta", "electra": "Electra", "roformer": "RoFormer",
          "xlnet": "XLNet"}  # fmt: skip


def peer(name: str, suffix: str, folder: Path, **changes: object) -> torch.nn.Module:
    """A tiny random transformers model with lively weights, saved in `folder`, in eval mode."""
    kind, values = CONFIGS[name]
    title = TITLES[name.partition("-")[0]]
    torch.manual_seed(0)
    model = getattr(transformers, title + suffix)(kind(**{**values, **changes}))
    with torch.no_grad():
        for key, tensor in model.named_parameters():  # biases and norms too: a swapped one must show
            if "embed_positions" not in key:
                tensor.add_(torch.randn_like(tensor) * 0.1)
    model.eval().save_pretrained(folder)
    return model


def text(name: str, pad: int, left: bool = False) -> dict[str, torch.Tensor]:
    """Ids [3, 11] with two rows padded, mask and segments."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(6, 60, (3, 11), generator=generator)
    mask = torch.ones(3, 11, dtype=torch.long)
    for row, count in ((1, 4), (2, 7)):
        where = slice(0, count) if left else slice(11 - count, 11)
        mask[row, where], ids[row, where] = 0, pad
    segments = torch.zeros(3, 11, dtype=torch.long)
    if not name.startswith("roberta"):
        segments[:, 6:] = 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": segments}
