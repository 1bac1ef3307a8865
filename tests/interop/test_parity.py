"""Do we compute what transformers computes, hidden state by hidden state and head by head, to 1e-5?"""

from __future__ import annotations

import pytest
import torch

import litebert
from interop.peers import CONFIGS, TITLES, peer, text
from litebert.interop import hf_keys

CASES = [
    (name, suffix)
    for name in CONFIGS
    for suffix in hf_keys.CLASSES[name.partition("-")[0]]
    if name in TITLES or suffix == "Model" or (suffix == "ForMaskedLM" and "relu" in name)
]  # fmt: skip


@pytest.mark.parametrize("left", [False, True], ids=["pads-right", "pads-left"])
@pytest.mark.parametrize("name,suffix", CASES, ids=lambda v: v)
def test_every_state_and_head_equals_transformers(name, suffix, left, tmp_path):
    causal = suffix.endswith(("CausalLM", "LMHeadModel")) and not name.startswith("xlnet")
    theirs = peer(name, suffix, tmp_path, **({"is_decoder": True} if causal else {}))
    ours = litebert.load(tmp_path)
    batch = text(name, ours.config.pad, left)
    if name == "xlnet-uni":  # transformers adds a batch of masks in place to one mask, and fails on it
        batch["attention_mask"] = torch.ones(3, 11, dtype=torch.long)
    with torch.no_grad():
        fed = {k: v[:, None] for k, v in batch.items()} if suffix == "ForMultipleChoice" else dict(batch)
        if name == "xlnet-uni":
            del fed["attention_mask"]
        result = theirs(**fed, output_hidden_states=True)
        out = ours(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"])
    # A padded row on the left that may only look left sees no one: transformers spreads it evenly, we give it zeros.
    rows = batch["attention_mask"].bool() if causal and left else torch.ones(3, 11, dtype=torch.bool)
    assert len(result.hidden_states) == len(out.hidden) == ours.config.depth + 1
    for i, (mine, other) in enumerate(zip(out.hidden, result.hidden_states, strict=True)):
        close(mine[rows], other[rows], f"layer {i}")
    if suffix == "Model" and out.pooled is not None:
        close(out.pooled, result.pooler_output, "pooled")
    compared = heads_of(result, suffix, ours)
    assert set(compared) == set(ours.specs), "every head that was loaded is compared"
    for head, expected in compared.items():
        mine = ours.logits(head, out)
        if head == "span-answerable":
            for one, other in zip(mine, expected, strict=True):
                close(one.reshape(other.shape).to(other.dtype), other, head)
        else:
            mine = mine.reshape(expected.shape)
            per_token = mine.dim() > 1 and mine.shape[:2] == rows.shape
            close(mine[rows] if per_token else mine, expected[rows] if per_token else expected, head)


def heads_of(result, suffix, ours):
    """What transformers says, under the names of our heads."""
    if suffix == "Model":
        return {}
    if suffix == "ForPreTraining" and "electra" not in type(result).__module__:
        order = result.sop_logits if "sop_logits" in result else result.seq_relationship_logits
        return {"mlm": result.prediction_logits, "order": order}
    if "start_top_index" in result:
        beams = (len(result.start_top_index), 5, 5)
        return {"span-answerable": (
            # what transformers calls log-probabilities are probabilities; its pairs are stored end first
            result.start_top_log_probs.log(), result.start_top_index, result.end_top_log_probs.log().reshape(beams).mT,
            result.end_top_index.reshape(beams).mT, result.cls_logits)}  # fmt: skip
    if "start_logits" in result:
        return {"span": torch.stack([result.start_logits, result.end_logits], dim=-1)}
    (head,) = ours.specs
    return {head: result.logits}


def close(mine, other, what):
    torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-5, msg=lambda text: f"{what}: {text}")
