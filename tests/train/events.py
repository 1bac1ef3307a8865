"""What does the log of a run hold? Six recorded runs, evaluation by evaluation, and steps made to fit between them.

Recorded: 256 wide, 4 applications of one block, post-norm unless said otherwise, vocabulary of 30,000, 8.3 million
tokens of an encyclopedia, 2000 steps of 64 rows of 128, AdamW with a peak of 1e-3 unless said otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from litebert.train import recipe
from litebert.train.health import Finding, Health
from litebert.train.recipe import Run

FLOOR = 7.13  # nats, of single tokens of that text
TOKENS = 7700  # of a step
EVERY = 100  # steps between two evaluations
Event = dict[str, Any]

# Rows: held-out loss of words, share of the most frequent word among the answers, accuracy on orders, share of the most
# frequent order among the answers, accuracy on orders in training until then.
RECORDED: dict[str, tuple[dict[str, Any], str]] = {
    "learns": ({}, """
        7.09 6.82 6.45 6.17 5.97 5.85 5.77 5.67 5.61 5.53 5.48 5.43 5.40 5.36 5.32 5.29 5.27 5.25 5.22 5.22
        .89 .50 .24 .24 .20 .17 .19 .17 .15 .20 .16 .17 .16 .17 .17 .17 .17 .15 .16 .16
        .504 .504 .504 .496 .504 .479 .496 .500 .523 .512 .549 .527 .555 .541 .551 .568 .572 .566 .564 .574
        1.00 1.00 1.00 1.00 1.00 .91 1.00 1.00 .61 .64 .61 .64 .59 .55 .70 .78 .86 .55 .50 .62
        .504 .509 .503 .506 .502 .497 .502 .500 .516 .528 .557 .566 .551 .560 .560 .547 .558 .574 .563 .572"""),
    "learns by LAMB": ({"optimizer.rule": "lamb", "schedule.peak": 0.005}, """
        7.19 6.73 6.35 6.09 5.91 5.81 5.72 5.63 5.56 5.51 5.46 5.42 5.38 5.34 5.31 5.27 5.26 5.24 5.23 5.22
        .91 .59 .36 .30 .25 .20 .17 .18 .18 .20 .18 .18 .17 .17 .18 .17 .15 .16 .16 .16
        .531 .541 .537 .496 .535 .551 .523 .521 .566 .576 .582 .531 .523 .545 .566 .539 .570 .557 .555 .553
        .84 .62 .52 1.00 .92 .55 .92 .91 .73 .61 .70 .50 .81 .73 .75 .78 .64 .64 .53 .58
        .490 .512 .516 .510 .524 .512 .528 .527 .520 .529 .541 .539 .542 .544 .546 .531 .545 .550 .538 .550"""),
    "crawls": ({"model.positions": "absolute"}, """
        7.12 6.95 6.84 6.77 6.70 6.66 6.60 6.56 6.53 6.49 6.47 6.44 6.42 6.41 6.39 6.37 6.36 6.35 6.34 6.34
        .97 .58 .86 .83 .52 .50 .41 .71 .80 .46 .52 .62 .53 .65 .62 .50 .50 .54 .52 .52
        .516 .504 .504 .496 .496 .531 .496 .504 .570 .561 .572 .531 .543 .533 .572 .543 .537 .562 .562 .562
        .66 1.00 1.00 1.00 1.00 .94 1.00 1.00 .53 .64 .62 .56 .53 .78 .67 .80 .72 .56 .52 .67
        .492 .502 .500 .502 .507 .502 .509 .519 .520 .512 .542 .533 .533 .547 .534 .534 .537 .548 .538 .550"""),
    "collapsed": ({"schedule.peak": 0.01}, """
        7.26 7.16 7.14 7.14 7.13 7.12 7.11 7.11 7.10 7.09 7.09 7.09 7.09 7.08 7.08 7.08 7.07 7.07 7.07 7.07
        1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00
        .496 .504 .504 .496 .504 .496 .504 .496 .496 .496 .496 .504 .504 .504 .504 .504 .504 .496 .504 .496
        1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00
        .501 .507 .508 .500 .497 .495 .506 .497 .496 .498 .495 .489 .497 .501 .496 .502 .510 .497 .499 .493"""),
    "hardly moves": ({"schedule.peak": 1e-05}, """
        10.13 9.93 9.81 9.70 9.61 9.52 9.44 9.37 9.31 9.25 9.20 9.15 9.11 9.08 9.05 9.03 9.01 9.00 8.99 8.99
        .83 .94 .96 .96 .95 .95 .95 .94 .95 .95 .95 .95 .95 .95 .95 .95 .95 .95 .95 .95
        .533 .537 .525 .533 .523 .521 .547 .520 .541 .521 .537 .531 .527 .527 .523 .527 .520 .535 .527 .523
        .77 .80 .95 .56 .64 .67 .66 .66 .64 .66 .70 .69 .50 .55 .62 .67 .64 .59 .55 .55
        .500 .516 .527 .533 .540 .522 .530 .539 .525 .539 .537 .535 .529 .544 .534 .535 .531 .536 .526 .539"""),
    "no order": ({"model.norm": "pre", "schedule.peak": 0.002}, """
        7.15 7.12 7.07 6.97 6.85 6.71 6.57 6.38 6.24 6.16 6.06 5.98 5.93 5.89 5.84 5.81 5.79 5.76 5.74 5.73
        .96 1.00 .84 .40 .52 .43 .44 .33 .20 .28 .21 .23 .21 .22 .21 .20 .20 .21 .19 .19
        .496 .504 .504 .496 .496 .496 .496 .498 .525 .520 .492 .498 .504 .500 .494 .510 .494 .482 .510 .521
        1.00 1.00 1.00 1.00 1.00 1.00 1.00 .70 .89 .81 .86 1.00 1.00 .98 .98 .89 .91 .95 .64 .55
        .501 .505 .503 .499 .504 .502 .497 .498 .485 .499 .504 .504 .486 .512 .497 .509 .505 .506 .503 .514"""),
}  # fmt: skip


def run_of(**changes: Any) -> Run:
    """The run that was recorded, with changes such as `schedule__peak=2e-3`."""
    tables: dict[str, dict[str, Any]] = {
        "model": {"hidden": 256, "layers": 4, "heads": 4, "ffn": 1024, "positions": "rotary"},
        "data": {"length": 128},
        "optimizer": {"rule": "adamw"},
        "schedule": {"kind": "linear", "peak": 1e-3, "warmup": 0.05, "total": 2000.0},
        "training": {"batch": 64},
    }
    for name, value in changes.items():
        table, _, field = name.partition("__")
        tables[table][field] = value
    return recipe.build(tables)


def recorded(name: str) -> tuple[Run, list[Event]]:
    """A recorded run and its events."""
    changes, text = RECORDED[name]
    columns = [[float(value) for value in line.split()] for line in text.strip().splitlines()]
    run = run_of(**{field.replace(".", "__"): value for field, value in changes.items()})
    return run, list(between(zip(*columns, strict=True), run.optimizer.adapt != "none"))


def between(rows: Any, adapted: bool = False) -> Iterator[Event]:
    """Evaluations, and before each the steps that lead to it: their noise is that of the recorded ones."""
    draw, step, last = np.random.default_rng(7), 0, math.log(30000)
    yield evaluation(0, last, 0.4, 0.5, 1.0)
    for mlm, top, sop, same, trained in rows:
        for i in range(EVERY):
            step += 1
            words = last + (mlm - last) * (i + 1) / EVERY + draw.normal(0, 0.05)
            right = draw.binomial(64, trained) / 64
            event = one_step(step, words, right, 1.6 * math.exp(draw.normal(0, 0.25)), 20_000 * draw.uniform(0.9, 1.1))
            if adapted and step % 20 == 1:
                event["trust"] = {"embedding.word.weight": 0.02 + step * 5e-5, "pooler.dense.weight": 0.05}
            yield event
        yield evaluation(step, mlm, top, sop, same)
        last = mlm


def one_step(step: int, mlm: float = 6.0, sop: float = 0.5, norm: float = 1.6, pace: float = 20_000.0) -> Event:
    """The event of a step; a step takes 0.4 s."""
    return {
        "event": "step", "step": step, "tokens": step * TOKENS, "seconds": step * TOKENS / 20_000, "loss": mlm + 0.69,
        "rate": 1e-3, "norm": norm, "tokens_per_s": pace, "phase": 0, "mlm": mlm, "mlm_accuracy": 0.1, "sop": 0.69,
        "sop_accuracy": sop,
    }  # fmt: skip


def evaluation(
    step: int, mlm: float, top: float = 0.2, sop: float = 0.6, same: float = 0.6, pairs: float = 512.0
) -> Event:
    """The event of an evaluation."""
    return {
        "event": "evaluation", "step": step, "tokens": step * TOKENS, "seconds": step * TOKENS / 20_000,
        "loss": mlm + 0.69, "mlm": mlm, "mlm_accuracy": 0.1, "sop": 0.69, "sop_accuracy": sop, "mlm_count": 9000.0,
        "sop_count": pairs, "mlm_top": top, "mlm_distinct": 50.0, "order_top": same,
    }  # fmt: skip


def told(
    run: Run, events: list[Event], health: Health | None = None, each: Callable[[Event], None] = lambda event: None
) -> list[tuple[int, Finding]]:
    """(step, finding) of all that is found; `each` sees every event first."""
    judge, found = health or Health(run, FLOOR, {}), []
    for event in events:
        each(event)
        judged = judge.step(event) if event["event"] == "step" else judge.evaluation(event)
        found += [(event["step"], one) for one in judged]
    return found
