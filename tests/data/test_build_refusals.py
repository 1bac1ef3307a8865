"""What does a build refuse, before it has cost anything, and with the way out?"""

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from data import corpora
from data.corpora import digests
from litebert.data import blocks
from litebert.data import build as building
from litebert.data.build import build
from litebert.data.manifest import ShardError
from litebert.data.options import Options
from litebert.data.shards import open_shards
from litebert.data.worker import held_out
from litebert.errors import UserError
from litebert.text.items import Reading

SMALL = Options(seed=3, held_out=0.2, shard_tokens=700)
TOKENIZER = corpora.tokenizer()


def text_file(folder: Path, text: str) -> Path:
    """A corpus of one file."""
    folder.mkdir(exist_ok=True)
    (folder / "a.txt").write_text(text)
    return folder / "a.txt"


def test_a_corpus_that_gives_no_token_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    path = text_file(tmp_path, f"{corpora.NOTHING}\n\n{corpora.NOTHING}\n")
    with pytest.raises(UserError, match=r"the corpus gave no token \(2 documents, 12 bytes\): look at its files"):
        build([path], TOKENIZER, tmp_path / "out", workers=1)
    assert digests(tmp_path / "out") == {}


def test_a_corpus_that_is_held_out_whole_is_an_error(tmp_path: Path) -> None:
    path = text_file(tmp_path, "the mill\n\nthe mill\n")
    seed = next(seed for seed in range(99) if held_out(b"the mill", seed, 0.3))
    with pytest.raises(UserError, match="all of 2 documents fell to the held-out split: lower --held-out"):
        build([path], TOKENIZER, tmp_path / "out", Options(seed=seed, held_out=0.3), workers=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: Options(held_out=1.0), "held_out 1.0 is not a share below 1", id="all held out"),
        pytest.param(lambda: Options(held_out=-0.1), "held_out -0.1 is not a share", id="less than none"),
        pytest.param(lambda: Options(shard_tokens=0), "shard_tokens 0 is not between 1 and", id="no shard"),
        pytest.param(lambda: Options(words="spaces"), "words 'spaces': input should be 'pieces' or", id="words"),
        pytest.param(lambda: build(["x"], TOKENIZER, "y", workers=-1), "workers -1 is negative", id="workers"),
    ],
)
def test_what_cannot_be_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        call()


def test_a_folder_with_other_things_in_it_is_not_written_to(tmp_path: Path) -> None:
    path, out = text_file(tmp_path, "the mill\n"), tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    (out / ".notes.txt.17").write_text("mine too")
    with pytest.raises(ShardError, match=r"is not empty: choose another folder, or add --overwrite"):
        build([path], TOKENIZER, out, workers=1)
    assert len(digests(out)) == 2
    build([path], TOKENIZER, out, Options(held_out=0.0), workers=1, overwrite=True)
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / ".notes.txt.17").exists()
    with pytest.raises(ShardError, match="is a file: name a folder"):
        build([path], TOKENIZER, path, workers=1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"options": SMALL.model_copy(update={"seed": 4})}, "options seed was 3, and is 4", id="seed"),
        pytest.param({"tokenizer": ["another"]}, "tokenizer fingerprint was", id="tokenizer"),
        pytest.param({"corpus": "more"}, "corpus file e.txt is new", id="another file"),
        pytest.param({"corpus": "less"}, "corpus file a.txt is no longer there", id="a file less"),
        pytest.param({"corpus": "changed"}, "corpus file a.txt has changed", id="a changed file"),
    ],
)
def test_a_finished_set_of_another_build_is_not_taken_for_this_one(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    corpora.corpus(tmp_path / "corpus", 12)
    build([tmp_path / "corpus"], TOKENIZER, tmp_path / "out", SMALL, workers=1)
    before = digests(tmp_path / "out")
    engine = corpora.tokenizer(*change.get("tokenizer", ()))
    alter(tmp_path / "corpus", change.get("corpus", ""))
    again = partial(build, [tmp_path / "corpus"], engine, tmp_path / "out", change.get("options", SMALL), workers=1)
    with pytest.raises(ShardError, match=message):
        again()
    assert digests(tmp_path / "out") == before
    assert not again(overwrite=True).already
    assert digests(tmp_path / "out") != before
    open_shards(tmp_path / "out", tokenizer=engine)


def alter(folder: Path, how: str) -> None:
    """Change a corpus."""
    if how == "more":
        (folder / "e.txt").write_text("the mill\n")
    if how == "less":
        (folder / "a.txt").unlink()
    if how == "changed":
        (folder / "a.txt").write_text("the mill\n")


def test_a_bad_record_costs_none_of_what_was_done_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused late does not cost what was done before: the file is mended, or its records are skipped."""
    texts = corpora.documents(60, 1)
    lines = [json.dumps({"text": text}) for text in texts]
    folder, out = tmp_path / "corpus", tmp_path / "out"
    folder.mkdir()
    (folder / "a.jsonl").write_text("\n".join(lines[:40]) + "\n")
    (folder / "b.jsonl").write_text("\n".join([lines[40], '{"txt": 1}', *lines[41:]]) + "\n")
    monkeypatch.setattr(building, "blocks", partial(blocks.blocks, size=500))
    with pytest.raises(UserError, match=r"b.jsonl:2"):
        build([folder], TOKENIZER, out, SMALL, workers=1)
    copy = shutil.copytree(out, tmp_path / "copy")
    skipping = SMALL.model_copy(update={"reading": Reading(bad="skip")})
    assert build([folder], TOKENIZER, copy, skipping, workers=1).resumed > 2
    assert build([folder], TOKENIZER, tmp_path / "skipped", skipping, workers=1).resumed == 0
    assert digests(copy) == digests(tmp_path / "skipped")
    (folder / "b.jsonl").write_text("\n".join(lines[40:]) + "\n")
    assert build([folder], TOKENIZER, out, SMALL, workers=1).resumed > 2
    build([folder], TOKENIZER, tmp_path / "fresh", SMALL, workers=1)
    assert digests(out) == digests(tmp_path / "fresh")
