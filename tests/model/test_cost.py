"""Does arithmetic on a config give the published parameter counts, and those of the module that is really built?"""

from __future__ import annotations

import itertools
import resource
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from litebert import presets
from litebert.config import Config, Head
from litebert.family import head
from litebert.model import cost
from litebert.model.model import build
from litebert.presets import preset

BASE = preset("albert-base")
BERT = preset("bert-base").but(vocab=30000)

# preset, changes, with pooler, without, the class that transformers pre-trains (None where no release says it)
RELEASES: list[tuple[str, dict[str, Any], int, int | None, int | None]] = [
    ("albert-base-v1", {}, 11_683_584, 11_092_992, 11_813_810),
    ("albert-base-v2", {}, 11_683_584, 11_092_992, 11_813_810),
    ("albert-large", {}, 17_683_968, 16_634_368, 17_847_474),
    ("albert-xlarge", {}, 58_724_864, 54_528_512, 59_021_490),
    ("albert-xlarge", {"heads": 32}, 58_724_864, 54_528_512, 59_021_490),
    ("albert-xxlarge", {}, 222_595_584, 205_814_272, 223_158_450),
    ("albert-tiny-zh", {}, 4_080_520, None, 4_142_594),
    ("albert-small-zh", {}, 4_742_272, None, 4_813_706),
    ("albert-base-zh", {}, 10_547_968, None, 10_669_322),
    ("albert-large-zh", {}, 16_548_352, None, 16_702_986),
    ("albert-xlarge-zh", {}, 57_589_248, None, 57_877_002),
    ("albert-xxlarge-zh", {}, 221_459_968, None, 222_013_962),
    ("bert-base", {}, 109_482_240, 108_891_648, 110_106_428),
    ("bert-large", {}, 335_141_888, 334_092_288, 336_226_108),
    ("bert-base", {"vocab": 28996}, 108_310_272, None, 108_932_934),
    ("bert-large", {"vocab": 28996}, 333_579_264, None, 334_661_958),
    ("bert-base", {"vocab": 21128}, 102_267_648, None, 102_882_442),
    ("bert-base", {"vocab": 119547}, 177_853_440, None, None),
    ("bert-base", {"vocab": 30000}, 109_081_344, 108_490_752, None),
    ("bert-large", {"vocab": 30000}, 334_607_360, None, None),
    ("bert-large", {"vocab": 30000, "hidden": 2048, "ffn": 8192, "embedding": 2048}, 1_275_291_648, None, None),
    ("roberta-base", {}, 124_645_632, 124_055_040, 124_697_433),
    ("roberta-large", {}, 355_359_744, 354_310_144, 355_412_057),
    ("xlnet-base", {}, 116_718_336, 116_718_336, 116_750_336),
    ("xlnet-large", {}, 360_268_800, 360_268_800, 360_300_800),
    ("electra-small", {}, 13_483_008, 13_483_008, 13_549_057),
    ("electra-base", {}, 108_891_648, 108_891_648, 109_483_009),
    ("electra-large", {}, 334_092_288, 334_092_288, 335_142_913),
]

# preset, head, whether its class in transformers has a pooler, parameters of that class
FINE_TUNED = [
    ("albert-base", "mlm", False, 11_221_680), ("albert-large", "mlm", False, 16_795_824),
    ("albert-xlarge", "mlm", False, 54_821_040), ("albert-xxlarge", "mlm", False, 206_368_944),
    ("albert-base", "classify", True, 11_685_122), ("albert-large", "classify", True, 17_686_018),
    ("albert-xlarge", "classify", True, 58_728_962), ("albert-xxlarge", "classify", True, 222_603_778),
    ("albert-base", "span", False, 11_094_530), ("albert-large", "span", False, 16_636_418),
    ("albert-xlarge", "span", False, 54_532_610), ("albert-xxlarge", "span", False, 205_822_466),
    ("albert-base", "choice", True, 11_684_353), ("albert-large", "choice", True, 17_684_993),
    ("albert-xlarge", "choice", True, 58_726_913), ("albert-xxlarge", "choice", True, 222_599_681),
    ("bert-base", "mlm", False, 109_514_298), ("bert-large", "mlm", False, 335_174_458),
]  # fmt: skip

# Albert et al.'s ablation: width E and sharing, without and with pooler, no mapping at E = H
ABLATION = {
    (64, "none"): (87_057_408, 87_648_000), (64, "all"): (9_090_816, 9_681_408),
    (64, "attention"): (61_054_464, 61_645_056), (64, "ffn"): (35_093_760, 35_684_352),
    (128, "none"): (89_059_584, 89_650_176), (128, "all"): (11_092_992, 11_683_584),
    (128, "attention"): (63_056_640, 63_647_232), (128, "ffn"): (37_095_936, 37_686_528),
    (256, "none"): (93_063_936, 93_654_528), (256, "all"): (15_097_344, 15_687_936),
    (256, "attention"): (67_060_992, 67_651_584), (256, "ffn"): (41_100_288, 41_690_880),
    (768, "none"): (108_490_752, 109_081_344), (768, "all"): (30_524_160, 31_114_752),
    (768, "attention"): (82_487_808, 83_078_400), (768, "ffn"): (56_527_104, 57_117_696),
}  # fmt: skip


