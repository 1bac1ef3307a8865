"""How does Transformer-XL score a distance? The shift, the sinusoid, the formula in loops, and what cannot matter."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from litebert.model.attention import Attention, Surroundings
from litebert.model.relative import Biases, Distances, Relative, pick, shift, sinusoid
from model.specimens import RELATIVE, make, noise, tokens

CONFIG = RELATIVE.but(hidden=8, heads=2, embedding=8)


def parts(seed: int = 0) -> tuple[Attention, Biases]:
    """An attention sub-layer and its score biases in float64, every number of them random."""
    attention, biases = Attention(CONFIG).double(), Biases(CONFIG).double()
    with torch.no_grad():
        for i, parameter in enumerate([*attention.parameters(), *biases.parameters()]):
            parameter.copy_(noise(*parameter.shape, seed=100 * seed + i, dtype=torch.float64))
    return attention.eval(), biases


def table(queries: int, keys: int, clamp: int = 0) -> Tensor:
    return sinusoid(queries, keys, CONFIG.hidden, clamp, torch.device("cpu"), torch.float64)


@pytest.mark.parametrize("queries, keys, rows", [
    (3, 5, [[2, 1, 0, -1, -2], [3, 2, 1, 0, -1], [4, 3, 2, 1, 0]]),
    (3, 3, [[0, -1, -2], [1, 0, -1], [2, 1, 0]]),
    (1, 1, [[0]]),
    (1, 4, [[3, 2, 1, 0]]),
], ids=["3 queries, 5 keys", "no memory", "one token", "one query"])  # fmt: skip
def test_the_shift_picks_the_distance_from_query_to_key(queries: int, keys: int, rows: list[list[int]]) -> None:
    distances = torch.arange(keys, -queries, -1).expand(2, 3, queries, -1)  # every row: K … 1-Q
    shifted = shift(distances, keys)
    assert shifted.shape == (2, 3, queries, keys)
    assert all(one.tolist() == rows for one in shifted.flatten(0, 1))


def test_picking_single_rows_is_shifting_all_and_choosing() -> None:
    by_distance = noise(2, 3, 4, 4 + 6)
    rows = torch.tensor([[0, 2], [3, 3]])
    chosen = torch.stack([by_distance[b][:, rows[b]] for b in range(2)])  # [B, N, M, R]
    expected = torch.stack([shift(by_distance, 6)[b][:, rows[b]] for b in range(2)])
    assert torch.equal(pick(chosen, rows, keys=6), expected)


def test_the_sinusoid_is_all_sines_then_all_cosines_from_the_farthest_to_the_nearest() -> None:
    found = sinusoid(2, 3, 4, 0, torch.device("cpu"), torch.float32)
    expected = [[math.sin(d), math.sin(d / 100), math.cos(d), math.cos(d / 100)] for d in (3, 2, 1, 0, -1)]
    torch.testing.assert_close(found, torch.tensor(expected), atol=1e-6, rtol=0)


def test_beyond_the_clamp_every_distance_is_the_clamp() -> None:
    free, clamped = table(4, 6), table(4, 6, clamp=2)
    distances = list(range(6, -4, -1))
    for row, distance in enumerate(distances):
        assert torch.equal(clamped[row], free[distances.index(max(-2, min(2, distance)))])


@pytest.mark.parametrize("segments", [None, torch.tensor([[0, 1, 1, 0, 2]])], ids=["no segments", "three segments"])
@pytest.mark.parametrize("path", ["eager", "fused"])
def test_the_sub_layer_is_the_papers_formula(segments: Tensor | None, path: str) -> None:
    attention, biases = parts()
    hidden, memory = noise(1, 3, 8, dtype=torch.float64), noise(1, 2, 8, seed=1, dtype=torch.float64)
    different = None if segments is None else segments[:, 2:, None] != segments[:, None, :]
    around = Surroundings(distances=Distances(table(3, 5), None, different), path=path)
    found = attention(hidden, around, memory, biases)

    source, relative, width = torch.cat([memory, hidden], dim=1)[0], attention.relative, CONFIG.head_width
    gathered = torch.zeros(3, 8, dtype=torch.float64)
    for i in range(3):
        for head in range(2):
            cut = slice(head * width, (head + 1) * width)
            query = (attention.query.weight @ hidden[0, i] + attention.query.bias)[cut]
            scores = []
            for j in range(5):
                distance = (2 + i) - j  # -2 … 4: two memory rows stand in front
                place = relative.project.weight @ table(4, 5)[5 - distance]  # row r of this table is distance 5 - r
                key = (attention.key.weight @ source[j] + attention.key.bias)[cut]
                score = (query + biases.content[head]) @ key + (query + biases.position[head]) @ place[cut]
                if segments is not None:
                    other = int(segments[0, 2 + i] != segments[0, j])
                    score = score + (query + biases.segment[head]) @ relative.segment[other, head]
                scores.append(score / math.sqrt(width))
            weights = torch.softmax(torch.stack(scores), dim=0)
            values = source @ attention.value.weight.T + attention.value.bias
            gathered[i, cut] = weights @ values[:, cut]
    expected = attention.norm(hidden[0] + gathered @ attention.output.weight.T + attention.output.bias)
    torch.testing.assert_close(found[0], expected, atol=1e-6, rtol=0)  # the sinusoid is made in float32


def scores(queries: int, keys: int, rows: list[int] | None = None) -> Tensor:
    """What one and the same query vector adds to its scores at every row: [Q, K] of the first head."""
    attention, biases = parts()
    asking = queries if rows is None else len(rows)
    query = noise(1, 2, 1, 4, seed=7, dtype=torch.float64).expand(1, 2, asking, 4)
    chosen = None if rows is None else torch.tensor([rows])
    module: Relative = attention.relative
    return module(query, biases, Distances(table(queries, keys), chosen, None), keys)[0, 0].detach()


def test_a_score_depends_on_positions_only_through_their_distance() -> None:
    square, wide = scores(5, 5), scores(5, 8)
    for i in range(5):
        for j in range(5):
            assert square[i, j] == pytest.approx(float(wide[i, j + 3]), abs=1e-12)  # whatever stands in front
            if i and j:
                assert square[i, j] == pytest.approx(float(square[i - 1, j - 1]), abs=1e-12)
    assert len({round(float(score), 6) for score in (*square[0], *square[:, 0])}) == 9  # nine distances, nine scores


def test_rows_that_ask_alone_score_what_they_score_among_all() -> None:
    torch.testing.assert_close(scores(5, 8, rows=[4, 1]), scores(5, 8)[[4, 1]], atol=1e-12, rtol=0)


@pytest.mark.parametrize("past", [0, 3])
def test_a_whole_model_sees_the_same_distances_with_padding_in_front(past: int) -> None:
    model, ids = make(RELATIVE).double(), tokens(2, 5)
    padded = torch.cat([torch.zeros(2, past, dtype=torch.long), ids], dim=1)
    mask = (torch.arange(5 + past) >= past).long().expand(2, -1)
    torch.testing.assert_close(model(padded, mask).last[:, past:], model(ids).last, atol=1e-6, rtol=0)


def test_which_segment_is_which_cannot_matter_only_whether_they_differ() -> None:
    model, ids = make(RELATIVE), tokens(2, 6)
    segments = torch.tensor([[0, 0, 1, 1, 0, 1], [0, 1, 1, 1, 1, 1]])
    plain = model(ids, segments=segments).last
    assert torch.equal(model(ids, segments=1 - segments).last, plain)
    assert torch.equal(model(ids, segments=segments + 7).last, plain)
    assert (model(ids, segments=torch.zeros_like(segments)).last - plain).abs().max() > 0.01


def test_order_matters_to_a_relative_model() -> None:
    model, ids = make(RELATIVE), tokens(1, 6)
    assert (model(ids.flip(1)).last.flip(1) - model(ids).last).abs().max() > 0.01


@pytest.mark.parametrize("changes, sets", [
    ({"sharing": "none"}, 3), ({"sharing": "none", "untied": False}, 1), ({"sharing": "all"}, 1),
    ({"sharing": "ffn"}, 3), ({"layers": 4, "groups": 2}, 2),
], ids=["one for every block", "one for all", "one shared block", "attention unshared", "two groups"])  # fmt: skip
def test_score_biases_follow_their_attention(changes: dict[str, object], sets: int) -> None:
    model = make(RELATIVE.but(**changes))
    assert len(model.encoder.biases) == sets
    used = {id(biases) for _, _, biases in model.encoder.blocks()}
    assert len(used) == sets


def test_without_segments_in_the_config_there_is_no_segment_vector() -> None:
    model, ids = make(RELATIVE.but(segments=0)), tokens(1, 4)
    assert model.encoder.attention[0].relative.segment is None
    assert torch.equal(model(ids, segments=torch.tensor([[0, 0, 1, 1]])).last, model(ids).last)
