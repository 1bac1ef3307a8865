"""Does a head on a frozen body come back from its folder as it was, and never as something that it is not?"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import litebert
from litebert import files
from litebert.files import FolderError
from litebert.interop import folder as folders
from litebert.model.model import Model
from litebert.tasks import featured_folder, features
from litebert.tasks.classify import Classify
from litebert.tasks.featured import Featured
from litebert.tasks.featured_folder import HEAD
from litebert.tasks.learner import as_model
from litebert.tasks.trained import Trained, load, save
from litebert.train import precision
from tasks.toy import NAMES, Boats, ready, saved_model
from vectors.tiny import wordpiece_of

FULL = precision.choose("float32", torch.device("cpu"))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of four blocks to begin from."""
    return saved_model(tmp_path_factory.mktemp("model"), layers=4)


def head(model: Path, folder: Path, network: str) -> Featured:
    """A new head that looks its vectors up."""
    values = {"mode": "features", "layers": "weighted-last-4", "network": network, "seed": 5, "head_dropout": 0.2}
    made = features.ready(ready(model, Boats(), **values), folder)
    assert made is not None
    found = made.learner(5).trainer.model
    assert isinstance(found, Featured)
    return found.eval()


def answers(model: Path, asked: Featured) -> list[tuple[str, float]]:
    """What is said of the toy's development set, read by the body."""
    return [(one.prediction, one.probability) for one in ready(model).dev.answers(as_model(asked), FULL).predictions]


@pytest.mark.parametrize("network", ["linear", "bilstm"])
def test_a_head_comes_back_with_its_body(network: str, model: Path, tmp_path: Path) -> None:
    made = head(model, tmp_path / "vectors", network)
    featured_folder.save(made, tmp_path / "out")
    assert featured_folder.is_one(tmp_path / "out")
    found = featured_folder.load(tmp_path / "out")
    assert found.how == made.how
    assert not found.training
    assert all(one.equal(found.state_dict()[name]) for name, one in made.state_dict().items())
    made._vectors = None  # read by the body, as the one that came back
    assert answers(model, found) == answers(model, made)
    assert len(set(answers(model, found))) > 5


def test_a_fine_tuning_of_features_is_loaded_as_any_other(model: Path, tmp_path: Path) -> None:
    made, tuning = head(model, tmp_path / "vectors", "bilstm"), ready(model, mode="features").tuning
    task = Classify(NAMES)
    save(Trained(as_model(made), wordpiece_of(), task, tuning), tmp_path / "out")
    found = load(tmp_path / "out")
    made._vectors = None
    assert (found.task.saved(), found.tuning) == (task.saved(), tuning)
    assert answers(model, found.model) == answers(model, made)  # type: ignore[arg-type]


def test_no_class_of_transformers_is_promised_and_the_body_alone_is_a_model(model: Path, tmp_path: Path) -> None:
    folder = saved_model(tmp_path, layers=4)
    assert (folder / "config.json").is_file()
    made = head(model, tmp_path / "vectors", "linear")
    featured_folder.save(made, folder)
    assert not (folder / "config.json").exists()  # with one, a class would wear a head of random weights
    body = litebert.load(folder)
    assert isinstance(body, Model)
    assert not body.specs
    assert body.embedding.word.weight.equal(made.body.embedding.word.weight)
    assert not featured_folder.is_one(model)


@pytest.mark.parametrize("what", ["changed since it was written", "is missing"])
def test_a_head_that_is_not_the_one_spoken_of_is_refused(what: str, model: Path, tmp_path: Path) -> None:
    featured_folder.save(head(model, tmp_path / "vectors", "linear"), tmp_path / "out")
    path = tmp_path / "out" / HEAD
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    if what == "is missing":
        path.unlink()
    else:
        path.write_bytes(data)
    with pytest.raises(FolderError, match=f"{HEAD}, the head that litebert.json speaks of, {what}: copy the folder"):
        featured_folder.load(tmp_path / "out")


def test_a_description_that_lacks_something_is_refused(model: Path, tmp_path: Path) -> None:
    featured_folder.save(head(model, tmp_path / "vectors", "linear"), tmp_path / "out")
    path = tmp_path / "out" / folders.OURS
    values = files.read_json(path)
    del values["features"]["layers"]
    files.write_json(path, values)
    with pytest.raises(FolderError, match="is not as litebert writes it"):
        featured_folder.load(tmp_path / "out")
