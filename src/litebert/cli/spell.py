"""`litebert tokenizer show`: what a tokenizer does with text, piece by piece."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from litebert.cli import console

if TYPE_CHECKING:
    from rich.text import Text

    from litebert.text.tokenizer import Tokenizer

_WORDS = ("cyan", "yellow")  # in turn, so that words are told apart
_UNKNOWN = "bold red"


def show(
    tokenizer: Annotated[Path, typer.Argument(help="A folder with a tokenizer.json, or that file.")],
    text: Annotated[str | None, typer.Argument(help="What to encode; without it, the tokenizer is told about.")] = None,
    words: Annotated[str, typer.Option(help="What begins a word: the pieces, or jieba (Chinese).")] = "pieces",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:  # fmt: skip
    """Show what a tokenizer does with a text: its pieces, their ids, and where words begin.

    Special names in the text are text: a mask is an id, not the word for it.

    [bold]litebert tokenizer show tok "It was the best of times"[/]
    """
    from rich.text import Text

    from litebert.text.tokenizer import load

    opened = load(tokenizer)
    tokens = [] if text is None else _tokens(opened, text, words)  # type: ignore[arg-type]
    if as_json:
        console.say_json({**values(opened), "tokens": tokens})
        return
    if text is None:
        console.say(console.table(("", ""), told(opened)))
        return
    console.say(_coloured(tokens))
    rows = [  # pieces as text: markup would double a backslash
        (str(one["id"]), Text(one["piece"]), "●" * one["begins"], "unknown" * one["unknown"]) for one in tokens
    ]
    console.say(console.table(("id", "piece", "word", ""), rows, right=("id",)))
    count = sum(one["begins"] for one in tokens)
    console.say(f"{len(tokens)} tokens, {count} words, {len(text)} characters")


def values(tokenizer: Tokenizer) -> dict[str, Any]:
    """What a tokenizer is, for JSON."""
    return {
        "kind": tokenizer.kind, "pieces": tokenizer.size, "specials": tokenizer.specials._asdict(),
        "normaliser": _normaliser(tokenizer), "word_starts": int(tokenizer.starts.sum()), "length": tokenizer.length,
        "fingerprint": tokenizer.fingerprint,
    }  # fmt: skip


def told(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    """The same for a person, in rows."""
    specials = "  ".join(f"{tokenizer.name(role)} {number}" for role, number in tokenizer.specials._asdict().items())
    return [
        ("kind", tokenizer.kind),
        ("pieces", f"{console.number(tokenizer.size)}, {console.number(int(tokenizer.starts.sum()))} begin a word"),
        ("special", console.literal(specials)),
        ("text is", console.literal(", ".join(_normaliser(tokenizer)) or "left as it is")),
        ("fingerprint", tokenizer.fingerprint[:16]),
    ]


def _normaliser(tokenizer: Tokenizer) -> list[str]:
    import json

    from litebert.text.normalise import in_words

    return in_words(json.loads(tokenizer.text)["normalizer"])


def _tokens(tokenizer: Tokenizer, text: str, words: Literal["pieces", "jieba"]) -> list[dict[str, Any]]:
    from litebert.text.encode import Encoder

    found = Encoder(tokenizer, words).encode([text])
    return [
        {"id": number, "piece": piece, "begins": begins, "unknown": number == tokenizer.specials.unk}
        for number, piece, begins in zip(
            found.ids.tolist(), tokenizer.pieces(found.ids), found.starts.tolist(), strict=True
        )
    ]


def _coloured(tokens: list[dict[str, Any]]) -> Text:
    """All pieces in a line, words in turning colours."""
    from rich.text import Text

    line, word = Text(), 0
    for one in tokens:
        word += one["begins"]
        line.append(" " if line else "")
        line.append(one["piece"], style=_UNKNOWN if one["unknown"] else _WORDS[word % len(_WORDS)])
    return line
