"""How is `litebert pretrain` begun to be harmed? In processes of its own: one by a warm start, several by torchrun."""

from __future__ import annotations

import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path

from litebert.bench.trial import Place
from litebert.errors import RunError, UserError

# Imported once, by a process that computes nothing: a child of it begins its run within milliseconds.
_WARM = ["litebert.cli.main", "litebert.cli.live", "litebert.cli.before", "litebert.train.pretrain"]


class Trials:
    """Runs of one recipe, each in its folder; what each says lies beside it."""

    def __init__(self, place: Place, recipe: Path, root: Path) -> None:
        if os.name != "posix":
            raise UserError("a run is harmed by signals that only POSIX systems have: run this bench on one")
        self._given = ["pretrain", str(place.shards), "--recipe", str(recipe), "--json", "--no-report"]
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(_WARM)
        self._root = root
        root.mkdir(parents=True, exist_ok=True)

    def folder(self, name: str) -> Path:
        """Of a run."""
        return self._root / name

    def start(self, run: Path) -> BaseProcess:
        """In one process."""
        process = self._context.Process(target=_command, args=(self.arguments(run), _said(run)))
        process.start()
        return process

    def end(self, run: Path, process: BaseProcess) -> None:
        """Wait until it has done what it was asked to."""
        process.join()
        if process.exitcode:
            raise RunError(f"a run that nobody harmed ended with exit code {process.exitcode}: {last_words(run)}")

    def torchrun(self, run: Path, count: int, restarts: int = 0) -> subprocess.Popen[bytes]:
        """So many processes, in a group of their own with torchrun."""
        torchrun = ["--standalone", f"--nproc-per-node={count}", f"--max-restarts={restarts}", "-m", "litebert"]
        command = [sys.executable, "-m", "torch.distributed.run", *torchrun, *self.arguments(run)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        with _said(run).open("ab") as file:
            return subprocess.Popen(command, stdout=file, stderr=file, env=environment, start_new_session=True)

    def arguments(self, run: Path) -> list[str]:
        """Of the command line."""
        return [*self._given, "--out", str(run)]


def last_words(run: Path) -> str:
    """The last line that a run said."""
    lines = _said(run).read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line for line in reversed(lines) if line.strip()), "nothing was said")


def ask(process: subprocess.Popen[bytes] | BaseProcess) -> None:
    """Ask for the end, as a cluster does before it takes a machine away."""
    os.kill(process.pid or 0, signal.SIGTERM)


def _said(run: Path) -> Path:
    return run.with_suffix(".out")


def _command(arguments: list[str], output: Path) -> None:
    """In the child: `python -m litebert` with these arguments, what it says in a file."""
    import torch

    with output.open("a", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    torch.set_num_threads(1)
    sys.argv = ["litebert", *arguments]
    runpy.run_module("litebert", run_name="__main__")
