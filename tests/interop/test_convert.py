"""Does a conversion keep what it should, change what was asked, and say what it moved?"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import litebert
from cli.running import litebert as run
from cli.running import refused
from interop import tf_names
from interop.bundle_writer import write_bundle
from interop.peers import peer, text
from interop.tf_cases import RELEASED, make, released_config
from litebert.config import Config
from litebert.files import FolderError
from litebert.interop import convert
from litebert.model.model import Model, build

TINY = Config(vocab=60, embedding=16, hidden=32, layers=4, heads=4, ffn=48, max_positions=40, init_std=0.2)
TEXT_FILES = {
    "tokenizer.json": b'{"version": "1.0",\r\n "added_tokens": []}', "tokenizer_config.json": b"{}\n",
    "special_tokens_map.json": b"{ }", "vocab.txt": "[PAD]\n的\n".encode(), "merges.txt": b"#version\n",
    "spiece.model": bytes(range(256)), "generation_config.json": b"{}",
}  # fmt: skip


def saved(folder: Path, heads: Any = (), **changes: Any) -> Model:
    """A tiny model of ours in a folder."""
    model = build(TINY.but(**changes), heads, seed=1).eval()
    litebert.save(model, folder)
    return model


def digest(folder: Path) -> dict[str, str]:
    """Every file and what is in it."""
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir()) if p.is_file()}


def equal_outputs(one: Model, other: Model) -> bool:
    batch = text("albert", 0)
    with torch.no_grad():
        a, b = (model(*batch.values()).hidden for model in (one, other))
    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder of transformers: ALBERT with both heads, a tokenizer, and fields of a config that we do not know."""
    folder = tmp_path / "source"
    peer("albert", "ForPreTraining", folder)
    values = json.loads((folder / "config.json").read_text())
    values |= {"bos_token_id": 2, "my_field": {"kept": [1, None, "ü"]}, "transformers_version": "0.0.1"}
    (folder / "config.json").write_text(json.dumps(values))
    for name, content in TEXT_FILES.items():
        (folder / name).write_bytes(content)
    (folder / "README.md").write_text("not carried")
    return folder


def test_to_our_form_and_back_keeps_tensors_config_and_tokenizer(source: Path, tmp_path: Path) -> None:
    ours, back = tmp_path / "ours", tmp_path / "back"
    assert convert.convert(source, ours, "litebert").form == "litebert"
    assert convert.convert(ours, back, "hf").form == "hf"
    assert not (ours / "config.json").exists()
    before, after = (load_file(folder / "model.safetensors") for folder in (source, back))
    assert before.keys() == after.keys()
    assert all(torch.equal(before[key], after[key]) for key in before)
    for name, content in TEXT_FILES.items():
        assert (ours / name).read_bytes() == (back / name).read_bytes() == content
    assert not (back / "README.md").exists()
    one, other = (json.loads((folder / "config.json").read_text()) for folder in (source, back))
    assert {key: other[key] for key in other if key in one} == {key: one[key] for key in other if key in one}


def test_fields_that_we_do_not_know_are_carried_and_stale_ones_are_not(source: Path, tmp_path: Path) -> None:
    convert.convert(source, tmp_path / "b", sharing="none")
    values = json.loads((tmp_path / "b/config.json").read_text())
    assert (values["my_field"], values["bos_token_id"]) == ({"kept": [1, None, "ü"]}, 2)
    assert values["num_hidden_groups"] == 3
    assert "transformers_version" not in values


CONVERSIONS: dict[str, dict[str, Any]] = {
    "as it is": {}, "to our form": {"to": "litebert"}, "unshared": {"sharing": "none"}, "narrowed": {"embedding": 8},
}  # fmt: skip


@pytest.mark.parametrize("name", CONVERSIONS)
def test_the_source_is_not_touched(name: str, source: Path, tmp_path: Path) -> None:
    before = digest(source)
    convert.convert(source, tmp_path / "b", **CONVERSIONS[name])
    assert digest(source) == before


def test_unsharing_moves_nothing_and_sharing_again_says_so(source: Path, tmp_path: Path) -> None:
    wide = convert.convert(source, tmp_path / "wide", sharing="none")
    assert wide.notes == ["sharing all/1 → none/1: nothing moved"]
    assert equal_outputs(litebert.load(source), litebert.load(tmp_path / "wide"))
    two = convert.convert(tmp_path / "wide", tmp_path / "two", sharing="all", groups=3)
    assert two.notes == ["sharing none/1 → all/3: nothing moved"]
    assert equal_outputs(litebert.load(source), litebert.load(tmp_path / "two"))


