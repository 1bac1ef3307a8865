"""What does a model say? Shapes, the positions that are asked, and XLNet's two-step answer."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from litebert.config import Config, Head
from model.specimens import RELATIVE, SMALL, make, noise, tokens

IDS = tokens(3, 7)
SHAPES: dict[str, tuple[int, ...]] = {
    "mlm": (3, 7, 60), "plm": (3, 7, 60), "order": (3, 2), "rtd": (3, 7), "classify": (3, 4), "tag": (3, 7, 4),
    "span": (3, 7, 2), "choice": (3, 1),
}  # fmt: skip


def spec(kind: str) -> Head:
    return Head(kind=kind, labels=4) if kind in ("classify", "tag") else Head(kind=kind)


@pytest.mark.parametrize("early", ["auto", "early"], ids=["mapped late", "mapped early"])
@pytest.mark.parametrize("kind, shape", SHAPES.items(), ids=SHAPES.keys())
def test_a_head_s_answer_has_its_shape(kind: str, shape: tuple[int, ...], early: str) -> None:
    model = make(SMALL.but(mapping=early), {"it": spec(kind)})
    assert model.logits("it", model(IDS)).shape == shape


ASKED = torch.tensor([[0, 3], [6, 6], [2, 1]])
MASK = torch.zeros(3, 7, dtype=torch.bool)
MASK[0, 3] = MASK[0, 5] = MASK[2, 1] = True


@pytest.mark.parametrize("kind", ["mlm", "plm", "rtd", "tag"])
def test_places_a_mask_and_nothing_ask_for_the_same_logits(kind: str) -> None:
    model = make(SMALL, {"it": spec(kind)}).double()
    out = model(IDS)
    everything = model.logits("it", out)
    rows = torch.arange(3)[:, None]
    torch.testing.assert_close(model.logits("it", out, asked=ASKED), everything[rows, ASKED], atol=1e-12, rtol=0)
    torch.testing.assert_close(model.logits("it", out, asked=MASK), everything[MASK], atol=1e-12, rtol=0)
    assert model.logits("it", out, asked=MASK).shape == (3, *SHAPES[kind][2:])
    assert model.logits("it", out, asked=torch.zeros_like(MASK)).shape == (0, *SHAPES[kind][2:])


@pytest.mark.parametrize("source, place", [("first", 0), ("last", -1)])
def test_a_classifier_reads_where_its_spec_says(source: str, place: int) -> None:
    model = make(SMALL, {"it": Head(kind="classify", labels=3, source=source)}).double()
    out, layer = model(IDS), model.heads["it"].out
    torch.testing.assert_close(model.logits("it", out), out.last[:, place] @ layer.weight.T + layer.bias)


@pytest.mark.parametrize("dense, function", [
    ("tanh", torch.tanh), ("relu", torch.relu), ("gelu_erf", torch.nn.functional.gelu),
])  # fmt: skip
def test_a_dense_layer_stands_in_between_where_the_spec_has_one(dense: str, function) -> None:
    model = make(SMALL, {"it": Head(kind="classify", dense=dense)}).double()
    out, head = model(IDS), model.heads["it"]
    inside = function(out.pooled @ head.dense.weight.T + head.dense.bias)
    torch.testing.assert_close(model.logits("it", out), inside @ head.out.weight.T + head.out.bias)


def test_the_order_head_is_one_layer_on_the_pooled_vector() -> None:
    model = make(SMALL, ["order"]).double()
    out, layer = model(IDS), model.heads["order"].out
    torch.testing.assert_close(model.logits("order", out), out.pooled @ layer.weight.T + layer.bias)


def test_the_permutation_head_has_a_dense_layer_only_where_the_widths_differ() -> None:
    assert make(RELATIVE, ["plm"]).heads["plm"].dense is not None
    same = make(RELATIVE.but(embedding=16), ["plm"]).double()
    assert same.heads["plm"].dense is None
    out = same(IDS, targets=ASKED)
    logits = out.last @ same.embedding.word.weight.T + same.heads["plm"].bias
    torch.testing.assert_close(same.logits("plm", out), logits)
    assert logits.shape == (3, 2, 60)


def answerable(config: Config = SMALL):
    model = make(config, ["span-answerable"]).double()
    return model, model(IDS)


def test_the_beams_are_the_best_starts_and_each_one_s_ends_are_the_ends_given_it() -> None:
    model, out = answerable()
    start_log, start, end_log, end, no_answer = model.logits("span-answerable", out)
    assert (start.shape, end.shape, no_answer.shape) == ((3, 5), (3, 5, 5), (3,))
    given = [model.logits("span-answerable", out, asked=start[:, b]) for b in range(5)]
    starts = torch.log_softmax(given[0][0], dim=-1)
    best = starts.sort(dim=-1, descending=True)
    assert torch.equal(start, best.indices[:, :5])
    torch.testing.assert_close(start_log.double(), best.values[:, :5], atol=1e-6, rtol=0)
    for b, (_, ends, _) in enumerate(given):
        assert ends.shape == (3, 7)
        ranked = torch.log_softmax(ends, dim=-1).sort(dim=-1, descending=True)
        assert torch.equal(end[:, b], ranked.indices[:, :5])
        torch.testing.assert_close(end_log[:, b].double(), ranked.values[:, :5], atol=1e-6, rtol=0)


def test_the_ends_depend_on_the_start() -> None:
    model, out = answerable()
    first, second = (model.logits("span-answerable", out, asked=torch.tensor([s] * 3)) for s in (0, 4))
    assert torch.equal(first[0], second[0])
    assert (first[1] - second[1]).abs().max() > 1e-3
    assert (first[2] - second[2]).abs().max() > 1e-3


def test_whether_there_is_an_answer_is_asked_of_the_average_start() -> None:
    model, out = answerable()
    head, starts = model.heads["span-answerable"], model.logits("span-answerable", out, asked=ASKED[:, 0])[0]
    average = (torch.softmax(starts, dim=-1)[..., None] * out.last).sum(dim=1)
    pair = torch.cat([average, out.last[:, 0]], dim=-1)
    expected = torch.tanh(pair @ head.no_answer_dense.weight.T + head.no_answer_dense.bias) @ head.no_answer.weight[0]
    torch.testing.assert_close(model.logits("span-answerable", out)[-1], expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    "config, cls",
    [(SMALL, 0), (RELATIVE.but(visibility="permutation"), -1), (RELATIVE.but(visibility="left-to-right"), -1)],
    ids=["CLS first", "CLS last", "CLS last, left to right"],
)
def test_whether_there_is_an_answer_is_read_where_the_family_keeps_its_cls(config: Config, cls: int) -> None:
    model, out = answerable(config)
    asked = torch.tensor([3] * 3)

    def no_answer(place: int) -> Tensor:
        last = out.last.clone()
        last[:, place] += noise(16, dtype=torch.float64)
        return model.logits("span-answerable", out._replace(last=last), asked=asked)[-1]

    plain = model.logits("span-answerable", out, asked=asked)[-1]
    assert torch.equal(no_answer(-1 - cls), plain)
    assert not torch.equal(no_answer(cls), plain)


def test_a_forbidden_position_neither_starts_nor_ends_an_answer() -> None:
    model, out = answerable()
    forbidden = torch.zeros(3, 7)
    forbidden[:, 0] = forbidden[1, 3] = 1
    _, start, _, end, _ = model.logits("span-answerable", out, forbidden=forbidden)
    for b in range(3):
        banned = set(forbidden[b].nonzero().flatten().tolist())
        assert banned.isdisjoint(start[b].tolist())
        assert banned.isdisjoint(end[b].flatten().tolist())
    starts, ends, _ = model.logits("span-answerable", out, asked=ASKED[:, 1], forbidden=forbidden)
    assert (starts[forbidden.bool()] < -1e29).all()
    assert (ends[forbidden.bool()] < -1e29).all()


def test_a_short_text_has_fewer_beams_than_asked_for() -> None:
    model = make(SMALL, ["span-answerable"])
    start = model.logits("span-answerable", model(tokens(2, 3)))[1]
    assert start.shape == (2, 3)
