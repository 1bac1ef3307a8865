"""Does a vocab.txt give BERT's ids, and is a broken one refused by its line?"""

from __future__ import annotations

from pathlib import Path

import pytest

from litebert.errors import UserError
from litebert.text import wordpiece
from litebert.text.tokenizer import Tokenizer
from text.tiny import KINDS, odd, sentences, trained

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def written(folder: Path, *pieces: str, ends: str = "\n") -> Path:
    path = folder / "vocab.txt"
    path.write_bytes("".join(piece + ends for piece in [*SPECIALS, *pieces]).encode())
    return path


def vocabulary(folder: Path, keep: bool) -> Path:
    """A vocab.txt of a trained tokenizer."""
    made = trained("wordpiece", keep=keep)
    return written(folder, *made.pieces(range(len(SPECIALS), made.size)))


def bert(folder: Path, **options: object) -> object:
    """What transformers makes of the folder."""
    transformers = pytest.importorskip("transformers")
    return transformers.BertTokenizer.from_pretrained(folder, **options)


def same(ours: Tokenizer, theirs: object, texts: list[str]) -> None:
    for text in texts:
        if not any(name in text for name in SPECIALS):  # which are pieces to it
            assert ours.encode(text) == theirs(text, add_special_tokens=False)["input_ids"], repr(text)  # type: ignore[operator]


@pytest.mark.parametrize("keep", [False, True])
def test_transformers_gives_the_same_ids(keep: bool, tmp_path: Path) -> None:
    path = vocabulary(tmp_path, keep)
    ours = wordpiece.read(path)  # which sees by itself whether there are capitals
    assert ours.text == trained("wordpiece", keep=keep).text
    same(ours, bert(tmp_path, do_lower_case=not keep), [*odd(1500, seed=4), *sentences(500, seed=4)])


def test_the_chinese_vocabulary(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "tokenizers" / "bert-base-chinese-vocab.txt"
    ours = wordpiece.read(path)
    assert (ours.size, tuple(ours.specials)) == (21128, (0, 100, 101, 102, 103))
    assert ours.pieces(ours.encode("使用BERT，É")) == ["使", "用", "be", "##rt", "，", "e"]
    assert int(ours.special.sum()) == 5 + 99  # [unused1] to [unused99]
    (tmp_path / "vocab.txt").write_bytes(path.read_bytes())
    same(ours, bert(tmp_path), odd(1500, seed=5))


def test_a_line_ends_at_a_line_feed_alone(tmp_path: Path) -> None:
    """U+2028 is a piece of the Chinese BERT's, and `str.splitlines` would shift every id after it."""
    ours = wordpiece.read(written(tmp_path, "a", "\u2028", "\x0b", "z"))
    assert ours.pieces(range(5, 9)) == ["a", "\u2028", "\x0b", "z"]


def test_the_line_ends_of_windows_are_no_part_of_pieces(tmp_path: Path) -> None:
    assert wordpiece.read(written(tmp_path, "a", "z", ends="\r\n")).pieces([5, 6]) == ["a", "z"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(b"[PAD]\n\n[UNK]\n", r"vocab.txt:2 is empty", id="an empty line"),
        pytest.param(b"[PAD]\na\nb\na\n", r"vocab.txt:4 repeats 'a' of line 2", id="a piece twice"),
        pytest.param(b"[PAD]\n\xff\n", r"vocab.txt is not UTF-8 \(byte 6\)", id="not UTF-8"),
        pytest.param(b"[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n", r"vocab.txt has no piece \[MASK\]", id="no mask"),
        pytest.param(b"", r"vocab.txt:1 is empty", id="an empty file"),
        pytest.param(b"the\nand\n", "has no piece", id="no special piece"),
    ],
)
def test_a_broken_file_is_refused_by_its_line(data: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes(data)
    with pytest.raises(UserError, match=said) as refusal:
        wordpiece.read(tmp_path / "vocab.txt")
    assert "\n" not in str(refusal.value)


def test_every_kind_is_trained_to_its_size() -> None:
    assert [trained(kind).size for kind in KINDS] == [260, 260, 400]
