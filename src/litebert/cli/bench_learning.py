"""`litebert bench learning`: what is learnt in the same minutes as by the Trainer of transformers; last line JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from litebert.cli import console
from litebert.errors import UserError

_NAMES = {"ours": "litebert", "peer": "transformers"}


def learning(
    shards: Annotated[Path, typer.Argument(help="A folder that `litebert data build` wrote, with a held-out split.")],
    recipe: Annotated[str, typer.Option(help="A TOML file, or a shipped recipe.")] = "albert-laptop",
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="Change a value of the recipe first (again for more).")
    ] = None,
    minutes: Annotated[float, typer.Option(help="How long each of them learns.", min=0.001)] = 55.0,
    tokens: Annotated[float, typer.Option(help="How many tokens each of them learns from, instead.", min=0)] = 0.0,
    arm: Annotated[str, typer.Option(help="both, ours or peer: what was run into the same folder before counts too.")]
    = "both",
    out: Annotated[Path, typer.Option(help="Where both models, their curves and a page go.")] = Path("learning"),
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    rows: Annotated[int, typer.Option(help="Held-out rows that both are judged by.", min=1)] = 1024,
    moments: Annotated[int, typer.Option(help="How often they are, while their clocks stand still.", min=1)] = 20,
    peer_rate: Annotated[
        list[float] | None, typer.Option(help="The peer's peak rate; again for more, to see which is best.")
    ] = None,
    peer_batch: Annotated[
        list[int] | None, typer.Option(help="The peer's rows a step; again for more, to see which is best.")
    ] = None,
    peer_steps: Annotated[int, typer.Option(help="The peer's steps, instead of minutes or tokens.", min=0)] = 0,
    peer_warmup: Annotated[float, typer.Option(help="Share of the peer's steps in which its rate rises.")] = 0.1,
    peer_attention: Annotated[str, typer.Option(help="The peer's attention: auto, sdpa or eager.")] = "auto",
    compiled: Annotated[bool, typer.Option("--peer-compile/--no-peer-compile", help="The peer through torch.compile.")]
    = True,
) -> None:  # fmt: skip
    """`litebert pretrain` and transformers' Trainer learn from the same text for the same time, one after the other.

    Both are judged on the same held-out rows, with our recipe's masks and with the peer's. With several rates or
    batches only the peer is tried, for --peer-steps or --tokens each, and the best settings are told.
    """
    from litebert.bench import learning as bench

    contest = bench.Contest(
        shards=shards, out=out, recipe=recipe, changes=tuple(changes or ()), minutes=minutes, tokens=tokens,
        device=device, rows=rows, moments=moments, steps=peer_steps, warmup=peer_warmup, attention=peer_attention,
        compiled=compiled,
    )  # fmt: skip
    rates, batches = peer_rate or [contest.rate], peer_batch or [contest.batch]
    if len(rates) * len(batches) > 1:
        _tuned(bench.tune(contest, rates, batches, _aloud))
        return
    if arm not in ("both", *bench.ARMS):
        raise UserError(f"arm {arm!r} is unknown: choose both, {' or '.join(bench.ARMS)}")
    contest = contest._replace(rate=rates[0], batch=batches[0])
    found = bench.measure(contest, bench.ARMS if arm == "both" else [arm], _aloud)
    _told(found, out)
    console.say_json({"bench": "learning", **found})


def _aloud(line: str) -> None:
    typer.echo(line, err=True)


def _tuned(found: list[dict[str, Any]]) -> None:
    rows = [(f"{one['rate']:g}", str(one["batch"]), console.number(one["steps"]), console.short(one["tokens"]),
             "came apart" if one["loss"] is None else f"{one['loss']:.4f}") for one in found]  # fmt: skip
    columns = ("peer's rate", "batch", "steps", "tokens", "held-out loss")
    console.say(console.table(columns, rows, right=columns))
    console.say_json({"bench": "learning", "tuning": found, "best": found[0]})


def _told(found: dict[str, Any], out: Path) -> None:
    from litebert.bench import learning as bench
    from litebert.lab import learning as page

    rows = []
    for name in bench.ARMS:
        if name in found:
            one, final = found[name], found[name]["final"]
            losses = [_score(final, kind) for kind in ("recipe", "single")]
            order = f"{final['order_accuracy']:.1%}" if final.get("order_accuracy") is not None else ""
            rows.append((_NAMES[name], f"{one['seconds'] / 60:.1f}", console.short(one["tokens"]),
                         console.number(one["tokens_per_s"]), *losses, order))  # fmt: skip
    columns = ("", "minutes", "tokens", "tokens/s", "our masks: loss, right", "single tokens: loss, right", "order")
    entropy = f"{found['unigram_entropy']:.3f} nats"
    console.say(console.table(columns, rows, title=f"held-out text; unigram entropy {entropy}", right=columns[1:]))
    reached = found.get("reached")
    if reached and reached["times_faster"]:
        console.say(f"litebert is at transformers' last loss after {reached['minutes']:.1f} of "
                    f"{reached['peer_minutes']:.1f} minutes: {reached['times_faster']:.2f} times as fast")  # fmt: skip
    console.say(f"the page is {console.literal(page.write(out, found))}")


def _score(final: dict[str, Any], kind: str) -> str:
    loss, right = final[f"{kind}_loss"], final[f"{kind}_accuracy"]
    return "no number" if loss is None or right is None else f"{loss:.3f}, {right:.1%}"
