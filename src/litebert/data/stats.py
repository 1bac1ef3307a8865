"""What is in a shard set? Counts, lengths, unknowns, and the loss at which training begins to know more than a table.

Every number comes from the manifest and the counts that were made while the shards were written: none is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litebert.data import frequencies
from litebert.data import manifest as manifests
from litebert.data.manifest import SPLITS
from litebert.data.shards import open_shards
from litebert.text import tokenizer

_QUANTILES = {"p10": 0.1, "median": 0.5, "p90": 0.9, "p99": 0.99}


def stats(folder: str | Path, top: int = 10) -> dict[str, Any]:
    """All of it as plain values; `top` is how many of the most frequent pieces are listed."""
    path = Path(folder)
    manifest = open_shards(path).manifest
    vocabulary = manifest["tokenizer"]["vocabulary"]
    counted = frequencies.read(path, vocabulary)
    words = tokenizer.load(path)
    parts = {}
    for side, split in enumerate(SPLITS):
        entries = manifest["splits"][split]
        tokens = counted.tokens[side]
        parts[split] = {
            **{name: sum(entry[name] for entry in entries) for name in ("documents", "sentences", "tokens")},
            "shards": len(entries),
            "bytes": sum(entry["bytes"] for entry in entries),
            "unknown": int(tokens[words.specials.unk]),
            "unknown_share": float(tokens[words.specials.unk] / max(1, tokens.sum())),
            "entropy": entropy(tokens),
            "pieces_used": int((tokens > 0).sum()),
            "sentence_tokens": _lengths(counted.sentences[side]),
            "sentence_octaves": _octaves(counted.sentences[side]),
            "document_octaves": [int(n) for n in np.trim_zeros(counted.documents[side], "b")],
        }
    order = np.argsort(-counted.tokens[0], kind="stable")[:top]
    frequent = [
        {"piece": piece, "id": int(i), "count": int(counted.tokens[0, i])}
        for piece, i in zip(words.pieces(order), order, strict=True)
    ]
    listed = manifests.listed(manifest).values()
    return {
        "tokenizer": manifest["tokenizer"],
        "options": manifest["options"],
        "corpus": {"files": len(manifest["corpus"]), **manifest["counts"]},
        "problems": manifest["problems"],
        "bytes": sum(entry["bytes"] for entry in listed) + (path / manifests.NAME).stat().st_size,
        "splits": parts,
        "frequent": frequent,
    }


def entropy(counts: NDArray[np.int64]) -> float:
    """Of the tokens, in nats: the loss of one who knows how often each token occurs, and nothing else."""
    p = counts[counts > 0] / max(1, counts.sum())
    return float(-(p * np.log(p)).sum() + 0.0)  # not -0.0


def _lengths(histogram: NDArray[np.int64]) -> dict[str, float]:
    """Mean and quantiles of a histogram by length; its last place holds what is longer, too."""
    total = np.cumsum(histogram)
    if not total[-1]:
        return {}
    at = {name: float(np.searchsorted(total, share * total[-1])) for name, share in _QUANTILES.items()}
    return {"mean": float((histogram * np.arange(len(histogram))).sum() / total[-1]), **at}


def _octaves(histogram: NDArray[np.int64]) -> list[int]:
    """How many have 1, 2 to 3, 4 to 7, … tokens."""
    octaves = np.frexp(np.arange(1, len(histogram)))[1] - 1
    return [int(n) for n in np.trim_zeros(np.bincount(octaves, weights=histogram[1:]), "b")]
