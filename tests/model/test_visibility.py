"""Who sees whom? Every value written out, UniLM's four ways by gradient, and the shares of its mixture."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from torch import Tensor

from litebert.config import Config
from litebert.model import visibility
from model.specimens import CORNERS, SMALL, influence, make, tokens


def rows(value: Tensor) -> list[str]:
    """A value [1, 1, Q, K] as one word a row."""
    return ["".join("1" if seen else "0" for seen in row) for row in value[0, 0].tolist()]


WRITTEN_OUT = {
    "bidirectional": (visibility.bidirectional(3), ["111", "111", "111"]),
    "bidirectional with memory": (visibility.bidirectional(2, memory=1), ["111", "111"]),
    "left to right": (visibility.left_to_right(3), ["100", "110", "111"]),
    "left to right with memory": (visibility.left_to_right(3, memory=2), ["11100", "11110", "11111"]),
    "right to left": (visibility.right_to_left(3), ["111", "011", "001"]),
    "right to left with memory": (visibility.right_to_left(3, memory=2), ["11111", "11011", "11001"]),
    "source of 2, target of 3": (
        visibility.seq2seq(torch.tensor([2]), 5), ["11000", "11000", "11100", "11110", "11111"]),
    "nothing but source": (visibility.seq2seq(torch.tensor([3]), 3), ["111", "111", "111"]),
    "padding": (visibility.padding(torch.tensor([[1, 1, 0]])), ["110"]),
    "padding with memory": (visibility.padding(torch.tensor([[0, 1, 0]]), memory=2), ["11010"]),
    "a mask for every row": (visibility.padding(torch.tensor([[[1, 0], [0, 1]]])), ["10", "01"]),
    "a mask for every row with memory": (
        visibility.padding(torch.tensor([[[0, 0], [0, 1]]]), memory=2), ["1100", "1101"]),
    "oneself as well": (visibility.see_self(torch.zeros(1, 1, 2, 2, dtype=torch.bool)), ["10", "01"]),
    "oneself as well, behind a memory": (
        visibility.see_self(torch.zeros(1, 1, 2, 5, dtype=torch.bool)), ["00010", "00001"]),
}  # fmt: skip


@pytest.mark.parametrize("value, expected", WRITTEN_OUT.values(), ids=WRITTEN_OUT.keys())
def test_a_value_written_out(value: Tensor, expected: list[str]) -> None:
    assert value.dtype == torch.bool
    assert value.dim() == 4
    assert rows(value) == expected


def test_every_text_has_a_source_of_its_own() -> None:
    value = visibility.seq2seq(torch.tensor([1, 3]), 3)
    assert rows(value[:1]) == ["100", "110", "111"]
    assert rows(value[1:]) == ["111", "111", "111"]


# A A A A SEP B SEP CLS with positions 1, 3 and 5 selected, in the order 3 0 6 1 5 2 7 4: the matrix that
# zihangdai/xlnet data_utils.py `_local_perm` makes of it (1 = may not look)
PERM_MASK = ["01011111", "01011111", "01011111", "00011111", "00000010", "00001111", "00000000", "00001010"]


def toy() -> tuple[Tensor, Tensor]:
    order = torch.tensor([[3, 0, 6, 1, 5, 2, 7, 4]])
    selected = torch.tensor([[0, 1, 0, 1, 0, 1, 0, 0]]).bool()
    separator = torch.tensor([[0, 0, 0, 0, 1, 0, 1, 1]]).bool()
    free = ~selected & ~separator
    return visibility.permutation(order.masked_fill(free, -1), selected)


def test_the_permutation_of_eight_tokens_is_the_original_s() -> None:
    content, query = toy()
    expected = ["".join("10"[int(c)] for c in row) for row in PERM_MASK]
    assert rows(query) == expected
    own = torch.eye(8, dtype=torch.bool)
    assert torch.equal(content[0, 0], query[0, 0] | own)


def test_free_tokens_are_seen_by_all_and_see_only_their_like() -> None:
    _, query = toy()
    free = torch.tensor([1, 0, 1, 0, 0, 0, 0, 0]).bool()
    assert query[0, 0][:, free].all()
    assert torch.equal(query[0, 0][free], free.expand(2, 8))


def test_targets_do_not_see_themselves_and_separators_do() -> None:
    _, query = toy()
    assert query[0, 0].diagonal().tolist() == [True, False, True, False, True, False, True, True]


LENGTH, SOURCE = 6, 3
WAYS = {
    "bidirectional": visibility.bidirectional(LENGTH),
    "left-to-right": visibility.left_to_right(LENGTH),
    "right-to-left": visibility.right_to_left(LENGTH),
    "seq2seq": visibility.seq2seq(torch.tensor([SOURCE]), LENGTH),
}


def may_depend(way: str, row: int, column: int) -> bool:
    """UniLM's rules, one pair at a time."""
    match way:
        case "left-to-right":
            return column <= row
        case "right-to-left":
            return column >= row
        case "seq2seq":
            return column < SOURCE or (row >= SOURCE and column <= row)
    return True


