"""A corpus and the shards that an undisturbed build makes of it, for the tests that disturb one."""

import os
from pathlib import Path

import pytest

from data import corpora
from data.corpora import OPTIONS, digests
from data.faults import TOKENIZER
from litebert.data.build import build


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


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here depends on the machine's power, and waiting for the disk takes most of the time."""
    monkeypatch.setattr(os, "fsync", lambda file: None)