@pytest.mark.parametrize("how", ["average", "first"])
def test_merging_tells_how_far_it_moved_a_weight(how: Any, tmp_path: Path) -> None:
    before = saved(tmp_path / "a", sharing="none", objectives=("mlm", "sop"))
    done = convert.convert(tmp_path / "a", tmp_path / "b", sharing="all", groups=2, how=how)
    moved = 0.0
    for first, second in ((0, 1), (2, 3)):
        for kind in (before.encoder.attention, before.encoder.ffn):
            for a, b in zip(kind[first].parameters(), kind[second].parameters(), strict=True):
                moved = max(moved, float((a - b).detach().abs().max()) / (2 if how == "average" else 1))
    assert done.notes == [f"sharing none/1 → all/2: merging ({how}) moved a weight by up to {moved:.4g}"]
    assert litebert.load(tmp_path / "b").config.groups == 2


def test_what_transformers_cannot_share_is_refused_with_the_fix_and_goes_with_it(tmp_path: Path) -> None:
    saved(tmp_path / "a", ["mlm"], sharing="attention")
    message = refused("convert", tmp_path / "a", tmp_path / "b", "--to", "hf")
    assert "sharing 'attention' (add --sharing none to leave unshared)" in message
    assert not (tmp_path / "b").exists()
    done = run("convert", tmp_path / "a", tmp_path / "b", "--to", "hf", "--sharing", "none", "--check", "--json").value
    assert done["form"] == "hf"
    assert max(done["source"].values()) == 0.0
    assert 0 <= max(done["transformers"].values()) < 1e-5


def test_a_shared_rotary_model_leaves_unshared_with_a_note(tmp_path: Path) -> None:
    model = saved(tmp_path / "a", ["mlm"], positions="rotary", objectives=("mlm",), pooler="none")
    done = convert.convert(tmp_path / "a", tmp_path / "b", "hf")
    assert done.notes == ["written unshared (4 blocks): transformers' RoFormer shares nothing"]
    assert json.loads((tmp_path / "b/config.json").read_text())["num_hidden_layers"] == 4
    assert equal_outputs(model, litebert.load(tmp_path / "b"))


def test_bert_narrowed_is_albert_and_says_what_it_lost(tmp_path: Path) -> None:
    peer("bert", "ForPreTraining", tmp_path / "a")
    done = run("convert", tmp_path / "a", tmp_path / "b", "--embedding", 12, "--check", "--json").value
    error, head = done["notes"]
    assert error.startswith("embedding 12: word table off by 0.")
    assert head == "head mlm is tied to the old width and was left out: train a new one"
    assert json.loads((tmp_path / "b/config.json").read_text())["model_type"] == "albert"
    assert list(done["source"]) == ["embedding", "layer 1", "layer 2", "layer 3", "pooled", "head order"]
    assert max(done["transformers"].values()) < 1e-5 < min(done["source"].values())


def test_a_preset_is_a_source_even_for_a_folder_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("convert", "bert-tiny", "bert-tiny").code == 0
    assert litebert.load(tmp_path / "bert-tiny").config.hidden == 128


@pytest.mark.parametrize("form", ["its folder", "its prefix"])
def test_a_tensorflow_checkpoint_leaves_with_its_vocabulary(form: str, tmp_path: Path) -> None:
    theirs, held, values = make("ALBERT", tmp_path)
    (tmp_path / "tf").mkdir()
    write_bundle(tmp_path / "tf/model.ckpt", held)
    (tmp_path / "tf/albert_config.json").write_text(json.dumps(values))
    (tmp_path / "tf/30k-clean.model").write_bytes(b"\0\1")
    source = tmp_path / "tf" / ("" if form == "its folder" else "model.ckpt")
    done = run("convert", source, tmp_path / "b", "--check", "--json").value
    assert done["form"] == "hf"
    assert (tmp_path / "b/30k-clean.model").read_bytes() == b"\0\1"
    assert max(done["source"].values()) == 0.0
    assert max(done["transformers"].values()) < 1e-5
    mine, others = load_file(tmp_path / "b/model.safetensors"), theirs.state_dict()
    assert all(torch.equal(mine[key], others[key]) for key in mine)


