"""`litebert embed`: texts as vectors, to compare, to search, to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from litebert.cli import console, texts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_COMPARED = 12  # texts whose cosines fit on a screen
_LETTERS = 48  # of a text in a table


def embed(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or of any model with its tokenizer.json.")],
    text: Annotated[
        list[str] | None, typer.Argument(help="Texts; none, or -: lines from standard input.")
    ] = None,
    file: Annotated[Path | None, typer.Option(help="A file with a text on each line, instead of texts.")] = None,
    pooling: Annotated[
        str, typer.Option(help="How a text's token vectors become one: mean, cls, max, first-last.")
    ] = "mean",
    layer: Annotated[
        int, typer.Option(help="The layer that is pooled: 0 = the embedding, -1 = the last.")
    ] = -1,
    batch: Annotated[int, typer.Option(help="Texts that are read at a time, of like length.", min=1)] = 32,
    cut: Annotated[bool, typer.Option("--cut", help="Read a text that is too long as far as the model reads.")] = False,
    out: Annotated[Path | None, typer.Option(help="A .npy file to write: float32, a row for each text.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, with the vectors unless --out takes them.")
    ] = False,
) -> None:  # fmt: skip
    """Turn texts into vectors; on the screen, how like they are (cosine).

    A line of a file is a text, an empty one too: row number and line number stay the same. Padding never counts.

    [bold]litebert embed RUN --file sentences.txt --out sentences.npy[/]
    """
    asked = texts.given(text or [], file)
    from litebert.vectors.encode import encode

    _check(out)
    model, tokenizer = texts.opened(run)
    vectors = encode(model, tokenizer, asked, pooling=pooling, layer=layer, batch=batch, cut=cut)  # type: ignore[arg-type]
    if out is not None:
        _save(vectors, out)
    if as_json:
        facts = {"run": str(run), "pooling": pooling, "layer": layer, "texts": len(asked), "width": vectors.shape[1]}
        console.say_json({**facts, **({"out": str(out)} if out else {"vectors": vectors.tolist()})})
    elif out is None:
        _show(asked, vectors)
    else:
        count = f"{console.number(len(asked))} vectors of {vectors.shape[1]}"
        console.say(f"{count} written to {console.literal(out)}")


def _check(out: Path | None) -> None:
    """Before the work, not after it."""
    from litebert.errors import UserError

    if out is not None and out.suffix != ".npy":
        raise UserError(f"--out {out} does not end in .npy: name it {out.with_suffix('.npy')}")
    if out is not None and not out.parent.is_dir():
        raise UserError(f"{out.parent} is no folder: make it first")


def _save(vectors: NDArray[np.float32], out: Path) -> None:
    import numpy as np

    from litebert import files

    with files.whole(out) as temporary, temporary.open("wb") as file:
        np.save(file, vectors)


def _show(asked: Sequence[str], vectors: NDArray[np.float32]) -> None:
    import numpy as np

    from litebert.vectors.encode import cosines

    few = len(asked) <= _COMPARED
    columns = ("", "text", "length", *(str(n) for n in range(1, len(asked) + 1 if few and len(asked) > 1 else 1)))
    alike = cosines(vectors) if few else vectors[:, :0]
    rows = []
    for number, (text, length) in enumerate(zip(asked, np.linalg.norm(vectors, axis=1), strict=True)):
        short = text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"
        near = [f"{cosine:.3f}" for cosine in alike[number]] if len(columns) > 3 else []
        rows.append((str(number + 1), console.literal(short), f"{length:.3f}", *near))
    title = f"{len(asked)} × {vectors.shape[1]}: --out FILE.npy or --json for the vectors"
    console.say(console.table(columns, rows, title=title, right=("", *columns[2:])))
