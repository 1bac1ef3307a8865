"""Is a run that learns left alone, and is each way not to learn told once, early, and with what helps?"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from litebert.train.health import Finding, Health
from litebert.train.recipe import Run
from train.events import FLOOR, TOKENS, Event, evaluation, one_step, recorded, run_of, told

RUN = run_of()


def steps(first: int, last: int, **values: Any) -> list[Event]:
    """Steps first to last; a value may be a function of the step."""
    draw = np.random.default_rng(first)
    noise = {"mlm": 6.0, "sop": 0.56, "norm": 1.6}
    found = []
    for step in range(first, last + 1):
        given = {name: value(step) if callable(value) else value for name, value in values.items()}
        found.append(one_step(step, **{**{n: v * math.exp(draw.normal(0, 0.02)) for n, v in noise.items()}, **given}))
    return found


def kinds(found: list[tuple[int, Finding]]) -> list[str]:
    """The kinds of what was found, in order."""
    return [one.kind for _, one in found]


@pytest.mark.parametrize("name", ["learns", "learns by LAMB"])
def test_a_run_that_learns_is_left_alone(name: str) -> None:
    assert told(*recorded(name)) == []


@pytest.mark.parametrize(
    "name, kind, steps_of, words",
    [
        ("collapsed", "plateau", [500, 1000, 2000], ["no better than", "7.13", "100%", "3.9M tokens", "schedule.peak"]),
        ("crawls", "plateau", [1300], ["little better than", "6.42", "model.positions=rotary"]),
        ("hardly moves", "plateau", [500, 1000, 2000], ["worse than", "raise schedule.peak (now 1e-05) to 0.0003"]),
        ("no order", "order", [1500], ["sop accuracy 49.4% over 512 pairs", "a coin", "schedule.peak (now 0.002)"]),
    ],
)
def test_a_run_that_does_not_learn_is_told_so_a_few_times(
    name: str, kind: str, steps_of: list[int], words: list[str]
) -> None:
    found = told(*recorded(name))
    assert [step for step, _ in found] == steps_of
    assert set(kinds(found)) == {kind}
    for word in words:
        assert word in found[0][1].text
    assert not any("\n" in one.text or one.fatal for _, one in found)


def broken() -> tuple[Run, list[Event]]:
    """A run with everything in it: a plateau, wild gradients and ratios, a relapse and a slow stretch."""
    run, events = recorded("collapsed")
    run = run.but(optimizer=run_of(optimizer__rule="lamb").optimizer)
    for event in events:
        step = event["step"]
        if event["event"] == "evaluation":
            continue
        event["norm"] *= 300 if step % 211 == 0 else 1
        event["loss"] += 2.5 if 1200 < step < 1300 else 0
        event["tokens_per_s"] *= 0.2 if step > 1500 else 1
        if step % 20 == 1:
            event["trust"] = {"a.weight": 0.05 if step < 1441 else 50.0, "b.weight": 0.1}
    return run, events


@pytest.mark.parametrize("unit", ["steps", "tokens"])
def test_killed_anywhere_and_gone_on_with_it_finds_the_same(unit: str) -> None:
    run, events = broken()
    if unit == "tokens":
        run = run_of(schedule__total=2000.0 * TOKENS, schedule__unit="tokens")
    whole = Health(run, FLOOR, {})
    expected = told(run, events, whole)
    assert {"plateau", "gradient", "trust", "explosion", "throughput"} == set(kinds(expected))
    for kill in (1, 37, 500):
        found, health = [], Health(run, FLOOR, {})
        for at in range(0, len(events), kill):
            found += told(run, events[at : at + kill], health)
            health = Health(run, FLOOR, json.loads(json.dumps(health.notes(), allow_nan=False)))
        assert [one for one in found if one[1].kind != "throughput"] == [
            one for one in expected if one[1].kind != "throughput"
        ]
        assert health.notes() == whole.notes()


@pytest.mark.parametrize("stop", [False, True])
def test_what_was_seen_before_a_stop_counts_after_it(stop: bool) -> None:
    draw = np.random.default_rng(3)
    longer = [{**event, "phase": 1} for event in steps(1401, 1600, sop=lambda step: draw.binomial(64, 0.56) / 64)]
    health = Health(RUN, FLOOR, {})
    assert told(RUN, longer, health) == []
    if stop:
        health = Health(RUN, FLOOR, json.loads(json.dumps(health.notes())))
    asked = [evaluation(1600, 5.5, sop=0.5), {**one_step(1601, norm=90.0), "phase": 1}]
    assert kinds(told(RUN, asked, health)) == ["gradient"]


def test_no_clock_has_a_part_in_the_notes_or_in_what_is_found_but_the_throughput() -> None:
    run, events = broken()
    slow = [{**event, "seconds": event["seconds"] * 9, **({"tokens_per_s": 1.0} if "norm" in event else {})}
            for event in events]  # fmt: skip
    one, other = Health(run, FLOOR, {}), Health(run, FLOOR, {})
    expected, found = told(run, events, one), told(run, slow, other)
    assert [each for each in expected if each[1].kind != "throughput"] == found
    assert one.notes() == other.notes()
    assert "pace" not in json.dumps(one.notes())


def test_a_word_is_not_said_again_before_the_run_is_twice_as_far_and_a_tenth_on() -> None:
    events = [one_step(step, norm=1000.0 if step % 60 == 0 else 1.6 + step % 7 / 50) for step in range(1, 2001)]
    found = told(RUN, events)
    assert set(kinds(found)) == {"gradient"}
    at = [step for step, _ in found]
    assert at == [120, 360, 720, 1440]
    assert ", one of 12 since this was last said" in found[-1][1].text
    endless = run_of(schedule__kind="constant", schedule__total=0.0, schedule__warmup=0.0)
    assert [step for step, _ in told(endless, events)] == [60, 120, 240, 480, 960, 1920]


def test_a_plateau_is_no_news_before_the_warm_up_is_over_or_much_of_a_long_run_is_done() -> None:
    flat = [evaluation(step, FLOOR, top=1.0) for step in range(0, 2001, 50)]
    assert [step for step, _ in told(run_of(schedule__warmup=0.4), flat)] == [1200]
    assert [step for step, _ in told(run_of(schedule__total=125_000.0), flat)] == []
    long = [evaluation(step, FLOOR, top=1.0) for step in range(0, 125_001, 2500)]
    assert [step for step, _ in told(run_of(schedule__total=125_000.0), long)][:2] == [12_500, 25_000]
    few = [{**event, "tokens": event["step"] * 100} for event in flat]
    assert [step for step, _ in told(RUN, few)] == [2000]


def test_a_run_that_ends_before_there_was_time_is_told_to_be_longer() -> None:
    run = run_of(schedule__total=200.0)
    found = told(run, [evaluation(step, 7.6, top=1.0) for step in range(0, 201, 10)])
    assert [(step, one.kind) for step, one in found] == [(200, "plateau")]
    assert "train longer (schedule.total, now 200 steps)" in found[0][1].text
    assert told(run_of(schedule__total=60.0), [evaluation(60, 9.0, top=1.0)]) == []


def test_without_held_out_text_training_tells() -> None:
    events = [event for event in recorded("collapsed")[1] if event["event"] == "step"]
    found = told(RUN, events)
    assert [(step, one.kind) for step, one in found] == [(500, "plateau"), (1000, "plateau"), (2000, "plateau")]
    assert found[0][1].text.startswith("training mlm loss 7.1")
    assert told(RUN, [event for event in recorded("learns")[1] if event["event"] == "step"]) == []


@pytest.mark.parametrize("trained, pairs, news", [(0.5, 512, True), (0.55, 512, False), (0.5, 80, False)])
def test_an_order_at_chance_is_what_neither_training_nor_evaluation_can_tell_from_a_coin(
    trained: float, pairs: int, news: bool
) -> None:
    draw = np.random.default_rng(3)
    seen = steps(1501, 1600, sop=lambda step: draw.binomial(64, trained) / 64)
    asked = [evaluation(1600, 5.5, sop=0.53, pairs=float(pairs))]
    assert kinds(told(RUN, [*seen, *asked])) == ["order"] * news


@pytest.mark.parametrize("pairs, right, news", [(512, 0.551, True), (512, 0.553, False), (5120, 0.53, False)])
def test_an_evaluation_alone_is_a_binomial_test(pairs: int, right: float, news: bool) -> None:
    assert kinds(told(RUN, [evaluation(1600, 5.5, sop=right, pairs=float(pairs))])) == ["order"] * news


def test_words_come_before_orders() -> None:
    assert told(RUN, [evaluation(1600, FLOOR * 0.95, top=0.3, sop=0.5)]) == []
    assert kinds(told(RUN, [evaluation(1600, FLOOR * 0.85, top=0.3, sop=0.5)])) == ["order"]


def test_a_model_that_knew_words_and_gives_one_answer_has_collapsed() -> None:
    good = [evaluation(step, 5.0) for step in range(100, 301, 100)]
    found = told(RUN, [*good, *(evaluation(step, 7.2, top=1.0) for step in range(400, 2001, 100))])
    assert [(step, one.kind) for step, one in found] == [(400, "constant"), (800, "constant"), (1600, "constant")]
    assert "the same word for 100% of all places, where it was 5.00 before: what was learnt is gone" in found[0][1].text
    assert kinds(told(RUN, [*good, evaluation(400, 5.0, top=0.95)])) == ["constant"]


def test_a_model_that_knows_its_text_by_heart_has_not_collapsed() -> None:
    events = [*steps(1, 100, mlm=5.0), evaluation(100, 5.0), *steps(101, 300, mlm=1.0), evaluation(300, 7.5)]
    assert kinds(told(RUN, events[101:])) == ["overfit"]
    found = told(RUN, events)
    assert kinds(found) == ["overfit"]
    assert "on training text it is 1.00" in found[0][1].text
    assert "model.dropout=0.1" in found[0][1].text


def test_one_answer_though_the_loss_is_low_is_the_text_s_or_the_labels_fault() -> None:
    assert kinds(told(RUN, [evaluation(700, 4.0, top=0.95)])) == ["constant"]
    found = told(RUN, [evaluation(1600, 5.0, sop=0.7, same=1.0)])
    assert kinds(found) == ["constant"]
    assert "data.packing=sop" in found[0][1].text


@pytest.mark.parametrize("norm, found", [(80.0, True), (20.0, False), (0.001, True), (0.05, False)])
def test_a_gradient_far_from_the_usual_is_told_with_its_step(norm: float, found: bool) -> None:
    events = [*steps(1, 300), *steps(301, 301, norm=norm), *steps(302, 400)]
    judged = told(RUN, events)
    assert [(step, one.kind) for step, one in judged] == [(301, "gradient")] * found
    if norm == 80.0:
        assert re.search(r"norm 80 at step 301, (49|5\d)(\.\d)? times the usual 1\.6", judged[0][1].text)


def test_gradients_of_the_warm_up_and_of_the_first_steps_are_no_news() -> None:
    wild = [*steps(1, 60), *steps(61, 61, norm=900.0), *steps(62, 99)]
    assert told(RUN, wild) == []
    assert told(run_of(schedule__warmup=0.0), [*steps(1, 30), *steps(31, 31, norm=900.0)]) == []


def test_what_becomes_usual_is_no_longer_news() -> None:
    found = told(RUN, [*steps(1, 300), *steps(301, 2000, norm=100.0)])
    assert kinds(found) == ["gradient"]


@pytest.mark.parametrize("ratio, words", [(9.0, "optimizer.ratio_limit=1"), (0.0001, "all but stands still")])
def test_a_trust_ratio_is_held_against_the_tensor_s_own_history(ratio: float, words: str) -> None:
    run = run_of(optimizer__rule="lamb", schedule__peak=5e-3)

    def rated(step: int) -> dict[str, float]:
        wide = {"embedding.word.weight": 0.02 + step * 5e-5, "pooler.dense.weight": 9.0}
        return wide | {"encoder.attention.0.key.weight": ratio if step == 401 else 0.05}

    events = [{**event, "trust": rated(event["step"])} if event["step"] % 20 == 1 else event
              for event in steps(1, 1000)]  # fmt: skip
    found = told(run, events)
    assert [(step, one.kind) for step, one in found] == [(401, "trust")]
    assert "of encoder.attention.0.key.weight at step 401" in found[0][1].text
    assert words in found[0][1].text


def test_an_explosion_is_fatal_after_ten_steps_without_a_break() -> None:
    found = told(RUN, [*steps(1, 200), *steps(201, 240, mlm=30.0)])
    fatal = [step for step, one in found if one.fatal]
    assert fatal[0] == 210
    assert {one.kind for _, one in found} == {"explosion"}
    saved = told(RUN, [*steps(1, 200), *steps(201, 209, mlm=30.0), *steps(210, 300)])
    assert not any(one.fatal for _, one in saved)


@pytest.mark.parametrize("start", [10.4, 14.0, 40.0])
def test_a_start_is_no_explosion_however_high_it_is(start: float) -> None:
    assert told(RUN, steps(1, 400, mlm=lambda step: 6.0 + (start - 6.0) * math.exp(-step / 40))) == []
    assert told(RUN, steps(1, 60, mlm=lambda step: start + (9.0 if 3 < step < 12 else 0.0))) == []


def test_a_loss_that_rises_and_stays_up_is_told_though_it_is_below_guessing() -> None:
    found = told(RUN, [*steps(1, 300, mlm=4.0), *steps(301, 1000, mlm=7.1)])
    assert kinds(found) == ["explosion", "constant", "explosion", "constant"]
    assert found[0][0] < 330
    assert not any(one.fatal for _, one in found)


def test_longer_rows_are_another_loss_norm_and_pace() -> None:
    later = [{**event, "phase": 1, "loss": event["loss"] + 2.0, "norm": event["norm"] * 60, "tokens_per_s": 5000.0}
             for event in steps(301, 700)]  # fmt: skip
    assert told(RUN, [*steps(1, 300), *later]) == []


def test_a_slow_stretch_is_told_once_and_again_only_after_it_was_over() -> None:
    events = [*steps(1, 300), *steps(301, 600, pace=7000.0), *steps(601, 900), *steps(901, 1200, pace=5000.0)]
    found = told(RUN, events)
    assert kinds(found) == ["throughput", "throughput"]
    assert 301 < found[0][0] < 360
    assert "7,000 tokens/s" in found[0][1].text
    assert "35% of the usual 20,000" in found[0][1].text


@pytest.mark.parametrize("pace", [lambda step: 300.0 if step % 9 == 0 else 2e4, lambda step: 2e4 if step > 40 else 2e3])
def test_single_slow_steps_and_a_slow_start_are_no_news(pace: Callable[[int], float]) -> None:
    assert told(RUN, steps(1, 1000, pace=pace)) == []


def test_steps_of_milliseconds_say_nothing_of_the_pace() -> None:
    quick = [{**event, "seconds": event["step"] * 0.002} for event in steps(1, 2000, pace=lambda step: 1e5 / step)]
    assert told(RUN, quick) == []


def test_a_run_without_words_or_without_a_known_floor_is_judged_by_what_it_has() -> None:
    left_out = ("mlm", "mlm_accuracy", "sop", "sop_accuracy")
    bare = [{k: v for k, v in event.items() if k not in left_out} for event in steps(1, 600)]
    asked = {k: v for k, v in evaluation(600, 7.1, top=1.0).items() if "mlm" not in k}
    assert told(RUN, [*bare, asked]) == []
    assert told(RUN, [evaluation(600, 7.1, top=0.5)], Health(RUN, 0.0, {})) == []


def test_judging_costs_nothing() -> None:
    names = [f"encoder.attention.{i}.weight" for i in range(150)]
    events = [{**event, "trust": dict.fromkeys(names, 0.05)} if event["step"] % 20 == 1 else event
              for event in steps(1, 1000)]  # fmt: skip
    health, began = Health(RUN, FLOOR, {}), time.process_time()
    told(RUN, events, health)
    assert (time.process_time() - began) / len(events) < 5e-4
