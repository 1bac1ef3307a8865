"""How does a disk fail in a test? At the n-th thing that is asked of it, what is written being half there by then."""

from __future__ import annotations

import contextlib
import itertools
import os
import resource
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
from safetensors import SafetensorError

from litebert.train.record import Record


class Disk:
    """Counts what is asked of it; `fails` of them are refused, from `at` on."""

    def __init__(self, at: int | None = None, number: int = 28, fails: int = 1) -> None:
        self.asked, self._number = 0, number
        self._count = itertools.count()
        self._refused = range(0) if at is None else range(at, at + fails)

    def refuses(self) -> bool:
        """Whether this one fails."""
        place = next(self._count)
        self.asked = place + 1
        return place in self._refused

    def error(self) -> OSError:
        """What the system says."""
        return OSError(self._number, os.strerror(self._number))


def _half_text(path: Path, text: str, real: Callable[..., Any], **more: Any) -> None:
    real(path, text[: len(text) // 2], **more)


def _half_tensors(tensors: Any, file: Path, real: Callable[..., Any], **more: Any) -> None:
    real(tensors, file, **more)
    os.truncate(file, file.stat().st_size // 2)


def _half_line(log: Record, event: Any, real: Callable[..., Any]) -> None:
    log._file.write(b'{"event": "st')


@contextlib.contextmanager
def failing(disk: Disk) -> Iterator[Disk]:
    """Within, all that a run asks of its disk is asked of this one."""
    nothing: Callable[..., Any] = lambda *given, **more: None  # noqa: E731
    places: list[tuple[Any, str, Callable[..., Any]]] = [
        (os, "fsync", nothing), (os, "replace", nothing), (os, "mkdir", nothing), (Path, "write_text", _half_text),
        (safetensors.torch, "save_file", _half_tensors), (Record, "write", _half_line),
    ]  # fmt: skip

    def asked(real: Callable[..., Any], half: Callable[..., Any], name: str) -> Callable[..., Any]:
        def ask(*given: Any, **more: Any) -> Any:
            there = name == "mkdir" and os.path.isdir(given[0])  # that it exists is no failure of the disk
            if there or not disk.refuses():
                return real(*given, **more)
            half(*given, **({"real": real} if half is not nothing else {}), **more)
            error = disk.error()
            raise SafetensorError(f"I/O error: {error}") if name == "save_file" else error

        return ask

    with pytest.MonkeyPatch.context() as patch:
        for home, name, half in places:
            patch.setattr(home, name, asked(getattr(home, name), half, name))
        yield disk


def limited(arguments: list[str], most: int, output: Path) -> None:
    """In a process of its own: `litebert ARGUMENTS` where no file may grow beyond so many bytes; torn as a full disk
    tears it."""
    with output.open("w", encoding="utf-8") as file:  # before the limit
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    sys.argv = ["litebert", *arguments]
    runpy.run_module("litebert", run_name="__main__")
