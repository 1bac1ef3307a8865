"""Is a TensorFlow checkpoint that does not fit refused in one line that names the tensor, the field or the file?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import litebert
from interop.bundle_writer import write_bundle, write_table
from interop.tf_cases import make
from interop.tf_names import Tensors
from litebert.files import FolderError
from litebert.interop import convert

Change = Callable[[Tensors, dict[str, Any]], Any]
GROUP = "bert/encoder/transformer/group_0/inner_group_0"


def without(*names: str) -> Change:
    return lambda tensors, _: [tensors.pop(name) for name in names]


def sized(name: str, *shape: int) -> Change:
    return lambda tensors, _: tensors.update({name: np.zeros(shape, np.float32)})


def said(**fields: Any) -> Change:
    return lambda _, values: values.update(fields)


def unsaid(name: str) -> Change:
    return lambda _, values: values.pop(name)


def slots_alone(tensors: Tensors, values: dict[str, Any]) -> None:
    for name in list(tensors):
        tensors[f"{name}/adam_m"] = tensors.pop(name)


def of_gpt(tensors: Tensors, values: dict[str, Any]) -> None:
    tensors.clear()
    tensors["model/h0/attn/w"] = np.zeros((1, 2, 6), np.float32)


REFUSED = {
    "a missing bias": ("ALBERT", without("bert/pooler/dense/bias"),
                       r"missing bert/pooler/dense/bias for pooler\.dense\.bias \[32\]"),
    "a missing kernel": ("BERT", without("bert/encoder/layer_1/output/dense/kernel"),
                         r"missing bert/encoder/layer_1/output/dense/kernel .*\[48, 32\]"),
    "the mark of the family": ("ALBERT", without(f"{GROUP}/LayerNorm/gamma"), rf"missing {GROUP}/LayerNorm/gamma"),
    "no words": ("ALBERT", without("bert/embeddings/word_embeddings"), "no matrix bert/embeddings/word_embeddings"),
    "no query": ("ALBERT", without(f"{GROUP}/attention_1/self/query/kernel"), "no matrix bert/encoder/…/self/query"),
    "a flat table": ("BERT", sized("bert/embeddings/word_embeddings", 60), "no matrix bert/embeddings/word_embeddings"),
    "a kernel of another shape": ("BERT", sized("bert/pooler/dense/kernel", 31, 32),
                                  r"bert/pooler/dense/kernel is \[31, 32\], the config asks for \[32, 32\]"),
    "a kernel that was turned": ("BERT", sized("bert/encoder/layer_0/output/dense/kernel", 32, 48),
                                 r"output/dense/kernel is \[32, 48\], the config asks for \[48, 32\]"),
    "a tensor of a classifier": ("BERT", sized("output_weights", 2, 32), r"unknown output_weights \[2, 32\]"),
    "many unknown tensors": ("BERT", lambda t, _: [sized(f"x{i}", 1)(t, _) for i in range(9)],
                             r"unknown x0 \[1\].*and 5 more"),
    "a layer too many in the config": ("BERT", said(num_hidden_layers=4), "missing bert/encoder/layer_3"),
    "a layer too few in the config": ("BERT", said(num_hidden_layers=2), "unknown bert/encoder/layer_2"),
    "a group too many in the config": ("ALBERT", said(num_hidden_groups=2), "missing bert/encoder/transformer/group_1"),
    "heads that do not divide": ("ALBERT", said(num_attention_heads=5), "hidden 32 is not divisible by heads 5"),
    "the config of a wider model": ("ALBERT", said(hidden_size=64), "hidden_size 64, but the tensors have 32"),
    "the config of another language": ("BERT", said(vocab_size=99), "vocab_size 99, but the tensors have 60"),
    "a config without heads": ("BERT", unsaid("num_attention_heads"), "lacks 'num_attention_heads'"),
    "a config without layers": ("ALBERT", unsaid("num_hidden_layers"), "lacks 'num_hidden_layers'"),
    "a null in the config": ("ALBERT", said(num_hidden_layers=None), "layers None: input should be a valid integer"),
    "a word for a number": ("ALBERT", said(num_attention_heads="four"), "heads 'four'"),
    "an activation of another family": ("BERT", said(hidden_act="swish"), "'swish' is not one of gelu, relu"),
    "XLNet, another width": ("XLNet", said(d_model=30), "hidden 30 is not divisible by heads 4"),
    "XLNet, half the width": ("XLNet", said(d_model=16), r"lookup_table is \[60, 32\], the config asks for \[60, 16\]"),
    "XLNet, other heads": ("XLNet", said(n_head=8), r"q/kernel is \[32, 4, 8\], the config asks for \[32, 8, 4\]"),
    "XLNet, layers beyond its stacks": ("XLNet", sized("model/transformer/seg_embed", 2, 2, 4, 8),
                                        r"seg_embed is \[2, 2, 4, 8\], the config asks for \[3, 2, 4, 8\]"),
    "XLNet, one set of biases for many": ("XLNet", said(untie_r=False),
                                          r"r_w_bias is \[3, 4, 8\], the config asks for \[4, 8\]"),
    "XLNet, a field too few": ("XLNet", unsaid("untie_r"), "lacks 'untie_r'"),
    "nothing but optimizer slots": ("BERT", slots_alone,
                                    "not a checkpoint of ALBERT, BERT, XLNet or ELECTRA: it holds nothing"),
    "another architecture": ("BERT", of_gpt,
                             "not a checkpoint of ALBERT, BERT, XLNet or ELECTRA: it holds model/h0/attn/w"),
}  # fmt: skip


def refused(path: Path, message: str) -> None:
    with pytest.raises(FolderError, match=message) as caught:
        litebert.load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_fit_is_named(what: str, tmp_path: Path) -> None:
    name, change, message = REFUSED[what]
    _, tensors, values = make(name, tmp_path)
    change(tensors, values)
    write_bundle(tmp_path / "model", tensors)
    (tmp_path / "bert_config.json").write_text(json.dumps(values))
    refused(tmp_path, message)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A good ALBERT checkpoint: model.index, model.data-00000-of-00001, albert_config.json."""
    _, tensors, values = make("ALBERT", tmp_path)
    write_bundle(tmp_path / "model", tensors)
    (tmp_path / "albert_config.json").write_text(json.dumps(values))
    return tmp_path


