"""What helps a run that does not learn? The likely causes as its own recipe has them, in words that can be typed.

Where a peak is low or high is what runs of 256 wide × 4 and of 12 layers on 15 million tokens have shown (LOG.md), and
for wider encoders what is published.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from litebert.train.recipe import Run

# A loss over words that nobody learns from: above what the words' frequencies give, at it, or a bit under it for long.
Stuck = Literal["above", "floor", "crawling"]

SLOW = "another program holds the cores, memory is swapped, or the machine is hot: look with top, then go on"
LOOK = "look at what is fed (litebert data show)"

_FEW_ROWS = 32
_DEEP = 12  # blocks, from which on the place of the norm tells
_WIDE = 512
_MOST = 4  # remedies in a line


class Peaks(NamedTuple):
    """Between which rates an encoder learns."""

    low: float
    high: float


def peaks(run: Run) -> Peaks:
    """By what takes the step, and how wide the encoder is."""
    if run.optimizer.adapt != "none":
        return Peaks(1e-3, 1e-2)  # LAMB's rate is a share of a tensor's length
    return Peaks(1e-4, 1e-3) if run.model.hidden > _WIDE else Peaks(3e-4, 2e-3)


def learn(run: Run, stuck: Stuck, short: bool) -> str:
    """Of words; `short`: the run ended before there was time for it."""
    model, schedule, training = run.model, run.schedule, run.training
    low, high = peaks(run)
    found = []
    if short:
        found.append(f"train longer (schedule.total, now {schedule.total:g} {schedule.unit})")
    if schedule.peak < low:
        found.append(f"raise schedule.peak (now {schedule.peak:g}) to {low:g}")
    elif stuck != "crawling" and (schedule.peak > high or not schedule.warmup or stuck == "above"):
        found += _calmer(run)
    if model.positions == "absolute" and not run.start:
        found.append("set model.positions=rotary")
    if stuck == "floor" and model.norm == "post" and model.depth >= _DEEP and not run.start:
        found.append("set model.norm=pre")
    if run.data.rate > 0.3:
        found.append(f"ask for less at a time, data.rate=0.15 (now {run.data.rate:g})")
    if 0 < training.batch < _FEW_ROWS:
        found.append(f"raise training.batch (now {training.batch})")
    if not found:
        found.append(f"try a schedule.peak between {low:g} and {high:g} (now {schedule.peak:g}), or {LOOK}")
    return _either(found)


def order(run: Run) -> str:
    """Of pairs whose order is guessed, while words are learnt."""
    found = [f"lower schedule.peak (now {run.schedule.peak:g}) to {_lower(run):.2g}"]
    if 0 < run.training.batch < _FEW_ROWS:
        found.append(f"raise training.batch (now {run.training.batch})")
    found.append(f"give the pairs more text (data.length, now {run.data.length})")
    return _either([*found, "see whether you can tell them apart (litebert data show)"])


def forget(run: Run) -> str:
    """Of a text that is known by heart."""
    schedule, found = run.schedule, ["build the shards from more text"]
    if schedule.total:
        found.append(f"end sooner (schedule.total, now {schedule.total:g} {schedule.unit})")
    if not run.model.dropout:
        found.append("set model.dropout=0.1")
    return _either(found)


def calmer(run: Run) -> str:
    """Of steps that are too long."""
    return _either(_calmer(run))


def gradient(run: Run, high: bool) -> str:
    """Of a gradient unlike those before it."""
    if not high:
        return f"hardly anything is learnt from such a batch; {LOOK}"
    clip = run.optimizer.clip
    done = f"it was cut to optimizer.clip={clip:g}, so one does no harm" if clip else "nothing cuts it"
    return f"{done}; if it comes back {calmer(run)}"


def trust(run: Run, high: bool) -> str:
    """Of one tensor's trust ratio unlike those before it."""
    if high:
        limit = run.optimizer.ratio_limit
        what = "its gradient has all but gone, and what is left moves it by leaps"
        return f"{what}; set optimizer.ratio_limit={limit / 2 if limit else 1:g}"
    return f"its weights have shrunk or its update has grown, and it all but stands still; {calmer(run)}"


def _calmer(run: Run) -> list[str]:
    schedule, found = run.schedule, []
    found.append(f"lower schedule.peak (now {schedule.peak:g}) to {_lower(run):.2g}")
    if not run.optimizer.clip:
        found.append("set optimizer.clip=1")
    longer = f"{min(0.5, max(0.05, 2 * schedule.warmup)):g}" if schedule.warmup < 1 else f"{2 * schedule.warmup:g}"
    if schedule.total or schedule.warmup >= 1:
        found.append(f"lengthen schedule.warmup (now {schedule.warmup:g}) to {longer}")
    return found


def _lower(run: Run) -> float:
    return min(run.schedule.peak / 2, peaks(run).high)


def _either(remedies: list[str]) -> str:
    return ", or ".join(remedies[:_MOST])
