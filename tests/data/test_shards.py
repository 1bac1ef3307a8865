"""Are shards read as they were written, lazily and verified, and is every bit that turned found before it is used?"""

import os
import random
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from data.sets import DOCUMENTS, shard_set
from litebert import files
from litebert.data import manifest as manifests
from litebert.data.manifest import ShardError
from litebert.data.shards import Shards, open_shards
from litebert.errors import UserError


def read_all(shards: Shards) -> list[list[list[int]]]:
    """Documents of sentences of ids, as a set gives them back."""
    found = []
    for shard in shards.shards:
        for first, last in zip(shard.documents[:-1], shard.documents[1:], strict=True):
            bounds = zip(shard.sentences[first:last], shard.sentences[first + 1 : last + 1], strict=True)
            found.append([shard.ids[begin:end].tolist() for begin, end in bounds])
    return found


def test_documents_in_memory_come_back() -> None:
    for per_shard in (0, 1, 2, 3, 100):
        shards = Shards.from_documents(DOCUMENTS, per_shard=per_shard)
        assert read_all(shards) == DOCUMENTS
        assert (shards.documents, shards.sentences, shards.tokens) == (3, 5, 11)
        assert shards.bases[-1] == 5
        assert len(shards.bases) == len(shards.shards) + 1
    assert Shards.from_documents([]).tokens == 0


def test_where_each_shard_begins_in_the_whole_is_known() -> None:
    shards = Shards.from_documents(DOCUMENTS, per_shard=1)
    assert shards.bases.tolist() == [0, 2, 3, 5]
    assert shards.token_bases.tolist() == [0, 4, 5, 11]
    assert shards.document_bases.tolist() == [0, 1, 2, 3]


def test_word_starts_come_back_from_any_stretch() -> None:
    starts = [[[i % 3 == 0 for i, _ in enumerate(sentence)] for sentence in document] for document in DOCUMENTS]
    flat = [flag for document in starts for sentence in document for flag in sentence]
    shard = Shards.from_documents(DOCUMENTS, starts).shards[0]
    for begin in range(12):
        for end in range(begin, 12):
            assert shard.begins(begin, end).tolist() == flat[begin:end], (begin, end)


@pytest.mark.parametrize(
    ("documents", "values", "message"),
    [
        pytest.param([[]], {}, "document 0 has no sentence: leave empty ones out", id="no sentence"),
        pytest.param([[[1]], [[2], []]], {}, "document 1 has a sentence without tokens: leave", id="no token"),
        pytest.param([[[7]]], {"vocabulary": 7}, "id 7 is not in a vocabulary of 7: pass vocabulary", id="vocabulary"),
        pytest.param([[[7]]], {"starts": [[[True, True]]]}, "starts and documents differ in form", id="starts"),
    ],
)
def test_documents_that_make_no_shard_are_refused(documents: list, values: dict, message: str) -> None:
    with pytest.raises(ShardError, match=message):
        Shards.from_documents(documents, **values)


@pytest.mark.parametrize(("vocabulary", "width"), [(1 << 16, 2), ((1 << 16) + 1, 4)])
def test_ids_are_as_narrow_as_the_vocabulary_lets_them(tmp_path: Path, vocabulary: int, width: int) -> None:
    shard_set(tmp_path, vocabulary=vocabulary)
    assert open_shards(tmp_path).shards[0].ids.dtype.itemsize == width
    assert Shards.from_documents(DOCUMENTS, vocabulary=vocabulary).shards[0].ids.dtype.itemsize == width


