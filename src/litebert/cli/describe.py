"""`litebert describe`: what a model is and costs, before it is built or loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from litebert.cli import console

if TYPE_CHECKING:
    from litebert.config import Config, Head

LENGTHS = (128, 512)
_SIZES = ("vocab", "embedding", "hidden", "layers", "heads", "ffn")
_PLACES = ("positions", "max_positions", "segments", "visibility")
_CHOICES = ("activation", "norm", "objectives", "pooler")


def describe(
    name: Annotated[str, typer.Argument(help="A preset (`litebert presets`), a model's folder, or a checkpoint.")],
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="Change a field first: --set layers=6 (again for more).")
    ] = None,
    batch: Annotated[int, typer.Option(help="Batch that the memory to train is told for.", min=1)] = 32,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Show a model's parts, what is shared, its parameters, multiply-adds and memory, all in closed form.

    [bold]total[/] counts as the papers do: the encoder with its pooler, a mapping only where embedding and hidden
    width differ. [bold]To pre-train[/] is what transformers' pre-training class of the family holds; with --json,
    [bold]with_head[/] tells the same for every head alone.
    """
    config, heads = look(name, changes or [])
    facts = account(name, config, heads, batch)
    if as_json:
        console.say_json(facts)
    else:
        _show(config, heads, facts, batch)


def look(name: str, changes: list[str]) -> tuple[Config, dict[str, Head]]:
    """Config and heads of a preset or folder, with the command line's changes."""
    from litebert import config as configs
    from litebert import presets
    from litebert.files import FolderError

    path = Path(name)
    if path.is_dir() or name not in presets.names():
        if not path.exists() and not path.with_name(f"{path.name}.index").exists():
            raise FolderError(presets.nowhere(path))  # a slip of the pen is told at once, without torch
        from litebert.interop import folder

        config, heads = folder.describe(path)
    else:
        config, heads = presets.preset(name), {}
    return configs.override(config, changes), heads


def account(name: str, config: Config, heads: Mapping[str, Head], batch: int = 32) -> dict[str, Any]:
    """Everything that `--json` prints."""
    from litebert import family
    from litebert.model import cost, footprint
    from litebert.model.sharing import sharing_map

    stored, lengths = sharing_map(config), _lengths(config)
    wanted = heads or family.pretraining_heads(config)
    return {
        "name": name,
        "family": family.family(config),
        "parameters": {
            "total": cost.total(config),
            "without_pooler": cost.without_pooler(config),
            "pretraining": cost.pretraining(config),
            "with_head": {kind: cost.wearing(config, {kind: head}) for kind, head in _single(config).items()},
            "components": cost.parameters(config, wanted),
            "applied": cost.applied(config),
        },
        "sharing": {"attention": list(stored.attention), "ffn": list(stored.ffn)},
        "macs": {str(n): cost.body_macs(config, n) for n in lengths},
        "macs_by_component": {str(n): cost.macs(config, n) for n in lengths},
        "flops": {str(n): cost.flops(config, n) for n in lengths},
        "bytes": {
            "weights": footprint.weight_bytes(config),
            "run": {str(n): _running(config, n) for n in lengths},
            "train": {str(n): footprint.training_memory(config, batch, n) for n in lengths},
            "batch": batch,
        },
        "heads": {kind: head.model_dump(mode="json") for kind, head in heads.items()},
        "config": config.model_dump(mode="json"),
    }


def _single(config: Config) -> dict[str, Head]:
    """The heads that a model of this kind may wear alone: its objectives', and those of the tasks, with two labels."""
    from litebert import family

    kinds = [*family.pretraining_heads(config), "mlm", "classify", "tag", "span", "choice"]
    return family.heads(config, list(dict.fromkeys(kinds)))


def _lengths(config: Config) -> list[int]:
    fitting = [n for n in LENGTHS if not config.max_positions or n <= config.max_positions]
    return fitting or [config.max_positions]


def _running(config: Config, length: int) -> int:
    """Weights and the peak of one text's activations."""
    from litebert.model import footprint

    return footprint.weight_bytes(config) + sum(footprint.activation_bytes(config, 1, length).values())


def _show(config: Config, heads: Mapping[str, Head], facts: Mapping[str, Any], batch: int) -> None:
    from litebert.model.sharing import runs

    console.say(f"[bold]{console.literal(facts['name'])}[/], of the family of {facts['family']}")
    values = config.model_dump()
    for fields in (_SIZES, _PLACES, _CHOICES):
        console.say("  " + "  ".join(f"{k} {_plain(values[k])}" for k in fields))
    shared = facts["sharing"]
    console.say(f"  sharing {config.sharing}: attention {runs(shared['attention'])}  ffn {runs(shared['ffn'])}")
    if heads:
        console.say(console.literal("  heads " + ", ".join(_head(kind, head) for kind, head in heads.items())))
    counts = facts["parameters"]
    applied = counts["applied"]
    rows = [
        (part, console.number(count), console.number(applied[part]) if part in applied else "")
        for part, count in counts["components"].items()
    ]
    names = {
        "total": "total, with pooler",
        "without_pooler": "without pooler",
        "pretraining": "to pre-train, with heads",
    }
    rows += [(text, console.number(counts[key]), "") for key, text in names.items()]
    console.say(console.table(("parameters", "stored", "applied"), rows, right=("stored", "applied")))
    console.say(_costs(facts, batch))


def _costs(facts: Mapping[str, Any], batch: int) -> Any:
    lengths = list(facts["macs"])
    rows = [
        ("multiply-adds of the blocks", *(console.short(facts["macs"][n]) for n in lengths)),
        ("operations, mapping and pooler too", *(console.short(facts["flops"][n], "FLOP") for n in lengths)),
        ("memory to run one text, float32", *(console.short(facts["bytes"]["run"][n], "B") for n in lengths)),
    ]
    train = facts["bytes"]["train"]
    rows.append(
        (f"memory to train, batch {batch}, float32", *(console.short(sum(train[n].values()), "B") for n in lengths))
    )
    rows += [(f"  {part}", *(console.short(train[n][part], "B") for n in lengths)) for part in train[lengths[0]]]
    columns = ("at length", *lengths)
    return console.table(columns, rows, right=lengths)


def _plain(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _head(kind: str, head: Head) -> str:
    return f"{kind} ({', '.join(head.names) or f'{head.labels} labels'})" if kind in ("classify", "tag") else kind
