"""Does `litebert data build` say what it read and wrote, go on where it was stopped, and `data stats` tell it again?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cli.corpora import Made, made, tokenizer
from cli.running import litebert, refused
from data import corpora
from data.corpora import digests
from litebert.data.shards import open_shards

VERBS = {
    "data": ["build", "stats", "show", "audit"],
    "data build": ["--corpus", "--tokenizer", "--out", "--workers", "--field", "--documents", "--lines", "--invalid",
                   "--bad", "--words", "--held-out", "--shard-tokens", "--seed", "--overwrite", "--json"],
    "data stats": ["--top", "--json"],
    "data show": ["--recipe", "--count", "--epoch", "--place", "--set", "--split", "--seed", "--json"],
    "data audit": ["--recipe", "--rows", "--set", "--split", "--seed", "--json"],
    "bench": ["data", "build", "faults"],
    "bench data": ["--recipe", "--set", "--length", "--batch", "--batches", "--rounds", "--tokens", "--no-peer"],
    "bench build": ["--tokenizer", "--rounds", "--field", "--no-peer"],
    "bench faults": ["--tokenizer", "--kills", "--shard-tokens", "--field", "--seed"],
}  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Shards made by the verb."""
    return made(tmp_path_factory.mktemp("cli"))


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_and_its_options(verb: str) -> None:
    done = litebert(*verb.split(), "--help")
    assert (done.code, done.err) == (0, "")
    assert [option for option in VERBS[verb] if option not in done.out] == []


