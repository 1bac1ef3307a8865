"""`litebert embed`: are the vectors those of Python, and is a file of them whole or not there?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cli.running import litebert, refused
from litebert.interop import folder as folders
from litebert.vectors.encode import encode
from vectors import tiny

TEXTS = ["the old boat", "a boat", "", "the wind is cold and the sea is not calm"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model."""
    made = tmp_path_factory.mktemp("embed") / "run"
    tokenizer = tiny.wordpiece_of()
    folders.save(tiny.model_of(tokenizer), made)
    tokenizer.save(made)
    return made


def expected(run: Path, **how: object) -> np.ndarray:
    """What Python gets."""
    return encode(folders.load(run), tiny.wordpiece_of(), TEXTS, **how)  # type: ignore[arg-type]


def test_a_file_of_lines_becomes_a_file_of_rows(run: Path, tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS) + "\n")
    done = litebert("embed", run, "--file", tmp_path / "texts.txt", "--out", tmp_path / "x.npy", "--batch", 2)
    assert (done.code, done.err) == (0, "")
    assert f"4 vectors of 16 written to {tmp_path / 'x.npy'}" in done.out
    found = np.load(tmp_path / "x.npy", allow_pickle=False)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected(run), atol=1e-6)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["texts.txt", "x.npy"]


@pytest.mark.parametrize("how", [{"pooling": "cls"}, {"pooling": "first-last"}, {"pooling": "max", "layer": 1}])
def test_json_holds_the_vectors(run: Path, how: dict[str, object]) -> None:
    flags = [part for name, value in how.items() for part in (f"--{name}", value)]
    done = litebert("embed", run, *TEXTS, *flags, "--json")
    np.testing.assert_allclose(np.array(done.value["vectors"]), expected(run, **how), atol=1e-6)
    assert (done.value["texts"], done.value["width"]) == (4, 16)


def test_json_leaves_the_vectors_to_the_file(run: Path, tmp_path: Path) -> None:
    done = litebert("embed", run, *TEXTS, "--out", tmp_path / "x.npy", "--json")
    assert "vectors" not in done.value
    assert done.value["out"] == str(tmp_path / "x.npy")


def test_on_the_screen_texts_are_compared(run: Path) -> None:
    done = litebert("embed", run, *TEXTS)
    vectors = expected(run)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T
    row = next(line for line in done.out.splitlines() if "the old boat" in line)
    assert row.split()[-4:] == [f"{value:.3f}" for value in cosines[0]]
    assert f"{np.linalg.norm(vectors[0]):.3f}" in row


def test_a_long_text_is_cut_only_if_that_is_asked_for(run: Path) -> None:
    long = "lake " * 40
    assert "40 tokens and the model reads 30" in refused("embed", run, long)
    found = litebert("embed", run, long, "--cut", "--json").value["vectors"]
    assert found == litebert("embed", run, "lake " * 30, "--json").value["vectors"]


def test_wrong_calls_are_refused_before_the_work(run: Path, tmp_path: Path) -> None:
    assert "does not end in .npy: name it" in refused("embed", run, "a", "--out", tmp_path / "x.txt")
    assert "is no folder: make it first" in refused("embed", run, "a", "--out", tmp_path / "none" / "x.npy")
    assert "unknown pooling 'average'" in refused("embed", run, "a", "--pooling", "average")
    assert "layer 9 does not exist: choose 0 (the embedding) to 3" in refused("embed", run, "a", "--layer", 9)
    assert "texts and a file" in refused("embed", run, "a", "--file", tmp_path / "x.txt")
    assert list(tmp_path.iterdir()) == []
