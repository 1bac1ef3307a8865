"""Are all combinations trained, the best first, and may a sweep be stopped as any fine-tuning?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from litebert import files
from litebert.config import ConfigError
from litebert.errors import UserError
from litebert.files import FolderError
from litebert.tasks import prepared as preparing
from litebert.tasks import sources, trained
from litebert.tasks.finetune import begin
from litebert.tasks.prepared import Prepared
from litebert.tasks.sweep import sweep, values
from tasks.tuned import SETTINGS, everything, place, tuned

TRIED = {"rate": [1e-9, 5e-3], "batch": [8, 16]}


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Model and data."""
    return place(tmp_path_factory.mktemp("where"))


def prepared(where: Path, **more: Any) -> Prepared:
    """The same as `tuned` trains."""
    shaped = begin(where / "model")
    settings = preparing.tuning("classify", shaped, {**SETTINGS, **more})
    found = sources.source("classify", where / "data")
    return preparing.prepare(shaped, found, settings, {}, torch.device("cpu"))


def test_values_are_read_as_settings() -> None:
    assert values(["rate=1e-4,2e-4", "batch=16,32", "schedule=linear,constant"]) == {
        "rate": [1e-4, 2e-4], "batch": [16, 32], "schedule": ["linear", "constant"]
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param(["rate"], "is not of the form name=value,value", id="no values"),
        pytest.param(["rat=1,2"], "unknown setting 'rat'", id="an unknown setting"),
        pytest.param(["rate=1,2", "rate=3"], "is given twice", id="twice"),
    ],
)
def test_a_wrong_sweep_is_refused(given: list[str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        values(given)


def test_every_combination_is_trained_and_the_best_is_the_first(where: Path, tmp_path: Path) -> None:
    done = sweep(prepared(where), tmp_path / "sweep", TRIED, 2)
    assert sorted(path.name for path in (tmp_path / "sweep").iterdir()) == [
        "rate=0.005,batch=16", "rate=0.005,batch=8", "rate=1e-09,batch=16", "rate=1e-09,batch=8", "sweep.json"
    ]  # fmt: skip
    medians = [point.median for point in done.points]
    assert medians == sorted(medians, reverse=True)
    assert [one["values"] for one in files.read_json(tmp_path / "sweep" / "sweep.json")["points"]] == [
        point.values for point in done.points
    ]  # fmt: skip
    tuned(where, tmp_path / "alone", 2, batch=16)
    assert everything(tmp_path / "sweep" / "rate=0.005,batch=16") == everything(tmp_path / "alone")


def test_stopped_it_goes_on(where: Path, tmp_path: Path) -> None:
    made, tried = prepared(where), {"batch": [8, 16]}
    sweep(made, tmp_path / "whole", tried)
    sittings = 0
    while sweep(made, tmp_path / "parts", tried, asked_to_stop=iter([False] * 9 + [True] * 9).__next__).stopped:
        sittings += 1
    assert sittings > 1
    for name in ("batch=8", "batch=16"):
        assert everything(tmp_path / "parts" / name) == everything(tmp_path / "whole" / name)


def test_a_bad_combination_is_refused_before_any_is_trained(where: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="exceeds the 32 positions"):
        sweep(prepared(where), tmp_path / "sweep", {"length": [16, 64]})
    assert not (tmp_path / "sweep").exists()
    with pytest.raises(UserError, match="400 combinations are more than 200"):
        sweep(prepared(where), tmp_path / "sweep", {"seed": list(range(400))})


def test_a_sweep_and_a_fine_tuning_do_not_share_a_folder(where: Path, tmp_path: Path) -> None:
    tuned(where, tmp_path / "one", steps=1)
    with pytest.raises(UserError, match="holds one fine-tuning, and a sweep is a folder of several"):
        sweep(prepared(where), tmp_path / "one", {"batch": [8]})
    sweep(prepared(where, steps=1), tmp_path / "two", {"batch": [8]})
    with pytest.raises(UserError, match="and no fine-tuning: name another folder"):
        tuned(where, tmp_path / "two", steps=1)


def test_who_asks_a_sweep_is_told_the_name_of_a_point(where: Path, tmp_path: Path) -> None:
    sweep(prepared(where, steps=1), tmp_path / "sweep", {"batch": [8]})
    with pytest.raises(FolderError, match=r"is a sweep: name the fine-tuning of one of its points, as .*sweep.batch=8"):
        trained.load(tmp_path / "sweep")
