"""Does a fine-tuning hold still what it is told to, slow down what it is told to, and begin from what it is given?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from litebert import family
from litebert.config import Config, ConfigError, Head
from litebert.interop import folder as folders
from litebert.interop import tensors
from litebert.model.model import Model
from litebert.tasks.fit import Ready, fit
from litebert.tasks.learner import Learner
from litebert.train import record
from tasks.toy import NAMES, Boats, ready, saved_model
from vectors.tiny import model_of, wordpiece_of

DEPTH = 4


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose one block runs four times."""
    return saved_model(tmp_path_factory.mktemp("shared"), layers=DEPTH, dropout=0.0)


@pytest.fixture(scope="module")
def unshared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of four blocks."""
    folder = tmp_path_factory.mktemp("unshared")
    return saved_model(
        folder, layers=DEPTH, dropout=0.0, attention_dropout=0.0, sharing="none", preset="bert-base", embedding=16
    )


def learner(model: Path, **tuning: Any) -> Learner:
    """What learns, before its first step."""
    return ready(model, head_dropout=0.0, **tuning).learner(0)


def slopes(made: Ready, one: Learner) -> dict[str, Tensor]:
    """The gradients of a batch, by the way that a step takes: without a word of what is frozen."""
    micro = made.train.fed(np.arange(8), made.task)
    one.model.train()
    one.trainer.objective.sums(one.model, micro)["classify"].loss.backward()  # type: ignore[no-untyped-call]
    return {name: tensor.grad for name, tensor in one.model.named_parameters() if tensor.grad is not None}


def gradients(model: Path, **tuning: Any) -> dict[str, Tensor]:
    """Of what learns by such a tuning."""
    made = ready(model, head_dropout=0.0, **tuning)
    return slopes(made, made.learner(0))


def state(model: Model) -> dict[str, Tensor]:
    """A copy of its weights."""
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def below(blocks: int) -> tuple[str, ...]:
    """What stands below a depth in an unshared model."""
    return ("embedding.", *(f"encoder.{kind}.{i}." for kind in ("attention", "ffn") for i in range(blocks)))


@pytest.mark.parametrize("blocks", [0, 1, 3, DEPTH])
def test_frozen_blocks_of_an_unshared_model_get_no_gradient_and_all_others_the_same(
    blocks: int, unshared: Path
) -> None:
    whole, found = gradients(unshared), gradients(unshared, freeze=blocks)
    assert set(found) == {name for name in whole if not blocks or not name.startswith(below(blocks))}
    for name, slope in found.items():
        torch.testing.assert_close(slope, whole[name])


@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_a_shared_block_learns_from_the_later_applications_alone(blocks: int, shared: Path) -> None:
    """Unshared, every application has a copy with a gradient of its own: those from `blocks` on must be its sum."""
    copies, found = gradients(shared, unshare=True), gradients(shared, freeze=blocks)
    assert not any(name.startswith("embedding.") for name in found)
    names = [name for name in found if name.startswith("encoder.")]
    assert names
    for name in names:
        _, kind, _, *rest = name.split(".")
        later = [copies[".".join(["encoder", kind, str(depth), *rest])] for depth in range(blocks, DEPTH)]
        torch.testing.assert_close(found[name], torch.stack(later).sum(dim=0), atol=1e-5, rtol=1e-4)
    assert not torch.allclose(gradients(shared)[names[0]], found[names[0]])


def test_all_applications_of_a_shared_block_frozen_leave_the_head_to_learn(shared: Path) -> None:
    assert {name.split(".")[0] for name in gradients(shared, freeze=DEPTH)} == {"pooler", "heads"}


def test_after_a_whole_training_what_is_frozen_is_what_it_was_to_the_bit(unshared: Path, tmp_path: Path) -> None:
    made = ready(unshared, freeze=2, decay=0.5)
    before = state(made.learner(0).model)
    fit(made, 0, tmp_path)
    after = tensors.read_file(tmp_path / tensors.NAME)
    still = {name for name, one in after.items() if one.equal(before[name])}
    assert still - {name for name in still if ".key.bias" in name} == {
        name for name in after if name.startswith(below(2)) and ".key.bias" not in name
    }  # a key's bias changes no attention


def test_the_embedding_alone_is_frozen_and_what_is_frozen_drops_nothing(unshared: Path) -> None:
    one = learner(unshared, freeze_embedding=True, dropout=0.5)
    made = ready(unshared, head_dropout=0.0)
    assert not any(name.startswith("embedding.") for name in slopes(made, one))
    one.model.train()
    micro = made.train.fed(np.arange(4), made.task)
    first, second = (one.model(micro.ids, micro.mask, micro.segments).hidden for _ in range(2))
    assert first[0].equal(second[0])
    assert not first[1].equal(second[1])


def test_the_log_says_what_stands_still_and_what_moves_all_the_same(shared: Path, tmp_path: Path) -> None:
    fit(ready(shared, freeze=3, steps=1), 0, tmp_path / "some")
    frozen = record.read(tmp_path / "some")[0]["frozen"]
    assert (frozen["blocks"], frozen["resting"]) == (3, ["embedding"])
    assert frozen["remarks"][0] == (
        "attention 0 is shared [0×4]: it gets no gradient from the first 3 of 4 depths, but learns from 1 more, and so "
        "changes in all of them"
    )
    fit(ready(shared, steps=1), 0, tmp_path / "none")
    assert "frozen" not in record.read(tmp_path / "none")[0]


def test_more_blocks_than_the_model_runs_cannot_be_frozen(shared: Path) -> None:
    with pytest.raises(ConfigError, match="frozen 5 is not a number of blocks of this model: choose 0 to 4"):
        learner(shared, freeze=5)


def test_one_block_for_all_depths_cannot_learn_at_several_rates_and_is_told_the_way_out(shared: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"layer_decay 0\.5 with one attention for all 4 layers: .* unshare the model"
    ):
        learner(shared, layer_decay=0.5)


def test_layer_decay_is_of_the_rate_so_that_the_first_step_shows_it(shared: Path) -> None:
    """AdamW's first step is as long as the rate, whatever the gradient: a factor of the gradient would not be seen."""
    one = learner(shared, layer_decay=0.5, unshare=True, decay=0.0)
    before, made = state(one.model), ready(shared)
    slopes(made, one)
    one.trainer.optimizer.step(1e-3)
    moved = {name: float((one.model.state_dict()[name] - before[name]).abs().max()) for name in before}
    for depth in range(DEPTH):
        for kind in ("attention.{}.query", "ffn.{}.up"):
            name = f"encoder.{kind.format(depth)}.weight"
            assert moved[name] == pytest.approx(1e-3 * 0.5 ** (DEPTH - 1 - depth), rel=0.05)
    assert moved["heads.classify.out.weight"] == pytest.approx(1e-3, rel=0.05)
    assert moved["embedding.word.weight"] == pytest.approx(1e-3 * 0.5**DEPTH, rel=0.05)


