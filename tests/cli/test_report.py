"""`litebert report`: is the page written where it belongs, and said to be?"""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.running import litebert, refused
from lab import runs
from lab.pages import Page


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs."""
    made = tmp_path_factory.mktemp("report")
    for number, name in enumerate("ab"):
        runs.run(made / name, runs.reader(), seed=number)
    return made


def test_a_runs_page_lies_in_its_folder(place: Path) -> None:
    done = litebert("report", place / "a")
    assert (done.code, done.err) == (0, "")
    assert f"{place / 'a' / 'report.html'} (" in done.out
    assert Page(place / "a" / "report.html").text_of["curves"]


def test_a_page_of_several_lies_where_one_is(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = litebert("report", place / "a", place / "b", "--json")
    assert done.value == {
        "page": "report.html", "bytes": (tmp_path / "report.html").stat().st_size,
        "runs": [str(place / "a"), str(place / "b")],
    }  # fmt: skip
    assert "2 runs compared" in Page(tmp_path / "report.html").text


def test_words_may_be_ones_own(place: Path, tmp_path: Path) -> None:
    assert litebert("report", place / "a", "--out", tmp_path / "x.html", "--word", "river", "--word", "mill").code == 0
    assert Page(tmp_path / "x.html").text_of["neighbours"].count("river") >= 1


def test_wrong_calls_are_refused_in_a_line(place: Path, tmp_path: Path) -> None:
    assert "is no folder: name the folder of a run" in refused("report", tmp_path / "none")
    assert "holds no log.jsonl" in refused("report", tmp_path)
    assert "is no shard set" in refused("report", place / "a", "--shards", tmp_path, "--out", tmp_path / "x.html")
    assert list(tmp_path.iterdir()) == []
