"""Does a head alone learn on a body that stands still, by the same loop and to the same bytes, whatever the task?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from litebert import files
from litebert.config import ConfigError
from litebert.interop import tensors
from litebert.model.model import Model
from litebert.tasks import featured, features, kinds
from litebert.tasks.batches import Table
from litebert.tasks.evaluation import Asked
from litebert.tasks.examples import Answer, Choice, Example, Question, Words
from litebert.tasks.featured import BiLSTM, Featured, How
from litebert.tasks.fit import PREDICTIONS, Fitted, Ready, fit
from litebert.tasks.learner import Start, as_model
from litebert.tasks.settings import Layers, Tuning
from litebert.train import precision, record
from tasks.toy import Boats, ready, saved_model, texts
from vectors.tiny import model_of, wordpiece_of

FULL = precision.choose("float32", torch.device("cpu"))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of four blocks to begin from."""
    return saved_model(tmp_path_factory.mktemp("model"), layers=4)


def featuring(model: Path, folder: Path, task: Any = None, **tuning: Any) -> Ready:
    """All that a head needs."""
    values = {"mode": "features", "layers": "concat-last-4", "rate": 1e-2, **tuning}
    found = features.ready(ready(model, task, **values), folder)
    assert found is not None
    return found


def trained(made: Ready, folder: Path, seed: int = 0, **more: Any) -> Fitted:
    """To the end."""
    done = fit(made, seed, folder, **more)
    assert done is not None
    return done


def outcome(folder: Path) -> dict[str, Any]:
    """What a seed came to, clock times and how often it was begun aside."""
    log = [record.timeless(event) for event in record.read(folder) if event["event"] not in ("start", "resume")]
    return {"model": files.digest(folder / tensors.NAME), "answers": files.digest(folder / PREDICTIONS), "log": log}


@pytest.mark.parametrize("network", ["linear", "bilstm"])
def test_the_same_seed_gives_the_same_bytes_and_a_stop_changes_nothing(
    network: str, model: Path, tmp_path: Path
) -> None:
    made = featuring(model, tmp_path, network=network)
    trained(made, tmp_path / "one")
    trained(made, tmp_path / "another", 1)
    assert outcome(tmp_path / "one")["model"] != outcome(tmp_path / "another")["model"]
    calls = iter([False] * 4 + [True])
    assert fit(made, 0, tmp_path / "parts", asked_to_stop=lambda: next(calls)) is None
    again = featuring(model, tmp_path, network=network)  # another process finds the vectors there
    trained(again, tmp_path / "parts")
    assert outcome(tmp_path / "parts") == outcome(tmp_path / "one")


def test_it_learns_what_the_states_tell(model: Path, tmp_path: Path) -> None:
    made = featuring(model, tmp_path, network="bilstm", layers="embedding", train=400, dev=60, epochs=4.0, rate=2e-2)
    assert trained(made, tmp_path / "seed-0").scores["accuracy"] > 0.9


def test_the_body_stands_still_and_only_the_head_is_kept(model: Path, tmp_path: Path) -> None:
    made = featuring(model, tmp_path, layers="weighted-all", dropout=0.5)
    learner = made.learner(0)
    head = learner.trainer.model
    assert isinstance(head, Featured)
    before = {name: one.clone() for name, one in head.body.state_dict().items()}
    head.train()
    assert not any(module.training for module in head.body.modules())  # no dropout in what is computed once
    assert not any(name.startswith(("body.", "embedding.", "encoder.")) for name in head.state_dict())
    trained(made, tmp_path / "seed-0")
    assert all(one.equal(before[name]) for name, one in head.body.state_dict().items())
    assert set(tensors.read_file(tmp_path / "seed-0" / tensors.NAME)) == {
        "mean", "spread", "mix", "heads.classify.out.weight", "heads.classify.out.bias"
    }  # fmt: skip
    start = record.read(tmp_path / "seed-0")[0]
    assert start["frozen"]["remarks"] == [
        "the body stands still: a linear head of 38 numbers learns on layers weighted-all"
    ]


