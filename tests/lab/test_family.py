"""Do the twins of the demonstration notice what they are there to notice?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from litebert import family as families
from litebert import presets
from litebert.config import Config
from litebert.interop import folder
from litebert.lab import family
from litebert.model.attention import Attention
from litebert.model.model import Model, build

MEMBERS = ["albert-base", "bert-base", "roberta-base", "xlnet-base", "unilm-base", "electra-small",
           "albert-xlarge-unshared"]  # fmt: skip


@pytest.mark.parametrize("name", MEMBERS)
def test_a_twin_of_every_family_passes_every_check(name: str) -> None:
    found = family.check(family.shrunk(presets.preset(name)))
    assert list(found) == ["parameters", "paths", "padding", "reload"]
    assert {what for what, (_, held) in found.items() if not held} == set()
    assert found["reload"][0] == "0", "a folder gives back what it was given, not something near it"


@pytest.mark.parametrize("name", presets.names())
def test_a_twin_is_of_its_preset_s_kind_and_small(name: str) -> None:
    config = presets.preset(name)
    twin = family.shrunk(config)
    assert families.family(twin) == families.family(config)
    sizes = {"vocab", "hidden", "heads", "layers", "ffn", "embedding", "max_positions", "memory", "reuse", "init_std"}
    assert set(config.diff(twin)) <= sizes
    assert twin.mapped == config.mapped
    assert sum(p.numel() for p in build(twin, device="meta").parameters()) < 250_000


CONFIG = family.shrunk(presets.preset("albert-base"))


def held(config: Config = CONFIG) -> dict[str, bool]:
    return {what: good for what, (_, good) in family.check(config).items()}


def test_a_parameter_too_many_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(family.cost, "parameters", lambda *_: {"all": 1})
    assert held() == {"parameters": False, "paths": True, "padding": True, "reload": True}


def test_two_paths_that_disagree_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Attention.read

    def uneven(self: Attention, hidden: Any, key: Any, value: Any, around: Any, biases: Any = None) -> Any:
        return read(self, hidden, key, value, around, biases) + 1e-4 * (around.path == "fused")

    monkeypatch.setattr(Attention, "read", uneven)
    assert held() == {"parameters": True, "paths": False, "padding": True, "reload": True}


def test_padding_that_is_looked_at_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Model, "_visible", lambda *_: None)
    assert held() == {"parameters": True, "paths": True, "padding": False, "reload": True}


def test_a_folder_that_changes_a_number_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def rounded(model: Model, place: str) -> str:
        with torch.no_grad():
            copy = build(model.config, model.specs)
            copy.load_state_dict({k: v.half().float() for k, v in model.state_dict().items()})
        return save(copy, place)

    save = folder.save
    monkeypatch.setattr(folder, "save", rounded)
    assert held() == {"parameters": True, "paths": True, "padding": True, "reload": False}


def test_the_report_names_what_failed(tmp_path: Path) -> None:
    good = family.Twin("one", "albert", 11_683_584, "attention [0×12]", {"paths": ("1e-07", True)})
    bad = family.Twin("two", "bert", 5, "attention [0…11]", {"paths": ("3e-01", False)})
    page = family.write_report([good, bad], tmp_path / "deep/down")
    assert page == tmp_path / "deep/down/family.md"
    lines = page.read_text().splitlines()
    assert "| one | albert | 11,683,584 | attention [0×12] | 1e-07 |" in lines
    assert "| two | bert | 5 | attention [0…11] | 3e-01 **FAILED** |" in lines
    values = json.loads((tmp_path / "deep/down/family.json").read_text())
    assert [(value["name"], value["passed"]) for value in values] == [("one", True), ("two", False)]
