"""Text, tokenizer and shards, made once, for the tests that train whole runs; and a disk that nobody waits for."""

import os

import pytest

from litebert.bench import trial


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> trial.Place:
    """A corpus of a hundred and fifty documents, which nobody changes."""
    return trial.made(tmp_path_factory.mktemp("place") / "made-up")


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what does not depend on the machine's power: waiting for the disk would take most of the time."""
    monkeypatch.setattr(os, "fsync", lambda file: None)
