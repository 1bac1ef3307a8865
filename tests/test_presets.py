"""Is the family a set of short diffs, and does every member build?"""

from __future__ import annotations

import json

import pytest

from litebert import family, presets
from litebert.config import Config, ConfigError, build
from litebert.model import model
from litebert.presets import preset


@pytest.mark.parametrize("name", presets.names())
def test_every_preset_builds_with_the_heads_of_its_objectives(name: str) -> None:
    config = preset(name)
    built = model.build(config, family.pretraining_heads(config), device="meta")
    assert len(list(built.heads)) == len(config.objectives)
    assert len(built.encoder.map.attention) == config.depth


@pytest.mark.parametrize("name", presets.names())
def test_every_preset_comes_back_from_json(name: str) -> None:
    assert build(json.loads(json.dumps(preset(name).model_dump(mode="json")))) == preset(name)


@pytest.mark.parametrize("name", presets.names())
def test_a_preset_states_only_what_differs_from_its_parent(name: str) -> None:
    parent, changes = presets.diff(name)
    if parent:
        values = presets.values(parent)
        idle = [field for field, value in changes.items() if values.get(field, getattr(Config(), field)) == value]
        same_size = [field for field in idle if field in ("hidden", "layers", "heads", "ffn")]  # sizes are named whole
        assert idle == same_size
        assert presets.names().index(parent) < presets.names().index(name)


def test_albert_is_bert_with_at_most_seven_values_changed() -> None:
    changed = preset("albert-base").diff(preset("bert-base"))
    assert changed == {
        "vocab": (30000, 30522), "embedding": (128, 768), "sharing": ("all", "none"),
        "objectives": (("mlm", "sop"), ("mlm", "nsp")), "dropout": (0.0, 0.1), "attention_dropout": (0.0, 0.1),
    }  # fmt: skip
    assert len(changed) <= 7


def test_the_default_config_is_albert_base() -> None:
    assert Config() == preset("albert-base") == preset("albert-base-v2")


@pytest.mark.parametrize("name, hidden, layers, heads, ffn", [
    ("albert-base", 768, 12, 12, 3072), ("albert-large", 1024, 24, 16, 4096), ("albert-xlarge", 2048, 24, 16, 8192),
    ("albert-xxlarge", 4096, 12, 64, 16384), ("albert-tiny-zh", 312, 4, 12, 1248),
    ("albert-small-zh", 384, 6, 12, 1536), ("albert-xlarge-zh", 2048, 24, 32, 8192), ("bert-large", 1024, 24, 16, 4096),
    ("albert-12x2048", 2048, 12, 16, 8192), ("electra-small", 256, 12, 4, 1024),
])  # fmt: skip
def test_a_size_is_the_released_one(name: str, hidden: int, layers: int, heads: int, ffn: int) -> None:
    config = preset(name)
    assert (config.hidden, config.layers, config.heads, config.ffn) == (hidden, layers, heads, ffn)


@pytest.mark.parametrize("size", ["base", "large", "xlarge", "xxlarge"])
def test_version_one_drops_and_version_two_does_not_but_for_xxlarge(size: str) -> None:
    rate = 0.0 if size == "xxlarge" else 0.1
    first, second = preset(f"albert-{size}-v1"), preset(f"albert-{size}-v2")
    assert (first.dropout, first.attention_dropout, first.activation) == (rate, rate, "gelu_tanh")
    assert (second.dropout, second.attention_dropout, second.activation) == (0.0, 0.0, "gelu_tanh")
    assert first.classifier_dropout == second.classifier_dropout == 0.1


def test_the_two_unpublished_experiments_are_one_value_from_xlarge() -> None:
    xlarge = preset("albert-xlarge")
    assert preset("albert-xlarge-unshared").diff(xlarge) == {"sharing": ("none", "all")}
    assert preset("albert-12x2048").diff(xlarge) == {"layers": (12, 24)}


@pytest.mark.parametrize("name, expected", [
    ("albert-base", "albert"), ("albert-xlarge-unshared", "albert"), ("bert-tiny", "bert"), ("unilm-base", "bert"),
    ("roberta-base", "roberta"), ("xlnet-base", "xlnet"), ("electra-small", "electra"),
])  # fmt: skip
def test_the_family_is_read_off_the_values(name: str, expected: str) -> None:
    assert family.family(preset(name)) == expected


@pytest.mark.parametrize("name, activation, eps, init", [
    ("albert-base", "gelu_tanh", 1e-12, "truncated"), ("albert-base-v1", "gelu_tanh", 1e-12, "truncated"),
    ("bert-base", "gelu_tanh", 1e-12, "truncated"), ("roberta-base", "gelu_erf", 1e-5, "normal"),
    ("xlnet-base", "gelu_tanh", 1e-12, "normal"), ("unilm-base", "gelu_erf", 1e-5, "normal"),
    ("electra-base", "gelu_erf", 1e-12, "truncated"),
])  # fmt: skip
def test_where_code_and_ports_differ_a_preset_is_as_the_original(
    name: str, activation: str, eps: float, init: str
) -> None:
    config = preset(name)
    assert (config.activation, config.layer_norm_eps, config.init) == (activation, eps, init)
    assert (config.ffn_output_dropout, config.order_dropout, config.mapping, config.head_activation) == (
        True, 0.0, "auto", None,
    )  # fmt: skip
    assert config.pad_frozen is (name == "roberta-base"), "fairseq alone keeps the padding row at zero"


def test_rotary_is_roformer_whatever_else() -> None:
    assert family.family(preset("albert-base").but(positions="rotary")) == "roformer"


def test_an_unknown_preset_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="unknown preset 'albert-bse': did you mean 'albert-base'"):
        preset("albert-bse")
