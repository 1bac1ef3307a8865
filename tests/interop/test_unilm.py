"""Is UniLM BERT with another mask? Equal to transformers' BERT under the same 3-D mask, for each of its four."""

import pytest
import torch

import litebert
from interop.peers import peer, text
from litebert.model import visibility

LENGTH = 11
MASKS = {
    "bidirectional": visibility.bidirectional(LENGTH),
    "left-to-right": visibility.left_to_right(LENGTH),
    "right-to-left": visibility.right_to_left(LENGTH),
    "seq2seq": visibility.seq2seq(torch.tensor([4, 7, 2]), LENGTH),
}


@pytest.mark.parametrize("as_mask", [False, True], ids=["as-visible", "as-3d-mask"])
@pytest.mark.parametrize("mode", MASKS)
def test_bert_under_the_same_mask(mode, as_mask, tmp_path):
    theirs = peer("bert-tanh", "Model", tmp_path)  # six segments, as UniLM has
    ours = litebert.load(tmp_path)
    batch = text("bert", 0)
    ids, segments = batch["input_ids"], batch["token_type_ids"] + 4  # UniLM's segments of a source and a target
    sees = MASKS[mode].expand(3, 1, LENGTH, LENGTH)
    with torch.no_grad():
        result = theirs(ids, attention_mask=sees, token_type_ids=segments, output_hidden_states=True)
        given = {"mask": sees[:, 0]} if as_mask else {"visible": sees}
        out = ours(ids, segments=segments, **given)
    for i, (mine, other) in enumerate(zip(out.hidden, result.hidden_states, strict=True)):
        torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-5, msg=lambda t, i=i: f"layer {i}: {t}")