DATA = "model.data-00000-of-00001"


def test_a_checkpoint_without_a_config_is_refused_with_the_file_to_copy(checkpoint: Path) -> None:
    (checkpoint / "albert_config.json").unlink()
    refused(checkpoint, "no config beside the checkpoint: copy its albert_config.json")


def test_a_config_that_is_no_json_is_named(checkpoint: Path) -> None:
    (checkpoint / "albert_config.json").write_text("{")
    refused(checkpoint, r"albert_config\.json is not valid JSON")


@pytest.mark.parametrize("keep", [0, 1, 1000, -1], ids=lambda n: f"{n} bytes left" if n >= 0 else "a byte short")
def test_cut_data_is_refused(keep: int, checkpoint: Path) -> None:
    (checkpoint / DATA).write_bytes((checkpoint / DATA).read_bytes()[:keep])
    refused(checkpoint, rf"{DATA}: tensor .* but the file holds .*: ?.*copy or download it again|{DATA}: tensor")


def test_a_flipped_bit_is_found_by_the_checksum(checkpoint: Path) -> None:
    raw = bytearray((checkpoint / DATA).read_bytes())
    raw[len(raw) // 2] ^= 16
    (checkpoint / DATA).write_bytes(raw)
    refused(checkpoint, "CRC-32C")


def test_missing_data_is_named(checkpoint: Path) -> None:
    (checkpoint / DATA).unlink()
    refused(checkpoint, rf"{DATA}: tensor .* is missing")


def test_a_cut_index_is_refused(checkpoint: Path) -> None:
    (checkpoint / "model.index").write_bytes((checkpoint / "model.index").read_bytes()[:-1])
    refused(checkpoint, r"model\.index: .*copy or download it again")


def test_of_two_checkpoints_one_must_be_named(checkpoint: Path) -> None:
    write_bundle(checkpoint / "model-2", {"a": np.zeros(1, np.float32)})
    refused(checkpoint, r"holds 2 checkpoints \(model, model-2\); give the path of one")


def test_a_checkpoint_of_the_first_format_is_refused_with_the_way_out(tmp_path: Path) -> None:
    write_table(tmp_path / "model.ckpt", [(b"", b"")])
    refused(tmp_path / "model.ckpt", "an old V1 checkpoint")


def test_a_generator_is_only_looked_for_where_one_can_be(checkpoint: Path, tmp_path_factory: Any) -> None:
    with pytest.raises(FolderError, match="a checkpoint of albert, which has no generator"):
        convert.read(checkpoint, "generator")
    other = tmp_path_factory.mktemp("electra")
    _, tensors, _ = make("ELECTRA", other)
    write_bundle(other / "model", tensors)
    with pytest.raises(FolderError, match="no matrix generator/encoder/"):
        convert.read(other, "generator")
