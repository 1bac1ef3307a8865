"""Does a build that is killed, in whole or in part, go on to the same bytes, and leave nothing running?"""

import contextlib
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from data.corpora import OPTIONS, digests
from data.faults import TOKENIZER, at_event, finished, in_child
from litebert.data import blocks
from litebert.data import build as building
from litebert.data.build import build

pytestmark = pytest.mark.usefixtures("unsynced")


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


def test_ctrl_c_leaves_no_process_behind(corpus: Path, whole: dict[str, str], tmp_path: Path) -> None:
    def watch(progress: building.Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build([corpus], TOKENIZER, tmp_path, OPTIONS, workers=2, watch=watch)
    assert multiprocessing.active_children() == []
    build([corpus], TOKENIZER, tmp_path, OPTIONS, workers=1)
    assert digests(tmp_path) == whole