def described(value: object) -> str | None:
    return "-".join(f"{k}={v}" for k, v in value.items()) or "as it is" if isinstance(value, dict) else None


@pytest.mark.parametrize("name, changes, pooled, bare, pretrained", RELEASES, ids=described)
def test_counts_are_those_of_the_release(
    name: str, changes: dict[str, Any], pooled: int, bare: int | None, pretrained: int | None
) -> None:
    config = preset(name).but(**changes)
    assert cost.total(config) == pooled
    assert bare in (None, cost.without_pooler(config))
    assert pretrained in (None, cost.pretraining(config))


@pytest.mark.parametrize("name, kind, pooled, number", FINE_TUNED)
def test_counts_with_one_head(name: str, kind: str, pooled: bool, number: int) -> None:
    config = preset(name)
    body = cost.total(config) if pooled else cost.without_pooler(config)
    assert body + cost.parameters(config, {"it": head(config, kind)})["head it"] == number


@pytest.mark.parametrize("width, sharing", ABLATION)
def test_counts_by_embedding_width_and_sharing(width: int, sharing: str) -> None:
    config = BASE.but(embedding=width, sharing=sharing)
    assert (cost.without_pooler(config), cost.total(config)) == ABLATION[width, sharing]


@pytest.mark.parametrize("config, number", [
    (BASE.but(groups=2), 18_771_456), (BASE.but(groups=3), 25_859_328), (BASE.but(groups=4), 32_947_200),
    (BASE.but(groups=6), 47_122_944), (BASE.but(groups=12), 89_650_176), (BASE.but(inner=2), 18_771_456),
    (Config(vocab=100, embedding=8, hidden=16, heads=4, ffn=32, layers=3), 7_568),
    (Config(vocab=100, embedding=8, hidden=16, heads=4, ffn=32, layers=3, inner=2), 9_792),
    (Config(vocab=100, embedding=8, hidden=16, heads=4, ffn=32, layers=3, groups=3), 12_016),
    (BERT.but(mapping="always"), 109_671_936), (BASE.but(embedding=768, mapping="always"), 31_705_344),
], ids=["2 groups", "3 groups", "4 groups", "6 groups", "12 groups", "2 inner blocks", "toy", "toy of 2 inner blocks",
        "toy of 3 groups", "BERT with transformers' mapping", "ALBERT of E = H with it"])  # fmt: skip
def test_counts_of_groups_inner_blocks_and_mappings(config: Config, number: int) -> None:
    assert cost.total(config) == number


