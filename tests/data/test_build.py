"""Is what the build writes all of the text, and the same bytes from any number of workers?"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data import corpora
from data.corpora import digests
from litebert.data import blocks, workers
from litebert.data import build as building
from litebert.data.build import Built, build
from litebert.data.manifest import SPLITS
from litebert.data.options import Options
from litebert.data.shards import Shards, open_shards
from litebert.data.worker import held_out
from litebert.text import sentences
from litebert.text.encode import Encoder

SMALL = Options(seed=3, held_out=0.2, shard_tokens=700)
TOKENIZER = corpora.tokenizer()


def texts_of(shards: Shards) -> list[list[list[int]]]:
    """Documents of sentences of ids."""
    found = []
    for shard in shards.shards:
        cut = [part.tolist() for part in np.split(shard.ids, shard.sentences[1:-1])]
        found += [cut[a:b] for a, b in zip(shard.documents[:-1], shard.documents[1:], strict=True)]
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], Built]:
    """A corpus, its texts, and the set built from it by one process without a stop."""
    folder = tmp_path_factory.mktemp("made")
    texts = corpora.corpus(folder / "corpus")
    return folder / "corpus", texts, build([folder / "corpus"], TOKENIZER, folder / "out", SMALL, workers=1)


def test_all_of_the_text_is_in_the_shards_in_its_order(made: tuple[Path, list[str], Built]) -> None:
    _, texts, built = made
    encoder = Encoder(TOKENIZER)
    expected: dict[str, list[list[list[int]]]] = {split: [] for split in SPLITS}
    begins: dict[str, list[bool]] = {split: [] for split in SPLITS}
    for text in texts:
        encoded = encoder.encode(sentences.split(text))
        parts = np.split(encoded.ids, np.cumsum(encoded.lengths)[:-1])
        split = SPLITS[held_out(text.encode(), SMALL.seed, SMALL.held_out)]
        if any(len(part) for part in parts):
            expected[split].append([part.tolist() for part in parts if len(part)])
            begins[split] += encoded.starts.tolist()
    for split in SPLITS:
        shards = open_shards(built.folder, split, TOKENIZER)
        assert texts_of(shards) == expected[split]
        assert [flag for shard in shards.shards for flag in shard.begins(0, shard.tokens)] == begins[split]
        assert len(shards.shards) > (3 if split == "train" else 1)


def test_what_gives_no_token_is_counted(made: tuple[Path, list[str], Built]) -> None:
    _, texts, built = made
    counts, problems = built.manifest["counts"], built.manifest["problems"]
    nothing = texts.count(corpora.NOTHING)
    stored = {split: open_shards(built.folder, split) for split in SPLITS}
    assert counts["documents"] == len(texts)
    assert counts["empty_documents"] == counts["empty_sentences"] == nothing >= 3
    assert counts["documents"] - counts["empty_documents"] == sum(shards.documents for shards in stored.values())
    assert counts["sentences"] == sum(shards.sentences for shards in stored.values())
    assert counts["tokens"] == sum(shards.tokens for shards in stored.values())
    assert counts["bytes"] == sum(len(text.encode()) for text in texts)
    assert counts["one_sentence_documents"] == sum(
        len(document) == 1 for shards in stored.values() for document in texts_of(shards)
    )
    assert problems == {"empty document": 1, "empty file": 1}


def test_shards_are_as_large_as_asked_and_split_no_document(made: tuple[Path, list[str], Built]) -> None:
    _, _, built = made
    longest = max(len(np.concatenate(document)) for document in texts_of(open_shards(built.folder)))
    *full, last = [shard["tokens"] for shard in built.manifest["splits"]["train"]]
    assert all(SMALL.shard_tokens <= tokens < SMALL.shard_tokens + longest for tokens in full)
    assert last < SMALL.shard_tokens


def test_the_manifest_says_nothing_of_this_machine_or_hour(made: tuple[Path, list[str], Built]) -> None:
    corpus, _, built = made
    text = (built.folder / "manifest.json").read_text()
    assert str(corpus.parent) not in text
    assert [line["name"] for line in json.loads(text)["corpus"]] == ["a.txt", "b-empty.txt", "c.jsonl.gz", "d.parquet"]
    assert not (built.folder / "journal").exists()


@pytest.mark.parametrize("count", [2, 4])
def test_the_bytes_do_not_depend_on_the_workers(
    made: tuple[Path, list[str], Built], tmp_path: Path, count: int
) -> None:
    corpus, _, built = made
    build([corpus], TOKENIZER, tmp_path / "out", SMALL, workers=count)
    assert digests(tmp_path / "out") == digests(built.folder)


@pytest.mark.parametrize("size", [1, 300, 5000])
def test_the_bytes_do_not_depend_on_the_blocks(
    made: tuple[Path, list[str], Built], tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, _, built = made
    monkeypatch.setattr(building, "blocks", partial(blocks.blocks, size=size))
    build([corpus], TOKENIZER, tmp_path / "out", SMALL, workers=1)
    assert digests(tmp_path / "out") == digests(built.folder)


def test_the_bytes_do_not_depend_on_where_the_corpus_lies(
    made: tuple[Path, list[str], Built], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, _, built = made
    shutil.copytree(corpus, tmp_path / "else" / "where")
    monkeypatch.chdir(tmp_path / "else")
    build(["where/*"], TOKENIZER, "out", SMALL, workers=1)
    assert digests(tmp_path / "else" / "out") == digests(built.folder)


def test_a_second_call_finds_all_done(made: tuple[Path, list[str], Built]) -> None:
    corpus, _, built = made
    before = digests(built.folder)
    again = build([corpus], TOKENIZER, built.folder, SMALL, workers=1)
    assert again.already
    assert again.manifest == built.manifest
    assert digests(built.folder) == before


def test_the_held_out_documents_are_drawn_by_their_content() -> None:
    texts = [f"document {number}".encode() for number in range(100_000)]
    held = {share: [held_out(text, 1, share) for text in texts] for share in (0.0, 0.01, 0.3)}
    assert sum(held[0.0]) == 0
    assert abs(sum(held[0.01]) - 1000) < 5 * 1000**0.5
    assert abs(sum(held[0.3]) - 30_000) < 5 * 21_000**0.5
    assert all(more or not less for less, more in zip(held[0.01], held[0.3], strict=True)), "a larger share adds"
    assert [held_out(text, 2, 0.3) for text in texts] != held[0.3]


def test_copies_of_a_document_fall_on_one_side(made: tuple[Path, list[str], Built]) -> None:
    _, _, built = made
    train, held = (texts_of(open_shards(built.folder, split)) for split in SPLITS)
    assert any(train.count(document) > 1 for document in train)
    assert all(document not in train for document in held)


def test_without_a_share_nothing_is_held_out(made: tuple[Path, list[str], Built], tmp_path: Path) -> None:
    corpus, _, _ = made
    build([corpus], TOKENIZER, tmp_path, Options(held_out=0.0), workers=1)
    assert open_shards(tmp_path, "held-out").tokens == 0
    assert len(open_shards(tmp_path).shards) == 1


def test_one_sentence_a_line_is_respected(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the mill. the boats\ngrain\n\ntide\n")
    build([tmp_path / "a.txt"], TOKENIZER, tmp_path / "out", Options(lines=True, held_out=0.0), workers=1)
    found = texts_of(open_shards(tmp_path / "out"))
    expected = [["the mill. the boats", "grain"], ["tide"]]
    assert found == [[TOKENIZER.encode(sentence) for sentence in document] for document in expected]


def test_progress_ends_at_all_of_the_corpus_and_never_goes_back(made: tuple[Path, list[str], Built]) -> None:
    corpus, texts, built = made
    seen: list[building.Progress] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "blocks", partial(blocks.blocks, size=900))
        build([corpus], TOKENIZER, built.folder, SMALL, workers=1, overwrite=True, watch=seen.append)
    shares = [now.share for now in seen]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert seen[-1].documents == len(texts)
    assert sorted(problem.kind for now in seen for problem in now.problems) == ["empty document", "empty file"]


def test_no_worker_loads_torch() -> None:
    code = "import sys, litebert.data.build, litebert.data.stats; print({'torch', 'transformers'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_few_blocks_are_under_way() -> None:
    """The reader is never more than a few blocks ahead of the writer, however long the corpus is."""
    read = 0

    def endless() -> Any:
        nonlocal read
        while True:
            read += 1
            yield blocks.Block([], [], [], [])

    class Instant:
        def submit(self, work: Callable[[Any], Any], pieces: Any) -> Future:
            done: Future = Future()
            done.set_result(None)
            return done

    stream = workers.in_order(Instant(), endless(), 6)  # type: ignore[arg-type]
    for done in range(1, 200):
        next(stream)
        assert read - done <= 6
