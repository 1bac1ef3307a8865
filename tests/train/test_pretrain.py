"""Is a run that was stopped and gone on with the run that never stopped, and is its folder what it says it is?"""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

import litebert
from litebert.bench import trial
from litebert.bench.trial import Place
from litebert.data.build import build
from litebert.data.options import Options
from litebert.data.shards import Shards
from litebert.errors import UserError
from litebert.optim.schedule import Progress
from litebert.text.tokenizer import load
from litebert.train import recipe, record
from litebert.train.prepared import prepare
from litebert.train.pretrain import Outcome, events, pretrain, standing
from train.whole import checkpoints, kinds, run_of, trained

pytestmark = pytest.mark.usefixtures("quick")

TOTALS = ["14 steps", "3000 tokens", "14 seconds"]


@pytest.fixture(scope="module")
def unbroken(place: Place, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What each run comes to that nobody stops."""
    found = {}
    for total in TOTALS:
        folder = tmp_path_factory.mktemp("unbroken") / "run"
        assert not trained(place, run_of(place, total), folder).stopped
        found[total] = trial.outcome(folder)
    return found


@pytest.mark.parametrize("every", [1, 3, 8])
@pytest.mark.parametrize("total", TOTALS)
def test_stopped_after_any_step_and_gone_on_with_it_is_the_unbroken_run(
    total: str, every: int, place: Place, unbroken: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    folder, run, parts = tmp_path / "run", run_of(place, total), []
    for number in itertools.count(1):
        parts.append(trained(place, run, folder, stop=every * number))
        torch.rand(number)  # nothing may hang on the global generator
        if not parts[-1].stopped:
            break
        assert parts[-1].progress.steps == every * number
    assert trial.outcome(folder) == unbroken[total]
    begun = kinds(list(events(folder)), "start", "resume")
    assert [step for _, step in begun] == [0, *(part.progress.steps for part in parts[:-1])]
    assert [kind for kind, _ in begun] == ["start"] + ["resume"] * (len(parts) - 1)


def test_in_bfloat16_too(place: Place, tmp_path: Path) -> None:
    run = run_of(place, "6 steps", "training.precision=bfloat16")
    trained(place, run, tmp_path / "whole")
    for stop in (2, 4, None):
        trained(place, run, tmp_path / "parts", stop=stop)
    assert trial.outcome(tmp_path / "parts") == trial.outcome(tmp_path / "whole")


def test_the_folder_holds_the_model_its_words_its_recipe_and_its_log(place: Place, tmp_path: Path) -> None:
    run, told = run_of(place, "8 steps"), []
    done = trained(place, run, tmp_path, tell=told.append)
    assert {path.name for path in tmp_path.iterdir()} == {
        "config.json", "model.safetensors", "litebert.json", "litebert.safetensors", "tokenizer.json",
        "tokenizer_config.json", "recipe.toml", "log.jsonl", "checkpoints",
    }  # fmt: skip
    settled = prepare(run, place.shards).run
    assert recipe.load(tmp_path / "recipe.toml") == settled
    assert load(tmp_path).fingerprint == load(place.tokenizer).fingerprint
    assert told == list(events(tmp_path))
    assert kinds(told, "start", "evaluation", "step") == [
        ("start", 0), ("evaluation", 0), ("step", 1), ("step", 2), ("step", 3), ("evaluation", 3), ("step", 4),
        ("step", 5), ("step", 6), ("evaluation", 6), ("step", 7), ("step", 8), ("evaluation", 8),
    ]  # fmt: skip
    assert done.progress == Progress(8, told[-1]["tokens"], 8.0)
    assert done.held_out is not None
    assert done.held_out.loss == told[-1]["loss"]
    assert checkpoints(tmp_path)[-1] == 8
    assert standing(prepare(run, place.shards), tmp_path)[0] == done.progress


def test_what_was_trained_is_what_is_loaded(place: Place, tmp_path: Path) -> None:
    run = run_of(place, "5 steps")
    made = prepare(run, place.shards)
    pretrain(made, tmp_path)
    loaded = litebert.load(tmp_path)
    ids = torch.randint(5, made.tokenizer.size, (2, 11), generator=torch.Generator().manual_seed(0))
    made.trainer.model.eval()
    with torch.no_grad():
        for head in ("mlm", "order"):
            ours, theirs = (m.logits(head, m(ids)) for m in (made.trainer.model, loaded))
            assert torch.equal(ours, theirs)


def test_a_stopped_run_can_be_used_and_says_so(place: Place, tmp_path: Path) -> None:
    done = trained(place, run_of(place, "8 steps"), tmp_path, stop=3)
    assert (done.stopped, done.progress.steps) == (True, 3)
    assert litebert.load(tmp_path).config.hidden == 32
    assert checkpoints(tmp_path)[-1] == 3


def test_a_finished_run_stays_as_it_is(place: Place, tmp_path: Path) -> None:
    run = run_of(place, "5 steps")
    first = trained(place, run, tmp_path)
    before = trial.outcome(tmp_path)
    again = trained(place, run, tmp_path)
    assert trial.outcome(tmp_path) == before
    assert again == first


def test_asked_to_stop_at_its_last_step_it_is_done(place: Place, tmp_path: Path) -> None:
    assert not trained(place, run_of(place, "4 steps"), tmp_path, stop=4).stopped


@pytest.mark.parametrize("each", [0.31, 0.77])
def test_time_that_is_up_between_two_steps_ends_the_run_evaluated_for_good(
    each: float, place: Place, tmp_path: Path
) -> None:
    ticks = itertools.count()
    run = run_of(place, "16 seconds", "training.evaluations=4")
    done = trained(place, run, tmp_path, clock=lambda: each * next(ticks))
    log = list(events(tmp_path))
    assert done.progress.seconds >= 16
    assert kinds(log, "evaluation")[-1] == ("evaluation", done.progress.steps)
    again = trained(place, run, tmp_path, clock=lambda: each * next(ticks))
    assert (again.progress, again.stopped) == (done.progress, False)
    assert kinds(list(events(tmp_path)), "step", "evaluation") == kinds(log, "step", "evaluation")


def test_what_is_evaluated_and_kept_changes_nothing_that_is_learnt(place: Place, tmp_path: Path) -> None:
    trained(place, run_of(place, "8 steps"), tmp_path / "a")
    changes = ["training.evaluations=0", "training.saves=0", "training.keep=1", "training.save_minutes=0.05"]
    trained(place, run_of(place, "8 steps", *changes), tmp_path / "b", stop=5)
    trained(place, run_of(place, "8 steps"), tmp_path / "b")
    one, other = trial.outcome(tmp_path / "a"), trial.outcome(tmp_path / "b")
    assert [one[k] for k in ("model.safetensors", "optimizer.safetensors")] == [
        other[k] for k in ("model.safetensors", "optimizer.safetensors")
    ]


def refused(place: Place, run: recipe.Run, folder: Path) -> str:
    """Why; nothing in the folder changes."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(UserError) as caught:
        trained(place, run, folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    with pytest.raises(UserError, match=str(caught.value).split(":")[0]):
        standing(prepare(run, place.shards), folder)
    return str(caught.value)


def test_another_run_in_the_same_folder_is_refused_by_what_differs(place: Place, tmp_path: Path) -> None:
    trained(place, run_of(place, "8 steps"), tmp_path, stop=2)
    why = refused(place, run_of(place, "8 steps", "schedule.peak=0.1"), tmp_path)
    assert "was trained with schedule.peak 0.005, not 0.1: go on with the values it was begun with" in why


def test_other_text_in_the_same_folder_is_refused(place: Place, tmp_path: Path) -> None:
    trained(place, run_of(place, "8 steps"), tmp_path / "run", stop=2)
    other = Place(tmp_path / "other")
    other.root.mkdir()
    build([place.text], load(place.tokenizer), other.shards, Options(held_out=0.2), workers=1)
    assert "was trained on other shards: go on" in refused(other, run_of(place, "8 steps"), tmp_path / "run")


def test_begun_anew_nothing_of_before_is_left(place: Place, tmp_path: Path) -> None:
    trained(place, run_of(place, "8 steps"), tmp_path / "again", stop=6)
    other = run_of(place, "8 steps", "schedule.peak=0.001")
    trained(place, other, tmp_path / "again", restart=True)
    trained(place, other, tmp_path / "new")
    assert trial.outcome(tmp_path / "again") == trial.outcome(tmp_path / "new")
    assert kinds(list(events(tmp_path / "again")), "start", "resume") == [("start", 0)]


def test_begun_anew_and_lost_before_its_first_checkpoint_the_old_run_does_not_come_back(
    place: Place, tmp_path: Path
) -> None:
    run = run_of(place, "8 steps")
    trained(place, run, tmp_path, stop=6)

    def dies(event: dict[str, Any]) -> None:
        if event["event"] == "step":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(place, run, tmp_path, restart=True, tell=dies)
    trained(place, run, tmp_path, stop=2)
    assert kinds(list(events(tmp_path)), "start", "resume", "step") == [("start", 0), ("step", 1), ("step", 2)]


def without_held_out(place: Place, root: Path) -> Place:
    """The same text, all of it to learn from."""
    root.mkdir()
    shutil.copytree(place.tokenizer, root / "tokenizer")
    build([place.text], load(place.tokenizer), root / "shards", Options(held_out=0.0), workers=1)
    return Place(root)


def test_without_held_out_text_it_trains_unevaluated_and_goes_on_the_same(place: Place, tmp_path: Path) -> None:
    bare, run = without_held_out(place, tmp_path / "bare"), run_of(place, "8 steps")
    done: Outcome = trained(bare, run, tmp_path / "whole")
    assert done.held_out is None
    assert kinds(list(events(tmp_path / "whole")), "evaluation") == []
    for stop in (3, None):
        trained(bare, run, tmp_path / "parts", stop=stop)
    assert trial.outcome(tmp_path / "parts") == trial.outcome(tmp_path / "whole")


def test_held_out_text_without_a_pair_is_evaluated_by_its_words(place: Place, tmp_path: Path) -> None:
    made = prepare(run_of(place, "3 steps"), place.shards)
    single = Shards.from_documents([[[9, 10, 11]]], vocabulary=made.tokenizer.size)
    found = pretrain(made._replace(held_out=single), tmp_path).held_out
    assert found is not None
    assert found.counts["sop"] == found.losses["sop"] == 0.0
    assert found.loss == found.losses["mlm"] > 3.0


def test_phases_are_gone_on_with_in_either(place: Place, tmp_path: Path) -> None:
    base = run_of(place, "10 steps")
    phases = (recipe.Phase(share=0.6, length=24), recipe.Phase(share=0.4, length=48))
    run = base.but(phases=phases)
    trained(place, run, tmp_path / "whole")
    for stop in (3, 6, 8, None):
        trained(place, run, tmp_path / "parts", stop=stop)
    assert trial.outcome(tmp_path / "parts") == trial.outcome(tmp_path / "whole")
    log = [event for event in record.read(tmp_path / "whole") if event["event"] == "step"]
    assert [event["phase"] for event in log] == [0] * 6 + [1] * 4


def test_training_goes_on_from_another_folder_s_model(place: Place, tmp_path: Path) -> None:
    trained(place, run_of(place, "5 steps"), tmp_path / "first")
    run = run_of(place, "4 steps", f"start={tmp_path / 'first'}")
    trained(place, run, tmp_path / "second", stop=2)
    trained(place, run, tmp_path / "second")
    trained(place, run, tmp_path / "whole")
    assert trial.outcome(tmp_path / "second") == trial.outcome(tmp_path / "whole")
    ends = [
        next(e["loss"] for e in events(tmp_path / name) if e["event"] == "evaluation" and e["step"] == step)
        for name, step in (("first", 5), ("whole", 0))
    ]
    assert ends[1] == pytest.approx(ends[0], rel=1e-6)
