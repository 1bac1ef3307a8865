"""Does a build fail loudly, and lose nothing, when a document, a worker, a disk or a finished shard is bad?"""

import errno
import multiprocessing
import os
import resource
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from data.corpora import OPTIONS, digests
from data.faults import SYNCS, TOKENIZER, TOUCHES, at_event, finished, in_child, stopped
from litebert.data.build import build
from litebert.data.worker import Worker
from litebert.errors import UserError

pytestmark = pytest.mark.usefixtures("unsynced")


class Poisoned:
    """An encoder that fails on one word."""

    def __init__(self, error: Exception, encode: Callable[..., Any]) -> None:
        self.error, self.real = error, encode

    def encode(self, sentences: list[str]) -> Any:
        """Fail, or encode."""
        if any("poison" in sentence for sentence in sentences):
            raise self.error
        return self.real(sentences)


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        pytest.param(RuntimeError("no"), ChildProcessError, r"a.txt:5 could not be encoded \(Runtime", id="ours"),
        pytest.param(UserError("a word too many"), UserError, r"a.txt:5: a word too many", id="the user's"),
    ],
)
def test_a_document_that_cannot_be_encoded_fails_the_run_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, kind: type[Exception], message: str
) -> None:
    (tmp_path / "a.txt").write_text("the mill\n\nthe boats\n\nthe poison\n\nthe grain\n")
    begin = Worker.__init__

    def poisoned(self: Worker, *arguments: Any) -> None:
        begin(self, *arguments)
        self.encoder = Poisoned(error, self.encoder.encode)  # type: ignore[assignment]

    monkeypatch.setattr(Worker, "__init__", poisoned)
    with pytest.raises(kind, match=message):
        build([tmp_path / "a.txt"], TOKENIZER, tmp_path / "out", workers=1)
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_an_error_in_another_process_comes_back(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(TOKENIZER), "save", lambda self, folder: (folder / "tokenizer.json").write_text("{"))
    with pytest.raises(UserError, match=r"tokenizer.json is not valid JSON"):
        build([corpus], TOKENIZER, tmp_path, OPTIONS, workers=2)
    assert multiprocessing.active_children() == []


def failure(work: Callable[[], Any]) -> OSError | None:
    """The error of the disk with which work ends, if it does."""
    try:
        work()
    except OSError as error:
        return error
    return None


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_fails_at_any_touch_loses_nothing(
    corpus: Path, whole: dict[str, str], tmp_path: Path, number: int
) -> None:
    def fail() -> None:
        raise OSError(number, os.strerror(number))

    event = 2 if number == errno.EIO else 0  # every fifth is enough, from another one on for each of the two
    while True:
        event += 5
        out = tmp_path / str(event)
        with at_event(event, fail, TOUCHES | SYNCS) as count:
            error = failure(partial(build, [corpus], TOKENIZER, out, OPTIONS, workers=1))
        assert (error is None) == (count[0] < event)
        if error is None:
            break
        assert error.errno == number
        assert f"what is finished in {out} is kept" in str(error)
        assert build([corpus], TOKENIZER, out, OPTIONS, workers=1).resumed >= len(finished(out)) // 2
        assert digests(out) == whole, f"failed at {event}"
    assert event > 40


def test_a_limit_on_the_size_of_files_is_told(corpus: Path, whole: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "out"

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1500, resource.RLIM_INFINITY))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        with pytest.raises(OSError, match=r"File too large: what is finished in .* is kept; make room"):
            build([corpus], TOKENIZER, out, OPTIONS, workers=1)

    assert in_child(limited) == 0
    assert not [name for name in digests(out) if "/." in name], "something half written is left"
    build([corpus], TOKENIZER, out, OPTIONS, workers=1)
    assert digests(out) == whole


def test_a_finished_shard_that_was_damaged_is_named_on_going_on(
    corpus: Path, whole: dict[str, str], tmp_path: Path
) -> None:
    for name in ("train/00000.safetensors", "journal/00000.json", "journal/begin.json"):
        out = tmp_path / name.replace("/", "-")
        stopped(corpus, out)
        data = bytearray((out / name).read_bytes())
        data[len(data) // 2] ^= 1
        (out / name).write_bytes(data)
        with pytest.raises(UserError, match="is damaged, not as it was written") as caught:
            build([corpus], TOKENIZER, out, OPTIONS, workers=1)
        assert name in str(caught.value)
        build([corpus], TOKENIZER, out, OPTIONS, workers=1, overwrite=True)
        assert digests(out) == whole