@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
@pytest.mark.parametrize("path", ["eager", "fused"])
@pytest.mark.parametrize("way", WAYS)
def test_a_row_has_a_gradient_to_exactly_those_it_may_see(way: str, path: str, config: Config) -> None:
    model = make(config, path=path)
    out = model(tokens(2, LENGTH), visible=WAYS[way])
    expected = torch.tensor([[may_depend(way, row, column) for column in range(LENGTH)] for row in range(LENGTH)])
    assert torch.equal(influence(out.last, out.hidden[0]), expected.expand(2, -1, -1))


@pytest.mark.parametrize("config", CORNERS.values(), ids=CORNERS.keys())
@pytest.mark.parametrize("way", WAYS)
def test_a_value_and_a_mask_of_three_axes_say_the_same(way: str, config: Config) -> None:
    model, ids = make(config), tokens(2, LENGTH)
    mask = WAYS[way][:, 0].long().expand(2, LENGTH, LENGTH)
    assert torch.equal(model(ids, mask).last, model(ids, visible=WAYS[way]).last)


def test_a_value_and_padding_are_used_together() -> None:
    model, ids = make(SMALL), tokens(2, LENGTH)
    padding = torch.tensor([[1, 1, 1, 1, 0, 0], [1] * 6])
    both = padding[:, None, :] & WAYS["left-to-right"][0].long()
    assert torch.equal(model(ids, padding, visible=WAYS["left-to-right"]).last, model(ids, both).last)
    assert not torch.equal(model(ids, padding).last[:, 1], model(ids, both).last[:, 1])


def test_changing_a_target_token_changes_no_output_before_it() -> None:
    model, ids = make(SMALL), tokens(1, LENGTH)
    plain = model(ids, visible=WAYS["seq2seq"]).last[0]
    for j in range(SOURCE, LENGTH):
        changed = ids.clone()
        changed[0, j] = 3 + (int(ids[0, j]) + 1 - 3) % 57
        moved = (model(changed, visible=WAYS["seq2seq"]).last[0] - plain).abs().amax(-1)
        assert (moved[:j] == 0).all()
        assert (moved[j:] > 1e-3).all()


def test_a_left_to_right_config_needs_no_value() -> None:
    model, ids = make(SMALL.but(visibility="left-to-right")), tokens(2, LENGTH)
    assert torch.equal(model(ids).last, make(SMALL)(ids, visible=WAYS["left-to-right"]).last)
    out = model(ids, torch.tensor([[1, 1, 1, 1, 0, 0], [1] * 6]))
    assert influence(out.last, out.hidden[0])[0, 3].tolist() == [True] * 4 + [False] * 2


def test_the_mixture_has_unilm_s_shares() -> None:
    draws = Counter(visibility.mixture(0, epoch, batch) for epoch in range(10) for batch in range(10_000))
    shares = {"bidirectional": 1 / 3, "seq2seq": 1 / 3, "left-to-right": 1 / 6, "right-to-left": 1 / 6}
    assert draws.keys() == shares.keys()
    for way, share in shares.items():
        deviation = (share * (1 - share) / 100_000) ** 0.5
        assert abs(draws[way] / 100_000 - share) < 4 * deviation, way


def test_the_mixture_is_a_function_of_its_address() -> None:
    first = [visibility.mixture(1, 0, batch) for batch in range(50)]
    assert first == [visibility.mixture(1, 0, batch) for batch in range(50)]
    assert first != [visibility.mixture(1, 1, batch) for batch in range(50)]
    assert first != [visibility.mixture(2, 0, batch) for batch in range(50)]
