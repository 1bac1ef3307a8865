"""How does encoded text lie on the disk, and how is it read without being loaded? Memory maps, verified when touched.

A shard is one safetensors file. Shapes: N tokens, S sentences, D documents of the shard. No sentence is without a
token and no document without a sentence: what is empty is counted by the build and not stored.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from litebert.data import manifest as manifests
from litebert.data.manifest import ShardError, Split

Ids = NDArray[np.uint16] | NDArray[np.uint32]
_DTYPES: dict[str, str] = {"U8": "|u1", "U16": "<u2", "U32": "<u4", "I64": "<i8"}
_WANTED = {"ids": ("U16", "U32"), "sentences": ("I64",), "documents": ("I64",), "starts": ("U8",)}


class Arrays(NamedTuple):
    """What a shard holds."""

    ids: Ids  # [N] without special tokens
    sentences: NDArray[np.int64]  # [S + 1] token offsets: sentence s is ids[sentences[s]:sentences[s + 1]]
    documents: NDArray[np.int64]  # [D + 1] sentence offsets
    starts: NDArray[np.uint8]  # [ceil(N / 8)] bits, little end first: does token i begin a word?


class Counts(NamedTuple):
    """How much a shard holds, known without touching it."""

    tokens: int
    sentences: int
    documents: int


class Fingerprinted(Protocol):
    """A tokenizer, as far as a shard set asks: the one whose fingerprint differs is not its own."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical tokenizer.json."""


