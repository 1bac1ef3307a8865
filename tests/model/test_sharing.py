"""Which weights run at a depth? The map, its rendering, and that sharing changes weights but never the computation."""

from __future__ import annotations

import pytest
import torch

from litebert.config import Config
from litebert.model.model import Model
from litebert.model.sharing import distinct, runs, sharing_map
from model.specimens import RELATIVE, ROTARY, SMALL, make, noise, tokens

# layers, groups, inner, sharing -> attention, ffn: written out by hand
TABLE = {
    "all, one group": ((4, 1, 1, "all"), [0, 0, 0, 0], [0, 0, 0, 0]),
    "all, two groups": ((4, 2, 1, "all"), [0, 0, 1, 1], [0, 0, 1, 1]),
    "all, groups that do not divide": ((5, 2, 1, "all"), [0, 0, 0, 1, 1], [0, 0, 0, 1, 1]),
    "all, inner": ((3, 1, 2, "all"), [0, 1, 0, 1, 0, 1], [0, 1, 0, 1, 0, 1]),
    "all, groups and inner": ((4, 2, 2, "all"), [0, 1, 0, 1, 2, 3, 2, 3], [0, 1, 0, 1, 2, 3, 2, 3]),
    "none": ((3, 1, 1, "none"), [0, 1, 2], [0, 1, 2]),
    "none, inner": ((2, 1, 2, "none"), [0, 1, 2, 3], [0, 1, 2, 3]),
    "attention": ((3, 1, 1, "attention"), [0, 0, 0], [0, 1, 2]),
    "ffn": ((3, 1, 1, "ffn"), [0, 1, 2], [0, 0, 0]),
    "attention, groups": ((4, 2, 1, "attention"), [0, 0, 1, 1], [0, 1, 2, 3]),
    "attention, groups and inner": ((2, 2, 2, "attention"), [0, 1, 2, 3], [0, 1, 2, 3]),
    "ffn, one group and inner": ((2, 1, 2, "ffn"), [0, 1, 2, 3], [0, 1, 0, 1]),
    "ffn, groups and inner": ((4, 2, 2, "ffn"), [0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 0, 1, 2, 3, 2, 3]),
}


def shape(layers: int, groups: int, inner: int, sharing: str) -> Config:
    return SMALL.but(layers=layers, groups=groups, inner=inner, sharing=sharing)


@pytest.mark.parametrize("values, attention, ffn", TABLE.values(), ids=TABLE.keys())
def test_the_map_written_out(values: tuple[int, int, int, str], attention: list[int], ffn: list[int]) -> None:
    config = shape(*values)
    found = sharing_map(config)
    assert (list(found.attention), list(found.ffn)) == (attention, ffn)
    assert len(found.attention) == config.depth
    model = make(config)
    assert len(model.encoder.attention) == distinct(attention)
    assert len(model.encoder.ffn) == distinct(ffn)
    assert len(model(tokens(1, 4)).hidden) == config.depth + 1


def test_groups_never_step_back_and_all_are_used() -> None:
    for layers in range(1, 49):
        for groups in range(1, layers + 1):
            found = sharing_map(shape(layers, groups, 1, "all")).attention
            assert list(found) == sorted(found)
            assert set(found) == set(range(groups))
            if layers % groups == 0:
                assert all(found.count(group) == layers // groups for group in range(groups))


def test_the_formulas_in_floating_point_lose_a_group() -> None:
    google = [int(i / 22 * 22) for i in range(22)]  # google-research/albert modeling.py
    transformers = [int(i / (18 / 14)) for i in range(18)]  # transformers modeling_albert.py
    assert google[15] == 14
    assert google != list(sharing_map(shape(22, 22, 1, "all")).attention) == list(range(22))
    right = [0, 0, 1, 2, 3, 3, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11, 12, 13]
    assert transformers != list(sharing_map(shape(18, 14, 1, "all")).attention) == right


@pytest.mark.parametrize("indexes, text", [
    ([0] * 12, "[0×12]"),
    (list(range(12)), "[0…11]"),
    ([0] * 4 + [1] * 4 + [2] * 4, "[0×4 1×4 2×4]"),
    ([0], "[0]"),
    ([0, 1], "[0 1]"),
    ([0, 0, 1], "[0×2 1]"),
    ([0, 1] * 12, "[(0 1)×12]"),
    ([0, 1, 0, 1], "[0 1 0 1]"),
    ([0, 1, 0, 1, 2, 3, 2, 3], "[0 1 0 1 2 3 2 3]"),
])  # fmt: skip
def test_a_map_rendered_for_a_person(indexes: list[int], text: str) -> None:
    assert runs(indexes) == text


def unroll(shared: Model, attention: list[int], ffn: list[int]) -> Model:
    """An unshared model of the same depth whose block i holds a copy of what runs at depth i."""
    flat = make(shared.config.but(layers=len(attention), inner=1, groups=1, sharing="none"), list(shared.heads), seed=9)
    source, target = shared.state_dict(), {}
    for name in flat.state_dict():
        if name.startswith("encoder."):
            room, kind, depth, *rest = name.split(".")
            index = (ffn if kind == "ffn" else attention)[int(depth)]
            target[name] = source[".".join([room, kind, str(index), *rest])].clone()
        else:
            target[name] = source[name].clone()
    flat.load_state_dict(target)
    return flat


def backward(model: Model, ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
    segments = (torch.arange(ids.shape[1]) > 2).long().expand_as(ids)
    out = model(ids, segments=segments)
    (out.last * noise(*out.last.shape, seed=3)).sum().backward()
    return out.hidden


@pytest.mark.parametrize("values, attention, ffn", [
    ((4, 2, 2, "all"), [0, 1, 0, 1, 2, 3, 2, 3], [0, 1, 0, 1, 2, 3, 2, 3]),
    ((4, 1, 1, "all"), [0, 0, 0, 0], [0, 0, 0, 0]),
    ((4, 1, 1, "attention"), [0, 0, 0, 0], [0, 1, 2, 3]),
    ((4, 2, 1, "ffn"), [0, 1, 2, 3], [0, 0, 1, 1]),
], ids=["two groups of two inner blocks", "one group", "attention shared", "ffn shared by two groups"])  # fmt: skip
@pytest.mark.parametrize("base", [SMALL, RELATIVE, ROTARY], ids=["absolute", "relative", "rotary"])
def test_unsharing_changes_no_bit_and_the_copies_gradients_add_up(
    base: Config, values: tuple[int, int, int, str], attention: list[int], ffn: list[int]
) -> None:
    layers, groups, inner, sharing = values
    shared = make(base.but(layers=layers, groups=groups, inner=inner, sharing=sharing)).double()
    flat = unroll(shared, attention, ffn).double()
    ids = tokens(2, 6)
    for mine, theirs in zip(backward(shared, ids), backward(flat, ids), strict=True):
        assert torch.equal(mine, theirs)
    copies = dict(flat.named_parameters())
    for name, parameter in shared.named_parameters():
        if not name.startswith("encoder."):
            continue
        room, kind, block, *rest = name.split(".")
        depths = [depth for depth, index in enumerate(ffn if kind == "ffn" else attention) if index == int(block)]
        summed = sum(copies[".".join([room, kind, str(depth), *rest])].grad for depth in depths)
        torch.testing.assert_close(summed, parameter.grad, atol=1e-6, rtol=1e-6)
