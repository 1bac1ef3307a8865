"""Is the sample bounded, drawn evenly from all of the corpus, and the same for the same seed?"""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest

from litebert.errors import UserError
from litebert.text import sample
from litebert.text.items import Mark, Reading
from litebert.text.sample import CHUNK, Sample
from litebert.text.sources import sources


def corpus(folder: Path, texts: Sequence[str]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "a.txt").write_text("\n\n".join(texts))
    return folder


def long(number: int, size: int = CHUNK - 100) -> str:
    """A document of one chunk that says its number."""
    return f"document {number:06d} " + "x" * (size - 16)


def numbers(drawn: Sample) -> list[int]:
    return [int(chunk.split()[1]) for chunk in drawn.chunks]


def draw(folder: Path, size: int = sample.SIZE, seed: int = 0) -> Sample:
    return sample.draw(sources([folder]), size=size, seed=seed)


def test_a_small_corpus_is_its_own_sample(tmp_path: Path) -> None:
    texts = [long(i, 50) for i in range(30)]
    drawn = draw(corpus(tmp_path / "c", texts))
    assert [chunk.decode() for chunk in drawn.chunks] == texts
    assert (drawn.size, drawn.read, drawn.documents) == (1500, 1500, 30)


def test_a_large_corpus_is_not(tmp_path: Path) -> None:
    drawn = draw(corpus(tmp_path / "c", [long(i) for i in range(200)]), size=50 * CHUNK)
    assert 49 * CHUNK <= drawn.size <= 50 * CHUNK
    assert drawn.size == sum(map(len, drawn.chunks))
    assert drawn.documents == 200
    assert numbers(drawn) == sorted(numbers(drawn)), "in the order of the corpus"


def test_the_seed_decides(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", [long(i) for i in range(100)])
    one, again, other = (draw(folder, 30 * CHUNK, seed) for seed in (1, 1, 2))
    assert one.chunks == again.chunks
    assert one.chunks != other.chunks


def test_it_is_drawn_evenly(tmp_path: Path) -> None:
    """A reservoir that favours what came late, or early, would show here: 40 seeds of 30 of 120 documents."""
    folder = corpus(tmp_path / "c", [long(i) for i in range(120)])
    counts = [0] * 4
    for seed in range(40):
        for number in numbers(draw(folder, 30 * (CHUNK - 100), seed)):
            counts[number // 30] += 1
    assert sum(counts) == 1200
    assert all(abs(count - 300) < 4 * 15 for count in counts), counts  # a standard deviation is 15 at most


def test_memory_does_not_grow_with_the_corpus(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    for number in range(12):
        (folder / f"{number}.txt").write_text("\n\n".join(long(i) for i in range(500)))  # 24 MB in all
    tracemalloc.start()
    drawn = draw(folder, size=1 << 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert drawn.read > 20 << 20
    assert peak < 8 << 20


def test_chunks_end_at_lines_or_words_and_lose_nothing(tmp_path: Path) -> None:
    text = (
        "\n".join(" ".join(f"word{i}" for i in range(start, start + 15)) for start in range(0, 3000, 15)) + " é" * 5000
    )
    drawn = sample.of_texts([text])
    assert b"".join(drawn.chunks).decode() == text
    assert all(CHUNK // 2 <= len(chunk) <= CHUNK for chunk in drawn.chunks[:-1])
    assert all(chunk[-1:] in b"\n " for chunk in drawn.chunks[:-1])


def test_a_text_without_a_space_is_cut_between_characters() -> None:
    drawn = sample.of_texts(["中" * 5000])
    assert "".join(chunk.decode() for chunk in drawn.chunks) == "中" * 5000


def test_sentences_are_split_or_are_lines() -> None:
    drawn = sample.of_texts(["Ba do. Fen gra.\nKi lo"])
    assert list(drawn.sentences()) == ["Ba do.", "Fen gra.", "Ki lo"]
    assert list(drawn._replace(one_per_line=True).sentences()) == ["Ba do. Fen gra.", "Ki lo"]


def test_what_is_wrong_with_the_corpus_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"ba \0 do")
    (tmp_path / "b.txt").write_bytes(b"")
    (tmp_path / "c.csv").write_bytes(b"1,2")
    assert draw(tmp_path).problems.counts == {"NUL bytes": 1, "empty file": 1, "file left out": 1}
    (tmp_path / "d.txt").write_bytes(b"ba \xff")
    with pytest.raises(UserError, match=r"d\.txt:1: byte 4 \(0xff\) is not UTF-8"):
        draw(tmp_path)
    replaced = sample.draw(sources([tmp_path]), Reading(invalid="replace"))
    assert replaced.problems.counts["invalid UTF-8"] == 1


def test_how_far_it_is_can_be_watched(tmp_path: Path) -> None:
    told: list[tuple[Mark, int]] = []
    found = sources([corpus(tmp_path / "c", [long(i) for i in range(5)])])
    drawn = sample.draw(found, watch=lambda mark, text: told.append((mark, text)))
    assert [text for _, text in told] == [(CHUNK - 100) * i for i in range(1, 6)]
    assert told[-1][0].byte == found[0].size
    assert drawn.read == told[-1][1]


def test_nothing_to_draw_from_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\n \n")
    with pytest.raises(UserError, match=r"the corpus holds no text \(0 documents\)"):
        draw(tmp_path)
    with pytest.raises(UserError, match="a sample of 10 bytes holds no chunk of text: choose 4096 or more"):
        draw(tmp_path, size=10)
