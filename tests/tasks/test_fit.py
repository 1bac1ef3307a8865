"""Is a seed trained to the same bytes whatever interrupts it, and is it the best evaluation that is kept?"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from litebert import files
from litebert.interop import tensors
from litebert.tasks import fit as fitting
from litebert.tasks.batches import Table
from litebert.tasks.evaluation import Asked
from litebert.tasks.fit import CHECKPOINTS, PREDICTIONS, SCORES, Fitted, Ready, fit
from litebert.train import checkpoint, record
from tasks.toy import Boats, ready, saved_model, texts


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model to begin from."""
    return saved_model(tmp_path_factory.mktemp("model"))


def trained(made: Ready, folder: Path, seed: int = 0, **more: Any) -> Fitted:
    """To the end."""
    done = fit(made, seed, folder, **more)
    assert done is not None
    return done


def outcome(folder: Path) -> dict[str, Any]:
    """What a seed came to, clock times and how often it was begun aside."""
    log = [record.timeless(event) for event in record.read(folder) if event["event"] not in ("start", "resume")]
    scores = {name: value for name, value in files.read_json(folder / SCORES).items() if name != "seconds"}
    return {"model": files.digest(folder / tensors.NAME), "answers": files.digest(folder / PREDICTIONS),
            "scores": scores, "log": log}  # fmt: skip


class Scripted(Boats):
    """Scores as they are written down."""

    def __init__(self, scores: Iterable[float]) -> None:
        super().__init__()
        self._scores = iter(scores)

    def score(self, examples: Sequence[Any], predictions: Sequence[Any]) -> dict[str, float]:
        return {"accuracy": next(self._scores), "boats": 0.0}


