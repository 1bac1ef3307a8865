"""`litebert fill-mask`: what a trained model puts where a word is missing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from litebert.cli import console, texts

if TYPE_CHECKING:
    from litebert.vectors.fill import Filled, Guess

_BAR = 24  # characters of a guess that is certain


def fill_mask(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or of any model with its tokenizer.json.")],
    text: Annotated[
        list[str] | None, typer.Argument(help="Texts with [MASK] in them; none, or -: lines from standard input.")
    ] = None,
    top: Annotated[int, typer.Option(help="How many guesses for each mask.", min=1)] = 5,
    batch: Annotated[int, typer.Option(help="Texts that are read at a time.", min=1)] = 32,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Guess the words behind [MASK], with their probabilities.

    Each mask is guessed for itself. A folder whose model never learnt to guess words is refused. A guess that goes on
    with the word before it is shown with a dot.

    [bold]litebert fill-mask RUN "Paris is the [MASK] of France."[/]
    """
    asked = texts.given(text or [], None)
    from litebert.vectors.fill import fill

    model, tokenizer = texts.opened(run)
    found = fill(model, tokenizer, asked, top, batch=batch)
    if as_json:
        console.say_json({"run": str(run), "texts": [
            {"text": one.text, "best": one.best, "masks": [[guess._asdict() for guess in mask] for mask in one.masks]}
            for one in found
        ]})  # fmt: skip
        return
    for number, one in enumerate(found):
        if number:
            console.say()
        _show(one)


def _show(one: Filled) -> None:
    console.say(f"[bold]{console.literal(one.best)}[/]")
    for number, guesses in enumerate(one.masks, 1):
        if len(one.masks) > 1:
            console.say(f"  mask {number}")
        width = max(len(_word(guess)) for guess in guesses)
        for guess in guesses:
            bar = "█" * round(_BAR * guess.probability)
            line = f"  {guess.probability:7.2%}  {console.literal(_word(guess))}"
            console.say(f"{line}{' ' * (width - len(_word(guess)))}  {bar}".rstrip())


def _word(guess: Guess) -> str:
    if not guess.word:  # the piece that only says that a word begins
        return "␣"
    return guess.word if guess.begins or not guess.word.isalpha() else f"·{guess.word}"
