"""Does a stopped build go on only if it is the same build, and is nobody else at work on it?"""

import contextlib
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from data import corpora
from data.corpora import OPTIONS, digests
from data.faults import TOKENIZER, stopped
from litebert.data import blocks, journal
from litebert.data import build as building
from litebert.data.build import build
from litebert.data.manifest import ShardError
from litebert.data.options import Options
from litebert.data.shards import open_shards
from litebert.errors import UserError

pytestmark = pytest.mark.usefixtures("unsynced")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        pytest.param({"seed": 4}, "options seed was 3, and is 4; ask for the same, or add --overwrite", id="seed"),
        pytest.param({"held_out": 0.1}, "options held_out was 0.3, and is 0.1", id="share"),
        pytest.param({"shard_tokens": 501}, "options shard_tokens was 500, and is 501", id="size"),
        pytest.param({"lines": True}, "options lines was False, and is True", id="lines"),
    ],
)
def test_going_on_with_other_options_is_refused(
    corpus: Path, tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    stopped(corpus, tmp_path)
    with pytest.raises(ShardError, match=message):
        build([corpus], TOKENIZER, tmp_path, OPTIONS.model_copy(update=changed), workers=1)
    other = OPTIONS.model_copy(update=changed)
    assert build([corpus], TOKENIZER, tmp_path, other, workers=1, overwrite=True).resumed == 0
    open_shards(tmp_path)


def test_going_on_with_a_corpus_that_changed_where_it_was_read_is_refused(corpus: Path, tmp_path: Path) -> None:
    mine = shutil.copytree(corpus, tmp_path / "corpus")
    stopped(mine, tmp_path / "out")
    again = partial(build, [mine], TOKENIZER, tmp_path / "out", OPTIONS, workers=1)
    good, times = (mine / "a.txt").read_bytes(), os.stat(mine / "a.txt")
    for text in (b"X" + good[1:], good[:-1] + b"!\n", b""):
        (mine / "a.txt").write_bytes(text)
        with pytest.raises(ShardError, match=r"holds another build: corpus file a.txt has changed"):
            again()
    (mine / "a.txt").write_bytes(good)
    with pytest.raises(ShardError, match=r"corpus file a.txt has changed"):  # the same to look at, but written to
        again()
    os.utime(mine / "a.txt", ns=(times.st_atime_ns, times.st_mtime_ns))
    (mine / "0.txt").write_text("the mill\n")
    with pytest.raises(ShardError, match=r"corpus file 0.txt is new"):
        again()
    (mine / "0.txt").unlink()
    assert again().resumed == 1


def test_going_on_with_another_tokenizer_is_refused(corpus: Path, tmp_path: Path) -> None:
    stopped(corpus, tmp_path)
    with pytest.raises(ShardError, match=r"tokenizer fingerprint was [0-9a-f]{64}, and is [0-9a-f]{64}"):
        build([corpus], corpora.tokenizer("another"), tmp_path, OPTIONS, workers=1)


def test_a_file_that_is_written_to_while_it_is_read_is_noticed(corpus: Path, tmp_path: Path) -> None:
    mine = shutil.copytree(corpus, tmp_path / "corpus")
    changed = []

    def watch(progress: building.Progress) -> None:
        if not changed:
            changed.append(True)
            with (mine / "a.txt").open("a") as file:
                file.write("the boats")

    with pytest.raises(UserError, match=r"a.txt changed while it was read: begin anew with --overwrite"):
        build([mine], TOKENIZER, tmp_path / "out", OPTIONS, workers=1, watch=watch)


def test_to_begin_anew_by_overwrite_does_not_begin_anew_after_every_stop(
    corpus: Path, whole: dict[str, str], tmp_path: Path
) -> None:
    build([corpus], TOKENIZER, tmp_path, Options(seed=9), workers=1)
    with contextlib.suppress(KeyboardInterrupt), pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "blocks", partial(blocks.blocks, size=100))
        build([corpus], TOKENIZER, tmp_path, OPTIONS, workers=1, overwrite=True, watch=interrupt_after(tmp_path, 2))
    assert build([corpus], TOKENIZER, tmp_path, OPTIONS, workers=1, overwrite=True).resumed == 2
    assert digests(tmp_path) == whole


def interrupt_after(out: Path, steps: int) -> Callable[[building.Progress], None]:
    """Ctrl-C when so many steps are written down."""

    def watch(progress: building.Progress) -> None:
        if (out / "journal" / f"{steps - 1:05d}.json").exists():
            raise KeyboardInterrupt

    return watch


def test_two_builds_in_one_folder_do_not_meet(corpus: Path, tmp_path: Path) -> None:
    with journal.alone(tmp_path), pytest.raises(ShardError, match=f"another build is at work in {tmp_path}: wait"):
        build([corpus], TOKENIZER, tmp_path, OPTIONS, workers=1)
    build([corpus], TOKENIZER, tmp_path, OPTIONS, workers=1)
