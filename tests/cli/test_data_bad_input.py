"""Is everything bad in a corpus or a shard set named by file and line, counted, and nothing lost for it in silence?"""

from __future__ import annotations

import gzip
import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.corpora import tokenizer
from cli.running import litebert, refused
from data import corpora
from data.corpora import documents
from litebert.data.recipe import recipe
from litebert.data.shards import open_shards
from litebert.data.stream import Position, Stream
from litebert.data.vocabulary import vocabulary
from litebert.errors import UserError
from litebert.text import tokenizer as tokenizers


def call(folder: Path, *more: object) -> list[object]:
    """To build everything in `folder / "corpus"`."""
    return ["data", "build", "--corpus", folder / "corpus", "--tokenizer", tokenizer(folder / "tok"), "--out",
            folder / "out", "--workers", 1, "--held-out", 0, *more]  # fmt: skip


def written(folder: Path, name: str, data: bytes) -> Path:
    """A file of the corpus, with a good one after it."""
    (folder / "corpus").mkdir(exist_ok=True)
    (folder / "corpus" / "z.txt").write_text("the mill was below.\n")
    (folder / "corpus" / name).write_bytes(data)
    return folder / "corpus" / name


def built(folder: Path, *more: object) -> dict[str, Any]:
    """What a build that must work says of itself."""
    done = litebert(*call(folder, *more), "--json")
    assert done.code == 0, done.err
    return dict(done.value)


def text_of(folder: Path) -> list[str]:
    """Every document as its tokenizer reads it back."""
    words = tokenizers.load(folder / "out")
    found = []
    for shard in open_shards(folder / "out").shards:
        ends = shard.sentences[shard.documents]
        found += [words.decode(shard.ids[a:b].tolist()).replace(" .", ".") for a, b in pairwise(ends.tolist())]
    return found


def test_invalid_utf8_is_refused_at_its_line_or_replaced_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", b"the boats.\nthe \xff\xfe tide.\n\nthe stone.\n")
    message = refused(*call(tmp_path))
    assert message.startswith(f"{path}:2: byte 5 (0xff) is not UTF-8")
    assert "--invalid replace" in message
    told = built(tmp_path, "--invalid", "replace")
    assert told["problems"] == {"invalid UTF-8": 2}
    assert told["places"][0].startswith(f"invalid UTF-8: 2, in {path}:2 (")
    assert text_of(tmp_path)[1:] == ["the stone.", "the mill was below."]


def test_nul_bytes_are_blanks_that_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", b"the\0\0boats.\n")
    told = built(tmp_path)
    assert told["problems"] == {"NUL bytes": 2}
    assert told["places"][0].startswith(f"NUL bytes: 2, in {path}:1 (")
    assert text_of(tmp_path)[0] == "the boats."


def test_empty_files_empty_documents_and_single_sentences_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", b'{"text": ""}\n{"text": "  "}\n{"text": "the tide."}\n')
    empty = written(tmp_path, "b.txt", b"")
    blank = written(tmp_path, "c.txt", b"\n \n\t\n")
    told = built(tmp_path)
    assert told["problems"] == {"empty document": 2, "empty file": 2}
    places = "\n".join(told["places"])
    for where in (f"{path}:1 (", f"{path}:2 (", f"{empty} (", f"{blank} ("):
        assert where in places, where
    assert (told["corpus"]["documents"], told["corpus"]["one_sentence_documents"]) == (2, 2)
    assert text_of(tmp_path) == ["the tide.", "the mill was below."]


def test_a_document_without_any_token_is_counted_and_not_stored(tmp_path: Path) -> None:
    written(tmp_path, "a.txt", f"{corpora.NOTHING}\n\nthe tide.\n".encode())
    told = built(tmp_path)
    assert (told["corpus"]["documents"], told["corpus"]["empty_documents"]) == (3, 1)
    assert len(text_of(tmp_path)) == 2


