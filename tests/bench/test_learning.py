"""Are both learners asked the same, by clocks that count only training, and is it told when one passed the other?"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from cli.running import litebert, refused
from litebert.bench import learning, learning_curve, learning_rows, trial
from litebert.bench.learning import Contest
from litebert.bench.learning_curve import Clock, Curve
from litebert.bench.trial import Place
from litebert.data import vocabulary as vocabularies
from litebert.data.shards import Shards
from litebert.interop import folder as folders
from litebert.model.model import build
from litebert.train import precision, recipe

VOCABULARY = vocabularies.plain(1000)
CPU = torch.device("cpu")
FLOAT = precision.choose("float32", CPU)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return trial.made(tmp_path_factory.mktemp("text"))


@pytest.fixture
def within(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arms run in this process, which has imported already what costs seconds to import."""

    def run(arm: str, call: dict[str, Any], log: Path, watch: Callable[[str], None]) -> dict[str, Any]:
        module = importlib.import_module(f"litebert.bench.learning_{arm}")
        monkeypatch.setattr(module, "say", lambda value: watch(value["tell"]))
        found: dict[str, Any] = json.loads(json.dumps(module.measure(**json.loads(json.dumps(call)))))
        return found

    monkeypatch.setattr(learning, "_run", run)


def points(*losses: float | None) -> list[dict[str, Any]]:
    return [{"seconds": 60.0 * i, "tokens": 1000 * i, "single_loss": loss} for i, loss in enumerate(losses)]


def test_running_text_loses_no_token_but_a_shards_last() -> None:
    texts = [[list(range(5 + 20 * n, 25 + 20 * n))] for n in range(5)]
    running = learning_rows.Running(Shards.from_documents(texts, per_shard=3), 18, VOCABULARY)
    rows = np.stack([running.row(n) for n in range(len(running))])
    assert rows.shape == (5, 18)  # three of the first 60 tokens, two of the other 40
    assert (rows[:, 0] == VOCABULARY.cls).all()
    assert (rows[:, -1] == VOCABULARY.sep).all()
    assert rows[:3, 1:-1].ravel().tolist() == list(range(5, 53))
    assert rows[3:, 1:-1].ravel().tolist() == list(range(65, 97))


def test_the_peers_masks_are_its_collators() -> None:
    run = recipe.build({"data": {"recipe": "albert", "length": 128}})
    ids = np.random.default_rng(0).integers(5, 1000, 126 * 1500)
    running = learning_rows.Running(Shards.from_documents([[ids.tolist()]]), 128, VOCABULARY)
    batch = learning_rows._hidden(running, 1500, run, VOCABULARY, CPU)
    places = batch.asked[batch.weights > 0]
    rows = torch.arange(1500)[:, None].expand_as(batch.asked)[batch.weights > 0]
    assert float(batch.weights.sum()) / (1500 * 126) == pytest.approx(0.15, abs=0.004)
    assert (int(places.min()), int(places.max())) == (1, 126)
    given, wanted = batch.ids[rows, places], batch.targets[batch.weights > 0]
    assert torch.equal(wanted, torch.from_numpy(np.stack([running.row(n) for n in range(1500)]))[rows, places])
    assert float((given == VOCABULARY.mask).float().mean()) == pytest.approx(0.8, abs=0.015)
    assert float((given == wanted).float().mean()) == pytest.approx(0.1, abs=0.01)
    assert int((given < 4).sum()) > 0  # replacements are of the whole vocabulary, as the collator's