@pytest.mark.parametrize("hidden, number", [
    (768, 7_087_872), (1024, 12_596_224), (2048, 50_358_272), (4096, 201_379_840), (6144, 453_064_704),
])  # fmt: skip
def test_a_block_has_12_squares_and_13_widths(hidden: int, number: int) -> None:
    parts = cost.parameters(BASE.but(hidden=hidden, heads=hidden // 64, ffn=4 * hidden))
    assert parts["attention"] + parts["ffn"] == number
    assert parts["attention"] == 4 * hidden**2 + 6 * hidden


@pytest.mark.parametrize("hidden, factorised", [(4096, 4_364_288), (768, 3_938_304)])
def test_factorisation_makes_the_embedding_smaller(hidden: int, factorised: int) -> None:
    config = BASE.but(hidden=hidden, heads=hidden // 64)
    parts = cost.parameters(config)
    assert parts["word embedding"] + parts["mapping"] - hidden == factorised  # without the mapping's bias
    assert cost.parameters(config.but(embedding=hidden))["word embedding"] == 30000 * hidden


def test_bert_base_is_9_37_times_albert_base() -> None:
    assert round(cost.total(preset("bert-base")) / cost.total(BASE), 2) == 9.37


@pytest.mark.parametrize("layers", [1, 12, 48])
def test_with_everything_shared_depth_costs_nothing(layers: int) -> None:
    assert cost.parameters(BASE.but(layers=layers)) == cost.parameters(BASE)


def test_albert_base_stores_7_million_and_applies_85() -> None:
    applied = cost.applied(BASE)
    assert sum(cost.parameters(BASE)[part] for part in applied) == 7_087_872
    assert sum(applied.values()) == 85_054_464


@pytest.mark.parametrize("config", [
    BASE.but(inner=2), BASE.but(groups=4), BERT, BASE.but(sharing="ffn", norm="pre"), preset("xlnet-base"),
    preset("xlnet-base").but(untied=False), preset("xlnet-base").but(sharing="all"),
], ids=["inner blocks", "groups", "nothing shared", "pre-norm", "relative", "one set of biases",
        "relative and all shared"])  # fmt: skip
def test_applied_counts_every_block_that_runs(config: Config) -> None:
    run: Counter[str] = Counter()
    encoder = build(config, device="meta").encoder
    for attention, ffn, biases in encoder.blocks():
        for part, module in (("attention", attention), ("ffn", ffn), ("score biases", biases)):
            run[part] += sum(p.numel() for p in module.parameters()) if module else 0
    run["final norm"] = sum(p.numel() for p in encoder.norm.parameters())
    assert cost.applied(config) == +run


@pytest.mark.parametrize("name", presets.names())
def test_every_preset_is_built_as_it_is_counted(name: str) -> None:
    config = preset(name)
    assert cost.parameters(config) == built(config, {})


HEADS = {
    "words": Head(kind="mlm"), "order": Head(kind="order", labels=7), "permuted": Head(kind="plm"),
    "replaced": Head(kind="rtd"), "class": Head(kind="classify", labels=5), "span": Head(kind="span", labels=9),
    "deep": Head(kind="classify", labels=3, dense="relu", source="last"), "tag": Head(kind="tag", labels=4),
    "answerable": Head(kind="span-answerable"), "choice": Head(kind="choice", labels=6, dense="tanh", source="first"),
}  # fmt: skip

# Odd sizes, so that no two components can be mistaken for each other.
AXES: list[list[dict[str, Any]]] = [
    [{"sharing": "all"}, {"sharing": "all", "groups": 2}, {"sharing": "all", "inner": 2}, {"sharing": "none"},
     {"sharing": "attention", "groups": 2, "inner": 2}, {"sharing": "ffn", "groups": 3},
     {"sharing": "none", "inner": 2}],
    [{"embedding": 6}, {"embedding": 14}],
    [{}, {"position_offset": 2}, {"positions": "relative"}, {"positions": "relative", "untied": False},
     {"positions": "rotary"}],
    [{"pooler": "cls"}, {"pooler": "mean"}, {"pooler": "none"}],
    [{}, {"norm": "pre"}, {"norm": "pre", "final_norm": False}],
    [{"mapping": "auto"}, {"mapping": "always"}, {"mapping": "early"}],
    [{"segments": 0}, {"segments": 1}, {"segments": 2}, {"segments": 6}],
    [{}, {"embedding_norm": False}],
    [{}, {"attention_bias": False}],
    [{"objectives": ("mlm",)}, {"objectives": ("plm",), "max_positions": 0}],
]  # fmt: skip


def grid(every: int) -> list[Config]:
    """One in so many of all combinations of the axes; with 151 every pair of values that can be is met."""
    combinations = itertools.product(*AXES)
    changes = [dict(itertools.chain(*(axis.items() for axis in one))) for one in combinations]
    small = {"vocab": 53, "hidden": 14, "heads": 7, "layers": 3, "ffn": 11, "max_positions": 17}
    possible = [one for one in changes if one.get("positions") or "max_positions" not in one]  # "plm" is not absolute
    return [Config(**{**small, **one}) for one in possible[::every]]


def built(config: Config, heads: dict[str, Head]) -> dict[str, int]:
    """Parameters by component of the module itself, by the names of its tensors."""
    component = {
        "embedding.word": "word embedding", "embedding.position": "position embedding", "query_vector": "query vector",
        "embedding.segment": "segment embedding", "embedding.norm": "embedding norm", "embedding.map": "mapping",
        "encoder.attention": "attention", "encoder.ffn": "ffn", "encoder.biases": "score biases",
        "encoder.norm": "final norm", "pooler.dense": "pooler", **{f"heads.{name}": f"head {name}" for name in heads},
    }  # fmt: skip
    counts: Counter[str] = Counter()
    for name, parameter in build(config, heads, device="meta").named_parameters():
        counts[component[".".join(name.split(".")[:2])]] += parameter.numel()
    return dict(counts)


def test_odd_configs_are_built_as_they_are_counted() -> None:
    configs = grid(151)
    assert len(configs) > 250
    for config in configs:
        assert cost.parameters(config, HEADS) == built(config, HEADS), config


def test_no_gradient_reaches_what_no_head_reads() -> None:
    roberta, xlnet = preset("roberta-base"), preset("xlnet-base").but(pooler="cls")
    assert cost.unread(roberta, {"words": Head(kind="mlm")}) == {"pooler": 768 * 769}
    assert cost.unread(roberta, {"class": Head(kind="classify")}) == {}
    assert cost.unread(xlnet, {"class": Head(kind="classify")}) == {"query vector": 768}
    assert cost.unread(xlnet, {"words": Head(kind="plm")}) == {"pooler": 768 * 769}


def test_the_largest_model_is_counted_without_its_memory() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model = build(preset("albert-xxlarge"), device="meta")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024  # kilobytes on Linux
    assert all(parameter.is_meta for parameter in model.parameters())
    assert sum(parameter.numel() for parameter in model.parameters()) == 222_595_584
    assert grown < 50e6, "its weights alone are 890 MB"


def test_accounting_loads_no_torch() -> None:
    code = "import sys, litebert.model.cost, litebert.model.footprint; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