def test_the_pages_of_help_load_nothing_heavy() -> None:
    code = """
import sys
from litebert.cli import main
for call in ("data --help", "data build --help", "data show --help", "data audit --help", "bench faults --help"):
    sys.argv = ["litebert", *call.split()]
    try:
        main.run()
    except SystemExit as left:
        assert not left.code
heavy = {"torch", "numpy", "tokenizers", "pyarrow", "safetensors"} & sys.modules.keys()
sys.exit(f"loaded {sorted(heavy)}" if heavy else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def test_build_tells_what_it_read_and_wrote(built: Made) -> None:
    assert (built.done.code, built.done.out.count("\n")) == (0, 1), built.done.err
    told = built.done.value
    assert told["folder"] == str(built.shards)
    assert (told["already"], told["resumed"]) == (False, 0)
    assert told["corpus"]["documents"] == len(built.texts)
    assert told["corpus"]["bytes"] == sum(len(text.encode()) for text in built.texts)
    assert told["corpus"]["empty_documents"] == built.texts.count(corpora.NOTHING)
    assert told["problems"] == {"empty document": 1, "empty file": 1}
    places = "\n".join(told["places"])
    assert f"empty document: 1, in {built.corpus / 'c.jsonl.gz'}:5" in places
    assert f"empty file: 1, in {built.corpus / 'b-empty.txt'} (" in places
    for split, tokens in told["splits"].items():
        shards = open_shards(built.shards, split)
        assert tokens == {
            "tokens": shards.tokens, "sentences": shards.sentences, "documents": shards.documents,
            "shards": len(shards.shards),
        }  # fmt: skip
        assert shards.fingerprint == told["fingerprint"]


def test_build_tells_a_person_and_a_second_time_that_all_is_done(built: Made, tmp_path: Path) -> None:
    call = ["data", "build", "--corpus", built.corpus, "--tokenizer", built.tokenizer, "--out", tmp_path / "out",
            "--workers", 1]  # fmt: skip
    done, again = litebert(*call), litebert(*call)
    assert (done.code, again.code) == (0, 0), done.err
    assert f"{len(built.texts)} documents" in done.out
    assert "empty file: 1, in" in done.out
    assert f"not stored, without a token: {built.texts.count(corpora.NOTHING)} documents" in done.out
    assert f"{tmp_path / 'out'} written in " in done.out
    assert f"{tmp_path / 'out'} was complete already" in again.out
    assert [line for line in done.out.splitlines() if line.startswith(" train")] == [
        line for line in again.out.splitlines() if line.startswith(" train")
    ]


def test_files_that_a_shell_lists_are_all_read(built: Made, tmp_path: Path) -> None:
    """`--corpus folder/*` gives its first file to the option, and the others as further words."""
    files = sorted(built.corpus.iterdir())
    done = litebert("data", "build", "--corpus", *files, "--tokenizer", built.tokenizer, "--out", tmp_path / "out",
                    "--workers", 1, "--held-out", 0.2, "--shard-tokens", 700, "--seed", 3, "--json")  # fmt: skip
    assert done.code == 0, done.err
    assert digests(tmp_path / "out") == digests(built.shards)


def test_the_number_of_workers_changes_nothing(built: Made, tmp_path: Path) -> None:
    done = litebert("data", "build", "--corpus", built.corpus, "--tokenizer", built.tokenizer, "--workers", 2,
                    "--out", tmp_path / "out", "--held-out", 0.2, "--shard-tokens", 700, "--seed", 3)  # fmt: skip
    assert done.code == 0, done.err
    assert digests(tmp_path / "out") == digests(built.shards)


def test_stopped_by_a_signal_it_says_how_to_go_on_and_goes_on(tmp_path: Path) -> None:
    corpora.corpus(tmp_path / "corpus", 2400)
    call = [sys.executable, "-m", "litebert.cli.main", "data", "build", "--corpus", str(tmp_path / "corpus"),
            "--tokenizer", str(tokenizer(tmp_path / "tok")), "--out", str(tmp_path / "out"), "--workers", "1",
            "--shard-tokens", "20000"]  # fmt: skip
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "out" / "journal" / "00000.json").exists() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGTERM)
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out) == (128 + signal.SIGTERM, ""), error
    assert error == "litebert: stopped: go on with the same command, finished shards are kept\n"
    done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "steps that were finished before" in done.stdout


def test_stats_agree_with_the_shards(built: Made) -> None:
    done = litebert("data", "stats", built.shards, "--top", 4, "--json")
    assert done.code == 0, done.err
    told = done.value
    for split, part in told["splits"].items():
        shards = open_shards(built.shards, split)
        ids = np.concatenate([shard.ids for shard in shards.shards])
        counts = np.bincount(ids)
        shares = counts[counts > 0] / len(ids)
        assert part["entropy"] == pytest.approx(-(shares * np.log(shares)).sum(), abs=1e-12)
        assert (part["tokens"], part["unknown"]) == (len(ids), counts[1])
        assert part["pieces_used"] == (counts > 0).sum()
        assert sum(part["sentence_octaves"]) == shards.sentences
        assert sum(part["document_octaves"]) == shards.documents
    assert len(told["frequent"]) == 4
    assert told["frequent"][0]["piece"] == "."
    assert told["problems"] == {"empty document": 1, "empty file": 1}


def test_stats_tell_a_person(built: Made) -> None:
    done = litebert("data", "stats", built.shards)
    assert done.code == 0, done.err
    told = litebert("data", "stats", built.shards, "--json").value["splits"]["train"]
    for said in (f"{told['tokens']:,}", f"{told['entropy']:.4f}", f"{told['unknown_share']:.3%}", "8 to 15",
                 f"({built.texts.count(corpora.NOTHING)} without a token", "most frequent"):  # fmt: skip
        assert said in done.out, said


def test_a_full_disk_is_one_line_and_loses_nothing(
    built: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = ["data", "build", "--corpus", built.corpus, "--tokenizer", built.tokenizer, "--out", tmp_path / "out",
            "--workers", 1, "--held-out", 0.2, "--shard-tokens", 700, "--seed", 3, "--json"]  # fmt: skip
    write, left = Path.write_bytes, [9]

    def full(path: Path, data: bytes) -> int:
        left[0] -= 1
        if left[0] < 0:
            write(path, data[: len(data) // 2])
            raise OSError(28, os.strerror(28))
        return write(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        done = litebert(*call)
    assert (done.code, done.out) == (1, "")
    assert f"No space left on device: what is finished in {tmp_path / 'out'} is kept; make room" in done.err
    again = litebert(*call)
    assert again.code == 0, again.err
    assert again.value["resumed"] >= 2
    assert digests(tmp_path / "out") == digests(built.shards)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--documents", "line"], "documents 'line': input should be 'blank' or 'file'"),
        (["--invalid", "ignore"], "invalid 'ignore': input should be 'refuse' or 'replace'"),
        (["--bad", "ignore"], "bad 'ignore': input should be 'refuse' or 'skip'"),
        (["--words", "spaces"], "words 'spaces': input should be 'pieces' or 'jieba'"),
        (["--held-out", "1"], "held_out 1.0 is not a share below 1: choose for example 0.01, or 0 for none"),
        (["--shard-tokens", "0"], "shard_tokens 0 is not between 1 and 2^31: 8388608 is a good size"),
        (["--tokenizer", "nowhere"], "nowhere has no tokenizer.json: make one with litebert tokenizer train, or"),
        (["--out", "x", "--corpus", "nowhere"], "nowhere cannot be read (no such file or directory)"),
    ],
)
def test_a_wrong_call_is_refused(built: Made, more: list[str], message: str, tmp_path: Path) -> None:
    call = ["data", "build", "--corpus", built.corpus, "--tokenizer", built.tokenizer, "--out", tmp_path / "out"]
    assert refused(*call, *more).startswith(message)
    assert not (tmp_path / "out").exists()


def test_a_set_of_another_build_is_not_written_over(built: Made) -> None:
    before = digests(built.shards)
    message = refused("data", "build", "--corpus", built.corpus, "--tokenizer", built.tokenizer, "--out", built.shards)
    assert message.startswith(f"{built.shards} holds another build: ")
    assert message.endswith("options seed was 3, and is 0; ask for the same, or add --overwrite to begin anew")
    assert digests(built.shards) == before


@pytest.mark.parametrize(("parted", "hinted"), [("\n\n", True), ("\n", False)])
def test_paragraphs_that_became_documents_are_told(built: Made, tmp_path: Path, parted: str, hinted: bool) -> None:
    (tmp_path / "a.txt").write_text(parted.join(["one more.", "and another.", "the last of them."]))
    done = litebert("data", "build", "--corpus", tmp_path / "a.txt", "--tokenizer", built.tokenizer,
                    "--out", tmp_path / "set", "--held-out", "0")  # fmt: skip
    assert done.code == 0, done.err
    assert ("build with --documents file" in done.out) == hinted
