"""Does a fine-tuning come to the same whatever interrupts it, and is its folder what transformers and we load?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch

import litebert
from litebert import files
from litebert.errors import RunError, UserError
from litebert.interop import tensors
from litebert.tasks import fit, seeds, trained
from litebert.tasks.fit import Fitted
from litebert.tasks.seeds import Outcome
from litebert.tasks.trained import TASK
from tasks.tuned import everything, killed_at, place, table, tuned


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Model and data."""
    return place(tmp_path_factory.mktemp("where"))


@pytest.fixture(scope="module")
def whole(where: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seeds that nobody disturbed."""
    out = tmp_path_factory.mktemp("whole") / "run"
    tuned(where, out, 3)
    return out


def test_the_same_call_gives_the_same_bytes(where: Path, whole: Path, tmp_path: Path) -> None:
    tuned(where, tmp_path / "again", 3)
    assert everything(tmp_path / "again") == everything(whole)


def test_litebert_finetune_is_the_call() -> None:
    from litebert.tasks.finetune import finetune

    assert litebert.finetune is finetune


@pytest.mark.parametrize(
    ("seed", "event", "step"),
    [
        pytest.param(0, "start", 0, id="before the first step"),
        pytest.param(1, "step", 8, id="within the second seed"),
        pytest.param(0, "end", 12, id="between two seeds"),
    ],
)
def test_killed_it_goes_on_to_the_same_bytes(
    seed: int, event: str, step: int, where: Path, whole: Path, tmp_path: Path
) -> None:  # fmt: skip
    killed_at(where, out := tmp_path / "run", 3, seed, event, step)
    assert not (out / "scores.json").exists()
    tuned(where, out, 3)
    assert everything(out) == everything(whole)


def test_asked_to_stop_again_and_again_it_comes_to_the_same_bytes(where: Path, whole: Path, tmp_path: Path) -> None:
    out, sittings = tmp_path / "run", 0
    while (done := tuned(where, out, 3, asked_to_stop=iter([False] * 7 + [True] * 99).__next__)).stopped:
        sittings += 1
        assert done.scores == tuple(one for n in range(3) if (one := fit.finished(seeds.place(out, n))) is not None)
    assert sittings > 3
    assert everything(out) == everything(whole)


@pytest.mark.parametrize("step", ["predictions.jsonl", "model", "scores.json"])
def test_a_crash_while_the_folder_is_finished_is_mended(
    step: str, where: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    class CrashedError(Exception):
        pass

    def crash(*_: Any, **__: Any) -> None:
        raise CrashedError

    out = tmp_path / "run"
    spoilt: dict[str, tuple[Any, str]] = {
        "predictions.jsonl": (seeds.shutil, "copyfile"), "model": (trained.folders, "save"),
        "scores.json": (seeds.sureness, "intervals"),
    }  # fmt: skip
    with monkeypatch.context() as patched:
        patched.setattr(*spoilt[step], crash)
        with pytest.raises(CrashedError):
            tuned(where, out, 3)
    tuned(where, out, 3)
    assert everything(out) == everything(whole)


def test_a_finished_one_is_not_trained_again(where: Path, whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = everything(whole)
    monkeypatch.setattr(fit.Session, "train", lambda *_: pytest.fail("it trains"))
    done = tuned(where, whole, 3)
    assert everything(whole) == before
    assert done.interval
    assert [one.seed for one in done.scores] == [0, 1, 2]


def test_more_seeds_are_added_and_the_others_kept(where: Path, whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    for count in (1, 2, 3):
        tuned(where, out, count)
    assert everything(out) == everything(whole)


def test_fewer_seeds_than_there_are_leave_the_folder_as_it_is(where: Path, whole: Path, tmp_path: Path) -> None:
    """The model of the best seed lies in the folder alone: without scores.json nobody would know whose it is."""
    out = tmp_path / "run"
    shutil.copytree(whole, out)
    assert files.read_json(out / "scores.json")["best_seed"] > 0
    with pytest.raises(UserError, match="--seeds 3"):
        tuned(where, out, 1)
    tuned(where, out, 3)
    assert everything(out) == everything(whole)


def test_a_crash_after_a_seed_that_is_not_the_best_is_mended(
    where: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    out, best = tmp_path / "run", files.read_json(whole / "scores.json")["best_seed"]
    assert best < 2
    tuned(where, out, best + 1)
    with monkeypatch.context() as patched:
        patched.setattr(seeds.sureness, "intervals", mock.Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            tuned(where, out, 3)
    tuned(where, out, 3)
    assert everything(out) == everything(whole)


def test_the_model_is_that_of_the_best_seed(where: Path, whole: Path, tmp_path: Path) -> None:
    scores = files.read_json(whole / "scores.json")
    each = [one["scores"]["accuracy"] for one in scores["seeds"]]
    assert scores["best_seed"] == each.index(max(each))
    lines = [json.loads(line) for line in (whole / "predictions.jsonl").read_text().splitlines()]
    found = trained.load(whole)
    ids = [[2, *found.tokenizer.encode(line["text"]), 3] for line in lines]
    said = []
    for one in ids:
        row = torch.tensor([one])
        logits = found.model.logits("classify", found.model(row, segments=torch.zeros_like(row)))
        said.append(found.task.names[int(logits.argmax())])  # type: ignore[attr-defined]
    assert said == [line["prediction"] for line in lines]
    right = [line["prediction"] == line["label"] for line in lines]
    assert sum(right) / len(right) == max(each)
    assert list(whole.glob(f"seed-*/{tensors.NAME}")) == []


def test_transformers_loads_the_folder_with_equal_logits_and_names(whole: Path) -> None:
    transformers = pytest.importorskip("transformers")
    found = trained.load(whole)
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(whole).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(whole)
    fed = tokenizer(["the old boat sails", "calm water"], padding=True, return_tensors="pt")
    with torch.no_grad():
        ours = found.model.logits("classify", found.model(
            fed["input_ids"], fed["attention_mask"].bool(), fed["token_type_ids"]
        ))  # fmt: skip
        assert torch.allclose(ours, theirs(**fed).logits, atol=1e-5)
    assert theirs.config.id2label == {0: "boat", 1: "none"}
    assert theirs.config.problem_type == "single_label_classification"


def test_what_was_saved_comes_back(where: Path, whole: Path) -> None:
    found = trained.load(whole)
    values = files.read_json(whole / TASK)
    assert (found.task.saved(), found.benchmark, found.task.measures) == (
        values["task"], "", ("accuracy", "f1", "matthews")
    )  # fmt: skip
    assert found.tuning.rate == 5e-3
    assert not found.model.training


@pytest.mark.parametrize(
    ("more", "says"),
    [
        pytest.param({"rate": 1e-3}, "with rate 0.005, not 0.001", id="a setting"),
        pytest.param({"dropout": 0.5}, "with dropout left to the model, not 0.5", id="a setting that was not said"),
        pytest.param({"examples": 20}, "with examples 45, not 20", id="fewer examples"),
        pytest.param({"random": True}, "with random False, not True", id="no weights"),
    ],
)
def test_another_one_is_refused_with_what_differs(more: dict[str, Any], says: str, where: Path, whole: Path) -> None:
    before = everything(whole)
    with pytest.raises(UserError, match="holds another fine-tuning") as refused:
        tuned(where, whole, 3, **more)
    assert says in str(refused.value)
    assert everything(whole) == before


def test_other_texts_and_weights_are_known_by_their_digests(where: Path, whole: Path, tmp_path: Path) -> None:
    moved = place(tmp_path / "moved")
    assert tuned(moved, whole, 3).best is not None  # the same, elsewhere
    table(moved / "data" / "train.csv", 45, seed=7)
    with pytest.raises(UserError, match="with other examples"):
        tuned(moved, whole, 3)
    other = place(tmp_path / "other")
    tensors.write_file(other / "model" / tensors.NAME, {
        name: one + 1e-3 for name, one in tensors.read_file(where / "model" / tensors.NAME).items()
    })  # fmt: skip
    with (
        pytest.warns(UserWarning, match="changed since"),
        pytest.raises(UserError, match="other weights to begin from"),
    ):
        tuned(other, whole, 3)


def test_restart_begins_anew(where: Path, whole: Path, tmp_path: Path) -> None:
    tuned(where, out := tmp_path / "run", 3, rate=1e-3)
    tuned(where, out, 3, restart=True)
    assert everything(out) == everything(whole)


def test_a_folder_of_other_files_is_left_alone(where: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(UserError, match=r"holds other files \(thesis.txt\) and no fine-tuning"):
        tuned(where, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_full_disk_is_a_run_that_failed(where: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device", str(tmp_path / "run" / "x"))

    monkeypatch.setattr(fit.Session, "finish", full)
    with pytest.raises(RunError, match="No space left on device: mend that, and the same command goes on"):
        tuned(where, tmp_path / "run")


def of(*scores: float, collapsed: str = "") -> Outcome:
    """An outcome of seeds with these scores."""
    each = tuple(Fitted(n, {"accuracy": one}, 1, 1, 1.0, collapsed) for n, one in enumerate(scores))
    return Outcome(Path("x"), "accuracy", each, seeds.best(each, "accuracy"), {}, 10)


def test_median_spread_and_best_are_of_all_seeds() -> None:
    found = of(0.5, 0.9, 0.7, 0.9)
    assert found.median == {"accuracy": pytest.approx(0.8)}
    assert found.spread == {"accuracy": pytest.approx(0.19149, abs=1e-5)}
    assert found.best is not None
    assert found.best.seed == 1  # the first of equals
    assert of(0.5).spread == {}


def test_a_score_that_is_no_number_is_never_the_best_and_null_for_a_program() -> None:
    found = of(float("nan"), 0.1)
    assert found.best is not None
    assert found.best.seed == 1
    assert found.median == {"accuracy": 0.1}
    values = seeds.as_values(found)
    assert values["seeds"][0]["scores"] == {"accuracy": None}
    json.dumps(values, allow_nan=False)


def test_collapsed_seeds_are_counted(where: Path, tmp_path: Path) -> None:
    done = tuned(where, tmp_path / "run", 2, rate=1e-12, steps=1, epochs=1.0)
    assert [one.seed for one in done.collapsed] == [one.seed for one in done.scores if one.collapsed]
    assert all("of all 20 texts" in one.collapsed or "same probabilities" in one.collapsed for one in done.collapsed)
    assert files.read_json(tmp_path / "run" / "scores.json")["collapsed"] == [one.seed for one in done.collapsed]


def test_features_are_trained_saved_and_loaded(where: Path, tmp_path: Path) -> None:
    done = tuned(where, out := tmp_path / "run", 2, mode="features", layers="last")
    assert done.best is not None
    found = trained.load(out)
    row = torch.tensor([[2, *found.tokenizer.encode("the old boat"), 3]])
    fed = found.model(row, segments=torch.zeros_like(row))
    assert found.model.logits("classify", fed).shape == (1, 2)
    assert tuned(where, out, 2, mode="features", layers="last").scores == done.scores
