"""Are the multiply-adds counted in closed form those that torch counts while the model runs?"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from litebert.config import Config, ConfigError, Head
from litebert.model import cost
from litebert.model.model import build
from litebert.presets import preset

LENGTHS = (16, 32, 64, 128, 256, 384, 512)
# Multiply-adds of the stack in 10⁹, of one text of each length
TABLE = {
    "albert-base": (1.364, 2.737, 5.511, 11.174, 22.951, 35.333, 48.318),
    "albert-large": (4.844, 9.714, 19.529, 39.460, 80.531, 123.212, 167.504),
    "albert-xlarge": (19.353, 38.755, 77.712, 156.229, 315.680, 478.352, 644.245),
    "albert-xxlarge": (38.680, 77.410, 155.021, 310.848, 624.918, 942.208, 1262.720),
    "albert-tiny-zh": (0.075, 0.152, 0.309, 0.639, 1.360, 2.162, 3.047),
}
# Every size differs from every other, so that no term can stand in for another.
SMALL = Config(vocab=43, embedding=10, hidden=12, layers=3, heads=3, ffn=22, max_positions=19)
RELATIVE = SMALL.but(positions="relative", max_positions=0)
XLNET = RELATIVE.but(objectives=("plm",), embedding=12, pooler="none", attention_bias=False)
ROTARY = SMALL.but(heads=6, positions="rotary", max_positions=0)

# config, heads, positions asked of the language-model heads (None = all), rows of memory
CASES: dict[str, tuple[Config, dict[str, Head], int | None, int]] = {
    "absolute": (SMALL, {}, None, 0),
    "rotary": (ROTARY, {}, None, 0),
    "relative": (RELATIVE, {}, None, 0),
    "relative without segments": (RELATIVE.but(segments=0), {}, None, 0),
    "rotary with memory": (ROTARY, {}, None, 4),
    "relative with memory": (RELATIVE, {}, None, 4),
    "pre-norm": (SMALL.but(norm="pre"), {}, None, 0),
    "nothing shared": (SMALL.but(sharing="none"), {}, None, 0),
    "attention shared in two groups": (SMALL.but(sharing="attention", groups=2), {}, None, 0),
    "two inner blocks": (SMALL.but(inner=2), {}, None, 0),
    "relative, two inner blocks, one set of biases": (RELATIVE.but(inner=2, untied=False), {}, None, 0),
    "no mapping where E = H": (SMALL.but(embedding=12), {}, None, 0),
    "a mapping where E = H": (SMALL.but(embedding=12, mapping="always"), {}, None, 0),
    "an early mapping": (SMALL.but(mapping="early"), {}, None, 0),
    "no pooler": (SMALL.but(pooler="none", objectives=("mlm",)), {}, None, 0),
    "a pooler without weights": (SMALL.but(pooler="mean"), {}, None, 0),
    "words, of all": (SMALL, {"words": Head(kind="mlm")}, None, 0),
    "words, of three": (SMALL, {"words": Head(kind="mlm")}, 3, 0),
    "words, mapped early": (SMALL.but(mapping="early"), {"words": Head(kind="mlm")}, 3, 0),
    "words, mapped early where E = H": (SMALL.but(mapping="early", embedding=12), {"words": Head(kind="mlm")}, 3, 0),
    "order": (SMALL, {"order": Head(kind="order", labels=9)}, 3, 0),
    "replaced": (SMALL, {"replaced": Head(kind="rtd")}, 3, 0),
    "class": (SMALL, {"class": Head(kind="classify", labels=5)}, 3, 0),
    "class after a dense layer": (SMALL, {"class": Head(kind="classify", labels=5, dense="tanh", source="last")}, 3, 0),
    "choice": (SMALL, {"choice": Head(kind="choice", labels=5)}, 3, 0),
    "tag": (SMALL, {"tag": Head(kind="tag", labels=7)}, 3, 0),
    "span": (SMALL, {"span": Head(kind="span", labels=7)}, 3, 0),
    "span-answerable": (SMALL, {"answerable": Head(kind="span-answerable")}, 3, 0),
    "permuted words without a query stream": (XLNET, {"words": Head(kind="plm")}, None, 0),
    "permuted words, E below H": (XLNET.but(embedding=10), {"words": Head(kind="plm")}, None, 0),
    "a query stream, mapped early": (XLNET.but(embedding=10, mapping="early"), {"words": Head(kind="plm")}, 3, 0),
    "permuted words, without a vector to ask by": (RELATIVE, {"words": Head(kind="plm")}, 3, 0),
    "words of a model with a query stream": (XLNET, {"words": Head(kind="mlm")}, 3, 0),
    "a query stream": (XLNET, {"words": Head(kind="plm")}, 3, 0),
    "a query stream and a pooler": (XLNET.but(pooler="cls"), {"words": Head(kind="plm")}, 3, 0),
    "a query stream with memory": (XLNET, {"words": Head(kind="plm")}, 3, 4),
    "a rotary query stream": (ROTARY.but(objectives=("plm",), embedding=12), {"words": Head(kind="plm")}, 3, 4),
}
BATCH, LENGTH = 3, 5


def run(config: Config, heads: dict[str, Head], asked: int | None, memory: int) -> list[Tensor]:
    """Everything that the model says on the meta device; no number is computed."""
    model = build(config, heads, device="meta")
    model.path = "eager"
    ids = torch.zeros(BATCH, LENGTH, dtype=torch.long, device="meta")
    past = [torch.zeros(BATCH, memory, config.hidden, device="meta")] * config.depth if memory else None
    places = None if asked is None else ids[:, :asked]
    two = "words" in heads and heads["words"].kind == "plm" and model.query_vector is not None and asked is not None
    out = model(ids, segments=ids if config.segments else None, memory=past, targets=places if two else None)
    said = [] if out.pooled is None else [out.pooled]
    for name, head in heads.items():
        where = {"mlm": places, "plm": None if two else places, "span-answerable": ids[:, 0]}.get(head.kind)
        answer = model.logits(name, out, where)
        said += answer if isinstance(answer, tuple) else [answer]
    return [out.last, *said]


def counted(*case: Any, backward: bool = False) -> int:
    """Floating-point operations of the matrix products, by torch."""
    with FlopCounterMode(display=False) as counter:
        said = run(*case)
        if backward:
            torch.stack([answer.sum() for answer in said]).sum().backward()
    return int(counter.get_total_flops())


@pytest.mark.parametrize("name", TABLE)
def test_the_stack_s_products_by_length(name: str) -> None:
    config = preset(name)
    assert tuple(round(cost.body_macs(config, length) / 1e9, 3) for length in LENGTHS) == TABLE[name]


@pytest.mark.parametrize("case", CASES)
def test_torch_counts_as_many(case: str) -> None:
    config, heads, asked, memory = CASES[case]
    more: dict[str, Any] = {"heads": heads, "asked": asked, "memory": memory}
    assert counted(*CASES[case]) == 2 * sum(cost.macs(config, LENGTH, BATCH, **more).values())
    assert cost.flops(config, LENGTH, BATCH, **more) == 2 * sum(cost.macs(config, LENGTH, BATCH, **more).values())


@pytest.mark.parametrize("case", CASES)
def test_torch_counts_as_many_with_the_backward_pass(case: str) -> None:
    config, heads, asked, memory = CASES[case]
    expected = cost.training_flops(config, LENGTH, BATCH, heads=heads, asked=asked, memory=memory)
    assert counted(*CASES[case], backward=True) == expected


@pytest.mark.parametrize("case", ["absolute", "rotary", "words, of three", "class"])
def test_training_is_three_times_the_forward_pass(case: str) -> None:
    config, heads, asked, _ = CASES[case]
    forward = cost.flops(config, LENGTH, BATCH, heads=heads, asked=asked)
    assert cost.training_flops(config, LENGTH, BATCH, heads=heads, asked=asked) == 3 * forward


@pytest.mark.parametrize("length", LENGTHS)
def test_sharing_saves_no_product(length: int) -> None:
    albert, bert = preset("albert-base"), preset("bert-base")
    assert cost.body_macs(albert, length) == cost.body_macs(bert, length)
    assert cost.macs(albert, length)["mapping"] == length * 128 * 768
    assert cost.flops(albert, length) < 1.01 * cost.flops(bert, length)


def test_the_mapping_costs_a_thousandth() -> None:
    counts = cost.macs(preset("albert-base"), 128)
    assert round(counts["mapping"] / 1e9, 4) == 0.0126
    assert round(counts["mapping"] / cost.body_macs(preset("albert-base"), 128), 4) == 0.0011


def test_albert_s_word_head_costs_a_sixth_of_bert_s() -> None:
    head = {"mlm": Head(kind="mlm")}
    albert, bert = (preset(name).but(vocab=30000) for name in ("albert-base", "bert-base"))
    cheap, dear = (cost.macs(config, 128, heads=head, asked=19)["head mlm"] for config in (albert, bert))
    assert cheap / dear == 128 / 768


def test_four_times_the_length_costs_4_32_times() -> None:
    config = preset("albert-base")
    assert round(cost.body_macs(config, 512) / cost.body_macs(config, 128), 2) == 4.32


@pytest.mark.parametrize("larger, smaller, ratio", [
    ("albert-large", "albert-base", 3.47), ("albert-xlarge", "albert-large", 3.85),
    ("albert-xxlarge", "albert-large", 7.54),
])  # fmt: skip
def test_ratios_of_the_sizes_at_512(larger: str, smaller: str, ratio: float) -> None:
    assert round(cost.body_macs(preset(larger), 512) / cost.body_macs(preset(smaller), 512), 2) == ratio


@pytest.mark.parametrize("length, share", [(128, 0.027), (512, 0.1)])
def test_the_quadratic_share_is_small(length: int, share: float) -> None:
    config = preset("albert-base")
    quadratic = cost.macs(config, length)["attention scores"]
    assert quadratic / cost.body_macs(config, length) == pytest.approx(share, abs=0.003)


def test_one_text_is_the_rule() -> None:
    assert cost.macs(RELATIVE, LENGTH) == cost.macs(RELATIVE, LENGTH, 1)
    assert cost.flops(RELATIVE, LENGTH) == cost.flops(RELATIVE, LENGTH, 1)
    assert cost.training_flops(RELATIVE, 1) == cost.training_flops(RELATIVE, 1, 1)


def test_a_batch_projects_its_distances_once() -> None:
    one, four = cost.macs(RELATIVE, LENGTH), cost.macs(RELATIVE, LENGTH, 4)
    assert {part for part in one if four[part] != 4 * one[part]} == {"distance projection"}
    assert four["distance projection"] == one["distance projection"]


@pytest.mark.parametrize("length, problem", [
    (20, "length 20 exceeds max_positions 19: choose a shorter text"),
    (0, "length 0 is not a number of tokens: choose 1 or more"),
], ids=["beyond the table", "nothing"])  # fmt: skip
def test_a_text_that_cannot_be_read_has_no_cost(length: int, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        cost.macs(SMALL, length)
