"""Text, tokenizer and shards, made once, for the tests that train whole runs; and a disk that nobody waits for."""

import os

import pytest

from litebert.bench import trial
from litebert.data import stream


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> trial.Place:
    """A corpus of a hundred and fifty documents, which nobody changes."""
    return trial.made(tmp_path_factory.mktemp("place") / "made-up")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what depends neither on the machine's power nor on how many batches are made beforehand: most of the time
    would go there."""
    monkeypatch.setattr(os, "fsync", lambda file: None)
    monkeypatch.setattr(stream, "AT_ONCE", 1500)
