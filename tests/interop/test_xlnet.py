"""Do memory, permutation and the query stream compute what transformers' XLNet computes, to 1e-5?"""

import pytest
import torch

import litebert
from interop.peers import peer
from litebert.data import permutation
from litebert.model import visibility

LENGTH, BATCH = 11, 3


def close(mine, other, what=""):
    torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-5, msg=lambda text: f"{what}: {text}")


def text(seed=0):
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(6, 60, (BATCH, LENGTH), generator=generator)
    segments = torch.zeros(BATCH, LENGTH, dtype=torch.long)
    segments[:, 6:] = 1
    return ids, segments


def order(seed, free=4):
    """Ranks [B, T] with some free tokens, so that no query is left without anyone to see; targets: two late places."""
    generator = torch.Generator().manual_seed(seed)
    rank = torch.stack([torch.randperm(LENGTH, generator=generator) for _ in range(BATCH)])
    rank = torch.where(rank < free, -1, rank)
    return rank, rank >= LENGTH - 3


@pytest.mark.parametrize("name", ["xlnet", "xlnet-uni", "xlnet-clamp"])
def test_segments_of_a_long_text_with_memory(name, tmp_path):
    theirs = peer(name, "Model", tmp_path)
    ours = litebert.load(tmp_path)
    mems, memory = None, None
    for step in range(3):
        ids, segments = text(step)
        with torch.no_grad():
            result = theirs(ids, mems=mems, token_type_ids=segments, output_hidden_states=True, use_mems=True)
            out = ours(ids, segments=segments, memory=memory, remember=True)
        mems, memory = result.mems, out.memory
        for i, (mine, other) in enumerate(zip(out.hidden, result.hidden_states, strict=True)):
            close(mine, other, f"step {step} layer {i}")
        for i, (mine, other) in enumerate(zip(memory, mems, strict=True)):
            close(mine, other.transpose(0, 1), f"step {step} memory {i}")


@pytest.mark.parametrize("with_memory", [False, True], ids=["fresh", "with-memory"])
@pytest.mark.parametrize("name", ["xlnet", "xlnet-clamp"])
def test_the_permutation_language_model(name, with_memory, tmp_path):
    theirs = peer(name, "LMHeadModel", tmp_path)
    ours = litebert.load(tmp_path)
    ids, segments = text()
    mems = memory = None
    if with_memory:
        with torch.no_grad():
            mems = theirs(text(9)[0], use_mems=True).mems
            memory = ours(text(9)[0], remember=True).memory
    rank, target = order(5)
    _, query = visibility.permutation(rank, target)
    places = target.nonzero()[:, 1].view(BATCH, -1)
    mapping = torch.nn.functional.one_hot(places, LENGTH).float()
    perm_mask = (~query[:, 0]).float()
    with torch.no_grad():
        result = theirs(ids, perm_mask=perm_mask, target_mapping=mapping, token_type_ids=segments, mems=mems,
                        output_hidden_states=True, use_mems=True)  # fmt: skip
        past = 0 if memory is None else LENGTH
        sees = torch.nn.functional.pad(query, (past, 0), value=True)
        out = ours(ids, segments=segments, visible=sees, targets=places, memory=memory, remember=True)
    both = list(zip(out.hidden, out.query, strict=True))
    for i, (content, question) in enumerate(both):
        close(content, result.hidden_states[2 * i], f"content {i}")
        close(question, result.hidden_states[2 * i + 1], f"query {i}")
    logits = ours.logits("plm", out)
    close(logits, result.logits)
    labels = ids.gather(1, places)
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    with torch.no_grad():
        given = {"perm_mask": perm_mask, "target_mapping": mapping, "token_type_ids": segments, "mems": mems}
        again = theirs(ids, **given, labels=labels)
    close(loss, again.loss)


def test_the_left_to_right_kind_has_a_query_stream_too(tmp_path):
    theirs = peer("xlnet-uni", "LMHeadModel", tmp_path)
    ours = litebert.load(tmp_path)
    ids, _ = text()
    places = torch.tensor([[4, 8], [3, 10], [5, 6]])
    blind = torch.eye(LENGTH)[None]  # a target must not see itself
    mapping = torch.nn.functional.one_hot(places, LENGTH).float()
    with torch.no_grad():  # transformers adds the masks of a batch in place to one mask, and fails above batch 1
        rows = [theirs(ids[[i]], perm_mask=blind, target_mapping=mapping[[i]]) for i in range(BATCH)]
        out = ours(ids, visible=~torch.eye(LENGTH, dtype=torch.bool)[None, None], targets=places)
    close(ours.logits("plm", out), torch.cat([row.logits for row in rows]))


def test_the_pieces_of_the_worked_example_go_through_the_model(tmp_path):
    peer("xlnet", "Model", tmp_path)
    ours = litebert.load(tmp_path)
    made = permutation.pair([10, 11, 12, 13], [20], sep=4, cls=3)
    ids, segments = torch.from_numpy(made.ids)[None], torch.from_numpy(made.segments)[None]
    out = ours(ids, segments=segments)
    assert out.last.shape == (1, 8, 32)
