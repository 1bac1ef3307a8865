"""Is what a model learns from, what judges it, and with what settings, as was asked, and told where it is not?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from litebert.config import ConfigError
from litebert.errors import UserError
from litebert.tasks import bootstrap, examples, prepared, squad_metric, sureness, trained
from litebert.tasks.choice import Choice, Chosen
from litebert.tasks.classify import Classified, Classify
from litebert.tasks.examples import Answer, Text, Words
from litebert.tasks.examples import Choice as Question
from litebert.tasks.finetune import begin, finetune, usual
from litebert.tasks.multilabel import Labelled, Multilabel
from litebert.tasks.prepared import Shaped
from litebert.tasks.regress import Regress, Scored
from litebert.tasks.sources import Reading, source
from litebert.tasks.span import Answered, Span
from litebert.tasks.tag import Tag, Tagged
from litebert.tasks.task import Task
from tasks.toy import saved_model
from tasks.tuned import table, tuned


@pytest.fixture(scope="module")
def shaped(tmp_path_factory: pytest.TempPathFactory) -> Shaped:
    """The small model, of 32 positions and 2 blocks."""
    return begin(saved_model(tmp_path_factory.mktemp("model")))


def glue(folder: Path, name: str, parts: dict[str, int]) -> Path:
    """A folder with files as GLUE has SST-2's."""
    (folder / name).mkdir(parents=True)
    for part, count in parts.items():
        rows = [f"text number {part} {i}\t{i % 2}" for i in range(count)]
        (folder / name / f"{part}.tsv").write_text("\n".join(["sentence\tlabel", *rows]) + "\n")
    return folder


def test_a_file_without_a_development_file_is_parted_and_it_is_said(tmp_path: Path) -> None:
    found = source("classify", table(tmp_path / "mine.csv", 40), held_out=0.25)
    assert (len(found.train), len(found.dev)) == (30, 10)
    assert found.notes[0] == "10 of 40 examples are held out to judge by (a share of 0.25, seed 0)"
    assert not {one.text for one in found.train} & {one.text for one in found.dev}  # type: ignore[union-attr]


def test_a_development_file_judges_and_nothing_is_held_out(tmp_path: Path) -> None:
    found = source("classify", table(tmp_path / "mine.csv", 40), table(tmp_path / "other.csv", 12, seed=3))
    assert (len(found.train), len(found.dev), found.notes) == (40, 12, [])


def test_a_benchmark_s_files_are_found_and_one_file_of_it_is_read_in_its_form(tmp_path: Path) -> None:
    folder = glue(tmp_path, "SST-2", {"train": 20, "dev": 6})
    found = source("SST-2", folder)
    assert (found.name, len(found.train), len(found.dev)) == ("sst-2", 20, 6)
    alone = source("sst-2", folder / "SST-2" / "train.tsv", held_out=0.2)
    assert len(alone.train) + len(alone.dev) == 20


def test_a_benchmark_has_its_own_measure_decide_and_the_folder_remembers_it(tmp_path: Path) -> None:
    saved_model(tmp_path / "model")
    (tmp_path / "data").mkdir()
    for part, count in (("train", 24), ("dev", 12)):
        rows = [f"x\t{n % 2}\t\tthe {'boat' if n % 2 else 'sea'} is old {n}" for n in range(count)]
        (tmp_path / "data" / f"{part}.tsv").write_text("\n".join(rows) + "\n")
    done = finetune("cola", tmp_path / "model", tmp_path / "data", tmp_path / "run", device="cpu", steps=2, length=32)
    assert done.measure == "matthews"
    assert trained.load(tmp_path / "run").task.measures == ("matthews", "accuracy", "f1")
    assert trained.load(tmp_path / "run").benchmark == "cola"


def test_without_a_training_file_the_development_file_is_parted_and_it_is_said(tmp_path: Path) -> None:
    folder = glue(tmp_path, "SST-2", {"dev": 30})
    found = source("sst-2", folder)
    assert len(found.train) + len(found.dev) == 30
    assert "has no training files: its development files are parted instead" in found.notes[0]
    with pytest.raises(UserError, match=r"holds no examples to learn from: put train\.tsv into it"):
        source("sst-2", folder, folder / "SST-2" / "dev.tsv")


def test_fewer_examples_are_drawn_by_the_seed_and_stay_in_order(tmp_path: Path) -> None:
    path, dev = table(tmp_path / "mine.csv", 40), table(tmp_path / "dev.csv", 5)
    one, two, other = (source("classify", path, dev, most=10, seed=seed) for seed in (0, 0, 1))
    rows = [example.place.row for example in one.train]
    assert rows == sorted(rows)
    assert len(set(rows)) == 10
    assert one == two
    assert one.train != other.train


