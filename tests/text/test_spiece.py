"""Does a SentencePiece model give the ids that its own library gives, and is a damaged one refused in one line?"""

from __future__ import annotations

import hashlib
import io
import json
import re
import struct
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from litebert.errors import UserError
from litebert.text import spiece
from litebert.text.tokenizer import Tokenizer
from text.test_normalise import prepared
from text.tiny import odd, sentences

sentencepiece = pytest.importorskip("sentencepiece")
TRAINER = sentencepiece.SentencePieceTrainer
ALBERT = {"pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1, "control_symbols": ["[CLS]", "[SEP]", "[MASK]"],
          "user_defined_symbols": ["(", ")", '"', "-", "."]}  # fmt: skip
# Token ids of google-research/albert's English model.
GOLDEN = {
    "This is a test": [48, 25, 21, 1289],
    "The quick brown fox jumps over the lazy dog.": [14, 2231, 886, 2385, 17659, 84, 14, 16792, 1952, 9],
    "Hello, my dog is cute": [10975, 15, 51, 1952, 25, 10901],
    "I was born in 92000, and this is falsé.": [31, 23, 386, 19, 561, 3050, 15, 17, 48, 25, 4997, 9],
}


def model(**settings: Any) -> bytes:
    """A small model of SentencePiece's own making."""
    written = io.BytesIO()
    chosen = {"vocab_size": 250, "model_type": "unigram", "minloglevel": 2, **ALBERT, **settings}
    lines = map(prepared, sentences(800, seed=1))
    TRAINER.train(sentence_iterator=lines, model_writer=written, **chosen)
    return written.getvalue()


@pytest.fixture(scope="module")
def small() -> bytes:
    return model()


@pytest.fixture(scope="module")
def english(shared_data: Path) -> Path:
    path = shared_data / "tokenizers" / "albert-en-spiece.model"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert digest == "fefb02b667a6c5c2fe27602d28e5fb3428f66ab89c7d6f388e7c8d44a02d0336"
    return path


@pytest.fixture(scope="module")
def albert(english: Path) -> Tokenizer:
    return spiece.read(english)


def theirs(processor: Any, text: str) -> list[int]:
    """The ids of the original: its preparation, SentencePiece, and its second cut of what ends digit and comma."""
    found: list[int] = []
    for piece in processor.encode(prepared(text), out_type=str):
        if piece[-1] == "," and piece[-2:-1].isdigit():
            parts = processor.encode(piece[:-1].replace("▁", ""), out_type=str)
            if piece[0] != "▁" and parts[0][0] == "▁":  # what SentencePiece put before it was not there
                parts = parts[1:] if parts[0] == "▁" else [parts[0][1:], *parts[1:]]
            found += map(processor.piece_to_id, [*parts, ","])
        else:
            found.append(processor.piece_to_id(piece))
    return found


def converted(data: bytes, **options: Any) -> Tokenizer:
    return spiece.converted(spiece.parse(data, "x"), **options)


def test_the_published_encodings(albert: Tokenizer) -> None:
    assert {text: albert.encode(text) for text in GOLDEN} == GOLDEN


def test_accents_that_are_kept_are_unknown(english: Path) -> None:
    kept = spiece.read(english, strip_accents=False)
    assert kept.encode("I was born in 92000, and this is falsé.")[-5:] == [25, 8256, 18, 1, 9]


def test_the_published_vocabulary(albert: Tokenizer) -> None:
    assert (albert.size, albert.kind) == (30000, "unigram")
    assert albert.specials == (0, 1, 2, 3, 4)
    told = {5: "(", 6: ")", 7: '"', 8: "-", 9: ".", 10: "–", 11: "£", 12: "€", 13: "▁", 14: "▁the", 15: ",", 31: "▁i",
            29999: "▁eloquent"}  # fmt: skip
    assert albert.pieces(range(5)) == ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    assert dict(zip(told, albert.pieces(told), strict=True)) == told
    assert not [piece for piece in albert.pieces(range(5, 30000)) if piece != piece.lower()]
    assert int(albert.special.sum()) == 5


def test_the_name_of_a_special_piece_is_text(albert: Tokenizer) -> None:
    for text in ("[MASK]", "<pad>", "<unk>", "a [CLS]b[SEP] c"):
        found = set(albert.encode(text))
        assert not found.intersection((0, 2, 3, 4)), text
    assert albert.encode("É") == albert.encode("e") == albert.encode("e\u0301")


def test_the_original_library_gives_the_same_ids(albert: Tokenizer, english: Path) -> None:
    processor = sentencepiece.SentencePieceProcessor(model_file=str(english))
    differ = [text for text in [*odd(4000), *sentences(1000)] if albert.encode(text) != theirs(processor, text)]
    assert not [text for text in differ if not re.search(r"\d,\d", text)]
    assert len(differ) < 50, "the second cut of numbers, where ours is transformers' way"


