"""Is a run's log read as it was written: finished, interrupted, cut off, or of another kind?"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from lab import runs
from litebert.errors import UserError
from litebert.lab.history import History
from vectors import tiny


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's folder."""
    made = tmp_path_factory.mktemp("history") / "one"
    runs.run(made, tiny.wordpiece_of(), finished=False)
    return made


def logged(tmp_path: Path, *events: dict[str, object], tail: str = "") -> History:
    """The history of a log of just these events."""
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events) + tail)
    return History(tmp_path)


def test_series_are_those_of_the_log_against_all_three_counts(folder: Path) -> None:
    history = History(folder)
    steps = [event for event in history.events if event["event"] == "step"]
    found = history.series("step", "norm")
    assert found.value == [event["norm"] for event in steps]
    assert (found.step, found.tokens, found.seconds) == tuple(
        [float(event[name]) for event in steps] for name in ("step", "tokens", "seconds")
    )
    held = history.series("evaluation", "mlm_accuracy", 100.0)
    assert held.value == [100 * e["mlm_accuracy"] for e in history.events if e["event"] == "evaluation"]


def test_the_outcome_is_that_of_the_last_evaluation(folder: Path) -> None:
    history = History(folder)
    event = runs.last(history.events, "evaluation")
    assert history.outcome("mlm") == ("mlm", event["mlm"], event["mlm_accuracy"], 321, True)
    assert history.outcome("sop") == ("sop", event["sop"], event["sop_accuracy"], 64, True)
    assert history.outcome("nsp") is None
    assert history.objectives == ["mlm", "sop"]
    assert (history.floor, history.most_frequent) == (runs.FLOOR, 0.0625)
    assert history.last["step"] == runs.STEPS


def test_without_an_evaluation_the_last_steps_speak(tmp_path: Path) -> None:
    steps = [{"event": "step", "step": i, "tokens": i, "seconds": i, "mlm": float(i), "mlm_accuracy": i / 100}
             for i in range(1, 41)]  # fmt: skip
    outcome = logged(tmp_path, *steps).outcome("mlm")
    assert outcome is not None
    assert (outcome.loss, outcome.asked, outcome.held_out) == (30.5, 0, False)
    assert outcome.accuracy == pytest.approx(0.305)


def test_what_is_no_number_is_left_out_of_a_series(tmp_path: Path) -> None:
    where = {"event": "step", "tokens": 1, "seconds": 1.0}
    values = [1.0, math.nan, math.inf, None, "2", True, 3]
    history = logged(tmp_path, *({**where, "step": i, "norm": value} for i, value in enumerate(values)))
    assert history.series("step", "norm").value == [1.0, 3.0]
    assert history.series("step", "norm").step == [0.0, 6.0]


def test_a_line_that_a_crash_cut_off_is_left_out(tmp_path: Path) -> None:
    history = logged(tmp_path, {"event": "start", "floor": 3.0}, tail='{"event": "step", "st')
    assert len(history.events) == 1
    assert history.floor == 3.0
    assert history.speed is None
    assert history.trust() == {}


def test_trust_ratios_come_tensor_by_tensor(folder: Path) -> None:
    history = History(folder)
    recorded = [event for event in history.events if "trust" in event]
    assert [event["step"] for event in recorded] == [1, 21, 41]
    found = history.trust()
    assert set(found) == set(recorded[0]["trust"])
    assert found["embedding.word.weight"].value == [e["trust"]["embedding.word.weight"] for e in recorded]
    assert found["embedding.word.weight"].step == [1, 21, 41]


def test_the_speed_is_that_of_a_step_in_the_middle(folder: Path) -> None:
    history = History(folder)
    speeds = sorted(event["tokens_per_s"] for event in history.steps)
    assert history.speed == (speeds[29] + speeds[30]) / 2
    shares = sorted(event["share_of_peak"] for event in history.steps)
    assert history.share_of_peak == (shares[29] + shares[30]) / 2


def test_interruptions_and_warnings_are_counted(tmp_path: Path) -> None:
    resume, warning = {"event": "resume", "step": 3}, {"event": "warning", "kind": "order", "text": "t", "step": 3}
    history = logged(tmp_path, {"event": "start"}, resume, warning, resume, {"event": "diverged", "step": 9})
    assert (history.resumed, len(history.warnings), len(history.diverged)) == (2, 1, 1)


def test_a_recipe_of_another_version_is_told_not_hidden(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text("[model]\nhiden = 3\n")
    history = logged(tmp_path, {"event": "start"})
    assert history.run is None
    assert "unknown field 'hiden': did you mean 'hidden'" in history.unreadable
    assert history.recipe_text == "[model]\nhiden = 3\n"


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere is no folder: name the folder of a run"):
        History(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"holds no log\.jsonl"):
        History(tmp_path)
    (tmp_path / "log.jsonl").write_text("")
    with pytest.raises(UserError, match="holds no event"):
        History(tmp_path)
