"""Is a pile of files of every form one stream of documents, which can be taken up anywhere?"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litebert.config import ConfigError
from litebert.errors import UserError
from litebert.text import corpus, pydocs
from litebert.text.items import Document, Mark, Problem, Reading
from text.readings import assert_resumes, problems, read, small, texts, whole

TEXTS = st.text(st.sampled_from("ab é中.\n\0\u3000"), max_size=30)
FILES = st.lists(
    st.tuples(st.sampled_from(["txt", "txt.gz", "jsonl", "jsonl.gz", "parquet", "odd"]), st.lists(TEXTS, max_size=4)),
    min_size=1,
    max_size=5,
)


def write(folder: Path, files: list[tuple[str, list[str]]]) -> None:
    """Files named by their number."""
    for number, (suffix, contents) in enumerate(files):
        path = folder / f"{number}.{suffix}"
        if suffix == "parquet":
            pq.write_table(pa.table({"text": pa.array(contents, pa.string())}), path, row_group_size=2)
            continue
        text = (
            "\n\n".join(contents) if suffix.startswith("txt") else "\n".join(json.dumps({"text": t}) for t in contents)
        )
        path.write_bytes(gzip.compress(text.encode()) if suffix.endswith("gz") else text.encode())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A file of every form."""
    files = [
        ("txt", ["one", "two\nlines"]),
        ("txt.gz", ["three"]),
        ("jsonl", ["four", "five"]),
        ("parquet", ["six", "seven", "eight"]),
    ]
    write(tmp_path, files)
    return tmp_path


def test_files_of_every_form_are_one_stream_in_order(folder: Path) -> None:
    assert texts(folder) == ["one", "two\nlines", "three", "four", "five", "six", "seven", "eight"]
    assert texts(folder / "3.parquet", folder / "0.txt") == ["six", "seven", "eight", "one", "two\nlines"]


def test_every_item_names_its_file_and_place(folder: Path) -> None:
    (folder / "4.odd").write_text("x")
    (folder / "5.txt").write_text("")
    assert [(Path(item.source).name, item.place) for item, _ in read(folder)] == [
        ("0.txt", 1), ("0.txt", 3), ("1.txt.gz", 1), ("2.jsonl", 1), ("2.jsonl", 2),
        ("3.parquet", 1), ("3.parquet", 2), ("3.parquet", 3), ("4.odd", 0), ("5.txt", 0),
    ]  # fmt: skip


@given(FILES, st.sampled_from([8, 1 << 20]))
@settings(max_examples=60)
def test_any_pile_is_read_without_loss_and_resumed_from_every_mark(
    tmp_path_factory: pytest.TempPathFactory, files: list[tuple[str, list[str]]], part: int
) -> None:
    folder = tmp_path_factory.mktemp("pile")
    write(folder, [*files, ("txt", ["the last"])])
    with small(part, 16):
        items = [item for item, _ in read(folder)]
        assert_resumes(folder)
    expected = [
        "".join(text.replace("\0", "").split())
        for suffix, contents in files
        for text in contents
        if suffix not in ("odd", "txt", "txt.gz")
    ]
    found = [
        text for _, text in whole(item for item in items if isinstance(item, Document) and ".txt" not in item.source)
    ]
    assert found == [text for text in expected if text]
    nuls = sum(text.count("\0") for suffix, contents in files for text in contents if suffix != "odd")
    assert sum(item.count for item in items if isinstance(item, Problem) and item.kind == "NUL bytes") == nuls
    left_out = sum(suffix == "odd" for suffix, _ in files)
    assert sum(isinstance(item, Problem) and item.kind == "file left out" for item in items) == left_out


def test_nothing_of_a_file_is_read_before_it_is_asked_for(folder: Path) -> None:
    (folder / "0.txt").write_text("one\n\ntwo")
    (folder / "1.txt.gz").write_bytes(b"broken")
    stream = corpus.read(corpus.sources([folder]), Reading())
    assert [next(stream)[0].place for _ in range(2)] == [1, 3]
    with pytest.raises(UserError, match=r"1\.txt\.gz is cut off or damaged"):
        next(stream)


def test_from_the_last_mark_nothing_follows(folder: Path) -> None:
    last = read(folder)[-1][1]
    assert read(folder, start=last) == read(folder, start=Mark(4)) == []


def test_problems_between_documents_do_not_end_the_reading(folder: Path) -> None:
    (folder / "2.jsonl").write_text('{"text": "a"}\nnone\n{"text": ""}\n{"text": "b"}\n')
    (folder / "4.odd").write_text("x")
    assert problems(folder, bad="skip") == [("bad record", 2, 1), ("empty document", 3, 1), ("file left out", 0, 1)]
    assert sum(isinstance(item, Document) for item, _ in read(folder, bad="skip")) == 8


def test_pydocs_is_a_corpus_among_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    items = [Document("first", "pydocs/a.py", 1), Problem("file left out", "pydocs/b.py", 0, "x")]
    monkeypatch.setattr(
        pydocs, "documents", lambda start: [(number, item) for number, item in enumerate(items, 1) if number > start]
    )
    assert [item for item, _ in read("pydocs", folder)][:3] == [*items, Document("one", str(folder / "0.txt"), 1)]
    assert assert_resumes("pydocs", folder) == 10


@pytest.mark.parametrize(
    ("reading", "said"),
    [
        ({"fields": "x"}, "unknown reading field 'fields': did you mean 'field'"),
        ({"invalid": "ignore"}, "invalid"),
        ({"bad": "drop"}, "bad"),
        ({"documents": "line"}, "documents"),
        ({"field": 3}, "field"),
    ],
)
def test_a_way_of_reading_that_is_not_there_is_refused(reading: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Reading(**reading)  # type: ignore[arg-type]


def test_real_corpora_have_the_documents_that_they_have(shared_data: Path) -> None:
    text = shared_data / "text"
    for path, count, last in (("enwiki/part-3.parquet", 2323, 2323), ("zhwiki.jsonl.gz", 12128, 12128)):
        items = read(text / path)
        assert len(items) == count
        assert items[-1][0].place == last
        half = items[count // 2][1]
        assert read(text / path, start=half) == items[count // 2 + 1 :]
    books = sorted((text / "gutenberg").glob("*.txt"))
    assert len(books) == 13
    with pytest.raises(UserError, match=r"chesterton-ball\.txt:4711: byte 8 \(0xe8\) is not UTF-8"):
        read(*books)
    items = read(*books, invalid="replace", documents="file")
    assert sum(isinstance(item, Document) and not item.part for item, _ in items) == 13
    assert sum(item.count for item, _ in items if isinstance(item, Problem)) == 7
