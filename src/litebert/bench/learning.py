"""What is learnt in the same time? `litebert pretrain` and transformers' Trainer, from the same shards, on one machine.

One after the other, each in a process of its own; both are judged on the same held-out rows (`learning_rows`), on the
way too, while their clocks stand still. What each came to is kept in a file, so that they can be run on two days.
"""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from litebert import files
from litebert.bench import learning_curve as curves
from litebert.data import frequencies, manifest, stats
from litebert.data.manifest import SPLITS
from litebert.errors import RunError, UserError
from litebert.train import recipe as recipes

ARMS = ("ours", "peer")
Watch = Callable[[str], None]


class Contest(NamedTuple):
    """What both have in common, and what only the peer is told."""

    shards: Path
    out: Path
    recipe: str = "albert-laptop"
    changes: tuple[str, ...] = ()
    minutes: float = 55.0
    tokens: float = 0.0  # instead of minutes
    device: str = "auto"
    rows: int = 1024  # that both are judged by
    moments: int = 20  # at which they are
    steps: int = 0  # of the peer, instead of minutes or tokens
    rate: float = 1e-3  # of the peer, from here on
    batch: int = 32
    warmup: float = 0.1
    attention: str = "auto"
    compiled: bool = True

    def shared(self) -> dict[str, Any]:
        """What a process of either arm is told."""
        return {"shards": str(self.shards), "recipe_name": self.recipe, "device": self.device, "rows": self.rows,
                "moments": self.moments}  # fmt: skip

    def terms(self) -> dict[str, Any]:
        """What must be the same for two results to be held against each other."""
        text = manifest.listed(manifest.read(self.shards)).values()
        return {"recipe": self.recipe, "changes": list(self.changes), "minutes": 0.0 if self.tokens else self.minutes,
                "tokens": self.tokens, "rows": self.rows, "shards": [one["sha256"] for one in text]}  # fmt: skip


def measure(contest: Contest, arms: Sequence[str] = ARMS, watch: Watch = lambda line: None) -> dict[str, Any]:
    """Run these arms; what they and those that were run before into the same folder came to, and how they compare."""
    _check(contest, arms)
    terms = contest.terms()
    for arm in ARMS:
        kept = _result(contest.out, arm)
        begun = next((path for path in (kept, kept.with_suffix("")) if path.exists()), None)
        if begun is not None and arm in arms:
            raise UserError(f"{begun} is there already: name another folder with --out, or delete {kept} and "
                            f"{kept.with_suffix('')}")  # fmt: skip
        if kept.is_file() and files.read_json(kept)["terms"] != terms:
            raise UserError(f"{kept} is of another contest: run it with the same recipe, text and length, or name "
                            "another folder with --out")  # fmt: skip
    contest.out.mkdir(parents=True, exist_ok=True)
    for arm in arms:
        found = _ours(contest, watch) if arm == "ours" else _peer(contest, contest.out / "peer", watch)
        files.write_json(_result(contest.out, arm), {"terms": terms, **found})
    return compared(contest)


def tune(
    contest: Contest, rates: Sequence[float], batches: Sequence[int], watch: Watch = lambda line: None
) -> list[dict[str, Any]]:  # fmt: skip
    """The peer with every rate and batch, for as many steps or tokens; the best first, what came apart last."""
    _check(contest, ["peer"])
    if not contest.steps and not contest.tokens:
        raise UserError("several rates or batches are tried for a length that you set: add --peer-steps or --tokens")
    found = []
    for rate, batch in itertools.product(rates, batches):
        one = contest._replace(rate=rate, batch=batch, moments=1)
        folder = contest.out / "tuning" / f"rate-{rate:g}-batch-{batch}"
        folder.parent.mkdir(parents=True, exist_ok=True)
        done = _peer(one, folder, lambda line: None)
        found.append({"rate": rate, "batch": batch, "steps": done["steps"], "tokens": done["tokens"],
                      "loss": done["final"]["single_loss"], "accuracy": done["final"]["single_accuracy"]})  # fmt: skip
        watch(f"rate {rate:g}, batch {batch}: {curves.told(done['final'])}")
    return sorted(found, key=lambda one: math.inf if one["loss"] is None else one["loss"])


