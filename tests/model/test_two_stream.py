"""How does XLNet predict a token that it may place but not see? By gradient: nothing of it, nothing after it, leaks."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from litebert.model import visibility
from litebert.model.model import Model
from litebert.model.output import Output
from model.specimens import CORNERS, RELATIVE, influence, make, tokens

STREAMS = {name: config for name, config in CORNERS.items() if "plm" in config.objectives}
LENGTH, ORDERS = 7, 24
IDS = tokens(ORDERS, LENGTH)


def orders() -> tuple[Tensor, Tensor, Tensor]:
    """24 random orders as (rank [B, T], target [B, T], the places of the three targets [B, 3])."""
    ranks, places = [], []
    for seed in range(ORDERS):
        generator = torch.Generator().manual_seed(seed)
        rank = torch.randperm(LENGTH, generator=generator)
        chosen = torch.randperm(LENGTH, generator=generator)
        rank[chosen[3 : 3 + seed % 3]] = -1  # none, one or two tokens stand outside the order
        ranks.append(rank)
        places.append(chosen[:3])
    rank, place = torch.stack(ranks), torch.stack(places)
    return rank, torch.zeros(ORDERS, LENGTH, dtype=torch.bool).scatter(1, place, True), place


def run(model: Model, ids: Tensor = IDS, **more: Tensor) -> tuple[Output, Tensor, Tensor, Tensor]:
    rank, target, places = orders()
    _, query = visibility.permutation(rank, target)
    return model(ids, targets=places, visible=query, **more), rank, target, places


@pytest.mark.parametrize("path", ["eager", "fused"])
@pytest.mark.parametrize("config", STREAMS.values(), ids=STREAMS.keys())
def test_a_target_learns_from_what_comes_before_it_in_the_order_and_from_nothing_else(config, path) -> None:
    out, rank, _, places = run(make(config, path=path))
    found = influence(out.query[-1], out.hidden[0])  # [B, 3, T]
    own = rank.gather(1, places)  # the ranks of the targets
    assert torch.equal(found, rank[:, None, :] < own[:, :, None])  # not itself, nothing later; free tokens are -1
    assert not found.gather(2, places[..., None]).any()
    assert (own == 0).any()
    assert torch.equal(out.last, out.query[-1])


@pytest.mark.parametrize("path", ["eager", "fused"])
@pytest.mark.parametrize("config", STREAMS.values(), ids=STREAMS.keys())
def test_content_learns_from_itself_and_what_comes_before_it(config, path) -> None:
    out, rank, _, _ = run(make(config, path=path))
    found = influence(out.hidden[-1], out.hidden[0])  # [B, T, T]
    before = (rank[:, None, :] < rank[:, :, None]) | (rank[:, None, :] < 0)
    assert torch.equal(found, before | torch.eye(LENGTH, dtype=torch.bool))


@pytest.mark.parametrize("config", STREAMS.values(), ids=STREAMS.keys())
def test_the_first_in_the_order_sees_no_one_and_says_the_same_whatever_the_text(config) -> None:
    model = make(config)
    out, rank, _, places = run(model)
    other = run(model, ids=tokens(ORDERS, LENGTH, seed=5))[0]
    blind = (rank.gather(1, places) == 0) & (rank.min(dim=1, keepdim=True).values == 0)
    assert blind.any()
    assert torch.equal(out.last[blind], other.last[blind])
    assert len(out.last[blind].unique(dim=0)) == 1
    assert not torch.allclose(out.last[~blind], other.last[~blind], atol=1e-2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("path", ["eager", "fused"])
@pytest.mark.parametrize("config", STREAMS.values(), ids=STREAMS.keys())
def test_blind_queries_make_no_nan(config, path, dtype) -> None:
    model = make(config, ["plm"], path=path).to(dtype)
    out = run(model, mask=(torch.arange(LENGTH) < 5).long().expand(ORDERS, -1))[0]
    logits = model.logits("plm", out)
    assert logits.shape == (ORDERS, 3, 60)
    assert logits.dtype == dtype
    assert logits.isfinite().all()
    logits.float().square().mean().backward()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


def test_in_one_layer_a_hidden_token_moves_neither_stream() -> None:
    model = make(RELATIVE.but(layers=1))
    plain, rank, target, places = run(model)
    content, query = visibility.permutation(rank, target)
    for j in range(LENGTH):
        ids = IDS.clone()
        ids[:, j] = 3 + (IDS[:, j] - 3 + 1) % 57
        moved = run(model, ids)[0]
        still = ~content[:, 0, :, j]
        assert torch.equal(moved.hidden[1][still], plain.hidden[1][still])
        asking = ~query[:, 0, :, j].gather(1, places)
        assert torch.equal(moved.query[1][asking], plain.query[1][asking])
        assert ((moved.query[1] - plain.query[1])[~asking].abs().amax(-1) > 1e-4).all()


@pytest.mark.parametrize("config", STREAMS.values(), ids=STREAMS.keys())
def test_the_content_stream_is_an_ordinary_run(config) -> None:
    model = make(config)
    out, rank, target, _ = run(model)
    content, _ = visibility.permutation(rank, target)
    plain = model(IDS, visible=content)
    for mine, theirs in zip(out.hidden, plain.hidden, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-6, rtol=0)


@pytest.mark.parametrize("config", STREAMS.values(), ids=STREAMS.keys())
def test_every_predicted_row_starts_from_the_same_vector_and_its_neighbours_do_not_matter(config) -> None:
    model, segments = make(config), (tokens(ORDERS, LENGTH, seed=6) > 30).long()
    out, rank, target, places = run(model, segments=segments)
    assert torch.equal(out.query[0], model.query_vector.expand(ORDERS, 3, -1))
    _, query = visibility.permutation(rank, target)
    for m in range(3):
        alone = model(IDS, segments=segments, targets=places[:, m : m + 1], visible=query)
        torch.testing.assert_close(alone.last, out.last[:, m : m + 1], atol=1e-5, rtol=0)


def test_a_target_knows_its_own_segment_and_those_it_sees() -> None:
    model, segments = make(RELATIVE.but(layers=1)), (torch.arange(LENGTH) % 2).expand(ORDERS, -1)
    plain, rank, _, places = run(model, segments=segments)
    own = rank.gather(1, places)
    seen = rank[:, None, :] < own[:, :, None]  # [B, 3, T]
    both_sides = (seen & (segments == 0)[:, None]).any(-1) & (seen & (segments == 1)[:, None]).any(-1)
    for m in range(3):
        flipped = segments.scatter(1, places[:, m : m + 1], 1 - segments.gather(1, places[:, m : m + 1]))
        changed = (run(model, segments=flipped)[0].last - plain.last).abs().amax(-1) > 1e-5  # [B, 3]
        # one key alone gets all the weight whatever its segment, and all keys alike share as before
        by_another = seen.gather(2, places[:, None, m : m + 1].expand(-1, 3, -1))[..., 0] & (seen.sum(-1) > 1)
        assert torch.equal(changed, torch.where(torch.arange(3) == m, both_sides, by_another))


def test_the_query_stream_ends_in_the_norm_at_the_end_of_a_pre_norm_stack() -> None:
    last = run(make(RELATIVE.but(norm="pre")))[0].query[-1]
    torch.testing.assert_close(last.mean(-1), torch.zeros(ORDERS, 3), atol=1e-5, rtol=0)
    torch.testing.assert_close(last.var(-1, unbiased=False), torch.ones(ORDERS, 3), atol=1e-4, rtol=0)


@pytest.mark.parametrize("config", STREAMS.values(), ids=STREAMS.keys())
def test_padding_never_reaches_a_target(config) -> None:
    model = make(config)
    padded = torch.cat([IDS, torch.zeros(ORDERS, 2, dtype=torch.long)], dim=1)
    mask = (torch.arange(LENGTH + 2) < LENGTH).long().expand(ORDERS, -1)
    rank, target, places = orders()
    _, query = visibility.permutation(
        torch.nn.functional.pad(rank, (0, 2), value=-1), torch.nn.functional.pad(target, (0, 2))
    )
    torch.testing.assert_close(
        model(padded, mask, targets=places, visible=query).last, run(model)[0].last, atol=1e-5, rtol=0
    )


@pytest.mark.parametrize("config", STREAMS.values(), ids=STREAMS.keys())
def test_both_streams_read_the_memory_and_leave_the_content_s(config) -> None:
    model, (rank, target, places) = make(config), orders()
    earlier = model(tokens(ORDERS, 4, seed=2), remember=True).memory
    _, query = visibility.permutation(rank, target)
    visible = torch.cat([query.new_ones(ORDERS, 1, LENGTH, 4), query], dim=-1)
    out = model(IDS, targets=places, visible=visible, memory=earlier, remember=True)
    assert not torch.allclose(out.last, run(model)[0].last, atol=1e-2)
    plain = model(IDS, visible=visibility.see_self(visible), memory=earlier, remember=True)
    for mine, theirs in zip(out.memory, plain.memory, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-6, rtol=0)
