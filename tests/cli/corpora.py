"""Which shards do the tests of the command line look at? A small corpus in several forms, built by the verb itself."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from cli.running import Done, litebert
from data import corpora


class Made(NamedTuple):
    """A corpus, its tokenizer, the shards made of them, and what was said."""

    corpus: Path
    tokenizer: Path
    shards: Path
    texts: list[str]
    done: Done


def tokenizer(folder: Path) -> Path:
    """A folder with a tokenizer.json."""
    folder.mkdir(exist_ok=True)
    corpora.tokenizer().save(folder)
    return folder


def made(folder: Path, *more: object) -> Made:
    """Everything below one folder; `more` is added to the call."""
    texts = corpora.corpus(folder / "corpus", 90)
    words, out = tokenizer(folder / "tokenizer"), folder / "shards"
    done = litebert(
        "data", "build", "--corpus", folder / "corpus", "--tokenizer", words, "--out", out, "--workers", 1,
        "--held-out", 0.2, "--shard-tokens", 700, "--seed", 3, "--json", *more,
    )  # fmt: skip
    return Made(folder / "corpus", words, out, texts, done)