def compared(contest: Contest) -> dict[str, Any]:
    """What the arms that have been run came to, and when ours passed the peer's last loss on the peer's own masks."""
    out, counted = contest.out, _entropies(contest.shards)
    results = {arm: files.read_json(_result(out, arm)) for arm in ARMS if _result(out, arm).is_file()}
    found: dict[str, Any] = {
        "recipe": contest.recipe, "minutes": 0.0 if contest.tokens else contest.minutes,
        "budget_tokens": contest.tokens,
        "unigram_entropy": counted["train"], "unigram_entropy_held_out": counted["held-out"],
    }  # fmt: skip
    found |= {arm: {name: value for name, value in one.items() if name != "terms"} for arm, one in results.items()}
    if "ours" in results and results["ours"]["final"]["recipe_loss"] is not None:
        found["nats_under_entropy"] = round(counted["train"] - results["ours"]["final"]["recipe_loss"], 4)
    if len(results) == len(ARMS):
        found["reached"] = _reached(out, results["peer"])
    return found


def points(out: Path) -> dict[str, list[curves.Point]]:
    """The looks at each arm that was run."""
    found = {arm: curves.read(out / f"{arm}.jsonl") for arm in ARMS}
    return {arm: one for arm, one in found.items() if one}


def _reached(out: Path, peer: dict[str, Any]) -> dict[str, Any] | None:
    """Ours at the peer's final loss: minutes and tokens, and how many times fewer than the peer's; None if never."""
    goal, ours = peer["final"]["single_loss"], curves.read(out / "ours.jsonl")
    if goal is None:
        return None
    seconds, tokens = (curves.reached(ours, goal, by) for by in ("seconds", "tokens"))
    if seconds is None or tokens is None:
        return None
    return {
        "loss": goal, "minutes": round(seconds / 60, 3), "tokens": round(tokens),
        "peer_minutes": round(peer["seconds"] / 60, 3),
        "times_faster": round(peer["seconds"] / seconds, 3) if seconds else None,
        "times_fewer_tokens": round(peer["tokens"] / tokens, 3) if tokens else None,
    }  # fmt: skip


def _check(contest: Contest, arms: Sequence[str]) -> None:
    """What can be known before anything is trained."""
    for arm in arms:
        if arm not in ARMS:
            raise UserError(f"arm {arm!r} is unknown: choose {', '.join(ARMS)} or both")
    run = recipes.load(contest.recipe, [*contest.changes, *_span(contest)])
    if "peer" not in arms:
        return
    needed = [name for name in ("transformers", "accelerate") if find_spec(name) is None]
    if needed:
        raise UserError(f"bench runs {' and '.join(needed)} beside: pip install 'litebert[peers]', or add --arm ours")
    if run.start or run.phases or run.model.sharing != "all":
        raise UserError(f"recipe {contest.recipe} is none that AlbertForMaskedLM can learn beside: choose one of a new "
                        "model, of one length, with sharing=all, or add --arm ours")  # fmt: skip


def _span(contest: Contest) -> list[str]:
    amount = f"{contest.tokens:g} tokens" if contest.tokens else f"{contest.minutes:g} minutes"
    return [f"schedule.total={amount}"]


def _ours(contest: Contest, watch: Watch) -> dict[str, Any]:
    folder = contest.out / "ours"
    call = {"changes": [*contest.changes, *_span(contest)], "folder": str(folder)}
    return _run("ours", {**contest.shared(), **call}, folder.with_suffix(".log"), watch)


def _peer(contest: Contest, folder: Path, watch: Watch) -> dict[str, Any]:
    own = ("rate", "batch", "warmup", "attention", "compiled")
    call = {
        "changes": list(contest.changes), "folder": str(folder), "minutes": contest.minutes, "tokens": contest.tokens,
        "steps": contest.steps, "settings": {name: getattr(contest, name) for name in own},
    }  # fmt: skip
    return _run("peer", {**contest.shared(), **call}, folder.with_name(f"{folder.name}.log"), watch)


def _run(arm: str, call: dict[str, Any], log: Path, watch: Watch) -> dict[str, Any]:
    """One arm in a process of its own; what it says on the way is passed on, its errors go into a log."""
    command = [sys.executable, "-m", f"litebert.bench.learning_{arm}", json.dumps(call)]
    found: dict[str, Any] = {}
    with (
        log.open("w") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith('{"tell"'):
                watch(json.loads(line)["tell"])
            elif line.startswith('{"found"'):
                found = json.loads(line)["found"]
    if process.returncode or not found:
        last = (log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["it said nothing"])[-1]
        raise RunError(f"{arm} could not be measured: {last} (all of it is in {log})")
    return found


def _result(out: Path, arm: str) -> Path:
    return out / f"{arm}.json"


def _entropies(shards: Path) -> dict[str, float]:
    """Nats of single tokens, by split: the loss of one who only knows how often each is."""
    counted = frequencies.read(shards, manifest.read(shards)["tokenizer"]["vocabulary"]).tokens
    return {split: round(stats.entropy(counted[side]), 4) for side, split in enumerate(SPLITS)}