def test_the_digest_is_of_the_examples_and_not_of_where_they_lie(tmp_path: Path) -> None:
    dev = table(tmp_path / "dev.csv", 5)
    one = source("classify", table(tmp_path / "a.csv", 20), dev).fingerprint
    assert source("classify", table(tmp_path / "b.csv", 20), dev).fingerprint == one
    assert source("classify", table(tmp_path / "c.csv", 20, seed=2), dev).fingerprint != one


@pytest.mark.parametrize(
    ("task", "reading", "says"),
    [
        pytest.param("sst2", Reading(), "unknown task 'sst2': did you mean 'sst-2'?", id="a benchmark nobody knows"),
        pytest.param("sst-2", Reading({"text": "x"}), "sst-2 has columns of its own", id="columns of a benchmark"),
        pytest.param("tag", Reading({"text": "x"}), "unknown column of tag 'text'", id="a column of another kind"),
        pytest.param("classify", Reading({"text": "review"}), "no column 'review'", id="a missing column"),
    ],
)
def test_a_wrong_call_is_one_line(task: str, reading: Reading, says: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"\A[^\n]+\Z") as refused:
        source(task, table(tmp_path / "mine.csv", 10), reading=reading)
    assert says in str(refused.value)


def test_labels_with_one_example_and_labels_that_are_not_judged_are_told(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("text,label\n" + "".join(f"t{i},{i % 2}\n" for i in range(8)) + "odd,7\n")
    (tmp_path / "dev.csv").write_text("text,label\nx,0\ny,1\n")
    assert source("classify", tmp_path).notes == [
        "labels with a single training example: 7", "labels that the development set does not have: 7"
    ]  # fmt: skip


def test_a_label_that_was_not_learnt_is_named_with_its_row(tmp_path: Path) -> None:
    saved_model(tmp_path / "model")
    (tmp_path / "data").mkdir()
    table(tmp_path / "data" / "train.csv", 20)
    (tmp_path / "data" / "dev.csv").write_text("text,label\nthe sea,none\nthe lake,ship\n")
    with pytest.raises(UserError, match=r"dev\.csv:3: label 'ship' is none of 'boat', 'none'"):
        tuned(tmp_path, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_epochs_take_the_place_of_steps_and_a_warm_up_keeps_its_share(shaped: Shaped) -> None:
    wide = shaped._replace(config=shaped.config.but(hidden=768, heads=12, max_positions=512))
    usual = prepared.tuning("mrpc", wide, {})
    assert (usual.steps, usual.warmup) == (800, 200.0)
    by_epochs = prepared.tuning("mrpc", wide, {"epochs": 2})
    assert (by_epochs.steps, by_epochs.epochs, by_epochs.warmup) == (0, 2.0, 0.25)
    assert prepared.tuning("mrpc", wide, {"steps": 40}).warmup == 0.25
    assert prepared.tuning("mrpc", wide, {"steps": 40, "warmup": 8}).warmup == 8.0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param("rat=1", "unknown setting 'rat': did you mean 'rate'?", id="an unknown setting"),
        pytest.param("rate", "is not of the form name=value", id="no value"),
        pytest.param("batch=many", "batch", id="a word for a number"),
        pytest.param("batch=0", "batch 0 is too small", id="no batch"),
        pytest.param("freeze=3", "freeze 3 exceeds the 2 blocks", id="more blocks than there are"),
        pytest.param("length=64", "exceeds the 32 positions", id="longer than the model reads"),
        pytest.param("long=middle", "long", id="an unknown word"),
    ],
)
def test_a_bad_setting_is_refused_before_data_are_read(change: str, says: str, shaped: Shaped) -> None:
    with pytest.raises(ConfigError if "length" not in change else UserError, match=says):
        prepared.tuning("classify", shaped, prepared.parsed([change]))


def test_a_warm_up_longer_than_the_training_is_refused(tmp_path: Path) -> None:
    saved_model(tmp_path / "model")
    (tmp_path / "data").mkdir()
    table(tmp_path / "data" / "train.csv", 20)
    with pytest.raises(ConfigError, match="warmup 9 is not shorter than the 4 steps"):
        tuned(tmp_path, tmp_path / "run", steps=4, warmup=9)


