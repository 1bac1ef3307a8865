"""Which files are meant, in which order, and what is said of those that are not?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from litebert.errors import UserError
from litebert.text.sources import PYDOCS, Source, sources
from text.readings import problems, texts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of several kinds, above and below."""
    for name in ("b.txt", "a.jsonl", "sub/c.parquet", "sub/deeper/d.NDJSON.GZ", "sub/e.txt.zst", ".x.txt", "notes"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return tmp_path


def named(found: list[Source], folder: Path) -> list[tuple[str, str, str]]:
    return [(source.path.relative_to(folder).as_posix(), source.form, source.packing) for source in found]


def test_a_folder_is_read_by_name_with_all_below(folder: Path) -> None:
    assert named(sources([folder]), folder) == [
        ("a.jsonl", "records", "none"),
        ("b.txt", "text", "none"),
        ("notes", "unknown", "none"),
        ("sub/c.parquet", "table", "none"),
        ("sub/deeper/d.NDJSON.GZ", "records", "gzip"),
        ("sub/e.txt.zst", "text", "zstd"),
    ]


def test_a_pattern_takes_what_it_matches_and_folders_whole(folder: Path) -> None:
    assert named(sources([f"{folder}/*.txt"]), folder) == [("b.txt", "text", "none")]
    assert [each[0] for each in named(sources([f"{folder}/**/*.parquet"]), folder)] == ["sub/c.parquet"]
    assert [each[0] for each in named(sources([f"{folder}/s*b"]), folder)] == [
        "sub/c.parquet",
        "sub/deeper/d.NDJSON.GZ",
        "sub/e.txt.zst",
    ]
    assert sources([f"{folder}/**"]) == sources([f"{folder}/**", folder])


def test_a_name_with_signs_of_a_pattern_is_a_name_if_it_exists(tmp_path: Path) -> None:
    (tmp_path / "a[1].txt").write_text("one")
    (tmp_path / "a1.txt").write_text("other")
    assert texts(tmp_path / "a[1].txt") == ["one"]


def test_the_order_is_that_of_the_call_and_what_is_met_twice_is_read_once(folder: Path) -> None:
    (folder / "link.txt").symlink_to(folder / "b.txt")
    found = named(sources([folder / "sub" / "e.txt.zst", PYDOCS, folder / "b.txt", folder, PYDOCS])[2:], folder)
    assert [name for name, _, _ in found] == ["b.txt", "a.jsonl", "notes", "sub/c.parquet", "sub/deeper/d.NDJSON.GZ"]


def test_links_are_followed_but_not_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.txt").write_text("x")
    (tmp_path / "a" / "around").symlink_to(tmp_path)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert [source.path.name for source in sources([tmp_path])] == ["x.txt"]


def test_pydocs_is_a_word_and_a_folder_of_that_name_has_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / PYDOCS).mkdir()
    (tmp_path / PYDOCS / "x.txt").write_text("x")
    monkeypatch.chdir(tmp_path)
    assert [source.form for source in sources([PYDOCS])] == ["pydocs"]
    assert [source.name for source in sources([f"./{PYDOCS}"])] == [f"./{PYDOCS}/x.txt"]


@pytest.mark.parametrize("name", ["x.parquet.gz", "x.txt.zst.gz", "x.txt.gz.gz", "x.gz", "x", "x.txt.bz2", "x.csv"])
def test_another_suffix_is_refused_if_named_and_counted_if_found(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    with pytest.raises(UserError, match=r"x[.a-z0-9]* has a suffix that is not read: choose one of \.txt, \.jsonl"):
        sources([tmp_path / name])
    with pytest.raises(UserError, match="holds no file to read: give one with a suffix of"):
        sources([tmp_path])
    (tmp_path / "y.txt").write_text("y")
    assert problems(tmp_path) == [("file left out", 0, 1)]


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")  # to read it would wait for ever
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    (tmp_path / "y.txt").write_text("y")
    assert problems(tmp_path) == [("file left out", 0, 1)] * 2
    for name in ("pipe.txt", "gone.txt"):
        with pytest.raises(UserError, match="is not a regular file"):
            sources([tmp_path / name])


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nowhere.txt", r"nowhere\.txt cannot be read \(no such file or directory\): check the name"),
        ("nowhere/*.txt", r"nowhere/\*\.txt matches no file: check the folder"),
        ("empty", "empty holds no file to read: give one with a suffix"),
    ],
)
def test_nothing_to_read_is_an_error(tmp_path: Path, path: str, said: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=said):
        sources([tmp_path / path])


def test_no_path_is_an_error_that_says_what_to_give() -> None:
    with pytest.raises(UserError, match=r"no corpus was named: give folders, files .* or the word pydocs"):
        sources([])


def test_a_folder_that_may_not_be_looked_into_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir()
    real = os.listdir

    def listdir(path: str) -> list[str]:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)
    with pytest.raises(UserError, match=r"closed cannot be read \(permission denied\)"):
        sources([tmp_path])


def test_a_name_of_any_bytes_is_read_and_shown_as_text(tmp_path: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"caf\xe9.txt")
    try:
        Path(os.fsdecode(path)).write_text("coffee")
    except OSError:
        pytest.skip("names of files are text on this system")
    [source] = sources([tmp_path])
    assert source.name.endswith("caf\ufffd.txt")
    assert texts(tmp_path) == ["coffee"]