def test_transformers_gives_the_same_ids(albert: Tokenizer, english: Path) -> None:
    """But for marks of class 0, which it drops and the original keeps."""
    transformers = pytest.importorskip("transformers")
    parsed = spiece.parse(english.read_bytes(), english)
    scores = [(p.text, p.score - 100 * (p.text[-1] == "," and p.text[-2:-1].isdigit())) for p in parsed.pieces]
    peer = transformers.AlbertTokenizer(vocab=scores, _spm_precompiled_charsmap=parsed.charsmap)
    texts = [text for text in odd(2000, of_class_0=False) if not {"\x01", "\x02"}.intersection(text)]
    for text in [*texts, *sentences(500)]:
        if not any(name in text for name in ("[MASK]", "<pad>", "<unk>")):  # which are pieces to it
            assert albert.encode(text) == peer(text, add_special_tokens=False)["input_ids"], repr(text)


@pytest.mark.parametrize("rule", ["nmt_nfkc", "nfkc", "identity"])
def test_any_unigram_model_gives_its_ids(rule: str) -> None:
    data = model(normalization_rule_name=rule)
    ours = converted(data, lowercase=True, strip_accents=True, split_commas=False)
    processor = sentencepiece.SentencePieceProcessor(model_proto=data)
    for text in [*odd(1500, seed=2), *sentences(500, seed=2)]:
        assert ours.encode(text) == processor.encode(prepared(text)), repr(text)


def test_symbols_of_the_user_come_before_any_piece() -> None:
    data = model(user_defined_symbols=["kilo", "ba", "9,"])
    ours, processor = converted(data, split_commas=False), sentencepiece.SentencePieceProcessor(model_proto=data)
    texts = sentences(800, seed=4)
    for text in texts:
        assert ours.encode(text) == processor.encode(prepared(text)), repr(text)
    assert {"kilo", "ba", "9,"} <= {piece for text in texts for piece in ours.pieces(ours.encode(text))}


def test_a_cased_model_keeps_case_and_accents() -> None:
    written = io.BytesIO()
    TRAINER.train(sentence_iterator=iter(sentences(800, seed=1)), model_writer=written, vocab_size=300,
                  model_type="unigram", minloglevel=2, **ALBERT)  # fmt: skip
    data = written.getvalue()
    ours, processor = converted(data, split_commas=False), sentencepiece.SentencePieceProcessor(model_proto=data)
    assert "té" in "".join(ours.pieces(range(ours.size)))
    for text in [*odd(1500, seed=3), *sentences(500, seed=3)]:
        text = prepared(text, lowercase=False, strip_accents=False)
        if not any(map(unicodedata.combining, text)):  # normalise.py says why
            assert ours.encode(text) == processor.encode(text), repr(text)


def test_commas_after_digits_stand_alone(small: bytes) -> None:
    processor = sentencepiece.SentencePieceProcessor(model_proto=small)
    assert any(p.text[-1] == "," and p.text[-2:-1].isdigit() for p in spiece.parse(small, "x").pieces)
    split, whole = converted(small), converted(small, split_commas=False)
    text = next(each for each in sentences(400, seed=7) if whole.encode(each) != split.encode(each))
    assert split.encode(text) == theirs(processor, text)
    assert not [p for p in split.pieces(split.encode(text)) if p[-1] == "," and len(p) > 1]


def test_scores_come_through_to_the_last_bit(small: bytes, tmp_path: Path) -> None:
    """The engine's own writer rounds them, and of two cuts that score alike the other one comes out."""
    made = converted(small)
    made.save(tmp_path)
    text = (tmp_path / "tokenizer.json").read_text()
    assert text == made.text
    kept = dict(json.loads(text)["model"]["vocab"])
    scores = {text: score for text, score, kind in spiece.parse(small, "x").pieces if kind == 1 and text[-1] != ","}
    assert {name: struct.pack("<f", kept[name]) for name in scores} == {
        name: struct.pack("<f", score) for name, score in scores.items()
    }


def test_the_joiner_of_emoji_is_what_the_model_makes_of_it(small: bytes) -> None:
    """The engine's Nmt makes a space of it, which the map of newer models does not."""
    assert "\u200d" in converted(small).engine.normalizer.normalize_str("a\u200db")
    assert converted(small).engine.normalizer.normalize_str("a\u200bb\x02") == "a b"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        pytest.param({"model_type": "bpe"}, "a BPE model: only unigram models are read", id="BPE"),
        pytest.param(
            {"model_type": "char", "vocab_size": 60, "hard_vocab_limit": False}, "a character model", id="char"
        ),
        pytest.param({"byte_fallback": True, "vocab_size": 500}, "train without byte_fallback", id="byte_fallback"),
        pytest.param({"add_dummy_prefix": False}, "treats spaces otherwise", id="no space before the first word"),
        pytest.param({"remove_extra_whitespaces": False}, "treats spaces otherwise", id="spaces kept"),
        pytest.param({"control_symbols": ["[CLS]", "[SEP]"]}, r"has no piece \[MASK\]", id="no mask"),
    ],
)
def test_a_model_of_another_kind_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        converted(model(**settings))


def test_a_damaged_model_is_refused_wherever_it_is_cut(small: bytes) -> None:
    for size in [*range(0, len(small), len(small) // 60), len(small) - 1]:
        with pytest.raises(UserError, match=r"^x\b") as refusal:
            converted(small[:size], where="x")
        assert "\n" not in str(refusal.value)


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    for data in (b"", b"\x00" * 100, b"hello there\n" * 20, bytes(range(256)) * 4):
        (tmp_path / "m.model").write_bytes(data)
        with pytest.raises(UserError, match=r"m\.model is not a SentencePiece model, or damaged"):
            spiece.read(tmp_path / "m.model")
