"""Does a remedy fit the recipe that it is for, and does it load?"""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from litebert.train import recipe, remedies
from litebert.train.recipe import Run
from train.events import run_of


def offered(text: str) -> list[str]:
    """What of a remedy can be typed after `--set`: fields that are set, and fields that are said to become a number."""
    assigned = re.findall(r"\b((?:model|data|optimizer|schedule|training)\.\w+=[\w.]+)", text)
    moved = re.findall(r"(?:lower|raise|lengthen) (schedule\.\w+) \(now [^)]*\) to ([\d.e-]+)", text)
    return [*assigned, *(f"{field}={value}" for field, value in moved)]


def changed(run: Run, changes: list[str]) -> Run:
    """The run with the changes of a command line."""
    return recipe.build(recipe._changed(tables(run), changes))


def tables(run: Run) -> dict[str, Any]:
    """The run as its file would be read."""
    return tomllib.loads(recipe.as_toml(run))


EVERY = [
    run_of(),
    run_of(model__positions="absolute", schedule__peak=1e-5),
    run_of(optimizer__rule="lamb", schedule__peak=0.3, optimizer__clip=0.0, training__batch=8),
    run_of(schedule__warmup=300.0, data__rate=0.4, model__layers=24),
    run_of(schedule__kind="constant", schedule__total=0.0, schedule__warmup=0.0, schedule__peak=1.0),
]


@pytest.mark.parametrize("run", EVERY, ids=range(len(EVERY)))
def test_what_is_offered_can_be_typed_and_changes_something(run: Run) -> None:
    texts = [remedies.learn(run, stuck, short) for stuck in ("above", "floor", "crawling") for short in (False, True)]
    texts += [remedies.order(run), remedies.calmer(run), remedies.forget(run), remedies.LOOK]
    if run.optimizer.adapt != "none":
        texts += [remedies.trust(run, high=True), remedies.trust(run, high=False)]
    found = {one for text in texts for one in offered(text)}
    assert found
    for one in found:
        assert changed(run, [one]) != run
    for text in [*texts, remedies.gradient(run, high=True), remedies.gradient(run, high=False)]:
        assert "\n" not in text
        assert "  " not in text


def test_absolute_positions_are_told_to_become_rotary_and_rotary_ones_are_not() -> None:
    absolute = run_of(model__positions="absolute")
    assert offered(remedies.learn(absolute, "crawling", short=False)) == ["model.positions=rotary"]
    assert "rotary" not in remedies.learn(run_of(), "crawling", short=False)
    assert "rotary" not in remedies.learn(absolute.but(start="folder"), "floor", short=False)


@pytest.mark.parametrize(
    "peak, rule, hidden, offer",
    [
        (1e-5, "adamw", 256, "schedule.peak=0.0003"),
        (1e-5, "adamw", 768, "schedule.peak=0.0001"),
        (1e-4, "lamb", 256, "schedule.peak=0.001"),
        (1e-2, "adamw", 256, "schedule.peak=0.002"),
        (3e-3, "adamw", 768, "schedule.peak=0.001"),
        (0.5, "lamb", 768, "schedule.peak=0.01"),
    ],
)
def test_a_peak_outside_of_what_learns_is_brought_inside(peak: float, rule: str, hidden: int, offer: str) -> None:
    run = run_of(schedule__peak=peak, optimizer__rule=rule, model__hidden=hidden)
    assert offered(remedies.learn(run, "floor", short=False))[0] == offer


def test_a_peak_that_learns_is_left_alone_but_for_want_of_a_warm_up() -> None:
    assert "lower" not in remedies.learn(run_of(), "floor", short=False)
    assert "schedule.warmup=0.05" in offered(remedies.learn(run_of(schedule__warmup=0.0), "floor", short=False))


def test_deep_ones_are_offered_the_norm_before() -> None:
    assert "model.norm=pre" in offered(remedies.learn(run_of(model__layers=12), "floor", short=False))
    assert "model.norm=pre" not in offered(remedies.learn(run_of(), "floor", short=False))


def test_a_gradient_that_nothing_cuts_is_to_be_cut() -> None:
    assert "optimizer.clip=1" in offered(remedies.gradient(run_of(optimizer__clip=0.0), high=True))
    assert "it was cut to optimizer.clip=1" in remedies.gradient(run_of(), high=True)
