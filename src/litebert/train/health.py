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
from litebert.train.usual import Pace, Sample, Smooth, Usual

__all__ = ["Finding", "Health", "predictions"]

ORDERS = ("sop", "nsp")
# Of the floor, the loss of one who only knows how often each word occurs. What learns nothing ends within 1 % of it.
PLATEAU = 0.02
LEARNT = 0.07  # below this it is no accident
CRAWLING = 0.14  # above this half of the answers should no longer be one word: no neighbour is looked at yet
FEW_STEPS, FEW_TOKENS = 500, 3_000_000  # before so much a flat loss is no news
# Nor before such a share of the run; what comes later in it takes in proportion more steps and tokens.
SHARES = {"above": 0.1, "floor": 0.1, "crawling": 0.25, "order": 0.3}
CHANCE = 2.33  # standard deviations: one coin in a hundred does better
FEWEST_PAIRS, FEWEST_STEPS = 100, 30  # for a judgement on the order
SAME = {"all": 0.9, "half": 0.4, "order": 0.98}  # share of one answer
FAINT = 0.01  # of the usual gradient; what is between this and the usual is the run's own affair
ADRIFT = 1.5  # nats above the best that a loss was: what was learnt is going
EXPLODED, IN_A_ROW = 3.0, 10  # nats above the best, above guessing too, so many steps without a break
SLOW = 0.5  # of the usual pace
LOOKS = 50  # steps between two looks at the training loss where there is no held-out text


class Finding(NamedTuple):
    """Something that a person should know."""

    kind: str  # plateau, constant, overfit, order, explosion, gradient, trust or throughput
    text: str  # what was seen, the likely cause, what helps
    fatal: bool = False


