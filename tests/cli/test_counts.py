"""Does `litebert describe --json` say how large the published models are, to the last parameter?

The numbers are those of transformers' classes for the released configs, and the papers' where they count alike.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

from cli.running import litebert
from litebert import family, presets
from litebert.config import Config
from litebert.interop import folder, hf_config, hf_keys
from litebert.model.model import Model, build

# preset, changes -> with pooler, without, all of pre-training's, masked LM's alone (None = not published)
Row = tuple[str, str, int | None, int | None, int | None, int | None]
MODELS: list[Row] = [
    ("albert-base", "", 11_683_584, 11_092_992, 11_813_810, 11_221_680),
    ("albert-large", "", 17_683_968, 16_634_368, 17_847_474, 16_795_824),
    ("albert-xlarge", "", 58_724_864, 54_528_512, 59_021_490, 54_821_040),
    ("albert-xxlarge", "", 222_595_584, 205_814_272, 223_158_450, 206_368_944),
    ("albert-base-v1", "", 11_683_584, 11_092_992, 11_813_810, 11_221_680),
    ("albert-xxlarge-v2", "", 222_595_584, 205_814_272, 223_158_450, 206_368_944),
    ("albert-xlarge", "heads=32", 58_724_864, 54_528_512, 59_021_490, 54_821_040),
    ("albert-tiny-zh", "", 4_080_520, None, 4_142_594, None),
    ("albert-small-zh", "", 4_742_272, None, 4_813_706, None),
    ("albert-base-zh", "", 10_547_968, None, 10_669_322, None),
    ("albert-large-zh", "", 16_548_352, None, 16_702_986, None),
    ("albert-xlarge-zh", "", 57_589_248, None, 57_877_002, None),
    ("albert-xxlarge-zh", "", 221_459_968, None, 222_013_962, None),
    ("bert-base", "", 109_482_240, 108_891_648, 110_106_428, 109_514_298),
    ("bert-large", "", 335_141_888, 334_092_288, 336_226_108, 335_174_458),
    ("bert-base", "vocab=28996", 108_310_272, None, 108_932_934, 108_340_804),
    ("bert-large", "vocab=28996", 333_579_264, None, 334_661_958, None),
    ("bert-base", "vocab=21128", 102_267_648, None, 102_882_442, None),
    ("bert-base", "vocab=119547", 177_853_440, None, None, None),
    ("bert-base", "vocab=30000", 109_081_344, 108_490_752, None, None),
    ("bert-large", "vocab=30000", 334_607_360, None, None, None),
    ("bert-large", "vocab=30000 hidden=2048 embedding=2048 heads=32 ffn=8192", 1_275_291_648, None, None, None),
    ("roberta-base", "", 124_645_632, 124_055_040, 124_697_433, 124_697_433),
    ("roberta-large", "", 355_359_744, 354_310_144, 355_412_057, 355_412_057),
    ("xlnet-base", "", 116_718_336, 116_718_336, 116_750_336, None),
    ("xlnet-large", "", 360_268_800, 360_268_800, 360_300_800, None),
    ("electra-small", "", 13_483_008, 13_483_008, 13_549_057, None),
    ("electra-base", "", 108_891_648, 108_891_648, 109_483_009, None),
    ("electra-large", "", 334_092_288, 334_092_288, 335_142_913, None),
    # ALBERT-base in groups, and in two inner blocks
    ("albert-base", "groups=2", 18_771_456, None, None, None),
    ("albert-base", "groups=3", 25_859_328, None, None, None),
    ("albert-base", "groups=4", 32_947_200, None, None, None),
    ("albert-base", "groups=6", 47_122_944, None, None, None),
    ("albert-base", "groups=12", 89_650_176, None, None, None),
    ("albert-base", "inner=2", 18_771_456, None, None, None),
    # depth is free where all is shared
    ("albert-base", "layers=1", 11_683_584, None, None, None),
    ("albert-base", "layers=48", 11_683_584, None, None, None),
    # transformers keeps a mapping where the widths agree
    ("albert-base", "embedding=768 mapping=always sharing=none", 109_671_936, None, None, None),
    ("albert-base", "embedding=768 mapping=always", 31_705_344, None, None, None),
    # toys
    ("albert-base", "vocab=100 embedding=8 hidden=16 heads=4 ffn=32 layers=3", 7_568, None, None, None),
    ("albert-base", "vocab=100 embedding=8 hidden=16 heads=4 ffn=32 layers=3 inner=2", 9_792, None, None, None),
    ("albert-base", "vocab=100 embedding=8 hidden=16 heads=4 ffn=32 layers=3 groups=3", 12_016, None, None, None),
]

# preset -> a model with one head of two labels alone: masked LM and spans need no pooler
HEADED = {
    "albert-base": {"mlm": 11_221_680, "classify": 11_685_122, "span": 11_094_530, "choice": 11_684_353},
    "albert-large": {"mlm": 16_795_824, "classify": 17_686_018, "span": 16_636_418, "choice": 17_684_993},
    "albert-xlarge": {"mlm": 54_821_040, "classify": 58_728_962, "span": 54_532_610, "choice": 58_726_913},
    "albert-xxlarge": {"mlm": 206_368_944, "classify": 222_603_778, "span": 205_822_466, "choice": 222_599_681},
    "bert-base": {"mlm": 109_514_298}, "bert-large": {"mlm": 335_174_458}, "roberta-base": {"mlm": 124_697_433},
    "roberta-large": {"mlm": 355_412_057}, "xlnet-base": {"plm": 116_750_336}, "xlnet-large": {"plm": 360_300_800},
    "electra-small": {"rtd": 13_549_057}, "electra-base": {"rtd": 109_483_009}, "electra-large": {"rtd": 335_142_913},
}  # fmt: skip

# embedding width -> (without, with pooler) by what is shared (the ALBERT paper's table 3, exact)
ABLATION = {
    64: {"none": (87_057_408, 87_648_000), "all": (9_090_816, 9_681_408), "attention": (61_054_464, 61_645_056),
         "ffn": (35_093_760, 35_684_352)},
    128: {"none": (89_059_584, 89_650_176), "all": (11_092_992, 11_683_584), "attention": (63_056_640, 63_647_232),
          "ffn": (37_095_936, 37_686_528)},
    256: {"none": (93_063_936, 93_654_528), "all": (15_097_344, 15_687_936), "attention": (67_060_992, 67_651_584),
          "ffn": (41_100_288, 41_690_880)},
    768: {"none": (108_490_752, 109_081_344), "all": (30_524_160, 31_114_752), "attention": (82_487_808, 83_078_400),
          "ffn": (56_527_104, 57_117_696)},
}  # fmt: skip


def meta(config: Config) -> Model:
    return build(config, device="meta")


def described(name: str, changes: str = "") -> dict[str, Any]:
    done = litebert("describe", name, "--json", *(part for one in changes.split() for part in ("--set", one)))
    assert (done.code, done.err) == (0, "")
    value: dict[str, Any] = done.value
    return value


@pytest.mark.parametrize("name,changes,total,bare,pretraining,masked", MODELS, ids=[f"{r[0]} {r[1]}" for r in MODELS])
def test_parameters_are_those_of_the_release(
    name: str, changes: str, total: int | None, bare: int | None, pretraining: int | None, masked: int | None
) -> None:
    counts = described(name, changes)["parameters"]
    found = {
        "with pooler": counts["total"], "without": counts["without_pooler"], "pre-training": counts["pretraining"],
        "masked LM": counts["without_pooler"] + counts["components"].get("head mlm", 0),
    }  # fmt: skip
    wanted = dict(zip(found, (total, bare, pretraining, masked), strict=True))
    assert {key: found[key] for key, number in wanted.items() if number} == {k: v for k, v in wanted.items() if v}


@pytest.mark.parametrize("name", HEADED)
def test_a_model_with_one_head_holds_what_its_class_holds(name: str) -> None:
    counts = described(name)["parameters"]["with_head"]
    assert {head: counts[head] for head in HEADED[name]} == HEADED[name]


@pytest.mark.parametrize("name", ["albert-tiny", "bert-mini", "roberta-base", "electra-small", "xlnet-base"])
def test_a_model_with_one_head_holds_what_transformers_builds(name: str) -> None:
    transformers = pytest.importorskip("transformers")
    config = presets.preset(name)
    kind = family.family(config)
    theirs = getattr(transformers, f"{hf_keys.TITLE[kind]}Config")(
        **hf_config.write(folder.leaving(meta(config)).config)
    )
    counts = described(name)["parameters"]["with_head"]
    compared = []
    for suffix, heads in hf_keys.CLASSES[kind].items():
        if len(heads) == 1 and heads[0] in counts:
            with torch.device("meta"):
                built = getattr(transformers, hf_keys.TITLE[kind] + suffix)(theirs)
            # XLNet's classes keep the query stream's first vector where there is no query stream
            idle = config.hidden * (kind == "xlnet" and heads != ("plm",))
            assert counts[heads[0]] == sum(p.numel() for p in built.parameters()) - idle, suffix
            compared.append(heads[0])
    assert len(set(compared)) >= 5


@pytest.mark.parametrize("sharing", ["none", "all", "attention", "ffn"])
@pytest.mark.parametrize("width", ABLATION)
def test_every_cell_of_width_by_sharing(width: int, sharing: str) -> None:
    counts = described("albert-base", f"embedding={width} sharing={sharing}")["parameters"]
    assert (counts["without_pooler"], counts["total"]) == ABLATION[width][sharing]


@pytest.mark.parametrize("hidden,block", [
    (768, 7_087_872), (1024, 12_596_224), (2048, 50_358_272), (4096, 201_379_840), (6144, 453_064_704),
])  # fmt: skip
def test_the_parts_follow_their_formulas(hidden: int, block: int) -> None:
    parts = described("albert-base", f"hidden={hidden} heads=16 ffn={4 * hidden}")["parameters"]["components"]
    vocab, width = 30_000, 128
    assert parts["attention"] + parts["ffn"] == block == 12 * hidden**2 + 13 * hidden
    assert parts["attention"] == 4 * hidden**2 + 4 * hidden + 2 * hidden
    assert parts["mapping"] == width * hidden + hidden
    assert parts["pooler"] == hidden**2 + hidden
    assert parts["head mlm"] == hidden * width + width + 2 * width + vocab
    assert parts["head order"] == 2 * hidden + 2
    tables = ("word embedding", "position embedding", "segment embedding", "embedding norm")
    assert sum(parts[name] for name in tables) == vocab * width + 512 * width + 2 * width + 2 * width


@pytest.mark.parametrize("hidden,plain,factorised", [(4096, 122_880_000, 4_364_288), (768, 23_040_000, 3_938_304)])
def test_factorisation_gains_what_it_should(hidden: int, plain: int, factorised: int) -> None:
    size = f"hidden={hidden} heads=16"
    wide = described("albert-base", f"{size} embedding={hidden}")["parameters"]["components"]
    narrow = described("albert-base", size)["parameters"]["components"]
    assert (wide["word embedding"], "mapping" in wide) == (plain, False)
    assert narrow["word embedding"] + narrow["mapping"] - hidden == factorised


# multiply-adds of the blocks in G, at 128 and at 512
MACS = {"albert-base": (11.174, 48.318), "albert-large": (39.460, 167.504), "albert-xlarge": (156.229, 644.245),
        "albert-xxlarge": (310.848, 1262.720), "albert-tiny-zh": (0.639, 3.047), "bert-base": (11.174, 48.318),
        "roberta-large": (39.460, 167.504), "electra-base": (11.174, 48.318)}  # fmt: skip


@pytest.mark.parametrize("name", MACS)
def test_sharing_saves_no_multiply_add(name: str) -> None:
    macs = described(name)["macs"]
    assert (round(macs["128"] / 1e9, 3), round(macs["512"] / 1e9, 3)) == MACS[name]
