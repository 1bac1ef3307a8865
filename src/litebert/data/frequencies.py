"""How often does each token occur, and how long are sentences and documents? Counted once, while shards are written.

Shapes: V vocabulary; 2 splits, train and held-out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from litebert import files
from litebert.data.manifest import SPLITS, ShardError, Split
from litebert.data.shards import Arrays

NAME = "counts.safetensors"
LONGEST = 1024  # sentences of so many tokens and more share the last place
OCTAVES = 40  # documents of 2^i up to 2^(i + 1) tokens share place i
_AT_ONCE = 1 << 18  # ids that are counted together: NumPy makes eight bytes of each


class Frequencies:
    """Counts that add up, shard by shard, in any order."""

    def __init__(self, vocabulary: int) -> None:
        self.tokens = np.zeros((2, vocabulary), np.int64)  # [2, V] occurrences
        self.sentences = np.zeros((2, LONGEST + 1), np.int64)  # sentences by their tokens
        self.documents = np.zeros((2, OCTAVES), np.int64)  # documents by the octave of their tokens

    def add(self, split: Split, arrays: Arrays) -> None:
        """Count a shard."""
        side = SPLITS.index(split)
        for begin in range(0, len(arrays.ids), _AT_ONCE):
            self.tokens[side] += np.bincount(arrays.ids[begin : begin + _AT_ONCE], minlength=self.tokens.shape[1])
        lengths = np.minimum(np.diff(arrays.sentences), LONGEST)
        self.sentences[side] += np.bincount(lengths, minlength=LONGEST + 1)
        octaves = np.frexp(np.diff(arrays.sentences[arrays.documents]))[1] - 1  # exact: no logarithm is rounded
        self.documents[side] += np.bincount(octaves, minlength=OCTAVES)

    def write(self, folder: Path) -> None:
        """Into the shard set's own file of counts."""
        tensors = {"tokens": self.tokens, "sentences": self.sentences, "documents": self.documents}
        with files.whole(folder / NAME) as temporary:
            temporary.write_bytes(save(tensors))


def read(folder: Path, vocabulary: int) -> Frequencies:
    """The counts of a shard set."""
    found = Frequencies(vocabulary)
    try:
        tensors = load_file(folder / NAME)
        for name in ("tokens", "sentences", "documents"):
            getattr(found, name)[:] = tensors[name]
    except (SafetensorError, KeyError, ValueError):
        raise ShardError(f"{folder / NAME} does not hold the counts of this set: build it anew") from None
    return found
