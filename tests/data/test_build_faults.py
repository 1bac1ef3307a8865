"""Does a build survive what disks, systems and people do to it? Killed anywhere, it goes on to the same bytes."""

import contextlib
import errno
import multiprocessing
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from data import corpora
from data.corpora import OPTIONS, digests
from litebert import files
from litebert.data import blocks, journal
from litebert.data import build as building
from litebert.data.build import build
from litebert.data.manifest import ShardError
from litebert.data.options import Options
from litebert.data.shards import open_shards
from litebert.data.worker import Worker
from litebert.errors import UserError

TOKENIZER = corpora.tokenizer()
TOUCHES = {"replace": os, "mkdir": Path, "unlink": Path, "write_bytes": Path, "write_text": Path}
SYNCS = {"fsync": os}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files."""
    folder = tmp_path_factory.mktemp("corpus")
    corpora.corpus(folder, 33)
    return folder


@pytest.fixture(scope="module")
def whole(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What an undisturbed build writes."""
    out = tmp_path_factory.mktemp("whole")
    build([corpus], TOKENIZER, out, OPTIONS, workers=1)
    assert len(digests(out)) == 4 + 4 + 4  # four steps
    return digests(out)


@pytest.fixture(autouse=True)
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here depends on the machine's power, and waiting for the disk takes most of the time."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


