"""`litebert fill-mask`: does it guess by what was learnt, tell it to people and programs, and refuse the rest?"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
import torch

from cli.running import litebert, refused
from litebert.interop import folder as folders
from litebert.vectors.fill import fill
from vectors import tiny


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose model says boat with 60 %, the ending -ing with 30."""
    made = tmp_path_factory.mktemp("fill") / "run"
    tokenizer = tiny.wordpiece_of()
    model = tiny.model_of(tokenizer)
    with torch.no_grad():
        model.embedding.word.weight.zero_()
        model.heads["mlm"].bias.fill_(-40.0)
        for name, share in (("boat", 0.6), ("##ing", 0.3), (".", 0.1)):
            model.heads["mlm"].bias[tokenizer.engine.token_to_id(name)] = torch.tensor(share).log()
    folders.save(model, made)
    tokenizer.save(made)
    return made


def test_guesses_are_told_with_their_probabilities(run: Path) -> None:
    done = litebert("fill-mask", run, "the [MASK] sails", "--top", 3)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "the boat sails"
    assert [line.split()[:2] for line in lines[1:]] == [["60.00%", "boat"], ["30.00%", "·ing"], ["10.00%", "."]]
    assert [line.count("█") for line in lines[1:]] == [14, 7, 2]


def test_a_guess_that_is_a_blank_is_seen(tmp_path: Path) -> None:
    tokenizer = tiny.unigram_of()
    model = tiny.model_of(tokenizer)
    with torch.no_grad():
        model.heads["mlm"].bias[tokenizer.engine.token_to_id("▁")] = 40.0
    folders.save(model, tmp_path)
    tokenizer.save(tmp_path)
    assert litebert("fill-mask", tmp_path, "the [MASK]", "--top", 1).out.splitlines()[1].split()[:2] == ["100.00%", "␣"]


def test_json_holds_what_python_gets(run: Path) -> None:
    texts = ["the [MASK] sails", "a [MASK] and a [MASK]"]
    done = litebert("fill-mask", run, *texts, "--top", 2, "--json")
    found = fill(folders.load(run), tiny.wordpiece_of(), texts, 2)
    assert [one["text"] for one in done.value["texts"]] == texts
    assert [one["best"] for one in done.value["texts"]] == ["the boat sails", "a boat and a boat"]
    for one, expected in zip(done.value["texts"], found, strict=True):
        assert one["masks"] == [[guess._asdict() for guess in mask] for mask in expected.masks]


def test_lines_of_standard_input_are_filled(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"the [MASK]\n[MASK] and [MASK]\n")))
    done = litebert("fill-mask", run, "--top", 1)
    assert [line for line in done.out.splitlines() if line[:1] not in ("", " ")] == ["the boat", "boat and boat"]
    assert done.out.count("  mask ") == 2


def test_a_model_that_learnt_no_words_is_refused_and_none_is_drawn_for_it(run: Path, tmp_path: Path) -> None:
    tokenizer = tiny.wordpiece_of()
    folders.save(tiny.model_of(tokenizer, heads=["order"]), tmp_path / "other")
    tokenizer.save(tmp_path / "other")
    said = refused("fill-mask", tmp_path / "other", "the [MASK]")
    assert said == "this model guesses no words (heads: order): use one that was trained with mlm"


def test_wrong_calls_are_refused_in_a_line(run: Path, tmp_path: Path) -> None:
    assert "'the boat' has no [MASK]: write [MASK] where" in refused("fill-mask", run, "the boat")
    assert "60 tokens and the model reads 30" in refused("fill-mask", run, "[MASK] " * 60)
    assert "does not exist: name the folder of a run" in refused("fill-mask", "albert-base", "[MASK]")
    (tmp_path / "empty").mkdir()
    assert "name a folder that holds a model" in refused("fill-mask", tmp_path / "empty", "[MASK]")
    (tmp_path / "empty" / "log.jsonl").touch()
    assert "holds a run without its model yet: let it end" in refused("fill-mask", tmp_path / "empty", "[MASK]")
    folders.save(tiny.model_of(tiny.wordpiece_of()), tmp_path / "bare")
    assert "has no tokenizer.json" in refused("fill-mask", tmp_path / "bare", "[MASK]")
    assert litebert("fill-mask", run, "[MASK]", "--top", 0).code == 2
