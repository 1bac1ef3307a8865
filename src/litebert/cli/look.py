"""`litebert data show` and `data audit`: what the model will be fed, seen and counted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from litebert.cli import console

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from litebert.data.audit import Audit
    from litebert.data.measure import Measure
    from litebert.data.recipe import Recipe
    from litebert.data.shards import Shards
    from litebert.data.show import Example, Token
    from litebert.text.tokenizer import Tokenizer

Folder = Annotated[Path, typer.Argument(help="A folder that `data build` wrote.")]
Named = Annotated[str, typer.Option(help="How it is fed: albert, bert, roberta, spanbert, xlnet, unilm, electra, …")]
Changes = Annotated[
    list[str] | None, typer.Option("--set", help="Change a field of the recipe: --set length=128 (again for more).")
]
Split = Annotated[str, typer.Option(help="train or held-out.")]
Seed = Annotated[int, typer.Option(help="Of the order, the pairs and the masks.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

_STYLES = {"special": "dim", "text": "", "masked": "yellow", "random": "red", "kept": "cyan"}
_JOINT = "·"  # between pieces of a word that is shown with what was there


def show(
    shards: Folder,
    recipe: Named = "albert",
    count: Annotated[int, typer.Option("--count", "-n", help="How many examples.", min=1)] = 3,
    epoch: Annotated[int, typer.Option(help="Of which epoch.", min=0)] = 0,
    place: Annotated[int, typer.Option(help="From which place in that epoch's order.", min=0)] = 0,
    changes: Changes = None,
    split: Split = "train",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Show examples as the model will read them: masks and what they hide, spans, segments, labels in words.

    A span stands in ⟦ ⟧; in it each word as it was, an arrow, and what stands there now: the mask, a random piece, or
    the word itself where it is asked for and kept. With XLNet's recipe @ is a token's place in the order.

    [bold]litebert data show shards --recipe albert -n 3[/]
    """
    from litebert.data import show as showing
    from litebert.data.stream import Position

    opened, tokenizer, chosen = _opened(shards, split, recipe, changes)
    found = list(showing.examples(opened, chosen, tokenizer, count, Position(epoch, place), seed))
    if as_json:
        console.say_json({"recipe": recipe, "examples": [example.values() for example in found]})
        return
    for number, example in enumerate(found):
        if number:
            console.say()
        console.say(drawn(example))
    console.say(legend(found))


