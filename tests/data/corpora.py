"""What do the tests of the build read? A corpus of several forms with everything awkward in it, and its tokenizer."""

from __future__ import annotations

import gzip
import json
import random
import string
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import tokenizers
from tokenizers import models, normalizers, pre_tokenizers

from litebert import files
from litebert.data.options import Options
from litebert.text.tokenizer import Tokenizer

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
OPTIONS = Options(seed=3, held_out=0.3, shard_tokens=500)  # many small shards
NOTHING = "\u200b\u200b"  # format characters: the normaliser leaves nothing of them
_WORDS = ("a", "bends", "below", "boats", "grain", "ground", "mill", "river", "stone", "the", "tide", "was", "when")


def tokenizer(*more: str) -> Tokenizer:
    """A WordPiece of letters and a few words; digits are unknown to it."""
    letters = list(string.ascii_lowercase + ".,")
    words = [word for word in _WORDS if len(word) > 1]
    names = [*SPECIALS, *letters, *(f"##{letter}" for letter in letters), *words, *more]
    vocabulary = {name: number for number, name in enumerate(names)}
    model = models.WordPiece(vocabulary, unk_token="[UNK]", continuing_subword_prefix="##")
    engine = tokenizers.Tokenizer(model)
    engine.normalizer = normalizers.BertNormalizer(lowercase=True)
    engine.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return Tokenizer(engine.to_str())


def sentence(draw: random.Random) -> str:
    """Words, some of them made up, with a capital and a full stop."""
    words = [
        draw.choice(_WORDS) if draw.random() < 0.8 else "".join(draw.choices(string.ascii_lowercase, k=5))
        for _ in range(draw.randrange(1, 14))
    ]
    return " ".join([words[0].capitalize(), *words[1:]]) + "."


def documents(count: int, seed: int) -> list[str]:
    """Texts of 1 to 12 sentences; every 17th repeats the one before, every 23rd holds nothing that gives a token."""
    draw = random.Random(seed)
    texts: list[str] = []
    for number in range(1, count + 1):
        if number % 23 == 0:
            texts.append(NOTHING)
        elif number % 17 == 0:
            texts.append(texts[-1])
        else:
            texts.append(" ".join(sentence(draw) for _ in range(draw.randrange(1, 13))))
    return texts


def corpus(folder: Path, count: int = 90, seed: int = 0) -> list[str]:
    """Write a folder of several forms, and return the texts in the order in which they are read."""
    folder.mkdir(parents=True, exist_ok=True)
    third = count // 3
    parts = [documents(third, seed + i) for i in range(3)]
    (folder / "a.txt").write_text("\n\n".join(parts[0]) + "\n")
    (folder / "b-empty.txt").write_text("")
    with gzip.open(folder / "c.jsonl.gz", "wt") as file:
        for number, text in enumerate(parts[1]):
            file.write(json.dumps({"id": number, "text": text}) + "\n")
            if number == 3:
                file.write(json.dumps({"id": -1, "text": ""}) + "\n")
    pq.write_table(pa.table({"text": parts[2]}), folder / "d.parquet", row_group_size=7)
    return [text for part in parts for text in part]


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file below a folder."""
    return {str(p.relative_to(folder)): files.digest(p) for p in sorted(folder.rglob("*")) if p.is_file()}