def test_a_line_of_megabytes_is_a_document_with_all_of_its_words(tmp_path: Path) -> None:
    words = " ".join(corpora.sentence(random.Random(seed)) for seed in range(400))
    line = " ".join([words] * (6_000_000 // len(words)))
    written(tmp_path, "a.txt", line.encode() + b"\n")
    told = built(tmp_path, "--shard-tokens", 100_000)
    assert told["corpus"]["documents"] == 2
    assert told["splits"]["train"]["shards"] > 3, "a document longer than a shard goes on in the next"
    encode = tokenizers.load(tmp_path / "out").encode
    size = len(encode(words)) * line.count(words)
    assert told["corpus"]["tokens"] == size + len(encode("the mill was below."))


LINES = {
    "a field that is missing": (b'{"body": "the boats."}\n', "no field 'text'"),
    "no text in the field": (b'{"text": 7}\n', "text"),
    "no JSON": (b'{"text": "the boats."\n', "JSON"),
    "no object": (b'["the boats."]\n', "object"),
}


@pytest.mark.parametrize("what", LINES)
def test_a_bad_record_is_refused_at_its_line_or_left_out_and_counted(what: str, tmp_path: Path) -> None:
    line, reason = LINES[what]
    path = written(tmp_path, "a.jsonl", b'{"text": "the tide."}\n' + line + b'{"text": "the stone."}\n')
    message = refused(*call(tmp_path))
    assert message.startswith(f"{path}:2: ")
    assert reason in message
    told = built(tmp_path, "--bad", "skip")
    assert told["problems"] == {"bad record": 1}
    assert told["places"][0].startswith(f"bad record: 1, in {path}:2 (")
    assert text_of(tmp_path) == ["the tide.", "the stone.", "the mill was below."]


@pytest.mark.parametrize("left", [0.5, 0.97])
def test_a_packed_file_that_is_cut_off_is_refused_and_nothing_of_it_passes_for_all(left: float, tmp_path: Path) -> None:
    packed = gzip.compress("\n\n".join(documents(60, 1)).encode())
    path = written(tmp_path, "a.txt.gz", packed[: int(left * len(packed))])
    message = refused(*call(tmp_path))
    assert message.startswith(str(path))
    assert "cut off" in message
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_a_table_without_the_column_is_refused_with_those_it_has(tmp_path: Path) -> None:
    path = written(tmp_path, "a.parquet", b"")
    pq.write_table(pa.table({"id": [1], "body": ["the boats."]}), path)
    assert refused(*call(tmp_path)) == f"{path} has no column 'text': choose one of id, body"
    told = litebert(*call(tmp_path, "--field", "body"), "--json")
    assert told.code == 0, told.err


def test_nothing_that_can_be_read_in_a_folder_is_passed_over_in_silence(tmp_path: Path) -> None:
    path = written(tmp_path, "a.docx", b"PK")
    told = built(tmp_path)
    assert told["problems"] == {"file left out": 1}
    assert str(path) in told["places"][0]


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    """A set of several shards."""
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.txt").write_text("\n\n".join(documents(80, 5)))
    built(tmp_path, "--shard-tokens", 600)
    return tmp_path / "out"


def flip(path: Path, at: float = 0.5) -> None:
    """Turn one bit."""
    data = bytearray(path.read_bytes())
    data[int(at * (len(data) - 1))] ^= 16
    path.write_bytes(data)


@pytest.mark.parametrize("at", [0.0, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("verb", ["show", "audit"])
def test_a_flipped_bit_in_a_shard_is_named_before_anything_is_shown(verb: str, at: float, shards: Path) -> None:
    flip(shards / "train" / "00003.safetensors", at)
    message = refused("data", verb, shards, "--set", "length=32")
    assert message.startswith(str(shards / "train" / "00003.safetensors"))
    assert "damaged" in message


def test_a_flipped_bit_in_a_shard_is_found_before_the_first_batch(shards: Path) -> None:
    words = vocabulary(tokenizers.load(shards))
    flip(shards / "train" / "00001.safetensors")
    with pytest.raises(UserError, match="00001"):
        Stream(open_shards(shards), recipe("albert", length=32), words, batch=4).batch(Position(0, 0))


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "counts.safetensors", "manifest.json"])
def test_a_flipped_bit_beside_the_shards_is_named(name: str, shards: Path) -> None:
    flip(shards / name, 0.7)
    for verb in ("show", "audit", "stats"):
        message = refused("data", verb, shards)
        assert message.startswith(str(shards / name)), message


def test_a_shard_that_is_cut_off_or_gone_is_named(shards: Path) -> None:
    path = shards / "train" / "00002.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    assert refused("data", "show", shards).startswith(f"{path} ")
    path.unlink()
    assert refused("data", "show", shards).startswith(f"{path} ")


def test_a_tokenizer_that_does_not_match_the_shards_is_refused(shards: Path) -> None:
    other = corpora.tokenizer("harbour")
    with pytest.raises(
        UserError, match=r"was encoded by tokenizer [0-9a-f]{12}…, not by [0-9a-f]{12}…: use the one in"
    ):
        open_shards(shards, tokenizer=other)
    (shards / "tokenizer.json").write_text(other.text)
    message = refused("data", "show", shards)
    assert message.startswith(str(shards / "tokenizer.json"))


def test_a_vocabulary_of_the_same_size_but_other_pieces_is_refused(shards: Path) -> None:
    """The number of pieces is no proof: two of them may have changed places."""
    known = tokenizers.load(shards)
    state = json.loads(known.text)
    words = state["model"]["vocab"]
    words["mill"], words["tide"] = words["tide"], words["mill"]
    other = tokenizers.Tokenizer(json.dumps(state))
    assert other.size == known.size
    with pytest.raises(UserError, match="was encoded by tokenizer"):
        open_shards(shards, tokenizer=other)


def test_too_little_text_for_a_recipe_is_told(tmp_path: Path) -> None:
    written(tmp_path, "a.txt", b"")
    (tmp_path / "corpus" / "z.txt").write_text("mill\n")
    built(tmp_path)
    message = refused("data", "show", tmp_path / "out")
    assert message.startswith("too little text: split train has 1 sentences in 1 documents, sop needs two words in a")
