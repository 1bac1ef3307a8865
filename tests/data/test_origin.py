"""Is a corpus known again wherever it lies, a change in it noticed, and its share that is read told?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from data.corpora import OPTIONS, digests
from data.faults import TOKENIZER
from litebert.data import blocks, origin
from litebert.data import build as building
from litebert.data.build import build
from litebert.errors import UserError
from litebert.text import pydocs
from litebert.text.items import Document, Mark
from litebert.text.sources import sources


def corpus(folder: Path) -> Path:
    """Two files, one of them in a folder of its own."""
    (folder / "b").mkdir(parents=True)
    (folder / "a.txt").write_text("the mill\n" * 20_000)
    (folder / "b" / "c.txt").write_text("the tide\n")
    return folder


def test_a_corpus_is_known_by_names_below_its_folder_lengths_and_ends(tmp_path: Path) -> None:
    one, other = (origin.known(sources([corpus(tmp_path / name)])) for name in ("one", "other"))
    assert [line["name"] for line in one] == ["a.txt", "b/c.txt"]
    assert [line["bytes"] for line in one] == [180_000, 9]
    assert origin.timeless(one) == origin.timeless(other)
    assert not any("modified" in line for line in origin.timeless(one))


@pytest.mark.parametrize("place", [0, 70_000, -1])
def test_a_change_at_either_end_is_seen_and_any_other_by_its_time(place: int, tmp_path: Path) -> None:
    found = sources([corpus(tmp_path / "one")])
    before = origin.known(found)
    data = bytearray(found[0].path.read_bytes())
    data[place] ^= 1
    found[0].path.write_bytes(data)
    os.utime(found[0].path, ns=(1, 1))
    after = origin.known(found)
    assert (origin.timeless(before) != origin.timeless(after)) == (place != 70_000), "the middle is not read twice"
    with pytest.raises(UserError, match=r"a.txt changed while it was read: begin anew with --overwrite when"):
        origin.refuse_changed(found, before)
    assert before != after


def test_a_file_that_vanishes_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    found = sources([corpus(tmp_path / "one")])
    known = origin.known(found)
    origin.refuse_changed(found, known)
    found[1].path.unlink()
    with pytest.raises(UserError, match=r"c.txt vanished while it was read"):
        origin.refuse_changed(found, known)
    assert origin.known(found)[1]["ends"] == "", "reading it will say what is wrong"


def test_what_is_read_is_a_share_of_all_files(tmp_path: Path) -> None:
    found = sources([corpus(tmp_path / "one")])
    share = origin.Share(found)
    assert share(Mark(), 0) == 0.0
    assert share(Mark(0, 10_000, 90_000), 90_000) == pytest.approx(90_000 / 180_009)
    assert share(Mark(1), 180_000) == pytest.approx(180_000 / 180_009)
    assert share(Mark(2), 180_009) == 1.0


def test_of_packed_files_it_is_learnt_how_far_they_are_packed(tmp_path: Path) -> None:
    """The first one is guessed at; of the second it is known what the first came to."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt.gz").write_bytes(b"x" * 1000)
    share = origin.Share(sources([tmp_path]))
    assert share(Mark(0), 1750) == pytest.approx(0.25)
    assert share(Mark(0), 100_000) == 0.5, "not beyond the file"
    assert share(Mark(1), 10_000) == 0.5
    assert share(Mark(1), 15_000) == 0.75


def test_the_embedded_corpus_is_built_stopped_and_gone_on_with_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def documents(start: int = 0) -> Iterator[tuple[int, Document]]:
        for place in range(start, 60):
            yield place + 1, Document("the mill was below the river. " * (1 + place % 7), "pydocs", place + 1)

    def stop(progress: building.Progress) -> None:
        if (tmp_path / "out" / "journal" / "00000.json").exists():
            raise KeyboardInterrupt

    monkeypatch.setattr(pydocs, "documents", documents)
    monkeypatch.setattr(building, "blocks", partial(blocks.blocks, size=200))
    whole = build(["pydocs"], TOKENIZER, tmp_path / "whole", OPTIONS, workers=1)
    with pytest.raises(KeyboardInterrupt):
        build(["pydocs"], TOKENIZER, tmp_path / "out", OPTIONS, workers=1, watch=stop)
    assert build(["pydocs"], TOKENIZER, tmp_path / "out", OPTIONS, workers=1).resumed == 1
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")
    assert whole.manifest["counts"]["documents"] == 60
    assert [line["name"] for line in whole.manifest["corpus"]] == ["pydocs"]
