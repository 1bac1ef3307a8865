"""Does every shipped recipe train? Each is loaded and run for three steps, its model and batch made small."""

from __future__ import annotations

import math

import pytest

from data.texts import SIZE
from litebert.lab.family import shrunk
from litebert.optim.schedule import Progress, Stopwatch
from litebert.train import feeding, loop, recipe
from litebert.train.recipe import Phase, Run
from train.tiny import prepared

LENGTH = 48


def small(run: Run) -> Run:
    """The same run in all that decides how it goes, for three steps of eight rows."""
    phases = tuple(Phase(share=1 / len(run.phases), length=LENGTH + 16 * i, batch=8) for i in range(len(run.phases)))
    config = shrunk(run.model)
    return run.but(
        model=config.but(vocab=SIZE, max_positions=max(config.max_positions, 64) if config.max_positions else 0),
        data=run.data.but(length=LENGTH),
        schedule=run.schedule.but(total=3.0, unit="steps", warmup=0.4),
        training=run.training.but(batch=8, micro=min(run.training.micro, 4), precision="float32", evaluation_rows=8),
        phases=phases,
    )


@pytest.mark.parametrize("name", recipe.named())
def test_a_recipe_trains(name: str) -> None:
    made = prepared(small(recipe.load(name)))
    done = Progress()
    feed = feeding.portions(
        made.run, made.shards, made.vocabulary, made.trainer.world, feeding.START, lambda: done.steps / 3
    )
    lengths = []
    for step in loop.steps(made.trainer, feed, done, Stopwatch(lambda: 0.0), lambda: False):
        done = step.progress
        lengths.append(step.position[0])
        assert math.isfinite(step.result.loss)
        assert step.norm > 0
        assert set(step.result.losses) == set(made.run.model.objectives)
    feed.close()  # type: ignore[attr-defined]  # a generator: its thread ends
    assert done.steps == 3
    assert lengths[0] == 0
    assert lengths[-1] == len(made.run.stretches()) - 1


@pytest.mark.parametrize("name", recipe.named())
def test_a_recipe_says_what_it_is(name: str) -> None:
    assert len(recipe.told(name)) > 20
