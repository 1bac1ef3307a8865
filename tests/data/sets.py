"""A small shard set on the disk, written without the build: what its reader needs, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from safetensors.numpy import save

from litebert import files
from litebert.data import manifest as manifests
from litebert.data.shards import Shards

DOCUMENTS = [[[5, 6, 7], [8]], [[9]], [[10, 11], [12, 13, 299, 14]]]


def shard_set(
    folder: Path,
    documents: Sequence[Sequence[Sequence[int]]] = DOCUMENTS,
    held: Sequence[Sequence[Sequence[int]]] = DOCUMENTS[:1],
    *,
    per_shard: int = 0,
    vocabulary: int = 300,
) -> None:
    """A folder as `data build` leaves it, but that its tokenizer is none."""
    folder.mkdir(exist_ok=True)
    for name in manifests.BESIDE:
        (folder / name).write_text(f'{{"this is": "the file {name}"}}')
    splits: dict[str, list[dict[str, object]]] = {}
    for split, texts in zip(manifests.SPLITS, (documents, held), strict=True):
        (folder / split).mkdir()
        shards = Shards.from_documents(texts, vocabulary=vocabulary, per_shard=per_shard).shards
        splits[split] = []
        for number, shard in enumerate(shards):
            name = f"{split}/{number:05d}.safetensors"
            (folder / name).write_bytes(save(shard.arrays._asdict()))
            counts = {"tokens": shard.tokens, "sentences": shard.sentence_count, "documents": shard.document_count}
            splits[split].append({"file": name, **described(folder / name), **counts})
    manifests.write(folder, {
        "format": manifests.FORMAT,
        "tokenizer": {"fingerprint": "f" * 64, "vocabulary": vocabulary, "kind": "unigram"},
        "files": {name: described(folder / name) for name in manifests.BESIDE},
        "splits": splits,
    })  # fmt: skip


def described(path: Path) -> dict[str, object]:
    """A file's length and digest."""
    return {"bytes": path.stat().st_size, "sha256": files.digest(path)}