def test_what_is_begun_from_must_be_there(tmp_path: Path) -> None:
    for name, more, says in (
        ("albert-tiny", {}, "is a preset, which has no weights"),
        ("albert-tiny", {"random": True}, "has no tokenizer of its own: name a folder that has one with --tokenizer"),
        ("albert-tyni", {}, "unknown preset or folder 'albert-tyni'"),
        (str(tmp_path), {}, "has no tokenizer.json"),
        (str(tmp_path), {"finetuned": True}, "is not the folder of a fine-tuning"),
    ):  # fmt: skip
        with pytest.raises(UserError, match=says):
            begin(name, **more)  # type: ignore[arg-type]


def test_a_folder_is_named_for_model_and_task() -> None:
    assert usual("SST-2", "runs/mine") == Path("mine-sst-2")


def _some(kind: str) -> tuple[Task, list[Any], list[Any]]:
    """Thirty examples of a kind, two thirds answered rightly."""
    right = [number % 3 > 0 for number in range(30)]
    match kind:
        case "classify":
            task: Any = Classify(["a", "b"])
            gold = [Text("x", label="ab"[n % 2]) for n in range(30)]
            said: list[Any] = [
                Classified("ab"[n % 2 == ok], 1.0, {}) for n, ok in enumerate(right)
            ]  # fmt: skip
        case "choice":
            task = Choice()
            gold = [Question("", "q", ("a", "b"), n % 2) for n in range(30)]
            said = [Chosen(n % 2 if ok else 1 - n % 2, 0.5, [0.5, 0.5]) for n, ok in enumerate(right)]
        case "multilabel":
            task = Multilabel(["a", "b", "c"])
            gold = [Text("x", label=frozenset("abc"[n % 2 :])) if n % 4 else Text("x", label="b") for n in range(30)]
            said = [Labelled(["a", "b"] if ok else ["c"], {}) for ok in right]
        case "regress":
            task = Regress()
            gold = [Text("x", label=float(n)) for n in range(30)]
            said = [Scored(n if ok else 7.0) for n, ok in enumerate(right)]
        case "span":  # every fifth question has no answer
            task = Span(answerable=True)
            gold = [
                examples.Question("q", "old boat", () if n % 5 == 0 else (Answer("old boat", 0),)) for n in range(30)
            ]
            said = [Answered("boat" if ok else "", 4, 8, 1.0, "boat", 0.2 + 0.6 * (not ok))
                    for ok in right]  # fmt: skip
        case _:
            task = Tag(["O", "B-x", "I-x"])
            gold = [Words(("a", "b"), ("B-x", "O" if n % 2 else "I-x")) for n in range(30)]
            said = [Tagged(["B-x", "O" if (n % 2) == ok else "I-x"], 1.0, []) for n, ok in enumerate(right)]
    return task, gold, said


@pytest.mark.parametrize("kind", ["classify", "choice", "multilabel", "regress", "span", "tag"])
def test_intervals_are_those_of_scores_computed_anew(kind: str) -> None:
    task, gold, said = _some(kind)
    found = sureness.intervals(task, gold, said)
    assert task.measures[0] in found

    def again(order: Any) -> dict[str, float]:
        return task.score([gold[i] for i in order], [said[i] for i in order])

    expected, scores = bootstrap.of_any(again, 30), task.score(gold, said)
    for name, ends in found.items():
        assert ends == pytest.approx(expected[name], abs=1e-9)
        assert ends.low < scores[name] < ends.high


def test_the_interval_of_several_labels_is_not_judged_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute for five thousand texts."""
    task, gold, said = _some("multilabel")
    monkeypatch.setattr(task, "score", lambda *_: pytest.fail("it is judged anew"))
    assert list(sureness.intervals(task, gold, said)) == ["f1_micro"]


def test_the_interval_of_answers_judges_each_of_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQuAD 2.0 judged a thousand times took ten minutes at the end of every fine-tuning."""
    task, gold, said = _some("span")
    judged, squad2 = list[int](), squad_metric.squad2
    monkeypatch.setattr(squad_metric, "squad2", lambda *some: (judged.append(len(some[0])), squad2(*some))[1])
    sureness.intervals(task, gold, said)
    assert sum(judged) <= 2 * len(gold)


def test_answers_read_back_are_scored_as_they_were() -> None:
    for kind in ("classify", "choice", "multilabel", "regress", "span", "tag"):
        task, gold, said = _some(kind)
        again = sureness.said([{"id": "1", "text": "x", **one._asdict()} for one in said])
        assert task.score(gold, again) == task.score(gold, said)