def audit(
    shards: Folder,
    recipe: Named = "albert",
    rows: Annotated[int, typer.Option(help="How many rows are counted, those that are read first.", min=1)] = 20_000,
    changes: Changes = None,
    split: Split = "train",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Count what the model will be fed beside what the recipe promises; exit code 1 when something is off.

    Layout, segments and labels are held against the text, targets against the rows, rates and spans against the
    published rule followed span by span. What is expected is given with how far chance may lead from it.

    [bold]litebert data audit shards --recipe albert[/]
    """
    from litebert.data import audit as auditing
    from litebert.data.reading import spelled
    from litebert.data.vocabulary import vocabulary

    opened, tokenizer, chosen = _opened(shards, split, recipe, changes)
    texts = spelled(tokenizer, range(tokenizer.size))
    found = auditing.audit(opened, chosen, vocabulary(tokenizer), texts=texts, rows=rows, seed=seed)
    if as_json:
        console.say_json({
            "recipe": recipe, "rows": found.rows, "tokens": found.tokens, "seconds": round(found.seconds, 4),
            "off": [measure.name for measure in found.off],
            "measures": [{**measure._asdict(), "ok": measure.ok} for measure in found.measures],
        })  # fmt: skip
    else:
        _tell(found, recipe)
    if found.off:
        raise typer.Exit(1)


def _opened(folder: Path, split: str, name: str, changes: list[str] | None) -> tuple[Shards, Tokenizer, Recipe]:
    from litebert.data import recipe as recipes
    from litebert.data.shards import open_shards
    from litebert.text.tokenizer import load

    chosen = recipes.override(recipes.recipe(name), changes or [])
    opened = open_shards(folder, split)  # type: ignore[arg-type]  # which says what splits there are
    return opened, load(folder), chosen


def drawn(example: Example) -> Table:
    """One example, a row for each segment."""
    from rich.table import Table
    from rich.text import Text

    tokens = example.tokens
    asked = sum(token.span >= 0 for token in tokens)
    head = Text(f"{example.label}", style="bold")
    sees = "" if example.mode == "bidirectional" else f" · sees {example.mode}"
    head.append(
        f" · {len(tokens)} tokens and {example.padding} of padding, {asked} asked for{sees} · epoch {example.epoch}, "
        f"place {example.place}, example {example.example}",
        style="not bold dim",
    )
    grid = Table.grid(padding=(0, 1))
    grid.title, grid.title_justify, grid.title_style = head, "left", ""
    grid.add_column(style="bold")
    grid.add_column(overflow="fold")
    names = ("A", "B") if len(example.parts) == 2 else ("",)
    for name, part in zip(names, example.parts, strict=True):
        told = sorted({token.segment for token in part})
        grid.add_row(f"{name} {'/'.join(map(str, told))}".strip(), _running(part))
    return grid


def _running(tokens: tuple[Token, ...]) -> Text:
    """Tokens as text: words with their spaces, spans in brackets."""
    from rich.text import Text

    line, before = Text(), False  # whether a span ended just before
    gaps = [False, *(after.space or token.kind == "special" for token, after in pairwise(tokens))]
    for span, inside in groupby(zip(tokens, gaps, strict=True), key=lambda each: each[0].span):
        found, spaces = zip(*inside, strict=True)
        line.append(" " if spaces[0] else _JOINT if before and not found[0].begins else "")
        before = span >= 0
        if before:
            line.append("⟦", style="bold")
            for number, word in enumerate(_words(found)):
                line.append(" " if number else "")
                _asked(line, word)
            line.append("⟧", style="bold")
            continue
        for number, (token, space) in enumerate(zip(found, spaces, strict=True)):
            line.append(" " if number and space else "")
            line.append(token.text, style=_STYLES[token.kind])
            _placed(line, token)
    return line


def _words(tokens: Sequence[Token]) -> list[list[Token]]:
    """A span's tokens, word by word."""
    found: list[list[Token]] = []
    for token in tokens:
        if token.begins or not found:
            found.append([])
        found[-1].append(token)
    return found


def _asked(line: Text, word: list[Token]) -> None:
    """A word that is asked for: what was there, and what is there now unless it is the same."""
    line.append(_JOINT.join(token.was or "␣" for token in word), style="bold green")
    if any(token.kind != "kept" for token in word):
        line.append("→")
        for number, token in enumerate(word):
            line.append(_JOINT if number else "")
            line.append(token.text or "␣", style=_STYLES[token.kind])
    for token in word:
        _placed(line, token)


def _placed(line: Text, token: Token) -> None:
    if token.rank >= 0:
        line.append(f"@{token.rank}", style="magenta")


def legend(found: list[Example]) -> Text:
    """What the signs mean, as far as they stand in these examples."""
    from rich.text import Text

    tokens = [token for example in found for token in example.tokens]
    kinds = {token.kind for token in tokens}
    line = Text().append("⟦", style="bold").append("a span", style="bold green").append("⟧", style="bold")
    line.append(" is asked for", style="dim")
    if kinds & {"masked", "random"}:
        line.append(" · what was there", style="dim").append("→").append("masked", style=_STYLES["masked"])
        if "random" in kinds:
            line.append(" or ").append("random", style=_STYLES["random"])
        if "kept" in kinds:
            line.append(" · no arrow: kept as it was", style="dim")
    if any(token.rank >= 0 for token in tokens):
        line.append(" · ", style="dim").append("@place in the order", style="magenta")
    return line


def _tell(found: Audit, recipe: str) -> None:
    rows = []
    for group, measures in groupby(found.measures, key=lambda measure: measure.group):
        rows += [_line(measure, group if first else "") for first, measure in _marked(measures)]
    columns = ("", "measure", "found", "expected", "±", "")
    title = f"{console.literal(recipe)}: {console.number(found.rows)} rows, {console.number(found.tokens)} tokens"
    console.say(console.table(columns, rows, title=title, right=("found", "expected", "±")))
    count = sum(measure.ok is not None for measure in found.measures)
    if found.off:
        console.say(f"{len(found.off)} of {count} are OFF: {'; '.join(measure.name for measure in found.off)}")
    else:
        console.say(f"all {count} are as they should be")


def _marked(measures: Any) -> list[tuple[bool, Measure]]:
    return [(number == 0, measure) for number, measure in enumerate(measures)]


def _line(measure: Measure, group: str) -> tuple[str, ...]:
    judged = {True: "ok", False: "[bold red]OFF[/]", None: ""}[measure.ok]
    expected = "" if measure.expected is None else _number(measure.expected)
    allowed = _number(measure.allowed) if measure.allowed else ""
    return group, console.literal(measure.name), _number(measure.found), expected, allowed, judged


def _number(value: float) -> str:
    return console.number(value) if float(value).is_integer() or abs(value) >= 1000 else f"{value:.4f}"
