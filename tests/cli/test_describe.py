"""Does `litebert describe` tell a preset, a variation and a folder for what they are, in both of its forms?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import litebert
from cli.running import litebert as run
from litebert import presets
from litebert.config import Config, Head, build
from litebert.model import model
from litebert.model.sharing import sharing_map

TINY = Config(vocab=60, embedding=16, hidden=32, layers=4, heads=4, ffn=48, max_positions=40)


def test_the_tables_show_what_is_shared_counted_and_spent() -> None:
    done = run("describe", "albert-base")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "albert-base, of the family of albert"
    assert "  sharing all: attention [0×12]  ffn [0×12]" in lines
    for words in ("word embedding 3,840,000", "ffn 4,723,968 56,687,616", "total, with pooler 11,683,584",
                  "without pooler 11,092,992", "to pre-train, with heads 11,813,810",
                  "multiply-adds of the blocks 11.2 G 48.3 G"):  # fmt: skip
        assert words in [" ".join(line.split()) for line in lines], words


@pytest.mark.parametrize("changes,shown", [
    ([], "attention [0×12] ffn [0×12]"), (["sharing=none"], "attention [0…11] ffn [0…11]"),
    (["groups=3"], "attention [0×4 1×4 2×4] ffn [0×4 1×4 2×4]"), (["sharing=attention"], "attention [0×12] ffn [0…11]"),
    (["sharing=ffn", "layers=2"], "attention [0 1] ffn [0×2]"),
    (["inner=2"], "attention [(0 1)×12] ffn [(0 1)×12]"),
], ids=str)  # fmt: skip
def test_the_map_of_sharing_reads_as_it_runs(changes: list[str], shown: str) -> None:
    done = run("describe", "albert-base", *(part for change in changes for part in ("--set", change)))
    assert shown in " ".join(done.out.split())


@pytest.mark.parametrize("name", presets.names())
def test_json_holds_the_whole_account(name: str) -> None:
    value = run("describe", name, "--json").value
    config = presets.preset(name)
    assert build(value["config"]) == config
    assert (value["name"], value["heads"]) == (name, {})
    stored = sharing_map(config)
    assert value["sharing"] == {"attention": list(stored.attention), "ffn": list(stored.ffn)}
    counts = value["parameters"]
    body = sum(count for part, count in counts["components"].items() if not part.startswith("head "))
    assert counts["total"] == body >= counts["without_pooler"]
    assert list(value["macs"]) == ["128", "512"]
    for length in ("128", "512"):
        outside = sum(value["macs_by_component"][length].get(part, 0) for part in ("mapping", "pooler"))
        assert value["flops"][length] == 2 * (value["macs"][length] + outside)
        assert value["bytes"]["run"][length] > value["bytes"]["weights"] == 4 * counts["total"]
        assert sum(value["bytes"]["train"][length].values()) > 4 * value["bytes"]["weights"]


def test_json_is_one_line_and_all_there_is() -> None:
    done = run("describe", "albert-base", "--json")
    assert done.out.count("\n") == 1
    assert done.value == json.loads(done.out)


def test_settings_change_the_account_together() -> None:
    """hidden=64 alone would not go with 12 heads: settings are judged as a whole, in whatever order."""
    settings = [part for one in ("hidden=64", "heads=4", "ffn=100", "vocab=1_000") for part in ("--set", one)]
    value = run("describe", "albert-base", "--json", *settings).value
    assert build(value["config"]) == presets.preset("albert-base").but(hidden=64, heads=4, ffn=100, vocab=1000)
    again = run("describe", "albert-base", "--json", "--set", "objectives=mlm", "--set", "pooler=none").value
    assert again["config"]["objectives"] == ["mlm"]
    assert again["parameters"]["total"] == again["parameters"]["without_pooler"] == 11_092_992


def test_batch_scales_the_activations_and_nothing_else() -> None:
    one, four = (run("describe", "albert-tiny", "--json", "--batch", n).value["bytes"]["train"]["128"] for n in (1, 4))
    assert four["activations"] == pytest.approx(4 * one["activations"], rel=0.01)
    assert {part: one[part] for part in ("weights", "gradients", "optimizer")} == {
        part: four[part] for part in ("weights", "gradients", "optimizer")
    }


@pytest.mark.parametrize("to", ["hf", "litebert"])
def test_a_folder_is_told_with_its_heads_and_labels(to: Any, tmp_path: Path) -> None:
    heads = {"mlm": Head(kind="mlm"), "classify": Head(kind="classify", labels=2, names=("law", "rest"))}
    litebert.save(model.build(TINY, heads), tmp_path, to)
    value = run("describe", tmp_path, "--json").value
    assert list(value["heads"]) == ["mlm", "classify"]
    assert value["heads"]["classify"]["names"] == ["law", "rest"]
    assert build(value["config"]) == TINY
    assert list(value["macs"]) == ["40"], "no length is told that the model cannot read"
    assert "heads mlm, classify (law, rest)" in run("describe", tmp_path).out


def test_a_folder_of_transformers_alone_is_told_too(tmp_path: Path) -> None:
    litebert.save(model.build(TINY, {"tag": 5}), tmp_path)
    (tmp_path / "litebert.json").unlink()
    value = run("describe", tmp_path, "--json", "--set", "dropout=0.2").value
    assert (value["family"], value["heads"]["tag"]["labels"]) == ("albert", 5)
    assert value["config"]["dropout"] == 0.2
    assert value["parameters"]["components"]["head tag"] == 5 * 32 + 5


def test_the_name_of_a_preset_is_a_preset_whatever_file_lies_here(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "albert-base").write_text("notes")
    assert run("describe", "albert-base", "--json").value["parameters"]["total"] == 11_683_584


@pytest.mark.parametrize("name", ["[red]", "[/]", "a [link=x]b[/link]", "模型 ü"])
def test_names_are_shown_as_they_are(name: str, tmp_path: Path) -> None:
    """Square brackets are markup to rich: a name must neither vanish nor break the page."""
    folder = tmp_path / name
    heads = {"classify": Head(kind="classify", labels=2, names=("[b]", "[/i]"))}
    litebert.save(model.build(TINY, heads), folder)
    done = run("describe", folder)
    assert done.code == 0
    assert done.out.startswith(f"{folder}, of the family of albert")
    assert "classify ([b], [/i])" in done.out
    assert f"{tmp_path / 'out'}{name} written" in run("convert", folder, f"{tmp_path / 'out'}{name}").out