def test_the_generator_of_electra_leaves_by_itself(tmp_path: Path) -> None:
    big = peer("electra", "ForPreTraining", tmp_path / "d")
    small = peer("electra", "ForMaskedLM", tmp_path / "g", hidden_size=24, num_attention_heads=1, intermediate_size=40)
    small.electra.embeddings.load_state_dict(big.electra.embeddings.state_dict())
    held = tf_names.electra(big.state_dict(), 3) | tf_names.electra_generator(small.state_dict(), 3)
    (tmp_path / "tf").mkdir()
    write_bundle(tmp_path / "tf/model", held)
    (tmp_path / "tf/electra_config.json").write_text(json.dumps(released_config(big.config)))
    for part, theirs in (("discriminator", big), ("generator", small)):
        assert run("convert", tmp_path / "tf", tmp_path / part, "--part", part).code == 0
        batch = text("electra", 0)
        with torch.no_grad():
            mine = litebert.load(tmp_path / part)(*batch.values()).last
            other = theirs.electra(**batch).last_hidden_state
        torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-5)
    assert "--part generator is for" in refused(
        "convert", tmp_path / "discriminator", tmp_path / "x", "--part", "generator"
    )


def test_a_table_shows_both_columns(source: Path, tmp_path: Path) -> None:
    done = run("convert", source, tmp_path / "b", "--sharing", "none", "--check")
    assert done.code == 0
    for shown in ("sharing all/1 → none/1: nothing moved", "source → result", "result → transformers", "layer 3",
                  "head order", "as a Hugging Face folder"):  # fmt: skip
        assert shown in done.out


def test_nothing_is_written_over_unless_asked(source: Path, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b/precious.txt").write_text("mine")
    assert "is not empty: choose another folder, or add --overwrite" in refused("convert", source, tmp_path / "b")
    assert [p.name for p in (tmp_path / "b").iterdir()] == ["precious.txt"]
    assert run("convert", source, tmp_path / "b", "--overwrite").code == 0
    assert (tmp_path / "b/precious.txt").read_text() == "mine"
    before = digest(source)
    assert "is the source itself" in refused("convert", source, tmp_path / "b/../source", "--overwrite")
    (tmp_path / "file").write_text("")
    assert "is a file: name a folder to write" in refused("convert", source, tmp_path / "file", "--overwrite")
    assert digest(source) == before


@pytest.mark.parametrize("option,value,near", [
    ("--to", "litebrt", "did you mean 'litebert'?"), ("--how", "mean", "choose one of average, first"),
    ("--part", "generater", "did you mean 'generator'?"), ("--sharing", "al", "did you mean 'all'?"),
])  # fmt: skip
def test_a_mistyped_choice_is_told_the_nearest(
    option: str, value: str, near: str, source: Path, tmp_path: Path
) -> None:
    message = refused("convert", source, tmp_path / "b", option, value)
    assert (option in message, value in message, near in message) == (True, True, True)


@pytest.mark.parametrize("name,suffix", [("albert-unshared", "ForPreTraining"), ("bert", "Model"), ("xlnet", "Model")])
def test_a_model_in_many_files_loads_as_one(name: str, suffix: str, tmp_path: Path) -> None:
    theirs = peer(name, suffix, tmp_path / "one")
    shutil.rmtree(tmp_path / "one")
    theirs.save_pretrained(tmp_path / "many", max_shard_size="20KB")
    assert len(list((tmp_path / "many").glob("*.safetensors"))) > 2
    theirs.save_pretrained(tmp_path / "one")
    one, many = (litebert.load(tmp_path / folder) for folder in ("one", "many"))
    assert equal_outputs(one, many)
    assert convert.convert(tmp_path / "many", tmp_path / "b").form == "hf"
    assert (tmp_path / "b/model.safetensors").is_file()
    first = sorted((tmp_path / "many").glob("*.safetensors"))[0]
    first.unlink()
    with pytest.raises(FolderError, match=rf"names '{first.name}', which is not in the folder: copy the missing file"):
        litebert.load(tmp_path / "many")


def test_every_released_checkpoint_can_leave_for_transformers(tmp_path: Path) -> None:
    for name in ("ALBERT of two groups of two inner blocks", "XLNet of one set of biases", "BERT, relu"):
        _, held, values = make(name, tmp_path / name)
        write_bundle(tmp_path / name / "model", held)
        (tmp_path / name / RELEASED[name].config).write_text(json.dumps(values))
        done = run("convert", tmp_path / name, tmp_path / name / "b", "--to", "hf", "--check", "--json").value
        assert max(done["source"].values()) <= 1e-6
        assert max(done["transformers"].values()) < 1e-5