@pytest.mark.parametrize("network", ["linear", "bilstm"])
@pytest.mark.parametrize("layers", ["last", "sum-last-4", "weighted-all"])
def test_looked_up_and_read_by_the_body_the_answers_are_the_same(
    layers: Layers, network: str, model: Path, tmp_path: Path
) -> None:
    made = featuring(model, tmp_path, layers=layers, network=network)
    head = made.learner(3).trainer.model
    assert isinstance(head, Featured)
    lookup = made.dev.answers(as_model(head), FULL).predictions
    reading = featured.drawn(head.body, head.how, 0)
    reading.load_state_dict(head.state_dict())
    plain = ready(model).dev
    for one, other in zip(lookup, plain.answers(as_model(reading), FULL).predictions, strict=True):
        assert one.prediction == other.prediction
        assert one.probability == pytest.approx(other.probability, abs=2e-3)


def test_vectors_are_read_in_units_of_their_own_spread(model: Path, tmp_path: Path) -> None:
    made = featuring(model, tmp_path, layers="last", network="bilstm")
    head = made.learner(0).trainer.model
    assert isinstance(head, Featured)
    assert head._vectors is not None
    own = head._vectors[: int(made.train.widths.sum())].float()  # the training rows', never the development set's
    torch.testing.assert_close(head.mean, own.mean(dim=0), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(head.spread, own.std(dim=0, correction=0), atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("left", [False, True])
def test_padding_is_not_read_in_either_direction(left: bool) -> None:
    network = BiLSTM(6, 4, 0.0)
    network.draw(0)
    rows = [torch.randn(n, 6, generator=torch.Generator().manual_seed(n)) for n in (5, 2, 1)]
    x, mask = torch.full((3, 5, 6), 9.0), torch.zeros(3, 5, dtype=torch.bool)
    for number, row in enumerate(rows):
        place = slice(5 - len(row), 5) if left else slice(0, len(row))
        x[number, place], mask[number, place] = row, True
    found = network(x, mask)
    for number, row in enumerate(rows):
        torch.testing.assert_close(found[number][mask[number]], network(row[None], None)[0])


@torch.no_grad()
@pytest.mark.parametrize("network", ["linear", "bilstm"])
def test_what_stands_beside_a_row_changes_nothing_of_what_is_said_of_it(
    network: str, model: Path, tmp_path: Path
) -> None:
    made = featuring(model, tmp_path, network=network)
    head = made.learner(0).trainer.model.eval()
    assert isinstance(head, Featured)
    for reads, table in ((None, ready(model).train), (head._vectors, made.train)):
        head._vectors = reads
        together = made.task.outputs(as_model(head), table.fed(np.arange(6), made.task))
        for number, beside in enumerate(together):
            (alone,) = made.task.outputs(as_model(head), table.fed(np.array([number]), made.task))
            np.testing.assert_allclose(alone, beside, atol=2e-3)


def test_every_seed_begins_with_a_head_of_its_own(model: Path, tmp_path: Path) -> None:
    made = featuring(model, tmp_path, network="bilstm")
    first, again, other = (made.learner(seed).trainer.model.state_dict() for seed in (0, 0, 1))
    for name in ("heads.classify.out.weight", "network.lstm.weight_ih_l0", "network.lstm.weight_hh_l1_reverse"):
        assert first[name].equal(again[name])
        assert not first[name].equal(other[name])


def test_layers_begin_alike_and_the_telling_one_comes_to_count_most() -> None:
    body = _body()
    name, head = Boats().spec(body.config)
    labels = torch.arange(64) % 2
    draw = torch.Generator().manual_seed(0)
    vectors = torch.randn(64, 4 * 16, generator=draw)
    vectors[:, 32:48] += 2.0 * (2 * labels[:, None] - 1)  # the third of four layers
    made = featured.drawn(body, How("weighted-last-4", "linear", name, head), 0, vectors.half())
    assert made.mix is not None
    assert made.mix.softmax(dim=0).tolist() == [0.25] * 4
    optimizer = torch.optim.Adam(made.parameters(), lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        out = made(torch.arange(64)[:, None])
        torch.nn.functional.cross_entropy(made.logits(name, out), labels).backward()
        optimizer.step()
    shares = made.mix.detach().softmax(dim=0).tolist()
    assert shares[2] > 1.5 * max(shares[:2] + shares[3:])


WORD = ("the", "old", "boat", "sails", "south")
TEXTS = texts(16)
KINDS: dict[str, list[Example]] = {
    "classify": [*TEXTS],
    "multi-label": [one._replace(label=frozenset({str(one.label), "xy"[i % 3 > 0]})) for i, one in enumerate(TEXTS)],
    "regress": [one._replace(label=float(len(one.text))) for one in TEXTS],
    "tag": [Words(WORD[i % 3 :], ("B-X", "O", "O", "B-X", "O")[i % 3 :]) for i in range(16)],
    "span": [Question("the wind", " ".join(WORD), (Answer("boat", 8),)) for _ in range(16)],
    "span with none": [Question("wind", " ".join(WORD), (Answer("boat", 8),) if i % 2 else ()) for i in range(16)],
    "choice": [Choice(" ".join(WORD), "where", ("south", "north", "lake"), i % 3) for i in range(16)],
}  # fmt: skip


@pytest.mark.parametrize("network", ["linear", "bilstm"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_task_learns_on_features(kind: str, network: str, model: Path, tmp_path: Path) -> None:
    tuning = Tuning(mode="features", length=32, question=12, batch=8, steps=2, precision="float32")
    tuning = tuning.but(network=network)
    examples, tokenizer = KINDS[kind], wordpiece_of()
    name = {"multi-label": "classify", "span with none": "span"}.get(kind, kind)
    task = kinds.settled(name, examples, tuning)  # type: ignore[arg-type]
    table = Table(task.items(examples, tokenizer), tokenizer.specials.pad)
    made = Ready(Start(str(model)), task, tuning, tokenizer, examples, table, Asked(task, examples, table))
    folder = tmp_path / "seed-0"
    found = features.ready(made, tmp_path)
    assert found is not None
    done = trained(found, folder)
    assert set(done.scores) == set(task.measures)
    assert len((folder / PREDICTIONS).read_text().splitlines()) == len(examples)
    losses = [event["loss"] for event in record.read(folder) if event["event"] == "step"]
    assert len(losses) == 2
    assert all(loss > 0 for loss in losses)


def test_features_of_random_weights_are_one_body_for_all_seeds(tmp_path: Path) -> None:
    made = ready(Path("albert-tiny"), mode="features", layers="last", seed=4)
    made = made._replace(start=Start("albert-tiny", random=True))
    assert _word(features.body_of(made)).equal(_word(features.body_of(made)))
    assert not _word(features.body_of(made)).equal(
        _word(features.body_of(made._replace(tuning=made.tuning.but(seed=5))))
    )


@pytest.mark.parametrize("field", ["freeze", "freeze_embedding", "layer_decay", "unshare"])
def test_what_only_blocks_that_learn_can_have_is_refused_with_features(field: str) -> None:
    value: Mapping[str, Any] = {"freeze": 2, "freeze_embedding": True, "layer_decay": 0.9, "unshare": True}
    with pytest.raises(ConfigError, match="mode 'features' trains no block: leave out freeze"):
        Tuning(mode="features", **{field: value[field]})


@pytest.mark.parametrize(("field", "value"), [("layers", "last"), ("network", "bilstm")])
def test_what_a_head_on_features_reads_is_refused_without_them(field: str, value: str) -> None:
    """Else it would change nothing, and nobody would say so."""
    assert getattr(Tuning(mode="features", **{field: value}), field) == value  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=f"{field} '{value}' is of a head on features: set mode=features"):
        Tuning(**{field: value})  # type: ignore[arg-type]


def _word(body: Model) -> torch.Tensor:
    return body.embedding.word.weight


def _body() -> Model:
    return model_of(wordpiece_of(), heads=[], layers=4)
