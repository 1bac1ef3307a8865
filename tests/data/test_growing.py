"""Do blocks become the shards that a plain loop over tokens would make, wherever a block happens to end?"""

import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from litebert.data.blocks import Block, Encodings, Piece, blocks
from litebert.data.growing import Growing
from litebert.text.items import Document, Mark, Problem

Item = tuple[Document | Problem, Mark]
Corpus = list[list[list[list[int]]]]  # documents of parts of sentences of ids; a sentence may have none


def corpus(seed: int, documents: int, longest: int = 4, parts: int = 3) -> Corpus:
    """Small documents, some empty, some in parts, some of sentences without a token."""
    draw = random.Random(seed)

    def sentence() -> list[int]:
        return [draw.randrange(50) for _ in range(draw.choice([0, 1, 1, 2, 3, 5]))]

    def part() -> list[list[int]]:
        return [sentence() for _ in range(draw.randrange(longest + 1))]

    return [[part() for _ in range(draw.choice([1] * 5 + [parts]))] for _ in range(documents)]


def items(texts: Corpus, held: set[int], problems: set[int]) -> Iterator[Item]:
    """What the reader hands on; the mark's record counts items."""
    count = 0
    for number, document in enumerate(texts):
        if number in problems:
            count += 1
            yield Problem("NUL bytes", "file", number, "", 2), Mark(0, count)
        for part, sentences in enumerate(document):
            count += 1
            text = "\n".join([str(number in held), *(" ".join(map(str, sentence)) for sentence in sentences)])
            yield Document(text, "file", number, part), Mark(0, count)


def encode(pieces: list[Piece]) -> Encodings:
    """Ids are written as numbers, the first line says whether the document is held out; odd ids begin words."""
    texts = [[[int(i) for i in line.split()] for line in piece.text.split("\n")[1:]] for piece in pieces]
    ids = np.array([i for text in texts for sentence in text for i in sentence], np.uint16)
    return Encodings(
        ids,
        ids % 2 == 1,
        np.array([len(sentence) for text in texts for sentence in text if sentence], np.int64),
        np.array([sum(1 for sentence in text if sentence) for text in texts], np.int64),
        np.array([sum(1 for sentence in text if not sentence) for text in texts], np.int64),
        np.array([sum(map(len, text)) for text in texts], np.int64),
        np.array([len(piece.text) for piece in pieces], np.int64),
        np.array([piece.first and piece.text.startswith("True") for piece in pieces], bool),
    )


def grown(stream: Iterator[Item], size: int, limit: int) -> tuple[list[tuple], Growing]:
    """Every closing as plain values: (mark, split -> (documents of sentences of ids, word starts))."""
    growing, closings = Growing(50, limit, Counter(), Counter()), []
    for block in blocks(stream, size):
        closings += [plain(closed) for closed in growing.feed(block, encode(block.pieces))]
    return [*closings, plain(growing.rest())], growing


def plain(closed) -> tuple:
    made = {}
    for split, (ids, sentences, documents, starts) in closed.arrays.items():
        cut = [ids[a:b].tolist() for a, b in pairwise(sentences)]
        texts = [cut[a:b] for a, b in pairwise(documents)]
        made[split] = texts, np.unpackbits(starts, bitorder="little")[: len(ids)].tolist()
    return closed.mark, made