@contextlib.contextmanager
def at_event(number: int, harm: Callable[[], Any], touches: dict[str, Any] = TOUCHES) -> Iterator[list[int]]:
    """Do harm instead of the n-th thing that is done to the disk; a write has been half done by then."""
    count = [0]

    def touch(name: str, real: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        count[0] += 1
        if count[0] == number:
            if name.startswith("write_"):
                real(arguments[0], arguments[1][: len(arguments[1]) // 2])
            harm()
        return real(*arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        for name, home in touches.items():
            real = getattr(home, name)
            patch.setattr(home, name, lambda *a, _n=name, _r=real, **k: touch(_n, _r, *a, **k))
        yield count


def in_child(work: Callable[[], Any]) -> int:
    """Run in a fork, and say how it ended: 0, the number of the signal, or 99 for an exception."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            os._exit(99)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if not os.WIFSIGNALED(status) else os.WTERMSIG(status)


def finished(out: Path) -> dict[str, tuple[int, int]]:
    """Shards that the journal vouches for, with what changes if they are written again."""
    found = {}
    for path in sorted((out / "journal").glob("[0-9]*.json")):
        for entries in files.read_sealed(path)["shards"].values():
            for entry in entries:
                state = (out / entry["file"]).stat()
                found[entry["file"]] = (state.st_ino, state.st_mtime_ns)
    return found


def test_killed_at_any_touch_of_the_disk_it_goes_on_to_the_same_bytes(
    corpus: Path, whole: dict[str, str], tmp_path: Path
) -> None:
    event, resumed = 0, set()
    while True:
        event += 1
        out = tmp_path / str(event)

        def killed(out: Path = out, event: int = event) -> None:
            with at_event(event, lambda: os.kill(os.getpid(), signal.SIGKILL)):
                build([corpus], TOKENIZER, out, OPTIONS, workers=1)

        ended = in_child(killed)
        if ended == 0:
            break
        assert ended == signal.SIGKILL
        before = finished(out) if (out / "journal").is_dir() and not (out / "manifest.json").exists() else {}
        done = build([corpus], TOKENIZER, out, OPTIONS, workers=1)
        assert digests(out) == whole, f"killed at event {event}"
        for name, state in before.items():
            assert ((out / name).stat().st_ino, (out / name).stat().st_mtime_ns) == state, f"{name} was written again"
        resumed.add(done.resumed)
        shutil.rmtree(out)
    assert event > 40
    assert resumed == {0, 1, 2, 3, 4}


def test_killed_again_and_again_in_one_folder_it_arrives(corpus: Path, whole: dict[str, str], tmp_path: Path) -> None:
    draw = random.Random(4)

    def killed(event: int) -> None:
        with at_event(event, lambda: os.kill(os.getpid(), signal.SIGKILL)):
            build([corpus], TOKENIZER, tmp_path, OPTIONS, workers=1)

    ends = []
    while 0 not in ends:
        ends.append(in_child(partial(killed, draw.randrange(5, 25))))
        assert set(ends) <= {0, signal.SIGKILL}
        assert len(ends) < 100
    assert len(ends) > 5
    assert digests(tmp_path) == whole


SCRIPT = """
import sys, time
from functools import partial
from data import corpora
from litebert.data import blocks, build

def slowly(progress):  # so that there is time to kill
    time.sleep(0.02)

if __name__ == "__main__":
    build.blocks = partial(blocks.blocks, size=400)
    build.build([sys.argv[1]], corpora.tokenizer(), sys.argv[2], corpora.OPTIONS, workers=2, watch=slowly)
"""


def started(corpus: Path, out: Path) -> subprocess.Popen:
    """A build with two workers, in a process group of its own."""
    tests = str(Path(__file__).resolve().parents[1])
    script = out.parent / "script.py"
    script.write_text(SCRIPT)
    path = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, str(script), str(corpus), str(out)], env={**os.environ, "PYTHONPATH": path},
        start_new_session=True, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def below(process: int) -> list[int]:
    """The processes that a process started, and theirs."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(one) for one in listed] + [each for one in listed for each in below(int(one))]


def alive(process: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(what: Callable[[], Any], seconds: float = 20.0) -> None:
    """Until it is so, or fail."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.002)


def test_all_processes_killed_at_random_moments_it_arrives(corpus: Path, whole: dict[str, str], tmp_path: Path) -> None:
    draw, out = random.Random(11), tmp_path / "out"
    for step in range(3):
        process, record = started(corpus, out), out / "journal" / f"{step:05d}.json"
        wait_for(lambda process=process, record=record: record.exists() or process.poll() is not None)
        time.sleep(draw.uniform(0, 0.05))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    process = started(corpus, out)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    assert digests(out) == whole


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not list a process's children")
def test_workers_leave_when_their_parent_is_killed(corpus: Path, tmp_path: Path) -> None:
    process = started(corpus, tmp_path / "out")
    wait_for(lambda: (tmp_path / "out" / "journal" / "00000.json").exists())
    children = below(process.pid)
    assert len(children) >= 2
    process.kill()
    process.communicate()
    wait_for(lambda: not any(alive(child) for child in children))


def test_a_killed_worker_fails_the_run_and_the_same_command_goes_on(
    corpus: Path, whole: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "blocks", partial(blocks.blocks, size=200))
    seen = []

    def watch(progress: building.Progress) -> None:
        seen.append(progress)
        if len(seen) == 9:
            os.kill(multiprocessing.active_children()[0].pid or 0, signal.SIGKILL)

    with pytest.raises(ChildProcessError, match="a worker was killed, perhaps for want of memory: what is finished is"):
        build([corpus], TOKENIZER, tmp_path, OPTIONS, workers=2, watch=watch)
    assert multiprocessing.active_children() == []
    build([corpus], TOKENIZER, tmp_path, OPTIONS, workers=1)
    assert digests(tmp_path) == whole


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


def stopped(corpus: Path, out: Path, steps: int = 1, options: Options = OPTIONS) -> None:
    """A build that was interrupted after some steps."""

    def watch(progress: building.Progress) -> None:
        if (out / "journal" / f"{steps - 1:05d}.json").exists():
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "blocks", partial(blocks.blocks, size=100))
        with pytest.raises(KeyboardInterrupt):
            build([corpus], TOKENIZER, out, options, workers=1, watch=watch)


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


def test_ctrl_c_leaves_no_process_behind(corpus: Path, whole: dict[str, str], tmp_path: Path) -> None:
    def watch(progress: building.Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build([corpus], TOKENIZER, tmp_path, OPTIONS, workers=2, watch=watch)
    assert multiprocessing.active_children() == []
    build([corpus], TOKENIZER, tmp_path, OPTIONS, workers=1)
    assert digests(tmp_path) == whole
