"""Do the first Chinese ALBERTs (brightmart/albert_zh) compute what their own code says?

Their dialect: words go through a matrix without bias before segments and positions are added at width H; one block
under `layer_shared`; the MLM head comes back through the same matrix; `ln_type: preln` moves the norms to the front of
their sub-layers and leaves the end of the stack without one. The other side of the comparison is written out below.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import litebert
from interop import tf_names
from interop.bundle_writer import write_bundle

V, E, H, WIDE, P, LAYERS, HEADS = 60, 12, 32, 48, 20, 3, 4
CONFIG = {
    "vocab_size": V, "embedding_size": E, "hidden_size": H, "intermediate_size": WIDE, "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS, "max_position_embeddings": P, "type_vocab_size": 2, "hidden_act": "gelu",
    "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "initializer_range": 0.02,
    "directionality": "bidi", "pooler_type": "first_token_transform",
}  # fmt: skip
BLOCK = {"attention/self/query": (H, H), "attention/self/key": (H, H), "attention/self/value": (H, H),
         "attention/output/dense": (H, H), "intermediate/dense": (H, WIDE), "output/dense": (WIDE, H)}  # fmt: skip


def checkpoint(embedding: int = E, blocks: tuple[str, ...] = ("layer_shared",)) -> tf_names.Tensors:
    """A random checkpoint of theirs; every number lives, gamma included."""
    kernels = {f"bert/encoder/{block}/{name}": shape for block in blocks for name, shape in BLOCK.items()}
    kernels |= {"bert/pooler/dense": (H, H), "cls/predictions/transform/dense": (H, H)}
    norms = [f"bert/encoder/{block}/{name}" for block in blocks for name in ("attention/output", "output")]
    norms += ["bert/embeddings", "cls/predictions/transform"]
    shapes: dict[str, tuple[int, ...]] = {
        "bert/embeddings/word_embeddings": (V, embedding), "bert/embeddings/word_embeddings_2": (embedding, H),
        "bert/embeddings/token_type_embeddings": (2, H), "bert/embeddings/position_embeddings": (P, H),
        "cls/predictions/output_bias": (V,), "cls/seq_relationship/output_weights": (2, H),
        "cls/seq_relationship/output_bias": (2,),
    }  # fmt: skip
    for name, shape in kernels.items():
        shapes |= {f"{name}/kernel": shape, f"{name}/bias": shape[1:]}
    for name in norms:
        shapes |= {f"{name}/LayerNorm/gamma": (H,), f"{name}/LayerNorm/beta": (H,)}
    rng = np.random.default_rng(0)
    return {name: (rng.standard_normal(shape) * 0.3).astype(np.float32) for name, shape in sorted(shapes.items())}


def written_out(
    held: tf_names.Tensors, ids: Tensor, mask: Tensor, segments: Tensor, pre: bool, blocks: list[str]
) -> tuple[list[Tensor], Tensor, Tensor]:
    """States, MLM logits and order logits, step by step as their modeling.py and modeling_preln.py go."""
    t = {name: torch.from_numpy(value) for name, value in held.items()}

    def dense(x: Tensor, name: str) -> Tensor:
        return x @ t[f"{name}/kernel"] + t[f"{name}/bias"]

    def norm(x: Tensor, name: str) -> Tensor:
        x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + 1e-12).sqrt()
        return x * t[f"{name}/LayerNorm/gamma"] + t[f"{name}/LayerNorm/beta"]

    def gelu(x: Tensor) -> Tensor:
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    def split(x: Tensor) -> Tensor:
        return x.view(*ids.shape, HEADS, H // HEADS).transpose(1, 2)

    words, project = t["bert/embeddings/word_embeddings"], t["bert/embeddings/word_embeddings_2"]
    x = words[ids] @ project + t["bert/embeddings/token_type_embeddings"][segments]
    x = norm(x + t["bert/embeddings/position_embeddings"][: ids.shape[1]], "bert/embeddings")
    states = [x]
    for block in blocks:
        at = f"bert/encoder/{block}"
        y = norm(x, f"{at}/attention/output") if pre else x
        q, k, v = (split(dense(y, f"{at}/attention/self/{name}")) for name in ("query", "key", "value"))
        scores = q @ k.mT / math.sqrt(H // HEADS) + (1 - mask[:, None, None].float()) * -10000.0
        y = dense((scores.softmax(-1) @ v).transpose(1, 2).flatten(2), f"{at}/attention/output/dense")
        x = x + y if pre else norm(x + y, f"{at}/attention/output")
        y = gelu(dense(norm(x, f"{at}/output") if pre else x, f"{at}/intermediate/dense"))
        x = x + dense(y, f"{at}/output/dense")
        x = x if pre else norm(x, f"{at}/output")
        states.append(x)
    head = norm(gelu(dense(x, "cls/predictions/transform/dense")), "cls/predictions/transform")
    mlm = head @ project.T @ words.T + t["cls/predictions/output_bias"]
    pooled = torch.tanh(dense(x[:, 0], "bert/pooler/dense"))
    order = F.linear(pooled, t["cls/seq_relationship/output_weights"], t["cls/seq_relationship/output_bias"])
    return states, mlm, order


CASES = {
    "post-norm": ({}, E, ("layer_shared",)),
    "post-norm, said": ({"ln_type": "postln"}, E, ("layer_shared",)),
    "pre-norm": ({"ln_type": "preln"}, E, ("layer_shared",)),
    "pre-norm, unshared": ({"ln_type": "preln"}, E, tuple(f"layer_{i}" for i in range(LAYERS))),
    "post-norm, unshared": ({}, E, tuple(f"layer_{i}" for i in range(LAYERS))),
    "post-norm, matrix at E = H": ({"embedding_size": H}, H, ("layer_shared",)),
}


@pytest.mark.parametrize("name", CASES)
def test_states_and_heads_are_those_of_their_code(name: str, tmp_path: Path) -> None:
    change, embedding, blocks = CASES[name]
    held = checkpoint(embedding, blocks)
    write_bundle(tmp_path / "model.ckpt", tf_names.slots(held, "lamb_m", "lamb_v"))
    (tmp_path / "albert_config_tiny.json").write_text(json.dumps({**CONFIG, **change}))
    model = litebert.load(tmp_path)
    ids = torch.randint(1, V, (3, 11), generator=torch.Generator().manual_seed(0))
    mask, segments = torch.ones_like(ids), torch.zeros_like(ids)
    mask[1, 6:], segments[:, 5:] = 0, 1
    pre = change.get("ln_type") == "preln"
    run = [blocks[i % len(blocks)] for i in range(LAYERS)]
    states, mlm, order = written_out(held, ids, mask, segments, pre, run)
    with torch.no_grad():
        out = model(ids, mask, segments)
        said = [*out.hidden, model.logits("mlm", out), model.logits("order", out)]
    for i, (mine, other) in enumerate(zip(said, [*states, mlm, order], strict=True)):
        scale = float(other.abs().max())  # a pre-norm stack without a last norm grows
        torch.testing.assert_close(
            mine, other, atol=1e-5 * max(1.0, scale), rtol=0, msg=lambda told, i=i: f"{i}: {told}"
        )
    assert (model.config.norm, model.config.final_norm) == (("pre", False) if pre else ("post", True))


def test_every_tensor_arrives_unchanged(tmp_path: Path) -> None:
    held = checkpoint()
    write_bundle(tmp_path / "model.ckpt", held)
    (tmp_path / "albert_config.json").write_text(json.dumps(CONFIG))
    state = litebert.load(tmp_path).state_dict()
    assert len(state) == len(held) == 31
    together = np.sort(np.concatenate([value.ravel() for value in held.values()]))
    assert np.array_equal(np.sort(torch.cat([t.flatten() for t in state.values()]).numpy()), together)
    assert torch.equal(state["embedding.map.weight"].T, torch.from_numpy(held["bert/embeddings/word_embeddings_2"]))
