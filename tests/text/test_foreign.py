"""Is a file of another program read as what it is, with what is said beside it?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from litebert.errors import UserError
from litebert.text import foreign
from text.test_wordpiece import SPECIALS
from text.tiny import trained


def vocab(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "vocab.txt"
    path.write_text("\n".join([*SPECIALS, "ba", "BA", "é", "e"]) + "\n")
    return path


def test_a_folder_is_searched_for_the_best_it_has(tmp_path: Path) -> None:
    path = vocab(tmp_path)
    assert foreign.read(tmp_path).text == foreign.read(path).text
    made = trained("unigram")
    made.save(tmp_path)
    assert foreign.read(tmp_path).text == made.text


@pytest.mark.parametrize(
    ("said", "pieces"),
    [
        ({}, ["BA", "é"]),  # the vocabulary has capitals
        ({"do_lower_case": True}, ["ba", "e"]),
        ({"do_lower_case": True, "strip_accents": False}, ["ba", "é"]),
        ({"do_lower_case": False}, ["BA", "é"]),
        ({"do_lower_case": None, "strip_accents": None}, ["BA", "é"]),
    ],
)
def test_what_stands_beside_a_vocabulary_counts(said: dict[str, object], pieces: list[str], tmp_path: Path) -> None:
    path = vocab(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(said))
    made = foreign.read(path)
    assert made.pieces(made.encode("BA É" if "e" in pieces else "BA é")) == pieces
    asked = foreign.read(path, lowercase=True, strip_accents=True)
    assert asked.pieces(asked.encode("BA É")) == ["ba", "e"]


def test_the_length_is_what_is_said(tmp_path: Path) -> None:
    path = vocab(tmp_path)
    assert foreign.read(path).length == 512
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": 128}')
    assert foreign.read(path).length == 128
    assert foreign.read(path, length=64).length == 64
    trained("bpe").save(tmp_path / "t")
    assert foreign.read(tmp_path / "t", length=64).length == 64


def test_a_sentencepiece_model_is_read_as_albert_has_it(shared_data: Path, tmp_path: Path) -> None:
    shutil.copy(shared_data / "tokenizers" / "albert-en-spiece.model", tmp_path / "spiece.model")
    assert foreign.read(tmp_path).encode("In 92000, É") == [19, 561, 3050, 15, 13, 62]
    whole = foreign.read(tmp_path / "spiece.model", split_commas=False)
    assert whole.pieces(whole.encode("of 2010,")) == ["▁of", "▁2010,"]
    (tmp_path / "tokenizer_config.json").write_text('{"keep_accents": true, "do_lower_case": true}')
    assert 1 in foreign.read(tmp_path).encode("É")


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("", {}, "holds none of tokenizer.json, spiece.model, spm.model, vocab.txt"),
        ("no.model", {}, "is not there: name a SentencePiece .model, a vocab.txt"),
        ("x.bin", {}, "does not say by its suffix what it is"),
        ("t/tokenizer.json", {"lowercase": True}, "says itself what becomes of case"),
        ("v/vocab.txt", {"split_commas": False}, "has no pieces of digits and commas to split"),
    ],
)
def test_what_cannot_be_read_is_refused(name: str, options: dict[str, bool], said: str, tmp_path: Path) -> None:
    vocab(tmp_path / "v")
    (tmp_path / "x.bin").write_bytes(b"x")
    trained("wordpiece").save(tmp_path / "t")
    with pytest.raises(UserError, match=said):
        foreign.read(tmp_path / name, **options)  # type: ignore[arg-type]