def loop(stream: Iterator[Item], limit: int) -> tuple[list[tuple], Counter, Counter]:
    """The same, token by token: shards close after the document that fills one, or where one alone is more."""
    listed, closings, counts, problems = list(stream), [], Counter(), Counter()
    grow: dict[str, list] = {"train": [], "held-out": []}
    side, own, read = "train", 0, [0, 0]

    def tokens(split: str) -> int:
        return sum(len(sentence) for document in grow[split] for sentence in document)

    def close(splits: list[str], mark: Mark | None) -> None:
        made = {}
        for split in splits:
            texts = [document for document in grow[split] if document]
            if texts:
                made[split] = texts, [i % 2 for document in texts for sentence in document for i in sentence]
            grow[split] = []
        closings.append((mark, made))

    for place, (item, mark) in enumerate(listed):
        if isinstance(item, Problem):
            problems[item.kind] += item.count
            continue
        first, *lines = item.text.split("\n")
        sentences = [[int(i) for i in line.split()] for line in lines]
        if item.part == 0:
            side, own, read = "held-out" if first == "True" else "train", 0, [0, 0]
            counts["documents"] += 1
        if item.part == 0 or not grow[side]:
            grow[side].append([])
        grow[side][-1] += [sentence for sentence in sentences if sentence]
        size = sum(map(len, sentences))
        own += size
        read = [read[0] + sum(1 for s in sentences if s), read[1] + size]
        counts.update(empty_sentences=sum(1 for s in sentences if not s), sentences=sum(1 for s in sentences if s))
        counts.update(tokens=size, bytes=len(item.text))
        later = [each for each, _ in listed[place + 1 :] if isinstance(each, Document)]
        goes_on = bool(later) and later[0].part > 0
        if goes_on and own >= limit:
            close([side], None)
            own = 0
        if not goes_on:
            counts.update(empty_documents=int(read[1] == 0), one_sentence_documents=int(read[0] == 1))
            if max(tokens("train"), tokens("held-out")) >= limit:
                close(["train", "held-out"], mark)
    close(["train", "held-out"], None)
    return closings, counts, problems


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("limit", [1, 7, 40, 10_000])
def test_any_block_size_makes_the_shards_of_a_plain_loop(seed: int, limit: int) -> None:
    texts = corpus(seed, 40)
    held, problems = set(range(seed % 5, 40, 7)), {3, 4, 21}
    expected, counts, troubles = loop(items(texts, held, problems), limit)
    for size in (1, 20, 90, 10**6):
        closings, growing = grown(items(texts, held, problems), size, limit)
        assert closings == expected, f"blocks of {size}"
        assert +growing.counts == +counts, f"blocks of {size}"
        assert growing.problems == troubles


def test_every_mark_is_a_place_to_go_on_from() -> None:
    """What is read after a mark makes the shards that follow it, and the counts add up."""
    texts, held = corpus(99, 60), {5, 30}
    whole = list(items(texts, held, {7, 8, 31, 59}))
    closings, _ = grown(iter(whole), 50, 30)
    marks = [mark for mark, _ in closings if mark]
    assert len(marks) > 5
    for mark in marks:
        place = [at for at, _ in closings].index(mark)
        after, _ = grown(iter(whole[mark.record :]), 50, 30)
        assert after == closings[place + 1 :]


def test_a_document_longer_than_a_shard_is_cut_and_no_other_one() -> None:
    long = [[[1, 2, 3], [4]], [[5, 6]], [[7]], [[8, 9, 10, 11]], [[12]]]  # in five parts
    short = [[[20, 21, 22, 23]]]
    closings, growing = grown(items([short, long, short], set(), set()), 1, 5)
    assert [made["train"][0] for _, made in closings if made] == [
        [[[20, 21, 22, 23]], [[1, 2, 3], [4], [5, 6]]],  # the first two parts have 6 tokens: more than a shard
        [[[7], [8, 9, 10, 11]]],
        [[[12]], [[20, 21, 22, 23]]],
    ]
    assert [mark is not None for mark, _ in closings] == [False, False, True, False]
    assert growing.counts["documents"] == 3


def test_problems_stand_on_the_side_of_the_mark_that_they_are_read_on() -> None:
    stream = [
        (Problem("NUL bytes", "file", 1, ""), Mark(0, 1)), (Document("False\n1 2", "file", 1), Mark(0, 2)),
        (Problem("NUL bytes", "file", 2, ""), Mark(0, 3)), (Document("False\n3", "file", 2), Mark(0, 4)),
        (Problem("empty file", "other", 0, ""), Mark(1, 0)),
    ]  # fmt: skip
    growing = Growing(50, 2, Counter(), Counter())
    seen = []
    for block in blocks(iter(stream), 1):
        for closed in growing.feed(block, encode(block.pieces)):
            seen.append((closed.mark, dict(growing.problems)))
    assert seen == [(Mark(0, 2), {"NUL bytes": 1})]
    assert growing.problems == {"NUL bytes": 2, "empty file": 1}


def test_blocks_hold_all_items_once_and_are_as_large_as_asked() -> None:
    texts = corpus(5, 200)
    stream = list(items(texts, set(), {0, 50, 199}))
    made = list(blocks(iter(stream), 60))
    assert [piece.text for block in made for piece in block.pieces] == [
        item.text for item, _ in stream if isinstance(item, Document)
    ]
    assert sum(len(block.problems) for block in made) == 3
    assert all(sum(len(piece.text) + 1 for piece in block.pieces) >= 60 for block in made[:-1])
    assert all(len(b.pieces) == len(b.marks) == len(b.unfinished) for b in made)


def test_a_corpus_of_problems_alone_is_one_block_without_pieces() -> None:
    made = list(blocks(iter([(Problem("empty file", "file", 0, ""), Mark(1))])))
    assert made == [Block([], [], [], [(0, Problem("empty file", "file", 0, ""))])]
    assert list(blocks(iter([]))) == []
