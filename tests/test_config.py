"""Does a config refuse what cannot be, say why in one line, and come back from text as it went?"""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from litebert.config import Config, ConfigError, Head, build, override, unknown_name

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "heads that do not divide": ({"hidden": 10, "heads": 3},
                                 "hidden 10 is not divisible by heads 3: choose 1, 2, 5 or 10"),
    "a prime width": ({"hidden": 7, "heads": 2}, "hidden 7 is not divisible by heads 2: choose 1 or 7"),
    "many divisors, the nearest four": ({"heads": 13}, "hidden 768 is not divisible by heads 13: "
                                                       "choose 6, 8, 12 or 16"),
    "a misspelt field": ({"hiden": 8}, "unknown field 'hiden': did you mean 'hidden'?"),
    "another misspelt field": ({"layer_norm_epsilon": 1e-5}, "did you mean 'layer_norm_eps'?"),
    "a number as text": ({"layers": "12"}, "layers '12': input should be a valid integer"),
    "half a layer": ({"layers": 1.5}, "layers 1.5: input should be a valid integer"),
    "a truth as a number": ({"untied": 1}, "untied 1: input should be a valid boolean"),
    "a number as a truth": ({"layers": True}, "layers True: input should be a valid integer"),
    "an unknown activation": ({"activation": "swish"}, "activation 'swish': input should be 'gelu_erf'"),
    "an unknown objective": ({"objectives": ("mlm", "clm")}, "objectives.1 'clm': input should be 'mlm'"),
    "no layers": ({"layers": 0}, "layers 0 is too small: choose 1 or more"),
    "no words": ({"vocab": 0}, "vocab 0 is too small: choose 1 or more"),
    "a negative memory": ({"memory": -1}, "memory -1 is negative: choose 0 or more"),
    "a table beyond any disk": ({"vocab": 10**20}, "vocab 100000000000000000000 is more than a table could hold: "
                                                   "choose at most 16777216"),
    "a loop without end": ({"layers": 5000, "inner": 3}, "layers 5000 × inner 3 are 15000 blocks: "
                                                         "choose at most 10000"),
    "an epsilon that JSON has no word for": ({"layer_norm_eps": float("inf")}, "layer_norm_eps inf is not finite: "
                                                                               "choose for example 1e-12"),
    "a deviation that is no number": ({"init_std": float("nan")}, "init_std nan is not positive"),
    "a memory of nothing": ({"memory": 4}, "memory 4 has no effect with positions 'absolute': "
                                           "set positions=relative or memory=0"),
    "a part of a memory of nothing": ({"reuse": 4}, "reuse 4 has no effect with positions 'absolute'"),
    "two answers of one head": ({"objectives": ("mlm", "sop", "nsp")}, "objectives 'sop' and 'nsp' are two answers of "
                                                                       "one head: choose one of them"),
    "nothing left of a vector": ({"dropout": 1.0}, "dropout 1.0 is not a probability below 1: choose 0.0 to 0.99"),
    "a negative rate": ({"order_dropout": -0.1}, "order_dropout -0.1 is not a probability below 1"),
    "a rate that is no number": ({"dropout": float("nan")}, "dropout nan is not a probability below 1"),
    "no epsilon": ({"layer_norm_eps": 0.0}, "layer_norm_eps 0.0 is not positive: choose for example 1e-12"),
    "more groups than layers": ({"layers": 2, "groups": 3}, "groups 3 exceeds layers 2: a group needs a layer, "
                                                            "choose at most 2"),
    "groups of nothing shared": ({"sharing": "none", "groups": 2}, "groups 2 with sharing 'none'"),
    "padding beyond the vocabulary": ({"pad": 30000}, "pad 30000 is not an id of a vocabulary of 30000: "
                                                      "choose 0 to 29999"),
    "rotary with an odd head": ({"positions": "rotary", "hidden": 9, "heads": 3},
                                "rotary positions need an even head width, hidden 9 / heads 3 is 3"),
    "relative with an odd width": ({"positions": "relative", "hidden": 9, "heads": 3},
                                   "relative positions need an even hidden width, not 9"),
    "a table without rows": ({"max_positions": 0}, "max_positions 0 with absolute positions"),
    "a clamp of nothing": ({"clamp": 4}, "clamp 4 has no effect with positions 'absolute'"),
    "an offset of nothing": ({"positions": "rotary", "position_offset": 2},
                             "position_offset 2 has no effect with positions 'rotary'"),
    "permutations with absolute positions": ({"objectives": ("plm",)}, "objective 'plm' needs places"),
    "permutations that nothing predicts": ({"visibility": "permutation"}, "visibility 'permutation' is only for "
                                                                          "objective 'plm'"),
    "an order that nothing reads": ({"pooler": "none"}, "objectives 'sop' and 'nsp' read the pooled vector"),
}  # fmt: skip