def of(events: list[Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    """The events of a kind."""
    return [event for event in events if event["event"] == kind]


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(model: Path, tmp_path: Path) -> None:
    made = ready(model)
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        trained(made, tmp_path / name, seed)
    assert outcome(tmp_path / "one") == outcome(tmp_path / "two")
    assert outcome(tmp_path / "one")["model"] != outcome(tmp_path / "three")["model"]


def test_stopped_after_any_step_and_gone_on_with_it_comes_to_the_same(model: Path, tmp_path: Path) -> None:
    made = ready(model)
    trained(made, tmp_path / "whole")
    folder, sittings = tmp_path / "parts", 0
    while (done := fit(made, 0, folder, asked_to_stop=lambda: True)) is None:
        sittings += 1
    assert sittings == made.total - 1
    assert outcome(folder) == outcome(tmp_path / "whole")
    assert trained(made, folder) == done  # a finished seed is not trained again
    assert not (folder / CHECKPOINTS).exists()


def test_a_damaged_checkpoint_is_told_and_costs_only_time(model: Path, tmp_path: Path) -> None:
    made, folder = ready(model), tmp_path / "run"
    trained(made, tmp_path / "whole")
    calls = iter([False] * 3 + [True])
    assert fit(made, 0, folder, asked_to_stop=lambda: next(calls)) is None
    for step in checkpoint.steps(folder / CHECKPOINTS):
        (checkpoint.path_of(folder / CHECKPOINTS, step) / "model.safetensors").write_bytes(b"torn")
    told: list[Mapping[str, Any]] = []
    trained(made, folder, tell=told.append)
    assert [event["kind"] for event in of(told, "warning")][:1] == ["checkpoint"]
    found, whole = outcome(folder), outcome(tmp_path / "whole")
    assert found["model"] == whole["model"]
    assert [event for event in found["log"] if event.get("kind") != "checkpoint"] == whole["log"]


def test_it_learns_what_can_be_learnt(model: Path, tmp_path: Path) -> None:
    made = ready(model, train=400, dev=60, epochs=4.0, dropout=0.0)
    done = trained(made, tmp_path)
    assert done.scores["accuracy"] > 0.9
    assert done.collapsed == ""
    losses = [event["loss"] for event in of(record.read(tmp_path), "step")]
    assert sum(losses[-20:]) < sum(losses[:20]) / 2


def test_the_best_evaluation_is_kept_and_the_first_of_equals(model: Path, tmp_path: Path) -> None:
    made = ready(model, Scripted([0.2, 0.7, 0.7, 0.1]), evaluations=4)
    done = trained(made, tmp_path)
    steps = [event["step"] for event in of(record.read(tmp_path), "evaluation")]
    assert steps == [3, 6, 9, 12]
    assert (done.best_step, done.scores["accuracy"], done.steps) == (6, 0.7, 12)
    calls = iter([False] * 5 + [True])
    half = tmp_path / "half"  # its answers and weights are those of step 6
    assert fit(ready(model, Scripted([0.2, 0.7]), evaluations=4), 0, half, asked_to_stop=lambda: next(calls)) is None
    last = checkpoint.newest(half / CHECKPOINTS, print)
    assert last is not None
    assert last.state["progress"][0] == 6
    best = tensors.read_file(tmp_path / tensors.NAME)
    assert all(one.equal(last.tensors["model"][name]) for name, one in best.items())
    assert files.digest(half / PREDICTIONS) == files.digest(tmp_path / PREDICTIONS)


def test_the_best_weights_survive_a_pause_after_them(model: Path, tmp_path: Path) -> None:
    calls = iter([False] * 7 + [True])
    made = ready(model, Scripted([0.2, 0.7, 0.1, 0.1]), evaluations=4)
    trained(ready(model, Scripted([0.2, 0.7, 0.1, 0.1]), evaluations=4), tmp_path / "whole")
    assert fit(made, 0, tmp_path / "run", asked_to_stop=lambda: next(calls)) is None
    trained(made, tmp_path / "run")
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")


def test_no_number_is_worse_than_any_score(model: Path, tmp_path: Path) -> None:
    done = trained(ready(model, Scripted([math.nan, 0.1, math.nan]), evaluations=3), tmp_path)
    assert done.scores["accuracy"] == 0.1


def test_patience_ends_it_and_it_stays_ended(model: Path, tmp_path: Path) -> None:
    made = ready(model, Scripted([0.3, 0.2, 0.3, 0.9]), evaluations=4, patience=2)
    done = trained(made, tmp_path)
    assert (done.steps, done.best_step) == (9, 3)
    end = of(record.read(tmp_path), "end")
    assert [event["step"] for event in end] == [9]


def test_evaluations_are_made_once_an_epoch_or_evenly(model: Path) -> None:
    assert ready(model).due() == {6, 12}
    assert ready(model, epochs=2.5).due() == {6, 12, 15}
    assert ready(model, steps=4).due() == {4}
    assert ready(model, evaluations=3).due() == {4, 8, 12}
    assert ready(model, evaluations=50).due() == set(range(1, 13))


def test_a_loss_that_is_no_number_ends_the_seed_with_words(model: Path, tmp_path: Path) -> None:
    told: list[Mapping[str, Any]] = []
    done = trained(ready(model, Boats(spoilt=7)), tmp_path, tell=told.append)
    assert done.collapsed.startswith("step 8: the loss is not a finite number (made:")
    assert (done.steps, done.best_step) == (7, 6)
    (words,) = [event["text"] for event in of(told, "warning") if event["kind"] == "diverged"]
    assert words == done.collapsed
    early = trained(ready(model, Boats(spoilt=2)), tmp_path / "early")
    assert (early.steps, early.best_step) == (2, 2)
    assert set(early.scores) == {"accuracy", "boats"}


def test_a_model_that_says_one_thing_is_told(model: Path, tmp_path: Path) -> None:
    told: list[Mapping[str, Any]] = []
    done = trained(ready(model, rate=1e-9, steps=2), tmp_path, tell=told.append)
    warned = [event["text"] for event in of(told, "warning") if event["kind"] == "collapsed"]
    assert warned == ([done.collapsed] if done.collapsed else [])
    assert done.collapsed in ("", "all 20 answers are boat", "all 20 answers are none")


def test_every_event_is_told_with_its_seed_and_written_without(model: Path, tmp_path: Path) -> None:
    told: list[Mapping[str, Any]] = []
    trained(ready(model), tmp_path, seed=3, tell=told.append)
    written = record.read(tmp_path)
    assert [{**event, "seed": 3} for event in written] == told
    assert [event["event"] for event in written if event["event"] not in ("step", "warning")] == [
        "start", "evaluation", "evaluation", "end"
    ]  # fmt: skip
    assert {"step", "tokens", "seconds", "loss", "rate", "norm", "tokens_per_s"} < set(of(written, "step")[0])
    assert [event["step"] for event in of(written, "step")] == list(range(1, 13))
    real = sum(len(text.text.split()) + 2 for text in texts(45))
    assert of(written, "step")[5]["tokens"] == real  # an epoch


def test_loss_and_answers_of_an_evaluation_share_one_forward_pass(model: Path) -> None:
    made = ready(model)
    learner, passes = made.learner(0), 0

    def counted(*given: object) -> None:
        nonlocal passes
        passes += 1

    learner.model.encoder.register_forward_hook(counted)
    found = made.dev.answers(learner.model, learner.trainer.precision)
    assert passes == len(made.dev.batches)
    assert found.loss is not None
    assert math.isfinite(found.loss)
    assert "forward" not in vars(learner.model)


def test_answers_stand_in_the_examples_order_and_do_not_depend_on_the_batch(model: Path, tmp_path: Path) -> None:
    made = ready(model)
    learner = made.learner(0)
    small = Asked(made.task, made.dev.examples, made.dev.table, budget=1)
    one, other = (asked.answers(learner.model, learner.trainer.precision) for asked in (made.dev, small))
    assert [a.prediction for a in one.predictions] == [b.prediction for b in other.predictions]
    assert [a.probability for a in one.predictions] == pytest.approx(
        [b.probability for b in other.predictions], abs=1e-6
    )
    assert one.loss == pytest.approx(other.loss)
    lines = [json.loads(json.dumps(line)) for line in made.dev.lines(one.predictions)]
    assert [line["id"] for line in lines] == [f"b{i}" for i in range(20)]
    first = made.dev.examples[0]
    assert lines[0] == {
        "id": "b0", "place": "made:1", "text": first.text, "label": "none", **one.predictions[0]._asdict(),  # type: ignore[union-attr]
        "tokens": len(first.text.split()) + 2,  # type: ignore[union-attr]
    }  # fmt: skip


def test_examples_without_an_answer_get_one_and_no_loss(model: Path) -> None:
    made, unknown = ready(model), texts(5, known=False)
    table = Table(made.task.items(unknown, made.tokenizer), made.tokenizer.specials.pad)
    learner = made.learner(0)
    found = Asked(made.task, unknown, table).answers(learner.model, learner.trainer.precision)
    assert (len(found.predictions), found.loss) == (5, None)


def test_a_save_is_made_every_few_minutes(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, saved = ready(model, epochs=1.0), []
    monkeypatch.setattr(fitting.Session, "save", lambda self: saved.append(self.state.progress.steps))
    ticks = iter(range(0, 100_000, 40))  # seconds; every look at the clock is forty later
    trained(made, tmp_path, clock=lambda: float(next(ticks)))
    assert saved != [6]
    assert 6 in saved
