"""Is a call that is wrong answered with one line: the value, the rule, the fix, and exit code 2, never a traceback?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import litebert
from cli.running import litebert as run
from cli.running import refused
from litebert.config import Config, ConfigError, Head, override
from litebert.errors import UserError
from litebert.files import FolderError
from litebert.model.model import build

TINY = Config(vocab=60, embedding=16, hidden=32, layers=3, heads=4, ffn=48, max_positions=40)

SETTINGS = {
    "an unknown field": ("layrs=6", "unknown field 'layrs': did you mean 'layers'?"),
    "nothing like a field": ("zzz=6", "unknown field 'zzz': choose one of activation, "),
    "heads that do not divide": ("heads=7", "hidden 768 is not divisible by heads 7: choose 3, 4, 6 or 8"),
    "no equals sign": ("layers", "--set 'layers' is not of the form field=value"),
    "no field": ("=6", "--set '=6' is not of the form field=value"),
    "nothing at all": ("", "--set '' is not of the form field=value"),
    "a word for a number": ("layers=six", "layers 'six': input should be a valid integer"),
    "no number": ("layers=", "layers '': input should be a valid integer"),
    "two equals signs": ("layers=6=7", "layers '6=7': input should be a valid integer"),
    "half a layer": ("layers=1.5", "layers '1.5': input should be a valid integer"),
    "a negative size": ("hidden=-768", "hidden -768 is too small: choose 1 or more"),
    "a choice that is none": ("sharing=some", "sharing 'some': input should be 'all', 'attention', 'ffn' or 'none'"),
    "an objective that is none": ("objectives=mlm,xyz", "objectives.1 'xyz': input should be 'mlm'"),
    "neither true nor false": ("embedding_norm=maybe", "embedding_norm 'maybe': input should be a valid boolean"),
    "a probability of one": ("dropout=1", "dropout 1.0 is not a probability below 1: choose 0.0 to 0.99"),
    "not a number": ("dropout=nan", "dropout nan is not a probability"),
    "more groups than layers": ("groups=13", "groups 13 exceeds layers 12"),
    "an order without a pooled vector": ("pooler=none", "read the pooled vector, but pooler is 'none': set pooler=cls"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_wrong_setting_is_refused_with_the_fix(name: str) -> None:
    assignment, message = SETTINGS[name]
    assert message in refused("describe", "albert-base", "--set", assignment)
    with pytest.raises(ConfigError) as caught:
        override(litebert.presets.preset("albert-base"), [assignment])
    assert message in str(caught.value)


@pytest.mark.parametrize("make,message", [
    (lambda: Config(hidden=10, heads=3), "hidden 10 is not divisible by heads 3: choose 1, 2, 5 or 10"),
    (lambda: Config(hiden=10), "unknown field 'hiden': did you mean 'hidden'?"),
    (lambda: Config(hidden="10"), "hidden '10': input should be a valid integer"),
    (lambda: TINY.but(layer=2), "unknown field 'layer': did you mean 'layers'?"),
    (lambda: Head(kind="clasify"), "kind 'clasify': input should be 'mlm'"),
    (lambda: Head(kind="tag", labels=0), "labels 0 is not a number of outputs: choose 1 or more"),
    (lambda: Head(kind="tag", labels=2, names=("a",)), "1 label names for 2 labels"),
    (lambda: litebert.presets.preset("albert-bas"), "unknown preset 'albert-bas': did you mean 'albert-base'?"),
    (lambda: litebert.load("albert-tiny", heads=["mml"]), "unknown head 'mml': did you mean 'mlm'?"),
    (lambda: litebert.load("albert-tiny", heads="mlm"), "heads 'mlm' is one word: write a list"),
    (lambda: litebert.load("albert-tiny", heads=4), "heads 4 is no list of what a model says: write heads=['mlm'], "
                                                    "and attention heads in the config, preset("),
    (lambda: litebert.load("albert-tiny", hiden=3), "unknown field 'hiden': did you mean 'hidden'?"),
], ids=lambda v: v if isinstance(v, str) else "")  # fmt: skip
def test_the_library_says_the_same(make: Any, message: str) -> None:
    with pytest.raises(UserError) as caught:
        make()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("call", [
    ["describe", "albert-bsae"], ["describe", "albert-bsae", "--json"], ["convert", "albert-bsae", "out"],
    ["bench", "forward", "--size", "albert-bsae"],
], ids=" ".join)  # fmt: skip
def test_an_unknown_preset_is_told_the_nearest(call: list[str], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert "'albert-bsae': did you mean 'albert-base'?" in refused(*call)
    assert list(tmp_path.iterdir()) == []


def test_a_name_like_no_preset_is_told_where_they_are_listed(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    line = "unknown preset or folder 'quux': `litebert presets` lists the presets (or name a folder that exists)"
    assert refused("describe", "quux") == refused("convert", "quux", "out") == line


PLACES = {
    "a path that does not exist": ("absent/model", "absent/model does not exist: name a folder that holds a model"),
    "a file for a folder": ("notes.txt", "notes.txt is a file: name the folder it lies in"),
    "the file in a folder": ("model/model.safetensors", "model.safetensors is a file: name the folder it lies in"),
    "an empty folder": ("empty", "empty has no model.safetensors: name a folder that holds a model"),
    "tensors alone": ("bare", "bare has tensors but neither config.json nor litebert.json: copy the config beside"),
    "something below a file": ("notes.txt/model", "notes.txt/model does not exist"),
}


@pytest.mark.parametrize("verb", ["describe", "convert"])
@pytest.mark.parametrize("name", PLACES)
def test_a_place_without_a_model_is_named(name: str, verb: str, tmp_path: Path) -> None:
    where, message = PLACES[name]
    litebert.save(build(TINY), tmp_path / "model")
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "empty").mkdir()
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare/model.safetensors").write_bytes((tmp_path / "model/model.safetensors").read_bytes())
    call = [verb, tmp_path / where] + ([tmp_path / "out"] if verb == "convert" else [])
    assert message in refused(*call)
    with pytest.raises(FolderError, match=message.replace(".", r"\.")):
        litebert.load(tmp_path / where)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "weights.pth", "last.ckpt"])
def test_a_pickle_is_refused_with_the_way_out_and_never_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "albert"}')
    torch.save({"a": torch.zeros(2)}, tmp_path / name)
    message = refused("convert", tmp_path, tmp_path / "out")
    assert f"{name} is a pickle, which can run code when it is read, and is refused" in message
    assert "save it again as safetensors" in message


@pytest.mark.parametrize("target,message", [
    ("file", "is a file: name a folder to write"), ("file/below", "cannot be made (Not a directory)"),
    ("full", "exists and is not empty: choose another folder, or add --overwrite"),
])  # fmt: skip
def test_a_target_that_cannot_be_written_is_refused_and_left_alone(target: str, message: str, tmp_path: Path) -> None:
    litebert.save(build(TINY), tmp_path / "model")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.txt").write_text("mine")
    assert message in refused("convert", tmp_path / "model", tmp_path / target)
    assert (tmp_path / "file").read_text() == (tmp_path / "full/mine.txt").read_text() == "mine"
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine.txt"]


def test_a_disk_that_fails_is_a_failed_run_and_leaves_nothing_half_written(tmp_path: Path, monkeypatch: Any) -> None:
    litebert.save(build(TINY), tmp_path / "model")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    done = run("convert", tmp_path / "model", tmp_path / "out")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "No space left on device" in done.err
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("length,message", [
    (41, "length 41 exceeds max_positions 40: choose a shorter text"),
    (100_000, "length 100000 exceeds max_positions 40"),
], ids=str)  # fmt: skip
def test_a_text_longer_than_the_positions_is_refused(length: int, message: str, tmp_path: Path) -> None:
    changes = [part for name in ("vocab", "hidden", "heads", "layers", "max_positions")
               for part in ("--set", f"{name}={getattr(TINY, name)}")]  # fmt: skip
    assert message in refused("bench", "forward", "--length", length, "--no-peer", *changes)
    with pytest.raises(ValueError, match=f"length {length} exceeds max_positions 40"):
        build(TINY)(torch.zeros(1, length, dtype=torch.long))


@pytest.mark.parametrize("call", [
    ["describ", "albert-base"], ["describe"], ["describe", "albert-base", "--jsn"], ["describe", "albert-base", "x"],
    ["describe", "albert-base", "--batch", "0"], ["convert", "a"], ["convert", "a", "b", "--groups", "0"],
    ["convert", "a", "b", "--embedding", "1"], ["bench", "forward", "--batch", "two"], ["bench", "backward"],
], ids=" ".join)  # fmt: skip
def test_a_call_that_does_not_parse_shows_how_and_ends_with_2(call: list[str]) -> None:
    done = run(*call)
    assert (done.code, done.out) == (2, "")
    assert "Usage: litebert" in done.err
    assert "Traceback" not in done.err
