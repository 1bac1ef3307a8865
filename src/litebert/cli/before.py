"""What does a person see before the first step, and after the last? The model, an example, an estimate; the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litebert import family
from litebert.cli import console
from litebert.cli.look import drawn, legend
from litebert.data import show as showing
from litebert.model import cost
from litebert.optim import groups
from litebert.train.estimate import Estimate

if TYPE_CHECKING:
    from litebert.optim.schedule import Progress
    from litebert.train.prepared import Prepared
    from litebert.train.pretrain import Outcome


def show_model(prepared: Prepared) -> None:
    """Shape, what is stored and applied, and what learns how."""
    config, run = prepared.run.model, prepared.run
    stored, applied = cost.pretraining(config), sum(cost.applied(config).values())
    console.say(
        f"{family.family(config)}: {config.layers} layers × {config.hidden} wide, {config.heads} heads, embedding "
        f"{config.embedding}, {config.vocab:,} words, {config.positions} positions, {config.norm}-norm, sharing "
        f"{config.sharing}"
    )
    console.say(
        f"{console.number(stored)} parameters stored, {console.number(applied)} applied; "
        f"objectives {' + '.join(config.objectives)}; "
        f"{'from ' + console.literal(run.start) if run.start else f'new weights, seed {run.training.seed}'}"
    )
    rows = [
        (row.part, console.number(row.tensors), console.number(row.parameters), "no" if row.excluded else "yes",
         f"{row.factor:.3g}")
        for row in groups.rows(prepared.trainer.optimizer.treated)
    ]  # fmt: skip
    columns = ("learns", "tensors", "parameters", "decay", "rate ×")
    console.say(console.table(columns, rows, right=("tensors", "parameters", "rate ×")))


def show_example(prepared: Prepared) -> None:
    """One row as the model will read it."""
    run = prepared.run
    found = list(showing.examples(prepared.shards, run.data, prepared.tokenizer, 1, seed=run.training.seed))
    console.say(drawn(found[0]))
    console.say(legend(found))


def show_estimate(prepared: Prepared, found: Estimate, progress: Progress) -> None:
    """Speed, time, memory and disk."""
    left = "" if not progress.steps else " that are left"
    peak = f"{found.share_of_peak:.0%} of the {found.peak / 1e9:,.0f} GFLOP/s that its products could have here"
    rows = [
        ("numbers", prepared.trainer.precision.reason),
        ("speed", f"{console.short(found.tokens_per_s, 'tokens/s')}, {peak}"),
        ("time", f"{_time(found.seconds)}{left}" if found.ends else "without end"),
        ("steps", f"{console.number(found.steps)}{left}, {console.short(found.tokens)} tokens: "
                  f"{found.epochs:.2g} times the corpus, {found.tokens_per_parameter:.3g} tokens a parameter"),
        ("memory", f"about {console.short(sum(found.memory.values()), 'B')} for a step; "
                   f"{console.short(found.resident, 'B')} held now"),
        ("disk", f"{console.short(found.checkpoint, 'B')} a checkpoint, {console.short(found.disk, 'B')} in all"),
        ("unigram floor", f"{prepared.entropy:.3f} nats: a masked loss that stays here has learnt word counts only"),
    ]  # fmt: skip
    console.say(console.table(("", "estimate"), rows))


def values(prepared: Prepared, found: Estimate) -> dict[str, Any]:
    """The estimate for a program."""
    return {
        "parameters": found.parameters, "tokens_per_s": round(found.tokens_per_s, 1),
        "share_of_peak": round(found.share_of_peak, 4), "seconds": round(found.seconds, 1),
        "steps": round(found.steps), "tokens": round(found.tokens), "epochs": round(found.epochs, 4),
        "memory": dict(found.memory), "checkpoint": found.checkpoint, "disk": found.disk,
        "floor": prepared.entropy, "precision": prepared.trainer.precision.reason,
    }  # fmt: skip


def outcome(prepared: Prepared, done: Outcome) -> dict[str, Any]:
    """What a run came to, for a program."""
    found: dict[str, Any] = {
        "folder": str(done.folder), "stopped": done.stopped, "steps": done.progress.steps,
        "tokens": done.progress.tokens, "seconds": round(done.progress.seconds, 2), "floor": prepared.entropy,
    }  # fmt: skip
    if done.held_out is not None:
        found["held_out"] = {"loss": done.held_out.loss, "losses": done.held_out.losses,
                             "accuracies": done.held_out.accuracies}  # fmt: skip
    return found


def show_outcome(found: dict[str, Any]) -> None:
    """The same for a person: each objective beside the one who knows nothing but how often each answer is."""
    console.say(
        f"{console.number(found['steps'])} steps, {console.short(found['tokens'])} tokens in {_time(found['seconds'])}:"
        f" {console.literal(found['folder'])}"
    )
    held = found.get("held_out")
    if held is None:
        return
    rows = []
    for name, loss in held["losses"].items():
        floor = found["floor"] if name == "mlm" else 0.6931
        what = "unigram floor" if name == "mlm" else "a coin"
        accuracy = held["accuracies"][name]
        rows.append((name, f"{loss:.3f}", f"{floor:.3f} ({what})", f"{loss - floor:+.3f}", f"{accuracy:.1%}"))
    columns = ("held out", "loss", "knowing nothing", "difference", "accuracy")
    console.say(console.table(columns, rows, right=("loss", "difference", "accuracy")))


def _time(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    days, hours, minutes = whole // 86400, whole // 3600 % 24, whole // 60 % 60
    if days:
        return f"{days:,} days {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {whole % 60} s"
