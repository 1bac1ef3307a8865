"""Is a folder whose config.json, litebert.json or tensors do not fit refused by name, and a loose one still read?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import litebert
from cli.running import litebert as run
from cli.running import refused
from litebert.config import Config
from litebert.files import FolderError
from litebert.interop import tensors
from litebert.model.model import Model, build

TINY = Config(vocab=60, embedding=16, hidden=32, layers=3, heads=4, ffn=48, max_positions=40)
BERT = TINY.but(embedding=32, sharing="none", objectives=("mlm", "nsp"))
BLOCK = "albert.encoder.albert_layer_groups.0.albert_layers.0"
Held = dict[str, Any]


def saved(folder: Path, config: Config = TINY, heads: Any = ("classify",), to: Any = "auto") -> Model:
    """A tiny model in a folder; without litebert.json where it is a Hugging Face one."""
    model = build(config, heads).eval()
    if litebert.save(model, folder, to) == "hf":
        (folder / "litebert.json").unlink()
    return model


def wrong(folder: Path, message: str) -> None:
    """Refused by the library and by the command line, in one line."""
    with pytest.raises(FolderError) as caught:
        litebert.load(folder)
    assert message in str(caught.value)
    assert message in refused("convert", folder, folder / "out")
    assert not (folder / "out").exists()


def edit(path: Path, change: Callable[[Held], Any]) -> None:
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))


TEXTS = {
    "empty": (b"", "config.json is not valid JSON"),
    "cut": (b'{"model_type": "alb', "config.json is not valid JSON"),
    "not text": (b"\xff\xfe\x00\x01", "config.json is not valid JSON"),
    "a list": (b"[]", "config.json holds a list, not an object: this is not the file it is named for"),
    "null": (b"null", "config.json holds null, not an object"),
    "a number": (b"3", "config.json holds a number, not an object"),
    "a word": (b'"albert"', "config.json holds a text, not an object"),
    "a truth": (b"true", "config.json holds true or false, not an object"),
    "an empty object": (b"{}", "model_type None is another architecture: litebert reads bert, roberta"),
    "brackets without end": (b"[" * 100_000, "config.json is not valid JSON"),
    "a number of 5000 digits": (b'{"vocab_size": ' + b"1" * 5000 + b"}", "config.json is not valid JSON"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_config_that_is_no_object_of_json(name: str, tmp_path: Path) -> None:
    content, message = TEXTS[name]
    saved(tmp_path)
    (tmp_path / "config.json").write_bytes(content)
    wrong(tmp_path, message)


FIELDS: list[tuple[str, Any, str]] = [
    ("hidden_size", "x", "hidden_size 'x' is not a whole number from 1 to 16,777,216"),
    ("hidden_size", -32, "hidden_size -32 is not a whole number"),
    ("hidden_size", 0, "hidden_size 0 is not a whole number"),
    ("hidden_size", 32.0, "hidden_size 32.0 is not a whole number"),
    ("hidden_size", True, "hidden_size True is not a whole number"),
    ("hidden_size", [32], "hidden_size [32] is not a whole number"),
    ("hidden_size", {}, "hidden_size {} is not a whole number"),
    ("hidden_size", 10**12, "hidden_size 1000000000000 is not a whole number"),
    ("hidden_size", 10**30, "is not a whole number from 1 to"),
    ("hidden_size", 33, "hidden 33 is not divisible by heads 4"),
    ("hidden_size", 64, "the tensors do not fit the config: "),
    ("hidden_size", None, "the tensors do not fit the config: "),
    ("vocab_size", 2**24, f"word_embeddings.weight is [60, 16], the config asks for [{2**24}, 16]"),
    ("vocab_size", 2**60, "vocab_size 1152921504606846976 is not a whole number"),
    ("num_hidden_layers", "three", "num_hidden_layers 'three' is not a whole number from 1 to 10,000"),
    ("num_hidden_layers", 10**9, "num_hidden_layers 1000000000 is not a whole number from 1 to 10,000"),
    ("num_hidden_groups", 0, "num_hidden_groups 0 is not a whole number"),
    ("num_hidden_groups", 2, f"missing {BLOCK.replace('groups.0', 'groups.1')}.attention.query.weight"),
    ("inner_group_num", 10**9, "inner_group_num 1000000000 is not a whole number from 1 to 10,000"),
    ("num_attention_heads", 5, "hidden 32 is not divisible by heads 5: choose 1, 2, 4 or 8"),
    ("pad_token_id", 60, "pad 60 is not an id of a vocabulary of 60: choose 0 to 59"),
    ("pad_token_id", "0", "pad_token_id '0' is not a whole number"),
    ("hidden_act", "swish", "activation 'swish' is not one of gelu, "),
    ("hidden_act", ["gelu"], "hidden_act ['gelu'] is not a word"),
    ("layer_norm_eps", "1e-12", "layer_norm_eps '1e-12': input should be a valid number"),
    ("layer_norm_eps", 0, "layer_norm_eps 0.0 is not positive"),
    ("hidden_dropout_prob", 2, "dropout 2.0 is not a probability below 1"),
    ("hidden_dropout_prob", float("nan"), "dropout nan is not a probability below 1"),
    ("is_decoder", "no", "is_decoder 'no' is not true or false"),
    ("model_type", "gpt2", "model_type 'gpt2' is another architecture: litebert reads bert, roberta"),
    ("model_type", [], "model_type [] is not a word"),
    ("architectures", "AlbertModel", "architectures 'AlbertModel' is not a list of names of classes"),
    ("architectures", [None], "architectures [None] is not a list of names of classes"),
    ("id2label", ["a", "b"], "id2label ['a', 'b'] is not an object of numbers and labels"),
    ("id2label", {"first": "a"}, "id2label {'first': 'a'} is not an object of numbers and labels"),
    ("position_embedding_type", "relative_key", "position_embedding_type 'relative_key' scores by learned key"),
    ("tie_word_embeddings", False, "tie_word_embeddings False has an output matrix of its own"),
    ("add_cross_attention", True, "add_cross_attention True reads a second sequence"),
]  # fmt: skip


@pytest.mark.parametrize("field,value,message", FIELDS, ids=[f"{f}={str(v)[:24]}" for f, v, _ in FIELDS])
def test_a_field_of_config_json_that_cannot_be(field: str, value: Any, message: str, tmp_path: Path) -> None:
    saved(tmp_path)
    edit(tmp_path / "config.json", lambda values: values.update({field: value}))
    wrong(tmp_path, message)


@pytest.mark.parametrize("config", [TINY, BERT], ids=["albert", "bert"])
def test_nulls_of_transformers_stand_for_its_defaults(config: Config, tmp_path: Path) -> None:
    model = saved(tmp_path, config)
    names = ("position_embedding_type", "classifier_dropout", "id2label", "layer_norm_eps", "is_decoder", "dtype",
             "num_hidden_groups", "bos_token_id", "pad_token_id", "hidden_dropout_prob")  # fmt: skip
    edit(tmp_path / "config.json", lambda values: values.update(dict.fromkeys(names)))
    back = litebert.load(tmp_path)
    assert (back.config.pad, back.config.layer_norm_eps, back.config.groups) == (0, 1e-12, 1)
    ids = torch.tensor([[2, 7, 9, 3]])
    assert torch.equal(back(ids).last, model(ids).last)


def changed(folder: Path, change: Callable[[Held], Any]) -> None:
    held = load_file(folder / "model.safetensors")
    change(held)
    tensors.write_file(folder / "model.safetensors", held)


TENSORS: dict[str, tuple[Callable[[Held], Any], str]] = {
    "one missing": (lambda t: t.pop(f"{BLOCK}.ffn.bias"), f"missing {BLOCK}.ffn.bias [48]"),
    "one misshapen": (lambda t: t.update({f"{BLOCK}.ffn.weight": torch.zeros(48, 31)}),
                      f"{BLOCK}.ffn.weight is [48, 31], the config asks for [48, 32]"),
    "one turned": (lambda t: t.update({f"{BLOCK}.ffn.weight": torch.zeros(32, 48)}), "ffn.weight is [32, 48], the"),
    "one unknown": (lambda t: t.update({"albert.extra": torch.zeros(3, 4)}), "unknown albert.extra [3, 4]"),
    "five unknown": (lambda t: t.update({f"albert.x{i}": torch.zeros(1) for i in range(5)}), "and 1 more"),
    "half of the pooler": (lambda t: t.pop("albert.pooler.weight"), "missing albert.pooler.weight [32, 32]"),
    "a classifier of no rows": (lambda t: t.update({"classifier.weight": torch.zeros(0, 32)}),
                                "classifier.weight is [0, 32], the config asks for [1, 32]"),
    "a classifier of no size": (lambda t: t.update({"classifier.weight": torch.tensor(1.0)}),
                                "classifier.weight is [], the config asks for [1, 32]"),
    "whole numbers": (lambda t: t.update({f"{BLOCK}.ffn.bias": torch.zeros(48, dtype=torch.int32)}),
                      f"{BLOCK}.ffn.bias holds torch.int32, not floating-point numbers"),
    "nothing": (lambda t: t.clear(), "missing albert.embeddings.word_embeddings.weight [60, 16]"),
    "a tied copy that differs": (
        lambda t: t.update({"predictions.decoder.weight": t["albert.embeddings.word_embeddings.weight"] + 1}),
        "predictions.decoder.weight differs from albert.embeddings.word_embeddings.weight, but litebert ties them"),
    "a tied copy of another type": (
        lambda t: t.update({"predictions.decoder.weight": t["albert.embeddings.word_embeddings.weight"].half()}),
        "predictions.decoder.weight differs from albert.embeddings.word_embeddings.weight"),
    "a tied copy of another shape": (lambda t: t.update({"predictions.decoder.bias": torch.zeros(3)}),
                                     "predictions.decoder.bias differs from predictions.bias"),
}  # fmt: skip


@pytest.mark.parametrize("name", TENSORS)
def test_tensors_that_do_not_fit_are_named_with_their_shapes(name: str, tmp_path: Path) -> None:
    change, message = TENSORS[name]
    saved(tmp_path, heads=["mlm"] if "tied" in name else ["classify"])
    changed(tmp_path, change)
    wrong(tmp_path, message)


OURS: dict[str, tuple[Callable[[Held], Any], str]] = {
    "one missing": (lambda t: t.pop("encoder.ffn.0.up.bias"), "missing encoder.ffn.0.up.bias [48]"),
    "one misshapen": (
        lambda t: t.update({"pooler.dense.bias": torch.zeros(3)}),
        "pooler.dense.bias is [3], the config",
    ),
    "one unknown": (lambda t: t.update({"encoder.ffn.1.up.bias": torch.zeros(48)}), "unknown encoder.ffn.1.up.bias"),
    "whole numbers": (lambda t: t.update({"pooler.dense.bias": torch.zeros(32, dtype=torch.int8)}), "torch.int8"),
}


@pytest.mark.parametrize("name", OURS)
def test_so_are_those_of_our_own_form(name: str, tmp_path: Path) -> None:
    change, message = OURS[name]
    saved(tmp_path, to="litebert")
    changed(tmp_path, change)
    wrong(tmp_path, message)


DAMAGED: dict[str, tuple[str, str]] = {
    "cut": ('{"litebert": "0.1.0", "con', "litebert.json is not valid JSON"),
    "a list": ("[]", "litebert.json holds a list, not an object"),
    "without a config": ('{"heads": {}}', "litebert.json lacks 'config': save the model again"),
    "a config that is a list": ('{"config": []}', "litebert.json is not as litebert writes it: save the model again"),
    "a config that is null": ('{"config": null}', "litebert.json is not as litebert writes it"),
    "an unknown field": ('{"config": {"hiden": 3}}', "litebert.json: unknown field 'hiden': did you mean 'hidden'?"),
    "a value that cannot be": ('{"config": {"hidden": 10, "heads": 3}}', "hidden 10 is not divisible by heads 3"),
    "digests that are a list": (
        '{"config": {}, "sha256": ["ab", "abc"]}',
        "litebert.json is not as litebert writes it",
    ),
    "without digests": ('{"config": {}}', "litebert.json lacks 'sha256': save the model again"),
    "heads that are a list": ('{"config": {}, "heads": ["mlm"]}', "litebert.json is not as litebert writes it"),
    "a head that is a word": ('{"config": {}, "heads": {"mlm": "mlm"}}', "litebert.json is not as litebert writes it"),
    "a head of no kind": ('{"config": {}, "heads": {"x": {"kind": "x"}}}', "litebert.json: kind 'x': input should be"),
}


@pytest.mark.parametrize("to", ["hf", "litebert"])
@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_litebert_json_is_named(name: str, to: Any, tmp_path: Path) -> None:
    content, message = DAMAGED[name]
    litebert.save(build(TINY), tmp_path, to)
    (tmp_path / "litebert.json").write_text(content)
    wrong(tmp_path, message)
    assert message in refused("describe", tmp_path)


def test_a_stale_litebert_json_is_left_aside_with_a_word_and_describe_follows(tmp_path: Path) -> None:
    litebert.save(build(TINY.but(order_dropout=0.3), ["mlm"]), tmp_path)
    edit(tmp_path / "config.json", lambda values: values.update(hidden_act="relu"))
    with pytest.warns(
        UserWarning, match=r"litebert\.json is left aside: config\.json \(hidden_act\) changed since it was written"
    ):
        assert litebert.load(tmp_path).config.activation == "relu"
    done = run("describe", tmp_path, "--json")
    assert done.value["config"]["activation"] == "relu"
    assert (done.err.count("\n"), "is left aside" in done.err) == (1, True)


def test_a_head_that_went_beside_and_was_lost_is_missed(tmp_path: Path) -> None:
    litebert.save(build(TINY, ["mlm", "order", "classify"]), tmp_path)
    (tmp_path / "litebert.safetensors").unlink()
    message = "litebert.json goes with litebert.safetensors, which is not in the folder: copy it there, or delete"
    wrong(tmp_path, message)
    assert message in refused("describe", tmp_path)
    (tmp_path / "litebert.json").unlink()
    assert list(litebert.load(tmp_path).specs) == ["classify"]


def test_so_is_a_config_json_that_was_lost(tmp_path: Path) -> None:
    litebert.save(build(TINY, ["mlm"]), tmp_path)
    (tmp_path / "config.json").unlink()
    wrong(tmp_path, "litebert.json goes with config.json, which is not in the folder: copy it there")


@pytest.mark.parametrize("content,message", [
    ("{", "model.safetensors.index.json is not valid JSON"), ("{}", "model.safetensors.index.json has no weight_map"),
    ('{"weight_map": ["a"]}', "has no weight_map, which says what each file holds"),
    ('{"weight_map": {"a": "../model-1.safetensors"}}', "names '../model-1.safetensors', which is not in the folder"),
    ('{"weight_map": {"a": 3}}', "names '3', which is not in the folder: copy the missing file"),
    ('{"weight_map": {}}', "missing albert.embeddings.word_embeddings.weight"),
], ids=["cut", "without a map", "a list", "outside", "a number", "of nothing"])  # fmt: skip
def test_an_index_of_shards_that_leads_nowhere(content: str, message: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    saved(folder)
    (folder / "model.safetensors").rename(tmp_path / "model-1.safetensors")
    (folder / "model.safetensors.index.json").write_text(content)
    wrong(folder, message)


def test_a_folder_of_another_architecture(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    shape = {"vocab_size": 60, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 40}
    transformers.GPT2LMHeadModel(transformers.GPT2Config(**shape)).save_pretrained(tmp_path)
    wrong(tmp_path, "model_type 'gpt2' is another architecture")
