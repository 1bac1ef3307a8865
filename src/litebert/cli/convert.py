"""`litebert convert`: a model from one folder, form or sharing to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from litebert.cli import console


def convert(
    source: Annotated[
        str,
        typer.Argument(help="A folder (Hugging Face's or ours), a TensorFlow checkpoint (prefix or folder), a preset."),
    ],
    target: Annotated[Path, typer.Argument(help="The folder to write.")],
    to: Annotated[
        str, typer.Option(help="hf, litebert, or auto: Hugging Face's form where transformers can compute the model.")
    ] = "auto",
    check: Annotated[
        bool, typer.Option("--check", help="Print max |Δ| by layer: source against result, and against transformers.")
    ] = False,
    sharing: Annotated[
        str | None, typer.Option(help="Change what is shared: all, attention, ffn or none (none copies, outputs stay).")
    ] = None,
    groups: Annotated[int | None, typer.Option(help="Share within this many groups of layers.", min=1)] = None,
    how: Annotated[str, typer.Option(help="Merge blocks by their average, or take the first: average or first.")]
    = "average",
    embedding: Annotated[int | None, typer.Option(help="Factorise the embedding to this width by SVD.", min=2)] = None,
    part: Annotated[
        str, typer.Option(help="Which half of ELECTRA's TensorFlow checkpoint: discriminator or generator.")
    ] = "discriminator",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Write into a folder that is not empty.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:  # fmt: skip
    """Bring a model to another folder: from TensorFlow or transformers to here and back, unshared, shared, narrowed.

    Reads ALBERT, BERT, RoBERTa, XLNet, ELECTRA and RoFormer (UniLM is BERT with six segments) as safetensors, and the
    original TensorFlow checkpoints of ALBERT, BERT, XLNet and ELECTRA without TensorFlow. Pickle files are refused.

    [bold]litebert convert albert-folder wide --sharing none --check[/]
    """
    _one_of("--to", to, ("auto", "hf", "litebert"))
    _one_of("--how", how, ("average", "first"))
    _one_of("--part", part, ("discriminator", "generator"))
    if sharing is not None:
        _one_of("--sharing", sharing, ("all", "attention", "ffn", "none"))
    from litebert.interop import convert as converting

    done = converting.convert(
        source, target, to, sharing=sharing, groups=groups, how=how, embedding=embedding, part=part,  # type: ignore[arg-type]
        overwrite=overwrite,
    )  # fmt: skip
    report: dict[str, Any] = {"target": str(target), "form": done.form, "notes": done.notes}
    if check:
        report |= _check(source, target, part, done.form)
    if as_json:
        console.say_json(report)
        return
    for note in done.notes:
        console.say(f"  {note}")
    if check:
        _show(report)
    form = "as a Hugging Face folder" if done.form == "hf" else "in litebert’s own form"
    console.say(f"{console.literal(target)} written, {form}")


def _check(source: str, target: Path, part: str, form: str) -> dict[str, Any]:
    import importlib.util

    from litebert.interop import convert as converting
    from litebert.interop import folder

    before, after = converting.read(source, part), folder.load(target)  # type: ignore[arg-type]
    report: dict[str, Any] = {"source": dict(converting.check(before, after)), "transformers": None}
    if form == "hf" and importlib.util.find_spec("transformers"):
        report["transformers"] = dict(converting.check_transformers(after, target))
    return report


def _show(report: dict[str, Any]) -> None:
    theirs = report["transformers"]
    columns = ("max |Δ|", "source → result", "result → transformers")[: 2 if theirs is None else 3]
    rows = []
    for what, gap in report["source"].items():
        beside = [] if theirs is None else [f"{theirs[what]:.3g}" if what in theirs else "–"]
        rows.append((what, f"{gap:.3g}", *beside))
    console.say(console.table(columns, rows, right=columns[1:]))
    if theirs is None and report["form"] == "hf":
        console.say("  transformers is not installed, so it was not asked: pip install 'litebert[peers]'")


def _one_of(option: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        from litebert.config import unknown_name
        from litebert.errors import UserError

        raise UserError(unknown_name(option, value, choices))
