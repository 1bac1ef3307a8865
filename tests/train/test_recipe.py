"""Is a run's file the run, and is every mistake in it one line with the fix?"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from litebert import presets
from litebert.config import ConfigError
from litebert.data import recipe as data_recipes
from litebert.optim import rule as rules
from litebert.optim.schedule import Schedule
from litebert.train import recipe
from litebert.train.recipe import Phase, Run

FULL = """
start = "somewhere"

[model]
preset = "albert-base"
layers = 6
dropout = 0.1

[data]
recipe = "albert"
length = 128

[optimizer]
rule = "lamb"
decay = 0.02

[schedule]
kind = "google"
peak = 1.76e-3
warmup = 3125
total = "125000 steps"

[training]
batch = 4096
seed = 7

[[phase]]
share = 0.9
length = 128

[[phase]]
share = 0.1
length = 512
batch = 256
"""


def back(run: Run) -> Run:
    """Through its file."""
    return recipe.build(tomllib.loads(recipe.as_toml(run)))


def test_a_file_is_what_it_says_on_top_of_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(FULL)
    run = recipe.load(tmp_path / "x.toml")
    base = presets.preset("albert-base")
    assert run.model == base.but(layers=6, dropout=0.1)
    assert run.data == data_recipes.recipe("albert", length=128)
    assert run.optimizer == rules.rule("lamb", decay=0.02)
    assert run.schedule == Schedule(kind="google", peak=1.76e-3, warmup=3125.0, total=125000.0, unit="steps")
    assert (run.training.batch, run.training.seed, run.start) == (4096, 7, "somewhere")
    assert run.phases == (Phase(share=0.9, length=128), Phase(share=0.1, length=512, batch=256))


def test_the_resolved_file_gives_back_the_same_run(tmp_path: Path) -> None:
    run = recipe.build(tomllib.loads(FULL))
    assert back(run) == run
    recipe.save(run, tmp_path / "recipe.toml")
    assert recipe.load(tmp_path / "recipe.toml") == run
    assert [p.name for p in tmp_path.iterdir()] == ["recipe.toml"]
    assert back(Run()) == Run()


@pytest.mark.parametrize("rule", rules.names())
@pytest.mark.parametrize("data", data_recipes.names())
def test_every_data_recipe_and_rule_comes_back(data: str, rule: str) -> None:
    run = recipe.build({"model": {"objectives": ["mlm"]}, "data": {"recipe": data}, "optimizer": {"rule": rule}})
    assert back(run) == run


@pytest.mark.parametrize("name", [name for name in presets.names() if name.startswith(("albert", "bert", "roberta"))])
def test_every_preset_comes_back(name: str) -> None:
    config = presets.preset(name)
    packing = "nsp" if "nsp" in config.objectives else "sop"
    run = recipe.build({"model": {"preset": name}, "data": {"packing": packing, "length": 64}})
    assert run.model == config
    assert back(run) == run


@given(
    start=st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    peak=st.floats(1e-12, 1e3), total=st.floats(1.0, 1e15), seed=st.integers(0, 2**40), share=st.floats(0.01, 0.99),
)  # fmt: skip
def test_numbers_and_names_of_any_kind_come_back(
    start: str, peak: float, total: float, seed: int, share: float
) -> None:
    run = recipe.build({
        "start": start, "schedule": {"kind": "cosine", "peak": peak, "total": total}, "training": {"seed": seed},
        "phase": [{"share": share, "length": 128}, {"share": 1.0 - share, "length": 512}],
    })  # fmt: skip
    assert back(run) == run


@pytest.mark.parametrize(
    "text, number, unit",
    [
        ("55 minutes", 3300.0, "seconds"),
        ("1.5 hours", 5400.0, "seconds"),
        ("2 days", 172800.0, "seconds"),
        ("90 seconds", 90.0, "seconds"),
        ("90seconds", 90.0, "seconds"),
        (" 125_000 steps ", 125000.0, "steps"),
        ("2e9 tokens", 2e9, "tokens"),
        ("1E+3 steps", 1000.0, "steps"),
    ],
)
def test_an_amount_is_a_number_and_a_unit(text: str, number: float, unit: str) -> None:
    assert recipe.amount(text) == (number, unit)
    run = recipe.build({"schedule": {"kind": "linear", "peak": 1e-3, "total": text}})
    assert (run.schedule.total, run.schedule.unit) == (number, unit)


@pytest.mark.parametrize("text", ["55", "55 min", "minutes", "-3 steps", "3 steps more", "1e steps", "1.2.3 hours", ""])
def test_what_is_no_amount_is_said_to_be_none(text: str) -> None:
    with pytest.raises(ConfigError, match=r"total '.*' is not an? (amount|number of \w+): write for example"):
        recipe.amount(text)


@pytest.mark.parametrize(
    "tables, message",
    [
        ({"modle": {}}, "unknown table 'modle': did you mean 'model'?"),
        ({"phases": []}, "unknown table 'phases': did you mean 'phase'?"),
        ({"model": {"layer": 3}}, "unknown field 'layer': did you mean 'layers'?"),
        ({"model": {"preset": "albert-bas"}}, "did you mean 'albert-base'?"),
        ({"data": {"lenght": 3}}, "unknown data field 'lenght': did you mean 'length'?"),
        ({"data": {"recipe": "alberd"}}, "unknown recipe 'alberd': did you mean 'albert'?"),
        ({"optimizer": {"rule": "lam"}}, "unknown optimizer 'lam': did you mean 'lamb'?"),
        ({"optimizer": {"deacy": 0.1}}, "unknown rule field 'deacy': did you mean 'decay'?"),
        ({"schedule": {"peek": 1e-3}}, "unknown schedule field 'peek': did you mean 'peak'?"),
        ({"training": {"bacth": 3}}, "unknown training field 'bacth': did you mean 'batch'?"),
        ({"phase": [{"share": 1.0, "size": 3, "length": 128}]}, "unknown phase field 'size'"),
        ({"training": {"batch": "many"}}, "batch 'many'"),
        ({"training": {"precision": "half"}}, "precision 'half'"),
        ({"training": {"batch": 0}}, "batch 0 and tokens 0: give one of them, set the other to 0"),
        ({"training": {"tokens": 4096}}, "batch 64 and tokens 4096: give one of them"),
        ({"training": {"micro": -1}}, "micro -1 is negative"),
        ({"training": {"keep": 0}}, "keep 0 is too small"),
        ({"phase": [{"share": 0.0, "length": 128}]}, "share 0.0 of a phase is not a part of the run"),
        ({"phase": [{"share": 1.0, "length": 4}]}, "phase of length 4 and batch 0"),
        ({"phase": [{"share": 0.5, "length": 64}]}, "the shares of the phases add up to 0.5: they must add up to 1"),
        ({"phase": [{"share": 0.5, "length": 64}, {"share": 0.5, "length": 600}]},
         "length 600 exceeds max_positions 512: set model.max_positions=600"),
        ({"schedule": {"kind": "constant", "peak": 1e-3},
          "phase": [{"share": 0.5, "length": 64}, {"share": 0.5, "length": 128}]}, "phases need an end"),
        ({"data": {"recipe": "roberta"}}, "objective 'sop' needs pairs, but data.packing is 'full-sentences'"),
        ({"model": {"objectives": ["mlm", "nsp"]}}, "objective 'nsp' needs pairs, but data.packing is 'sop'"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_the_fix(tables: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        recipe.build(tables)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_changes_of_the_command_line_are_read_as_toml_and_as_text_where_they_are_none(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(FULL)
    changes = [
        "model.dropout=0.2", "schedule.total=55 minutes", "model.objectives=['mlm']", "start=a/b", "schedule.warmup=10",
        "optimizer.rule=adamw", "training.tokens=1_000_000", "training.batch=0",
    ]  # fmt: skip
    run = recipe.load(tmp_path / "x.toml", changes)
    assert (run.model.dropout, run.model.objectives, run.start) == (0.2, ("mlm",), "a/b")
    assert (run.schedule.total, run.schedule.unit) == (3300.0, "seconds")
    assert run.optimizer == rules.rule("adamw", decay=0.02)
    assert (run.training.tokens, run.training.batch) == (1_000_000, 0)


@pytest.mark.parametrize(
    "change, message",
    [
        ("layers=3", "--set 'layers=3' is not of the form table.field=value"),
        ("model.layers", "--set 'model.layers' is not of the form table.field=value"),
        ("modell.layers=3", "unknown table 'modell': did you mean 'model'?"),
        ("model.layer=3", "unknown field 'layer': did you mean 'layers'?"),
        ("phase.share=1", "phases are a list, change them in the TOML file"),
        ("model.layers=three", "layers 'three'"),
        (
            "model.layers=3",
            "--set 'model.layers=3' cannot change the model of somewhere, which is there already: leave it",
        ),
        ("model.preset=albert-tiny", "cannot change the model of somewhere"),
        ("data.length=64", "--set 'data.length=64': every phase has a length of its own, change them in the TOML file"),
        ("schedule.total=0 steps", "total '0 steps' trains nothing: write for example '55 minutes'"),
    ],
)
def test_a_wrong_change_is_one_line_with_the_fix(tmp_path: Path, change: str, message: str) -> None:
    (tmp_path / "x.toml").write_text(FULL)
    with pytest.raises(ConfigError) as caught:
        recipe.load(tmp_path / "x.toml", [change])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_batch_that_a_phase_repeats_follows_a_change_of_it(tmp_path: Path) -> None:
    small = recipe.load("bert-base", ["training.batch=16"])
    assert [phase.batch for phase in small.stretches()] == [16, 16]
    assert [phase.batch for phase in recipe.load("bert-base").stretches()] == [256, 256]
    (tmp_path / "x.toml").write_text(FULL)  # a phase that has another batch keeps it
    assert [phase.batch for phase in recipe.load(tmp_path / "x.toml", ["training.batch=16"]).phases] == [0, 256]


def test_a_recipe_is_named_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "_shipped", lambda: tmp_path)
    (tmp_path / "small-one.toml").write_text("# A small one, for a laptop.\n[training]\nbatch = 8\n")
    assert recipe.named() == ["small-one"]
    assert recipe.told("small-one") == "A small one, for a laptop."
    assert recipe.load("small-one").training.batch == 8
    with pytest.raises(ConfigError, match="unknown recipe 'small-on': did you mean 'small-one'"):
        recipe.load("small-on")
    with pytest.raises(ConfigError, match=r"none.toml does not exist: name a TOML file, or one of small-one"):
        recipe.load(tmp_path / "none.toml")
    (tmp_path / "torn.toml").write_text("[training\n")
    with pytest.raises(ConfigError, match=r"torn.toml is not valid TOML \(.*line 1.*\): mend that line"):
        recipe.load(tmp_path / "torn.toml")


def test_a_run_is_in_the_phase_of_its_share() -> None:
    run = recipe.build(tomllib.loads(FULL))
    assert [run.phase_at(share) for share in (0.0, 0.5, 0.8999, 0.9, 0.95, 1.0)] == [0, 0, 0, 1, 1, 1]
    thirds = run.but(phases=tuple(Phase(share=1 / 3, length=64) for _ in range(3)))
    assert [thirds.phase_at(n / 30) for n in (9, 10, 19, 20, 30)] == [0, 1, 1, 2, 2]
    assert Run().stretches() == (Phase(share=1.0, length=128, batch=64),)