def test_what_was_written_is_mapped_and_read_back(tmp_path: Path) -> None:
    shard_set(tmp_path)
    shards, held = open_shards(tmp_path), open_shards(str(tmp_path), "held-out")
    assert read_all(shards) == DOCUMENTS
    assert read_all(held) == DOCUMENTS[:1]
    assert isinstance(shards.shards[0].ids.base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        shards.shards[0].ids[0] = 1
    assert (shards.vocabulary, shards.fingerprint, shards.split) == (300, "f" * 64, "train")


def test_an_empty_split_is_no_mistake(tmp_path: Path) -> None:
    shard_set(tmp_path, held=[])
    assert open_shards(tmp_path, "held-out").tokens == 0


def test_a_tokenizer_that_is_not_the_sets_own_is_refused(tmp_path: Path) -> None:
    shard_set(tmp_path)
    open_shards(tmp_path, tokenizer=SimpleNamespace(fingerprint="f" * 64))
    with pytest.raises(ShardError, match=r"was encoded by tokenizer ffffffffffff…, not by 000000000000…: use the one"):
        open_shards(tmp_path, tokenizer=SimpleNamespace(fingerprint="0" * 64))


def test_an_unknown_split_is_refused(tmp_path: Path) -> None:
    shard_set(tmp_path)
    with pytest.raises(ShardError, match="split 'valid' is unknown: choose train or held-out"):
        open_shards(tmp_path, "valid")  # type: ignore[arg-type]


def test_a_folder_that_is_no_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(ShardError, match="is no shard set"):
        open_shards(tmp_path)
    (tmp_path / "journal").mkdir()
    with pytest.raises(ShardError, match="is not finished: go on with the same"):
        open_shards(tmp_path)
    (tmp_path / "manifest.json").write_bytes(files.sealed({"format": "another"}))
    with pytest.raises(ShardError, match="has format 'another', not 'litebert-shards-1'"):
        open_shards(tmp_path)


def test_nothing_of_a_shard_is_read_before_it_is_touched(tmp_path: Path) -> None:
    shard_set(tmp_path, per_shard=1)
    flip(tmp_path / "train" / "00001.safetensors", 100)
    shards = open_shards(tmp_path)
    assert shards.shards[0].ids.tolist() == [5, 6, 7, 8]
    assert shards.shards[2].tokens == 6
    with pytest.raises(ShardError, match=r"00001.safetensors is damaged, not as it was written"):
        _ = shards.shards[1].documents
    with pytest.raises(ShardError, match="damaged"):  # and again: it does not count as seen
        _ = shards.shards[1].ids


def test_a_shard_is_verified_once_by_many_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shard_set(tmp_path)
    shard, seen = open_shards(tmp_path).shards[0], []
    digest = files.digest

    def slow(path: Path) -> str:
        seen.append(path)
        time.sleep(0.05)
        return digest(path)

    monkeypatch.setattr(files, "digest", slow)
    threads = [threading.Thread(target=lambda: shard.ids.sum()) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 1


def flip(path: Path, bit: int) -> None:
    """Turn one bit of a file."""
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def touch(folder: Path) -> None:
    """What a reader does before the first batch from a shard."""
    for split in manifests.SPLITS:
        for shard in open_shards(folder, split).shards:
            shard.ids.sum()


def test_every_flipped_bit_is_found_and_its_file_named(tmp_path: Path) -> None:
    whole, draws = tmp_path / "whole", random.Random(17)
    shard_set(whole, per_shard=1)
    paths = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file())
    assert len(paths) == 8  # manifest, tokenizer in two files, counts, four shards
    touch(whole)
    for trial in range(200):
        path = whole / paths[trial % len(paths)]
        good = path.read_bytes()
        flip(path, draws.randrange(8 * len(good)))
        with pytest.raises(UserError) as caught:
            touch(whole)
        assert path.name in str(caught.value), f"bit of {path}: {caught.value}"
        path.write_bytes(good)
    touch(whole)


def cut(path: Path) -> None:
    """Leave off the last byte."""
    path.write_bytes(path.read_bytes()[:-1])


def swap(path: Path) -> None:
    """Two shards, of the same length, exchange their names."""
    other = path.with_name("00001.safetensors")
    spare = path.with_name("spare")
    path.rename(spare)
    other.rename(path)
    spare.rename(other)


@pytest.mark.parametrize("name", ["train/00000.safetensors", "counts.safetensors", "tokenizer.json"])
@pytest.mark.parametrize(
    ("harm", "message"),
    [
        pytest.param(Path.unlink, "is missing: copy it again", id="deleted"),
        pytest.param(cut, "bytes, not", id="cut"),
        pytest.param(lambda path: path.write_bytes(b""), "has 0 bytes, not", id="emptied"),
    ],
)
def test_a_file_that_is_gone_or_short_is_named_on_opening(
    tmp_path: Path, name: str, harm: Callable[[Path], object], message: str
) -> None:
    shard_set(tmp_path)
    harm(tmp_path / name)
    with pytest.raises(ShardError, match=message) as caught:
        open_shards(tmp_path)
    assert str(tmp_path / name) in str(caught.value)


def test_shards_that_exchanged_names_are_named(tmp_path: Path) -> None:
    same = [[[1, 2]], [[3, 4]]]
    shard_set(tmp_path, same, per_shard=1)
    swap(tmp_path / "train" / "00000.safetensors")
    with pytest.raises(ShardError, match=r"00000.safetensors is damaged"):
        touch(tmp_path)


def test_a_shard_that_vanishes_after_opening_is_named(tmp_path: Path) -> None:
    shard_set(tmp_path)
    shards = open_shards(tmp_path)
    shutil.rmtree(tmp_path / "train")
    with pytest.raises(ShardError, match="is missing"):
        _ = shards.shards[0].ids


def test_a_file_of_another_kind_is_no_shard(tmp_path: Path) -> None:
    shard_set(tmp_path)
    values = files.read_sealed(tmp_path / "manifest.json")
    path = tmp_path / "train" / "00000.safetensors"
    for data, message in (
        (b"not at all a shard", "is no safetensors file"),
        (len(b"{}").to_bytes(8, "little") + b"{}", "has no ids of type U16 or U32: it is no shard"),
    ):
        path.write_bytes(data)
        values["splits"]["train"][0] |= {"bytes": len(data), "sha256": files.digest(path)}
        manifests.write(tmp_path, values)
        with pytest.raises(ShardError, match=message):
            touch(tmp_path)


def test_a_set_of_a_hundred_million_tokens_opens_in_milliseconds(tmp_path: Path) -> None:
    shard_set(tmp_path)
    values = files.read_sealed(tmp_path / "manifest.json")
    entry = values["splits"]["train"][0]
    values["splits"]["train"] = []
    for number in range(12):  # sparse files: as long as they say, and read by nobody
        name = f"train/{number:05d}.safetensors"
        with (tmp_path / name).open("wb") as file:
            os.truncate(file.fileno(), 22 << 20)
        values["splits"]["train"].append({**entry, "file": name, "bytes": 22 << 20, "tokens": 1 << 23})
    manifests.write(tmp_path, values)
    began = time.perf_counter()
    shards = open_shards(tmp_path)
    took = time.perf_counter() - began
    assert shards.tokens > 100_000_000
    assert took < 0.2, f"{took:.3f} s"
