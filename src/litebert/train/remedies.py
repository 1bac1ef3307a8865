"""What helps a run that does not learn? The likely causes as its own recipe has them, in words that can be typed."""

from __future__ import annotations

from litebert.train.recipe import Run

SLOW = "another program holds the cores, memory is swapped, or the machine is hot: look with top, then go on"
LOOK = "look at what is fed (litebert data show)"

_LOW = 3e-4  # a peak under this is low for a small encoder
_LOW_ADAPTED = 1e-3  # LAMB's steps are shorter: they are shares of a tensor's length
_FEW_ROWS = 32
_MOST = 3  # remedies in a line


def learn(run: Run, above: bool, over: bool) -> str:
    """Of a loss that stays where it knows nothing; `above` even that, `over` at the end of the run."""
    model, schedule, training = run.model, run.schedule, run.training
    found = []
    if over:
        found.append(f"train longer (schedule.total, now {schedule.total:g} {schedule.unit})")
    if model.positions == "absolute" and not run.start:
        found.append("set model.positions=rotary, which finds the neighbours of a word sooner")
    if schedule.peak < (_LOW if run.optimizer.adapt == "none" else _LOW_ADAPTED):
        found.append(f"raise schedule.peak (now {schedule.peak:g}) to {3 * schedule.peak:.2g}")
    elif above:
        found.append(calmer(run))
    if model.norm == "post":
        found.append("set model.norm=pre")
    if run.data.rate > 0.3:
        found.append(f"ask for less at a time, data.rate=0.15 (now {run.data.rate:g})")
    if 0 < training.batch < _FEW_ROWS:
        found.append(f"raise training.batch (now {training.batch})")
    if not found:
        found.append(f"try another schedule.peak (now {schedule.peak:g}), or {LOOK}")
    return _either(found)


def order(run: Run, words: bool) -> str:
    """Of pairs whose order is guessed; `words` says that those are guessed, too."""
    if words:
        return "words come first, and their loss has yet to fall: " + learn(run, above=False, over=False)
    found = [f"give the pairs more text (data.length, now {run.data.length})"]
    if 0 < run.training.batch < _FEW_ROWS:
        found.append(f"raise training.batch (now {run.training.batch})")
    found.append(f"lower schedule.peak (now {run.schedule.peak:g}) to {run.schedule.peak / 2:.2g}")
    return _either([*found, "see whether you can tell them apart (litebert data show)"])


def calmer(run: Run) -> str:
    """Of steps that are too long."""
    schedule, found = run.schedule, []
    found.append(f"lower schedule.peak (now {schedule.peak:g}) to {schedule.peak / 2:.2g}")
    if not run.optimizer.clip:
        found.append("set optimizer.clip=1")
    longer = f"{min(0.5, max(0.05, 2 * schedule.warmup)):g}" if schedule.warmup < 1 else f"{2 * schedule.warmup:g}"
    if schedule.total or schedule.warmup >= 1:
        found.append(f"lengthen schedule.warmup (now {schedule.warmup:g}) to {longer}")
    return _either(found)


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
        return (f"its gradient has all but gone while its weights are long, and it moves by leaps: "
                f"set optimizer.ratio_limit={limit / 2 if limit else 10:g}")  # fmt: skip
    return f"its weights have shrunk or its update has grown, and it all but stands still; {calmer(run)}"


def _either(remedies: list[str]) -> str:
    return ", or ".join(remedies[:_MOST])