def test_a_group_of_shared_layers_gets_the_mean_of_their_rates(tmp_path: Path) -> None:
    saved_model(tmp_path, layers=DEPTH, groups=2, dropout=0.0)
    one = learner(tmp_path, layer_decay=0.5)
    factors = {each.name: each.factor for each in one.trainer.optimizer.treated}
    assert factors["encoder.ffn.0.up.weight"] == (0.125 + 0.25) / 2
    assert factors["encoder.ffn.1.up.weight"] == (0.5 + 1.0) / 2


def test_unshared_at_load_it_begins_as_the_shared_one_and_the_blocks_part_ways(shared: Path, tmp_path: Path) -> None:
    made = ready(shared, unshare=True)
    before = made.learner(0).model
    micro = made.train.fed(np.arange(8), made.task)
    whole = learner(shared).model.eval()
    read = [model.eval()(micro.ids, micro.mask, micro.segments) for model in (whole, before)]
    assert all(one.equal(other) for one, other in zip(read[0].hidden, read[1].hidden, strict=True))
    assert whole.logits("classify", read[0]).equal(before.logits("classify", read[1]))
    blocks = [before.encoder.ffn[i].up.weight for i in range(DEPTH)]
    assert all(one.equal(blocks[0]) for one in blocks)
    fit(made, 0, tmp_path)
    after = tensors.read_file(tmp_path / tensors.NAME)
    for name in ("attention.{}.value.weight", "ffn.{}.up.weight"):
        parted = [after["encoder." + name.format(depth)] for depth in range(DEPTH)]
        assert not any(one.equal(other) for i, one in enumerate(parted) for other in parted[:i])


class Labelled(Boats):
    """The same question with labels of other names."""

    def __init__(self, names: Sequence[str] = NAMES, kind: str = "classify") -> None:
        super().__init__()
        self._names, self._kind = tuple(names), kind

    def spec(self, config: Config) -> tuple[str, Head]:
        return self._kind, family.head(config, self._kind, labels=len(self._names), names=self._names)


def other_task(folder: Path, *names: str) -> Path:
    """A model that was fitted to a question with such labels, as a fine-tuning leaves it."""
    tokenizer = wordpiece_of()
    config = model_of(tokenizer, layers=2).config
    head = family.head(config, "classify", labels=len(names), names=names)
    folders.save(model_of(tokenizer, heads={"classify": head}, layers=2), folder)  # type: ignore[arg-type]
    tokenizer.save(folder)
    return folder


def started(folder: Path, task: Boats, seed: int = 0) -> dict[str, Tensor]:
    """The weights before the first step."""
    return state(ready(folder, task).learner(seed).model)


HEAD = ("heads.classify.out.weight", "heads.classify.out.bias")


def test_the_head_of_the_same_question_is_kept(tmp_path: Path) -> None:
    folder = other_task(tmp_path, *NAMES)
    was, found = state(folders.load(folder)), started(folder, Labelled())
    assert all(found[name].equal(was[name]) for name in was)
    assert started(folder, Labelled(), seed=1)[HEAD[0]].equal(was[HEAD[0]])


@pytest.mark.parametrize("names", [("yes", "no"), NAMES[::-1], ("a", "b", "c")], ids=["others", "turned", "three"])
@pytest.mark.filterwarnings("ignore:head classify")
def test_the_head_of_another_question_is_drawn_anew_and_the_body_taken(names: Sequence[str], tmp_path: Path) -> None:
    folder = other_task(tmp_path, *names)
    was = state(folders.load(folder))
    found, other = started(folder, Labelled()), started(folder, Labelled(), seed=1)
    body = [name for name in was if not name.startswith("heads.")]
    assert len(body) > 20
    assert all(found[name].equal(was[name]) for name in body)
    assert not torch.equal(found[HEAD[0]], other[HEAD[0]])  # by its seed
    assert found[HEAD[0]].shape[0] == 2
    assert not torch.equal(found[HEAD[0]], was[HEAD[0]])
    fresh = model_of(wordpiece_of(), heads={"classify": Labelled().spec(folders.load(folder).config)[1]}, layers=2)  # type: ignore[arg-type]  # fmt: skip
    assert set(state(fresh)) == set(found)
