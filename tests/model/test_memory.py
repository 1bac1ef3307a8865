"""What does a segment leave behind for the next? The right rows, without gradient; pieces add up to the whole."""

from __future__ import annotations

import pytest
import torch

from litebert.config import Config
from litebert.model.memory import remember
from litebert.model.visibility import left_to_right, right_to_left
from model.specimens import RELATIVE, ROTARY, influence, make, tokens

SCHEMES = {
    "relative": RELATIVE,
    "relative, unshared": RELATIVE.but(sharing="none"),
    "relative, pre-norm": RELATIVE.but(norm="pre"),
    "relative, clamped": RELATIVE.but(clamp=3),
    "rotary": ROTARY,
    "rotary, pre-norm": ROTARY.but(norm="pre", sharing="none"),
}


@pytest.mark.parametrize("earlier, new, length, reuse, rows", [
    ([], [1, 2, 3], 0, 0, [1, 2, 3]),
    ([], [1, 2, 3], 2, 0, [2, 3]),
    ([], [1, 2, 3], 9, 0, [1, 2, 3]),
    ([], [1, 2, 3], 0, 2, [1, 2]),
    ([7, 8], [1, 2, 3], 0, 0, [7, 8, 1, 2, 3]),
    ([7, 8], [1, 2, 3], 4, 0, [8, 1, 2, 3]),
    ([7, 8], [1, 2, 3], 3, 1, [7, 8, 1]),
    ([7, 8], [1, 2, 3], 2, 1, [8, 1]),
    ([7, 8], [1, 2, 3], 1, 0, [3]),
], ids=["all", "the last two", "fewer than asked for", "the reused ones", "all of both", "the last four of both",
        "what was there, then the reused", "the last two, then cut", "the last one"])  # fmt: skip
def test_the_rows_that_are_kept(earlier: list[int], new: list[int], length: int, reuse: int, rows: list[int]) -> None:
    def states(values: list[int]) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.float32)[None, :, None].expand(2, -1, 3)

    kept = remember(states(earlier) if earlier else None, states(new), length, reuse)
    assert torch.equal(kept, states(rows))


@pytest.mark.parametrize("config", SCHEMES.values(), ids=SCHEMES.keys())
def test_a_memory_holds_the_input_of_every_block_and_no_gradient(config: Config) -> None:
    model = make(config)
    out = model(tokens(2, 5), remember=True)
    assert len(out.memory) == config.depth
    assert all(torch.equal(kept, state) for kept, state in zip(out.memory, out.hidden[:-1], strict=True))
    assert all(not kept.requires_grad for kept in out.memory)
    assert model(tokens(2, 5)).memory is None
    model.zero_grad()
    ids = tokens(2, 4, seed=3)
    model(ids, memory=out.memory, remember=True).last.square().sum().backward()
    learned = model.embedding.word.weight.grad.abs().sum(-1).nonzero().flatten().tolist()
    assert set(learned) <= set(ids.flatten().tolist())  # no word of the first piece


def test_the_config_says_how_much_is_kept() -> None:
    model = make(RELATIVE.but(memory=6, reuse=3))
    memory = None
    for expected in (3, 6, 6):
        memory = model(tokens(1, 5), memory=memory, remember=True).memory
        assert [kept.shape[1] for kept in memory] == [expected] * 3


def test_the_memory_goes_on_where_the_first_piece_ended() -> None:
    model = make(RELATIVE.but(memory=4))
    first = model(tokens(1, 5), remember=True)
    second = model(tokens(1, 3, seed=1), memory=first.memory, remember=True)
    for d in range(3):
        both = torch.cat([first.memory[d], second.hidden[d]], dim=1)
        assert torch.equal(second.memory[d], both[:, -4:])


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("pieces", [[4, 3], [1, 6], [6, 1], [2, 3, 2]], ids=str)
@pytest.mark.parametrize("config", SCHEMES.values(), ids=SCHEMES.keys())
def test_pieces_with_memory_are_one_long_causal_pass(config: Config, pieces: list[int], layers: int) -> None:
    model, ids = make(config.but(layers=layers)), tokens(2, 7)
    whole = model(ids, visible=left_to_right(7)).last
    memory, found, past = None, [], 0
    for length in pieces:
        part = ids[:, past : past + length]
        out = model(part, visible=left_to_right(length, past), memory=memory, remember=True)
        memory, past = out.memory, past + length
        found.append(out.last)
    torch.testing.assert_close(torch.cat(found, dim=1), whole, atol=1e-5, rtol=0)


def test_a_left_to_right_config_reads_its_memory_without_being_told() -> None:
    model, ids = make(ROTARY.but(visibility="left-to-right")), tokens(2, 7)
    first = model(ids[:, :4], remember=True)
    second = model(ids[:, 4:], memory=first.memory)
    torch.testing.assert_close(second.last, model(ids).last[:, 4:], atol=1e-5, rtol=0)


@pytest.mark.parametrize("config", SCHEMES.values(), ids=SCHEMES.keys())
def test_every_row_sees_the_memory_whatever_its_padding_and_direction(config: Config) -> None:
    model, ids = make(config), tokens(1, 4)
    earlier = [state.clone().requires_grad_() for state in model(tokens(1, 3, seed=1), remember=True).memory]
    plain = model(ids).last
    for more in ({}, {"mask": torch.tensor([[1, 1, 0, 0]])}, {"visible": right_to_left(4, memory=3)}):
        out = model(ids, memory=earlier, **more)
        assert influence(out.last, earlier[0])[0].all()
        assert influence(out.last, earlier[-1])[0].all()
        assert not torch.allclose(out.last, plain, atol=1e-2)


def test_a_value_over_the_tokens_alone_lets_all_see_the_memory() -> None:
    model, ids = make(ROTARY), tokens(2, 4)
    memory = model(tokens(2, 3, seed=1), remember=True).memory
    short, long = (model(ids, visible=left_to_right(4, past), memory=memory).last for past in (0, 3))
    assert torch.equal(short, long)


@pytest.mark.parametrize("pooler", ["mean", "max", "first-last"])
def test_a_mask_may_cover_the_memory_and_the_pooler_reads_the_tokens(pooler: str) -> None:
    model, ids = make(ROTARY.but(pooler=pooler)), tokens(2, 4)
    memory = model(tokens(2, 3, seed=1), remember=True).memory
    mask = torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]])
    found, plain = model(ids, torch.cat([torch.ones(2, 3), mask], 1), memory=memory), model(ids, mask, memory=memory)
    assert torch.equal(found.last, plain.last)
    assert torch.equal(found.pooled, plain.pooled)


def test_the_memory_counts_as_segment_zero() -> None:
    model, ids = make(RELATIVE), tokens(1, 4)
    memory = model(tokens(1, 3, seed=1), remember=True).memory

    def last(segment: int) -> torch.Tensor:
        return model(ids, segments=torch.full((1, 4), segment), memory=memory).last

    assert (last(0) - last(1)).abs().max() > 0.01
    assert torch.equal(last(1), last(5))