class Health:
    """What is remembered of a run to judge its next event; `notes` gives it back for a checkpoint."""

    def __init__(self, run: Run, floor: float, notes: Mapping[str, Any]) -> None:
        self.run, self.floor = run, floor
        self._told: dict[str, float] = dict(notes.get("told", {}))  # kind -> where in the run
        self._best = float(notes.get("best", math.inf))  # loss of words, held-out where there is such text
        self._held_out = bool(notes.get("held_out", False))
        self._trained = Smooth(*notes.get("trained", ()))  # loss of words on training text
        self._phase = int(notes.get("phase", 0))
        self._loss = _Loss.of(notes.get("loss"))
        self._pairs = Sample(*notes.get("pairs", ()))  # accuracies on orders since the last evaluation
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
            "pairs": list(self._pairs), "trained": list(self._trained), "held_out": self._held_out,
            "norm": self._norm.notes(), "trust": {name: usual.notes() for name, usual in self._trust.items()},
            **({"best": self._best} if math.isfinite(self._best) else {}),
        }  # fmt: skip

    def step(self, event: Mapping[str, Any]) -> list[Finding]:
        """What the event of a step gives cause to say."""
        if event["phase"] != self._phase:  # rows of another length: another loss, norm and pace
            self._phase, self._loss, self._norm = int(event["phase"]), _Loss(), _norms(None)
            self._pace.forget()
        for name in ORDERS:
            if f"{name}_accuracy" in event:
                self._pairs = self._pairs.with_one(event[f"{name}_accuracy"])
        found = [*self._explosion(event), *self._gradient(event), *self._ratios(event), *self._throughput(event)]
        if "mlm" in event:
            self._trained = self._trained.with_one(event["mlm"])
            if not self._held_out and event["step"] % LOOKS == 0:
                found += self._words({**event, "mlm": self._trained.mean}, "training")
        return found

    def evaluation(self, event: Mapping[str, Any]) -> list[Finding]:
        """What the event of an evaluation gives cause to say."""
        self._held_out = self._held_out or event["step"] > 0
        found = [*self._words(event, "held-out"), *self._order(event)]
        if self._pairs.count >= FEWEST_STEPS:
            self._pairs = Sample()
        return found

    def _words(self, event: Mapping[str, Any], text: str) -> Iterator[Finding]:
        if "mlm" not in event or not self.floor > 0:
            return
        top, loss, best = event.get("mlm_top", 0.0), event["mlm"], self._best
        self._best = min(best, loss)
        answer = f", the same word for {top:.0%} of all places" if top >= SAME["half"] else ""
        seen = f"{text} mlm loss {loss:.2f} after {_amount(event['tokens'])} tokens{answer}"
        stuck = self._stuck(loss, top)
        flat, knew = stuck in ("above", "floor"), best < self.floor * (1 - LEARNT)
        if flat and self._trained.settled and self._trained.mean < self.floor * (1 - LEARNT):
            if self._may("overfit", event):
                heart = f"on training text it is {self._trained.mean:.2f}, which is learnt by heart"
                yield Finding("overfit", f"{seen}: {heart}; {remedies.forget(self.run)}")
        elif knew and (flat or top >= SAME["all"]):
            if self._may("constant", event):
                gone = f"where it was {best:.2f} before: what was learnt is gone"
                yield Finding("constant", f"{seen}, {gone}; {remedies.calmer(self.run)}")
        else:
            yield from self._unlearnt(event, seen, stuck)

    def _unlearnt(self, event: Mapping[str, Any], seen: str, stuck: remedies.Stuck | None) -> Iterator[Finding]:
        """Of words that were never known."""
        fair, same = self._fair(event, stuck or "floor"), event.get("mlm_top", 0.0) >= SAME["all"]
        if stuck and (fair or self._over(event)) and self._may("plateau", event):
            floor = f"knowing only how often each word occurs ({self.floor:.2f})"
            what = {"above": "worse than", "floor": "no better than", "crawling": "little better than"}[stuck]
            yield Finding("plateau", f"{seen}: {what} {floor}; {remedies.learn(self.run, stuck, short=not fair)}")
        elif not stuck and same and fair and self._may("constant", event):
            yield Finding("constant", f"{seen}: the text is of little else, or {remedies.calmer(self.run)}")

    def _stuck(self, loss: float, top: float) -> remedies.Stuck | None:
        if loss > self.floor * (1 - PLATEAU):
            return "above" if loss > self.floor * (1 + PLATEAU) else "floor"
        return "crawling" if loss > self.floor * (1 - CRAWLING) and top >= SAME["half"] else None

    def _order(self, event: Mapping[str, Any]) -> Iterator[Finding]:
        if self.floor > 0 and event.get("mlm", 0.0) > self.floor * (1 - LEARNT):
            return  # words come first
        for name in ORDERS:
            count = event.get(f"{name}_count", 0.0)
            if f"{name}_accuracy" not in event or count < FEWEST_PAIRS or not self._fair(event, "order"):
                continue
            right, top = event[f"{name}_accuracy"], event.get("order_top", 0.0)
            answer = f", the same answer for {top:.0%} of them" if top >= SAME["order"] else ""
            seen = f"{name} accuracy {right:.1%} over {count:,.0f} pairs after {_amount(event['tokens'])} tokens"
            seen += answer
            trained = self._pairs.count >= FEWEST_STEPS and self._pairs.above(0.5, CHANCE)
            if not trained and right <= 0.5 + CHANCE * math.sqrt(0.25 / count):
                if self._may("order", event):
                    yield Finding("order", f"{seen}: a coin does as well; {remedies.order(self.run)}")
            elif answer and self._may("constant", event):
                packing = f"data.packing={self.run.data.packing}"
                yield Finding("constant", f"{seen}: most pairs have one label; {remedies.LOOK}, and at {packing}")

    def _explosion(self, event: Mapping[str, Any]) -> Iterator[Finding]:
        loss, step, best = event["loss"], event["step"], self._loss.best
        self._loss = self._loss.after(loss, loss > max(best + EXPLODED, self._guessing))
        if self._loss.high >= IN_A_ROW:
            seen = f"loss {loss:.4g} at step {step}, for {IN_A_ROW} steps far above {best:.2f}, the best it was"
            what = f"training has diverged, guessing would cost {self._guessing:.2f}"
            yield Finding("explosion", f"{seen}: {what}; {remedies.calmer(self.run)}, and begin anew", fatal=True)
        elif self._loss.recent.mean > best + ADRIFT and self._may("explosion", event):
            seen = f"loss {self._loss.recent.mean:.2f} around step {step}, where it was {best:.2f}"
            yield Finding("explosion", f"{seen}: what was learnt is being lost; {remedies.calmer(self.run)}")

    def _gradient(self, event: Mapping[str, Any]) -> Iterator[Finding]:
        usual = self._norm.value
        times = self._norm.add(event["norm"])
        if FAINT <= times <= 1.0 or self._done(event) < self.run.schedule.warm:
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
        often = share / SHARES["floor"]
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

    recent: Smooth = Smooth()
    best: float = math.inf
    high: int = 0

    @classmethod
    def of(cls, noted: Any) -> _Loss:
        """From its notes, or from nothing."""
        if not noted:
            return cls()
        recent, best, high = noted
        return cls(Smooth(*recent), math.inf if best is None else best, high)

    def notes(self) -> list[Any]:
        """Without infinity, which JSON has not."""
        return [list(self.recent), self.best if math.isfinite(self.best) else None, self.high]

    def after(self, loss: float, high: bool) -> _Loss:
        """With one step more."""
        recent = self.recent.with_one(loss)
        best = min(self.best, recent.mean) if recent.settled else self.best
        return _Loss(recent, best, self.high + 1 if high else 0)


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