def test_the_peer_is_judged_by_its_own_forward_pass(place: Place, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    run = recipe.load(place.recipe("4 steps"))
    asked = learning_rows.questions(run, str(place.shards), CPU, 12)
    torch.manual_seed(0)
    config = transformers.AlbertConfig(vocab_size=120, embedding_size=16, hidden_size=32, num_hidden_layers=2,
                                       num_attention_heads=2, intermediate_size=64, initializer_range=0.5)  # fmt: skip
    peer = transformers.AlbertForMaskedLM(config).eval()
    peer.save_pretrained(tmp_path)
    scores = learning_rows.scored(folders.load(tmp_path, ["mlm"]), asked, FLOAT)
    for kind, parts in asked._asdict().items():
        loss, right, count = 0.0, 0.0, 0
        for part in parts:
            with torch.no_grad():
                logits = peer(part.ids.long(), attention_mask=part.mask).logits  # all of one segment
            told = logits.gather(1, part.asked[..., None].expand(-1, -1, 120))[part.weights > 0]
            wanted = part.targets[part.weights > 0]
            loss += float(F.cross_entropy(told, wanted, reduction="sum"))
            right, count = right + float((told.argmax(-1) == wanted).sum()), count + len(wanted)
        assert count > 50
        assert scores[f"{kind}_loss"] == pytest.approx(loss / count, abs=1e-4)
        assert scores[f"{kind}_accuracy"] == pytest.approx(right / count, abs=1e-6)
    assert "order_accuracy" not in scores


def test_both_are_asked_what_our_own_evaluation_asks(place: Place) -> None:
    from litebert.train import feeding, loop
    from litebert.train.prepared import prepare

    run = recipe.load(place.recipe("4 steps"), ["training.evaluation_rows=12"])
    ready = prepare(run, place.shards)
    own = loop.evaluate(
        ready.trainer, iter(feeding.held_out(run, ready.held_out, ready.vocabulary, ready.trainer.world))
    )  # fmt: skip
    asked = learning_rows.questions(run, str(place.shards), CPU, 12)
    assert asked.rows == {"recipe": 12, "single": 12}
    model = build(ready.run.model, ["mlm", "order"], seed=run.training.seed).train()
    scores = learning_rows.scored(model, asked, FLOAT, "sop")
    assert model.training
    assert scores["recipe_loss"] == pytest.approx(own.losses["mlm"], abs=1e-5)
    assert scores["order_accuracy"] == pytest.approx(own.accuracies["sop"])


def test_no_time_passes_while_somebody_looks() -> None:
    now = iter([10.0, 12.0, 20.0, 21.0])
    clock = Clock("cpu", lambda: next(now))
    assert clock.read() == 10.0
    with clock.held():  # from 12 to 20
        pass
    assert clock.read() == 13.0


def test_there_are_as_many_looks_as_asked_for_and_the_last_is_the_callers(tmp_path: Path) -> None:
    said: list[str] = []
    scores = {"recipe_loss": 2.0, "single_loss": float("nan")}
    curve = Curve(tmp_path / "x.jsonl", 4, lambda: scores, Clock("cpu"), said.append)
    for step in range(11):
        if curve.due(step / 10):
            curve.look(step, 100 * step, 6.0 * step)
    assert [point["step"] for point in curve.points] == [0, 3, 5, 8]
    assert curve.points == learning_curve.read(tmp_path / "x.jsonl")
    assert curve.points[1] == {"step": 3, "tokens": 300, "seconds": 18.0, "recipe_loss": 2.0, "single_loss": None}
    assert said[1] == "0.3 minutes, 0.0 M tokens: recipe masks 2.000, single masks no number"


@pytest.mark.parametrize(
    ("losses", "goal", "minutes"),
    [
        pytest.param((9.0, 7.0, 5.0), 6.0, 1.5, id="between two looks"),
        pytest.param((9.0, 5.0, 7.0, 5.0), 6.0, 0.75, id="the first time"),
        pytest.param((9.0, None, 5.0), 7.0, 1.0, id="over a look that gave no number"),
        pytest.param((5.0, 4.0), 6.0, 0.0, id="from the beginning"),
        pytest.param((9.0, 7.0), 6.0, None, id="never"),
    ],
)
def test_when_a_loss_was_reached(losses: tuple[float | None, ...], goal: float, minutes: float | None) -> None:
    found = learning_curve.reached(points(*losses), goal, "seconds")
    assert (None if found is None else found / 60) == minutes


def test_both_learn_and_are_told_beside_each_other(place: Place, tmp_path: Path, within: None) -> None:
    pytest.importorskip("accelerate")
    out = tmp_path / "out"
    call = ["bench", "learning", place.shards, "--recipe", place.recipe("30 steps"), "--tokens", 20_000, "--rows", 12,
            "--moments", 3, "--peer-batch", 12, "--no-peer-compile", "--device", "cpu", "--out", out]  # fmt: skip
    done = litebert(*call, "--arm", "ours")
    assert done.code == 0, done.err
    assert {"peer", "reached"} & set(done.value) == set()
    done = litebert(*call, "--arm", "peer")
    assert done.code == 0, done.err
    told = done.value
    assert told["peer"]["steps"] == round(20_000 / (12 * 48))
    assert 20_000 <= told["ours"]["tokens"] < 20_000 + 12 * 48
    looks = learning.points(out)
    for arm in learning.ARMS:
        assert len(looks[arm]) == 4
        assert looks[arm][0]["tokens"] == 0
        assert looks[arm][-1] == told[arm]["final"]
        assert looks[arm][-1]["single_loss"] < looks[arm][0]["single_loss"] - 0.1
        assert told[arm]["rows"] == {"recipe": 12, "single": 12}
    model = folders.load(out / "peer", ["mlm"])
    scores = learning_rows.scored(
        model, learning_rows.questions(recipe.load(place.recipe("30 steps")), str(place.shards), CPU, 12), FLOAT
    )  # fmt: skip
    assert scores["single_loss"] == pytest.approx(told["peer"]["final"]["single_loss"], abs=1e-6)
    assert (out / "peer" / "tokenizer.json").read_bytes() == (place.shards / "tokenizer.json").read_bytes()
    assert "transformers" in (out / "learning.html").read_text()
    assert told["nats_under_entropy"] == pytest.approx(
        told["unigram_entropy"] - told["ours"]["final"]["recipe_loss"], abs=1e-3
    )
    assert refused(*call, "--arm", "ours").startswith(f"{out / 'ours.json'} is there already")
    (out / "ours.json").unlink()  # as if it had been cut off
    assert refused(*call, "--arm", "ours").startswith(f"{out / 'ours'} is there already")


def test_what_was_run_on_other_terms_is_not_held_against_it(place: Place, tmp_path: Path, within: None) -> None:
    own = Contest(
        place.shards, tmp_path, str(place.recipe("30 steps")), tokens=3000.0, rows=12, moments=1, device="cpu"
    )
    found = learning.measure(own, ["ours"])
    assert found["ours"]["final"]["tokens"] >= 3000
    with pytest.raises(learning.UserError, match=r"ours\.json is of another contest"):
        learning.measure(own._replace(tokens=6000.0), ["peer"])


def test_the_peers_steps_fill_the_minutes(place: Place, tmp_path: Path, within: None, monkeypatch: Any) -> None:
    pytest.importorskip("accelerate")
    peer = importlib.import_module("litebert.bench.learning_peer")
    monkeypatch.setattr(peer, "_pace", lambda made: (5.0, 0.25))
    found = learning.measure(
        Contest(place.shards, tmp_path, str(place.recipe("30 steps")), minutes=0.05, rows=12, moments=1, batch=4,
                compiled=False, device="cpu"), ["peer"],
    )  # fmt: skip
    assert (found["peer"]["steps"], found["peer"]["step_seconds"], found["peer"]["compile_seconds"]) == (12, 0.25, 5.0)
    assert found["peer"]["tokens"] == 12 * 4 * 48
    assert found["peer"]["settings"]["attention"] == "eager"
    assert found["peer"]["seconds"] > 3 * 0.25  # the first steps count as any others, whatever they took


def test_a_pace_is_of_steps_that_nothing_is_compiled_in(monkeypatch: Any) -> None:
    pytest.importorskip("transformers")
    peer = importlib.import_module("litebert.bench.learning_peer")
    now = 0.0

    class Trainer:
        """The first step takes a minute, every other one two seconds."""

        def __init__(self, watch: Any) -> None:
            self._watch = watch

        def train(self) -> None:
            nonlocal now
            control, step = SimpleNamespace(should_training_stop=False), 0
            while not control.should_training_stop:
                now, step = now + (2.0 if step else 60.0), step + 1
                self._watch.on_step_end(None, None, control)

    monkeypatch.setattr(peer.time, "monotonic", lambda: now)
    made = SimpleNamespace(
        chosen=FLOAT, model=lambda: None, trainer=lambda model, steps, watch: Trainer(watch)
    )  # fmt: skip
    assert peer._pace(made) == (58.0, 2.0)


def test_tuning_ends_with_the_best_and_tells_what_came_apart(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def peer(contest: Contest, folder: Path, watch: Any) -> dict[str, Any]:
        loss = None if contest.rate > 0.01 else 5 + contest.rate + 1 / contest.batch
        final = {"single_loss": loss, "single_accuracy": 0.1, "recipe_loss": loss, "tokens": 0, "seconds": 0.0}
        return {"steps": contest.steps, "tokens": contest.steps * contest.batch, "final": final}

    monkeypatch.setattr(learning, "_peer", peer)
    call = ["bench", "learning", place.shards, "--recipe", place.recipe("30 steps"), "--out", tmp_path / "t",
            "--peer-rate", 0.001, "--peer-rate", 0.1, "--peer-batch", 16, "--peer-batch", 32]  # fmt: skip
    assert "add --peer-steps or --tokens" in refused(*call)
    done = litebert(*call, "--peer-steps", 7)
    assert done.code == 0, done.err
    told = done.value
    assert [(one["rate"], one["batch"]) for one in told["tuning"][:2]] == [(0.001, 32), (0.001, 16)]
    assert [one["loss"] for one in told["tuning"][2:]] == [None, None]
    assert told["best"] == told["tuning"][0]
    assert "came apart" in done.out


def test_a_recipe_that_the_peer_has_no_class_for_is_refused(place: Place, tmp_path: Path) -> None:
    call = ["bench", "learning", place.shards, "--recipe", place.recipe("30 steps"), "--out", tmp_path / "t"]
    assert "none that AlbertForMaskedLM can learn beside" in refused(*call, "--set", "model.sharing=none")
    assert "arm 'us' is unknown" in refused(*call, "--arm", "us")


def test_what_a_failed_process_said_last_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning.sys, "executable", "/bin/false")
    with pytest.raises(learning.RunError, match="peer could not be measured: it said nothing"):
        learning._run("peer", {}, tmp_path / "peer.log", lambda line: None)