class Shard:
    """One shard; its file is verified the first time that any of its arrays is asked for, once, by one thread."""

    def __init__(self, counts: Counts, source: Callable[[], Arrays], name: str = "") -> None:
        self.tokens, self.sentence_count, self.document_count = counts
        self.name = name
        self._source = source
        self._arrays: Arrays | None = None
        self._lock = threading.Lock()

    @property
    def arrays(self) -> Arrays:
        """All four, verified."""
        if self._arrays is None:
            with self._lock:
                if self._arrays is None:
                    self._arrays = self._source()
        return self._arrays

    @property
    def ids(self) -> Ids:
        """[N] token ids, a memory map."""
        return self.arrays.ids

    @property
    def sentences(self) -> NDArray[np.int64]:
        """[S + 1] where each sentence begins, in tokens of this shard."""
        return self.arrays.sentences

    @property
    def documents(self) -> NDArray[np.int64]:
        """[D + 1] where each document begins, in sentences of this shard."""
        return self.arrays.documents

    @property
    def starts(self) -> NDArray[np.uint8]:
        """[ceil(N / 8)] packed bits, a memory map; `begins` unpacks a stretch of them."""
        return self.arrays.starts

    def begins(self, start: int, end: int) -> NDArray[np.bool_]:
        """[end - start] whether each token of a stretch begins a word."""
        first = start // 8
        bits = np.unpackbits(self.starts[first : -(-end // 8)], bitorder="little")
        return bits[start - 8 * first : end - 8 * first].astype(bool)


class Shards:
    """One split of a shard set: its shards in order, and where in the whole each of them begins."""

    def __init__(
        self, shards: Sequence[Shard], folder: Path, split: Split, vocabulary: int, fingerprint: str,
        manifest: dict[str, Any],
    ) -> None:  # fmt: skip
        self.shards = tuple(shards)
        self.folder, self.split = folder, split
        self.vocabulary, self.fingerprint = vocabulary, fingerprint
        self.manifest = manifest
        self.bases = _sums(shard.sentence_count for shard in shards)  # [n + 1] first sentence of each shard
        self.token_bases = _sums(shard.tokens for shard in shards)  # [n + 1]
        self.document_bases = _sums(shard.document_count for shard in shards)  # [n + 1]
        self.sentences, self.tokens = int(self.bases[-1]), int(self.token_bases[-1])
        self.documents = int(self.document_bases[-1])

    def __repr__(self) -> str:
        return f"Shards({str(self.folder)!r}, {self.split!r}, {len(self.shards)} shards, {self.tokens:,} tokens)"

    @classmethod
    def from_documents(
        cls,
        documents: Iterable[Sequence[Sequence[int]]],
        starts: Iterable[Sequence[Sequence[bool]]] | None = None,
        *,
        vocabulary: int | None = None,
        per_shard: int = 0,
        split: Split = "train",
        fingerprint: str = "",
    ) -> Shards:
        """Documents (of sentences of ids) held in memory, `per_shard` in a shard (0: all in one).

        `starts` has the documents' form; without it every token begins a word. `vocabulary` is by default as large as
        the ids need.
        """
        texts = [[list(sentence) for sentence in document] for document in documents]
        marks = None if starts is None else [[list(sentence) for sentence in document] for document in starts]
        needed = 1 + max((i for document in texts for sentence in document for i in sentence), default=-1)
        size = needed if vocabulary is None else vocabulary
        if size < needed:
            raise ShardError(f"id {needed - 1} is not in a vocabulary of {size}: pass vocabulary={needed} or more")
        step = per_shard or max(1, len(texts))
        shards = []
        for begin in range(0, len(texts), step):
            beginnings = None if marks is None else marks[begin : begin + step]
            arrays = _in_memory(texts[begin : begin + step], beginnings, size, begin)
            counts = Counts(len(arrays.ids), len(arrays.sentences) - 1, len(arrays.documents) - 1)
            shards.append(Shard(counts, partial(_given, arrays)))
        return cls(shards, Path(), split, size, fingerprint, {})


def open_shards(folder: str | Path, split: Split = "train", tokenizer: Fingerprinted | None = None) -> Shards:
    """A split of a finished shard set; nothing of its shards is read yet. The tokenizer, if given, must be its own."""
    if split not in manifests.SPLITS:
        raise ShardError(f"split {split!r} is unknown: choose {' or '.join(manifests.SPLITS)}")
    path = Path(folder)
    values = manifests.read(path)
    for name, entry in values["files"].items():
        manifests.check_digest(path / name, entry["sha256"])
    fingerprint = values["tokenizer"]["fingerprint"]
    if tokenizer is not None and tokenizer.fingerprint != fingerprint:
        raise ShardError(
            f"{path} was encoded by tokenizer {fingerprint[:12]}…, not by {tokenizer.fingerprint[:12]}…: "
            f"use the one in that folder, or build the set with yours"
        )
    shards = [of_file(path, entry) for entry in values["splits"][split]]
    return Shards(shards, path, split, values["tokenizer"]["vocabulary"], fingerprint, values)


def of_file(folder: Path, entry: dict[str, Any]) -> Shard:
    """A shard as its entry in the manifest describes it; nothing is read yet."""
    counts = Counts(entry["tokens"], entry["sentences"], entry["documents"])
    return Shard(counts, partial(_verified, folder, entry), entry["file"])


def as_ids(values: ArrayLike, vocabulary: int) -> Ids:
    """Ids as they are stored: in two bytes where the vocabulary lets them."""
    return np.asarray(values, np.uint16) if vocabulary <= 1 << 16 else np.asarray(values, np.uint32)


def map_file(path: Path) -> Arrays:
    """The arrays of a shard file; all are maps of the file, which cost no memory until they are read."""
    tensors, begin = _header(path)
    found: dict[str, NDArray[Any]] = {}
    for name, kinds in _WANTED.items():
        entry = tensors.get(name)
        if entry is None or entry["dtype"] not in kinds or len(entry["shape"]) != 1:
            raise ShardError(f"{path} has no {name} of type {' or '.join(kinds)}: it is no shard")
        mapped: NDArray[Any] = np.empty(0, _DTYPES[entry["dtype"]])
        if entry["shape"][0]:  # nothing cannot be mapped
            offset, shape = begin + entry["data_offsets"][0], tuple(entry["shape"])
            mapped = np.memmap(path, dtype=_DTYPES[entry["dtype"]], mode="r", offset=offset, shape=shape)
        found[name] = mapped.view(np.ndarray)
    return Arrays(**found)


def _header(path: Path) -> tuple[dict[str, Any], int]:
    """The table of a safetensors file, and where its data begins."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        head = file.read(min(length, 1 << 16))
    try:
        tensors: dict[str, Any] = json.loads(head)
    except ValueError:
        raise ShardError(f"{path} is no safetensors file: copy it again or build the set anew") from None
    return tensors, 8 + length


def _verified(folder: Path, entry: dict[str, Any]) -> Arrays:
    manifests.check_length(folder, entry["file"], entry["bytes"])
    manifests.check_digest(folder / entry["file"], entry["sha256"])
    return map_file(folder / entry["file"])


def _given(arrays: Arrays) -> Arrays:
    return arrays


def _sums(counts: Iterable[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *counts], dtype=np.int64)


def _in_memory(
    texts: list[list[list[int]]], marks: list[list[list[bool]]] | None, vocabulary: int, first: int
) -> Arrays:
    for number, document in enumerate(texts, first):
        if not document or not all(document):
            what = "a sentence without tokens" if document else "no sentence"
            raise ShardError(f"document {number} has {what}: leave empty ones out")
    sentences = [sentence for document in texts for sentence in document]
    ids = as_ids([i for sentence in sentences for i in sentence], vocabulary)
    begins = np.ones(len(ids), dtype=bool)
    if marks is not None:
        flags = [sentence for document in marks for sentence in document]
        if [len(sentence) for sentence in flags] != [len(sentence) for sentence in sentences]:
            raise ShardError("starts and documents differ in form: give one True or False for each token")
        begins = np.array([flag for sentence in flags for flag in sentence], dtype=bool)
    offsets = _sums(len(sentence) for sentence in sentences)
    return Arrays(ids, offsets, _sums(len(d) for d in texts), np.packbits(begins, bitorder="little"))