@pytest.mark.parametrize("values, message", REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_is_refused_in_one_line(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config(**values)
    said = str(caught.value)
    assert said.startswith(message) or said.endswith(message)
    assert "\n" not in said


def test_ten_by_three_says_exactly_what_to_choose() -> None:
    with pytest.raises(ConfigError) as caught:
        Config(hidden=10, heads=3)
    assert str(caught.value) == "hidden 10 is not divisible by heads 3: choose 1, 2, 5 or 10"


def test_the_divisibility_holds_whatever_the_embedding_width() -> None:
    """transformers' ALBERT skips this check for every config that has an `embedding_size`, which is all of them."""
    for embedding in (10, 128):
        with pytest.raises(ConfigError):
            Config(hidden=10, heads=3, embedding=embedding)
    assert Config(hidden=10, heads=5).head_width == 2


def test_a_config_cannot_be_changed_and_can_be_a_key() -> None:
    config = Config()
    with pytest.raises(Exception, match="frozen"):
        config.layers = 3
    assert {config: 1}[Config()] == 1


@pytest.mark.parametrize("assignment, name, value", [
    ("layers=6", "layers", 6),
    ("vocab=30_522", "vocab", 30522),
    ("dropout=0.25", "dropout", 0.25),
    ("layer_norm_eps=1e-5", "layer_norm_eps", 1e-5),
    ("dropout=0", "dropout", 0.0),
    ("activation=relu", "activation", "relu"),
    ("positions=rotary", "positions", "rotary"),
    ("untied=false", "untied", False),
    ("untied=No", "untied", False),
    ("pad_frozen=1", "pad_frozen", True),
    ("pad_frozen=TRUE", "pad_frozen", True),
    ("objectives=mlm", "objectives", ("mlm",)),
    ("objectives=mlm,nsp", "objectives", ("mlm", "nsp")),
    ("objectives=", "objectives", ()),
    ("head_activation=gelu_erf", "head_activation", "gelu_erf"),
    ("head_activation=none", "head_activation", None),
], ids=lambda value: str(value))  # fmt: skip
def test_a_word_of_the_command_line_becomes_its_field_s_type(assignment: str, name: str, value: object) -> None:
    found = getattr(override(Config(head_activation="relu"), [assignment]), name)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("assignment, message", [
    ("layers", "--set 'layers' is not of the form field=value: write for example --set layers=6"),
    ("=6", "--set '=6' is not of the form field=value"),
    ("layrs=6", "unknown field 'layrs': did you mean 'layers'?"),
    ("layers=six", "layers 'six': input should be a valid integer"),
    ("layers=1.5", "layers '1.5': input should be a valid integer"),
    ("layers=", "layers '': input should be a valid integer"),
    ("dropout=much", "dropout 'much': input should be a valid number"),
    ("untied=maybe", "untied 'maybe': input should be a valid boolean"),
    ("activation=swish", "activation 'swish': input should be"),
    ("objectives=mlm,clm", "objectives.1 'clm': input should be"),
    ("head_activation=swish", "head_activation 'swish': input should be"),
    ("heads=5", "hidden 768 is not divisible by heads 5"),
])  # fmt: skip
def test_a_word_that_does_not_fit_is_refused(assignment: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        override(Config(), [assignment])
    assert str(caught.value).startswith(message)


def test_changes_are_judged_together() -> None:
    changed = override(Config(), ["hidden=320", "heads=5", "ffn=1280"])
    assert (changed.hidden, changed.heads, changed.ffn) == (320, 5, 1280)
    assert override(Config(), ["layers=3", "layers=4"]).layers == 4


def test_a_value_may_hold_an_equals_sign_and_is_then_judged() -> None:
    with pytest.raises(ConfigError, match="activation 'a=b'"):
        override(Config(), ["activation=a=b"])


def test_but_changes_what_it_names_and_is_judged_again() -> None:
    config = Config(layers=6)
    assert config.but(hidden=384).diff(config) == {"hidden": (384, 768)}
    assert config.layers == 6
    with pytest.raises(ConfigError, match="unknown field 'hiden'"):
        config.but(hiden=3)
    with pytest.raises(ConfigError, match="not divisible"):
        config.but(heads=5)


def test_diff_names_both_sides() -> None:
    mine, other = Config(layers=6, dropout=0.1), Config(layers=8, dropout=0.1)
    assert mine.diff(other) == {"layers": (6, 8)}
    assert other.diff(mine) == {"layers": (8, 6)}
    assert mine.diff(mine) == {}


UNUSUAL = Config(
    positions="relative", max_positions=0, objectives=("mlm", "plm"), visibility="permutation", untied=False,
    head_activation="relu", layer_norm_eps=1e-5, clamp=7, memory=3, hidden=64, heads=4,
)  # fmt: skip


@pytest.mark.parametrize("config", [Config(), UNUSUAL], ids=["the default", "an unusual one"])
def test_a_config_comes_back_from_json(config: Config) -> None:
    text = json.dumps(config.model_dump(mode="json"))
    assert build(json.loads(text)) == config


def test_a_config_is_read_from_toml() -> None:
    text = 'layers = 6\nobjectives = ["mlm", "nsp"]\ndropout = 0\nuntied = false\n'
    assert build(tomllib.loads(text)) == Config(layers=6, objectives=("mlm", "nsp"), dropout=0.0, untied=False)


def test_what_follows_from_the_fields() -> None:
    config = Config(hidden=64, heads=4, embedding=64, layers=3, inner=2)
    assert (config.head_width, config.depth, config.mapped) == (16, 6, False)
    assert config.but(embedding=32).mapped
    assert config.but(mapping="always").mapped


@pytest.mark.parametrize("values, message", [
    ({"kind": "classfy"}, "kind 'classfy': input should be"),
    ({"kind": "classify", "label": 3}, "unknown field 'label': did you mean 'labels'?"),
    ({"kind": "classify", "labels": 0}, "labels 0 is not a number of outputs: choose 1 or more"),
    ({"kind": "classify", "labels": 3, "names": ("a", "b")},
     "2 label names for 3 labels: give one name for each"),
    ({"kind": "classify", "source": "middle"}, "source 'middle': input should be"),
    ({"kind": "tag", "dropout": 1.0}, "dropout 1.0 is not a probability below 1: choose 0.0 to 0.99"),
], ids=["kind", "field", "no labels", "names", "source", "rate"])  # fmt: skip
def test_a_head_refuses_what_cannot_be(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Head(**values)
    assert str(caught.value).startswith(message)


def test_a_head_comes_back_from_json() -> None:
    head = Head(kind="classify", labels=2, names=("no", "yes"), source="first", dense="tanh", first_dropout=False)
    assert Head(**json.loads(json.dumps(head.model_dump(mode="json")))) == head


def test_a_name_near_to_none_lists_them_all() -> None:
    assert unknown_name("verb", "xyzzy", ["b", "a"]) == "unknown verb 'xyzzy': choose one of a, b"
    assert unknown_name("verb", "trian", ["train", "serve"]) == "unknown verb 'trian': did you mean 'train'?"
