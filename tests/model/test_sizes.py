"""Does every published model have the number of parameters that its release has? Counted on the meta device."""

from __future__ import annotations

import pytest
import torch

from litebert.config import Config
from litebert.model.model import build
from litebert.presets import preset
from model.specimens import SMALL, make, tokens

BASE = preset("albert-base")
TOY = Config(vocab=100, embedding=8, hidden=16, heads=4, ffn=32, layers=3)


def count(config: Config, heads: tuple[str, ...] = ()) -> int:
    return sum(parameter.numel() for parameter in build(config, heads, device="meta").parameters())


def body(config: Config) -> Config:
    """The same model without a pooler, which the order objective needs."""
    return config.but(pooler="none", objectives=("mlm",))


@pytest.mark.parametrize("preset_name, number", [
    ("bert-base", 109_482_240), ("bert-large", 335_141_888), ("roberta-base", 124_645_632),
    ("roberta-large", 355_359_744), ("electra-small", 13_483_008), ("electra-base", 108_891_648),
    ("electra-large", 334_092_288), ("albert-tiny-zh", 4_080_520), ("albert-small-zh", 4_742_272),
    ("albert-base-zh", 10_547_968), ("albert-large-zh", 16_548_352), ("albert-xlarge-zh", 57_589_248),
    ("albert-xxlarge-zh", 221_459_968), ("xlnet-base", 116_718_336), ("xlnet-large", 360_268_800),
])  # fmt: skip
def test_a_preset_has_as_many_parameters_as_its_release(preset_name: str, number: int) -> None:
    assert count(preset(preset_name)) == number


@pytest.mark.parametrize("changes, number", [
    ({}, 109_081_344),
    ({"hidden": 1024, "layers": 24, "heads": 16, "ffn": 4096, "embedding": 1024}, 334_607_360),
    ({"hidden": 2048, "layers": 24, "heads": 32, "ffn": 8192, "embedding": 2048}, 1_275_291_648),
], ids=["base", "large", "xlarge"])  # fmt: skip
def test_bert_with_albert_s_vocabulary(changes: dict[str, int], number: int) -> None:
    assert count(preset("bert-base").but(vocab=30000, **changes)) == number


def test_bert_base_is_9_37_times_albert_base() -> None:
    assert round(count(preset("bert-base")) / count(BASE), 2) == 9.37


@pytest.mark.parametrize("layers", [1, 12, 48])
def test_with_everything_shared_depth_costs_no_parameter(layers: int) -> None:
    assert count(BASE.but(layers=layers)) == 11_683_584


@pytest.mark.parametrize("groups, number", [
    (1, 11_683_584), (2, 18_771_456), (3, 25_859_328), (4, 32_947_200), (6, 47_122_944), (12, 89_650_176),
])  # fmt: skip
def test_every_group_costs_one_block(groups: int, number: int) -> None:
    assert count(BASE.but(groups=groups)) == number


def test_an_inner_block_costs_what_a_group_costs() -> None:
    assert count(BASE.but(inner=2)) == 18_771_456


@pytest.mark.parametrize("sharing, with_pooler", [
    ("none", {64: 87_648_000, 128: 89_650_176, 256: 93_654_528, 768: 109_081_344}),
    ("all", {64: 9_681_408, 128: 11_683_584, 256: 15_687_936, 768: 31_114_752}),
    ("attention", {64: 61_645_056, 128: 63_647_232, 256: 67_651_584, 768: 83_078_400}),
    ("ffn", {64: 35_684_352, 128: 37_686_528, 256: 41_690_880, 768: 57_117_696}),
], ids=["nothing shared", "all shared", "attention shared", "ffn shared"])  # fmt: skip
def test_the_table_of_embedding_width_by_sharing(sharing: str, with_pooler: dict[int, int]) -> None:
    for embedding, number in with_pooler.items():
        config = BASE.but(embedding=embedding, sharing=sharing)
        assert count(config) == number
        assert count(body(config)) == number - (768 * 768 + 768)


def test_transformers_keeps_a_mapping_where_the_widths_agree() -> None:
    assert count(BASE.but(embedding=768, mapping="always")) == 31_705_344
    assert count(BASE.but(embedding=768, mapping="always", sharing="none")) == 109_671_936


@pytest.mark.parametrize("changes, number", [
    ({}, 7_568), ({"inner": 2}, 9_792), ({"groups": 3}, 12_016),
], ids=["one block", "two inner blocks", "three groups"])  # fmt: skip
def test_the_toy_model(changes: dict[str, int], number: int) -> None:
    assert count(TOY.but(**changes)) == number


@pytest.mark.parametrize("config, heads, number", [
    (BASE, ("mlm", "order"), 11_813_810),
    (body(BASE), ("mlm",), 11_221_680),
    (BASE, ("classify",), 11_685_122),
    (body(BASE), ("span",), 11_094_530),
    (BASE, ("choice",), 11_684_353),
    (preset("albert-xxlarge"), ("mlm", "order"), 223_158_450),
    (preset("bert-base"), ("mlm", "order"), 110_106_428),
    (body(preset("bert-base")), ("mlm",), 109_514_298),
    (body(preset("roberta-base")), ("mlm",), 124_697_433),
    (preset("xlnet-base"), ("plm",), 116_750_336),
    (preset("electra-small"), ("rtd",), 13_549_057),
    (preset("electra-base"), ("rtd",), 109_483_009),
    (preset("albert-tiny-zh"), ("mlm", "order"), 4_142_594),
], ids=[
    "albert pre-training", "albert masked words", "albert two classes", "albert spans", "albert choices",
    "albert-xxlarge pre-training", "bert pre-training", "bert masked words", "roberta masked words",
    "xlnet language model", "electra-small", "electra-base", "albert-tiny-zh pre-training",
])  # fmt: skip
def test_a_model_with_its_head(config: Config, heads: tuple[str, ...], number: int) -> None:
    assert count(config, heads) == number


def test_the_release_of_xlarge_has_sixteen_heads_of_128() -> None:
    xlarge = preset("albert-xlarge")
    assert (xlarge.heads, xlarge.head_width) == (16, 128)
    assert count(xlarge) == count(xlarge.but(heads=32)) == 58_724_864


def test_the_same_weights_with_another_number_of_heads_say_something_else() -> None:
    four, two = make(SMALL), make(SMALL.but(heads=2))
    two.load_state_dict(four.state_dict(), strict=True)
    ids = tokens(1, 7)
    assert (four(ids).last - two(ids).last).abs().max() > 0.01
    assert torch.equal(four(ids).hidden[0], two(ids).hidden[0])
