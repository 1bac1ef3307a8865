"""Is a run learning, and if not, why and what helps? Warnings in words, from the events that its log holds.

All but the throughput is a function of the events and of what was noted, so that a run which was killed and gone on
with finds what it would have found. Nothing is said twice before the run is twice as far, and a tenth of it later.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from litebert.train import remedies
from litebert.train.predictions import predictions
from litebert.train.recipe import Run
from litebert.train.usual import Pace, Usual

__all__ = ["Finding", "Health", "predictions"]

PLATEAU = 0.15  # nats within which a loss is the floor
LEARNT = 0.5  # nats under the floor: this is no accident
FEW_STEPS, FEW_TOKENS = 500, 3_000_000  # before so much a flat loss is no news
SHARES = {"words": 0.1, "order": 0.3}  # nor before so much of the run: pairs are learnt after words
CHANCE = 2.33  # standard deviations: one coin in a hundred does better
FEWEST_PAIRS = 100
SAME = {"words": 0.9, "order": 0.98}  # share of one answer that makes it the only one
ADRIFT = 1.5  # nats above the best that a loss was: what was learnt is gone
EXPLODED, IN_A_ROW = 3.0, 10  # nats above the best, above guessing too, so many steps without a break
SETTLED = 20  # steps before a loss is something to compare with
SLOW = 0.5  # of the usual pace


class Finding(NamedTuple):
    """Something that a person should know."""

    kind: str  # plateau, order, constant, gradient, trust, throughput or explosion
    text: str  # what was seen, the likely cause, what helps
    fatal: bool = False


class Health:
    """What is remembered of a run to judge its next event; `notes` gives it back for a checkpoint."""

    def __init__(self, run: Run, floor: float, notes: Mapping[str, Any]) -> None:
        self.run, self.floor = run, floor
        self._told: dict[str, float] = dict(notes.get("told", {}))  # kind -> where in the run
        self._best = float(notes.get("best", math.inf))  # held-out loss of words
        self._phase = int(notes.get("phase", 0))
        self._loss = _Loss.of(notes.get("loss"))
        self._strange = int(notes.get("strange", 0))  # gradients since the last word on them
        self._norm = _norms(notes.get("norm"))
        self._trust = {name: _ratios(noted) for name, noted in notes.get("trust", {}).items()}
        self._pace = Pace(SLOW)
        names = {"mlm": math.log(run.model.vocab), "sop": math.log(2), "nsp": math.log(2)}
        self._guessing = sum(names.get(name, 0.0) for name in run.model.objectives)

    def notes(self) -> dict[str, Any]:
        """All that an unbroken run would remember here; no clock has a part in it."""
        return {
            "told": dict(self._told), "phase": self._phase, "loss": self._loss.notes(), "strange": self._strange,
            "norm": self._norm.notes(), "trust": {name: usual.notes() for name, usual in self._trust.items()},
            **({"best": self._best} if math.isfinite(self._best) else {}),
        }  # fmt: skip

    def step(self, event: Mapping[str, Any]) -> list[Finding]:
        """What the event of a step gives cause to say."""
        if event["phase"] != self._phase:  # rows of another length: another loss, norm and pace
            self._phase, self._loss, self._norm = int(event["phase"]), _Loss(), _norms(None)
            self._pace.forget()
        return [*self._explosion(event), *self._gradient(event), *self._ratios(event), *self._throughput(event)]

    def evaluation(self, event: Mapping[str, Any]) -> list[Finding]:
        """What the event of an evaluation gives cause to say."""
        found = [*self._words(event), *self._order(event)]
        if "mlm" in event:
            self._best = min(self._best, event["mlm"])
        return found

    def _words(self, event: Mapping[str, Any]) -> Iterator[Finding]:
        if "mlm" not in event or not self.floor > 0:
            return
        run, loss, over = self.run, event["mlm"], self._over(event)
        same, stuck = event.get("mlm_top", 0.0) >= SAME["words"], loss > self.floor - PLATEAU
        answer = f", the same word for {event['mlm_top']:.0%} of all places" if same else ""
        seen = f"held-out mlm loss {loss:.2f} after {_amount(event['tokens'])} tokens{answer}"
        if self._best < self.floor - LEARNT and (same or stuck):
            if self._may("constant", event):
                gone = f"{seen}: it was {self._best:.2f} before, what was learnt is gone"
                yield Finding("constant", f"{gone}; {remedies.calmer(run)}")
        elif stuck:
            if (self._fair(event, "words") or over) and self._may("plateau", event):
                above = loss > self.floor + PLATEAU
                floor = f"knowing only how often each word occurs ({self.floor:.2f})"
                what = f"worse than {floor}" if above else f"no better than {floor}"
                yield Finding("plateau", f"{seen}: {what}; {remedies.learn(run, above, over)}")
        elif same and self._fair(event, "words") and self._may("constant", event):
            yield Finding("constant", f"{seen}: the text is of little else, or {remedies.calmer(run)}")

    def _order(self, event: Mapping[str, Any]) -> Iterator[Finding]:
        for name in ("sop", "nsp"):
            count = event.get(f"{name}_count", 0.0)
            if f"{name}_accuracy" not in event or count < FEWEST_PAIRS or not self._fair(event, "order"):
                continue
            right, same = event[f"{name}_accuracy"], event.get("order_top", 0.0) >= SAME["order"]
            answer = f", the same answer for {event['order_top']:.0%} of them" if same else ""
            seen = (
                f"{name} accuracy {right:.1%} over {count:,.0f} pairs after {_amount(event['tokens'])} tokens{answer}"
            )
            if right <= 0.5 + CHANCE * math.sqrt(0.25 / count):
                if self._may("order", event):
                    words = event.get("mlm", 0.0) > self.floor - LEARNT
                    yield Finding("order", f"{seen}: a coin does as well; {remedies.order(self.run, words)}")
            elif same and self._may("constant", event):
                packing = f"data.packing={self.run.data.packing}"
                yield Finding("constant", f"{seen}: nearly all pairs have one label; {remedies.LOOK}, and at {packing}")

    def _explosion(self, event: Mapping[str, Any]) -> Iterator[Finding]:
        loss, best, calmer = event["loss"], self._loss.best, remedies.calmer(self.run)
        self._loss = self._loss.after(loss, loss > max(best + EXPLODED, self._guessing))
        if self._loss.high >= IN_A_ROW:
            seen = (
                f"loss {loss:.4g} at step {event['step']}, for {IN_A_ROW} steps far above {best:.2f}, the best it was"
            )
            what = f"training has diverged, guessing would cost {self._guessing:.2f}"
            yield Finding("explosion", f"{seen}: {what}; {calmer}, and begin anew", fatal=True)
        elif self._loss.mean > best + ADRIFT and self._may("explosion", event):
            seen = f"loss {self._loss.mean:.2f} around step {event['step']}, where it was {best:.2f}"
            yield Finding("explosion", f"{seen}: what was learnt is being lost; {calmer}")

    def _gradient(self, event: Mapping[str, Any]) -> Iterator[Finding]:
        usual = self._norm.value
        times = self._norm.add(event["norm"])
        if times == 1.0:
            return
        self._strange += 1
        if self._may("gradient", event):
            more = f", one of {self._strange} since this was last said" if self._strange > 1 else ""
            self._strange = 0
            seen = f"gradient norm {event['norm']:.3g} at step {event['step']}, {_times(times, usual)}{more}"
            yield Finding("gradient", f"{seen}: {remedies.gradient(self.run, times > 1)}")

    def _ratios(self, event: Mapping[str, Any]) -> Iterator[Finding]:
        found = []
        for name, ratio in event.get("trust", {}).items():
            history = self._trust.setdefault(name, _ratios(None))
            usual = history.value
            times = history.add(ratio)
            if times != 1.0:
                found.append((max(times, 1 / times), name, ratio, times, usual))
        if found and self._may("trust", event):
            _, name, ratio, times, usual = max(found)
            others = f" (and {len(found) - 1} more tensors)" if len(found) > 1 else ""
            seen = f"trust ratio {ratio:.3g} of {name}{others} at step {event['step']}, {_times(times, usual)}"
            yield Finding("trust", f"{seen}: {remedies.trust(self.run, times > 1)}")

    def _throughput(self, event: Mapping[str, Any]) -> Iterator[Finding]:
        slow = self._pace.add(event["tokens_per_s"], event["seconds"])
        if slow is not None:
            seen = f"{slow.pace:,.0f} tokens/s in the last {slow.seconds:.0f} s"
            what = f"{slow.pace / slow.usual:.0%} of the usual {slow.usual:,.0f}"
            yield Finding("throughput", f"{seen}, {what}: {remedies.SLOW}")

    def _done(self, event: Mapping[str, Any]) -> float:
        unit = self.run.schedule.unit
        return float(event["step" if unit == "steps" else unit])

    def _over(self, event: Mapping[str, Any]) -> bool:
        """Whether the run has come to its end."""
        total = self.run.schedule.total
        return total > 0 and self._done(event) >= total and event["step"] >= FEW_STEPS // 5

    def _fair(self, event: Mapping[str, Any], what: str) -> bool:
        """Whether there has been enough training for a judgement."""
        schedule, done, share = self.run.schedule, self._done(event), SHARES[what]
        often = share / SHARES["words"]
        return bool(
            event["step"] >= FEW_STEPS * often and event["tokens"] >= FEW_TOKENS * often
            and done >= 1.5 * schedule.warm and done >= share * schedule.total
        )  # fmt: skip

    def _may(self, kind: str, event: Mapping[str, Any]) -> bool:
        """Whether it is time for a word of this kind; then it counts as said."""
        done, last = self._done(event), self._told.get(kind)
        if last is not None and done < max(2 * last, last + 0.1 * self.run.schedule.total):
            return False
        self._told[kind] = done
        return True


class _Loss(NamedTuple):
    """A training loss: its recent mean, the lowest that this was, and how long it has been much too high."""

    seen: int = 0
    mean: float = 0.0
    best: float = math.inf
    high: int = 0

    @classmethod
    def of(cls, noted: Any) -> _Loss:
        """From its notes, or from nothing."""
        if not noted:
            return cls()
        seen, mean, best, high = noted
        return cls(seen, mean, math.inf if best is None else best, high)

    def notes(self) -> list[float | None]:
        """Without infinity, which JSON has not."""
        return [value if math.isfinite(value) else None for value in self]

    def after(self, loss: float, high: bool) -> _Loss:
        """With one step more."""
        seen = self.seen + 1
        mean = self.mean + (loss - self.mean) / min(seen, SETTLED)
        return _Loss(seen, mean, min(self.best, mean) if seen >= SETTLED else self.best, self.high + 1 if high else 0)


def _norms(noted: Any) -> Usual:
    return Usual(history=50, patience=50, noted=noted)


def _ratios(noted: Any) -> Usual:
    return Usual(history=10, patience=10, noted=noted)


def _times(times: float, usual: float) -> str:
    return f"{times:.3g} times the usual {usual:.3g}" if times > 1 else f"1/{1 / times:.3g} of the usual {usual:.3g}"


def _amount(tokens: float) -> str:
    """12,300,000 as 12.3M."""
    for size, letter in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if tokens >= size:
            return f"{tokens / size:.1f}{letter}"
    return f"{tokens:.0f}"
