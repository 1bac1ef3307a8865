"""Is what is told of a shard set what is in its shards, and is a file of counts that is not its own refused?"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from data import corpora
from litebert.data import frequencies, stats
from litebert.data.build import build
from litebert.data.frequencies import Frequencies
from litebert.data.manifest import ShardError
from litebert.data.shards import Shards, open_shards


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of small shards."""
    made = tmp_path_factory.mktemp("stats")
    corpora.corpus(made / "corpus")
    build([made / "corpus"], corpora.tokenizer(), made / "out", corpora.OPTIONS, workers=1)
    return made / "out"


def test_the_entropy_is_the_loss_of_a_table_of_frequencies() -> None:
    assert stats.entropy(np.array([5, 5, 0, 5, 5])) == pytest.approx(math.log(4))
    assert stats.entropy(np.array([3, 1])) == pytest.approx(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    assert stats.entropy(np.array([7, 0])) == stats.entropy(np.zeros(3, np.int64)) == 0.0
    assert math.copysign(1, stats.entropy(np.array([7]))) == 1, "not -0.0"


def test_all_of_it_agrees_with_the_shards(folder: Path) -> None:
    found = stats.stats(folder, top=3)
    for split, part in found["splits"].items():
        shards = open_shards(folder, split)
        ids = np.concatenate([shard.ids for shard in shards.shards])
        lengths = np.concatenate([np.diff(shard.sentences) for shard in shards.shards])
        texts = np.concatenate([np.diff(shard.sentences[shard.documents]) for shard in shards.shards])
        assert (part["tokens"], part["sentences"], part["documents"]) == (len(ids), len(lengths), len(texts))
        assert part["unknown_share"] == pytest.approx((ids == 1).mean())
        assert part["sentence_tokens"]["mean"] == pytest.approx(lengths.mean())
        assert part["sentence_tokens"]["median"] == np.sort(lengths)[math.ceil(len(lengths) / 2) - 1]
        assert part["sentence_tokens"]["p99"] == np.sort(lengths)[math.ceil(0.99 * len(lengths)) - 1]
        for octaves, sizes in ((part["sentence_octaves"], lengths), (part["document_octaves"], texts)):
            expected = [int(((sizes >= 1 << i) & (sizes < 2 << i)).sum()) for i in range(len(octaves))]
            assert octaves == expected
            assert sum(octaves) == len(sizes)
    train = np.bincount(np.concatenate([shard.ids for shard in open_shards(folder).shards]))
    assert [one["count"] for one in found["frequent"]] == np.sort(train)[::-1][:3].tolist()
    assert found["bytes"] == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_counts_add_up_however_they_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    shards = Shards.from_documents([[[5, 6, 7], [5]], [[8] * 40]], vocabulary=9).shards
    whole = Frequencies(9)
    whole.add("train", shards[0].arrays)
    assert whole.tokens[0].tolist() == [0, 0, 0, 0, 0, 2, 1, 1, 40]
    assert whole.sentences[0][[1, 3, 40]].tolist() == [1, 1, 1]
    assert whole.documents[0][:7].tolist() == [0, 0, 1, 0, 0, 1, 0]
    assert not whole.tokens[1].any()
    for size in (1, 7, 44):
        monkeypatch.setattr(frequencies, "_AT_ONCE", size)
        part = Frequencies(9)
        part.add("train", shards[0].arrays)
        assert np.array_equal(part.tokens, whole.tokens)


def test_very_long_sentences_share_the_last_place() -> None:
    shards = Shards.from_documents([[[5] * 5000, [5] * 1024]], vocabulary=9).shards
    found = Frequencies(9)
    found.add("held-out", shards[0].arrays)
    assert found.sentences[1][frequencies.LONGEST] == 2


def test_counts_of_another_set_are_refused(tmp_path: Path) -> None:
    Frequencies(9).write(tmp_path)
    assert not frequencies.read(tmp_path, 9).tokens.any()
    with pytest.raises(ShardError, match=r"counts.safetensors does not hold the counts of this set: build it anew"):
        frequencies.read(tmp_path, 10)
    (tmp_path / frequencies.NAME).write_bytes(b"{}")
    with pytest.raises(ShardError, match="does not hold the counts"):
        frequencies.read(tmp_path, 9)
