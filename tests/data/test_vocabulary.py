"""What does the data know of a tokenizer, and how does a piece of any kind of tokenizer look to a person?"""

from __future__ import annotations

import numpy as np
import pytest
import tokenizers
from tokenizers import decoders, models, pre_tokenizers

from data import corpora
from litebert.data.reading import spaced, spelled
from litebert.data.vocabulary import plain, vocabulary
from litebert.errors import UserError
from litebert.text.tokenizer import Tokenizer

NAMES = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}


def engine(made: tokenizers.Tokenizer) -> Tokenizer:
    """A tokenizer with the five special pieces."""
    made.add_special_tokens(corpora.SPECIALS)
    return Tokenizer(made.to_str(), NAMES)


def unigram() -> Tokenizer:
    pieces = [*((name, 0.0) for name in corpora.SPECIALS), ("▁", -2.0), ("▁the", -2.0), ("▁mi", -2.0), ("ll", -2.0),
              (".", -2.0)]  # fmt: skip
    made = tokenizers.Tokenizer(models.Unigram(pieces, unk_id=1))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    return engine(made)


def byte_level() -> Tokenizer:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = {piece: number for number, piece in enumerate([*corpora.SPECIALS, *alphabet, "Ġt", "he", "Ġthe"])}
    made = tokenizers.Tokenizer(models.BPE(pieces, [("Ġ", "t"), ("h", "e"), ("Ġt", "he")]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    return engine(made)


def test_a_vocabulary_is_its_tokenizer_in_numbers() -> None:
    words = corpora.tokenizer()
    known = vocabulary(words)
    assert (known.size, known.pad, known.unk, known.cls, known.sep, known.mask) == (words.size, 0, 1, 2, 3, 4)
    pieces = words.pieces(range(words.size))
    assert known.special.tolist() == [piece in corpora.SPECIALS for piece in pieces]
    ordinary = ~known.special
    assert known.starts[ordinary].tolist() == [not p.startswith("##") for p in np.array(pieces)[ordinary]]


def test_a_vocabulary_without_text_has_five_special_pieces_and_words() -> None:
    known = plain(8)
    assert known.special.tolist() == [True] * 5 + [False] * 3
    assert known.starts.tolist() == [False] * 5 + [True] * 3
    assert known[1:6] == (0, 1, 2, 3, 4)
    with pytest.raises(UserError, match="a vocabulary of 5 holds nothing but special pieces: choose 6 or more"):
        plain(5)


def test_pieces_are_spelled_without_the_marks_of_their_tokenizer() -> None:
    words = corpora.tokenizer()
    assert spelled(words, words.encode("The mixy mill.")) == ["the", "m", "i", "x", "y", "mill", "."]
    pieces = unigram()
    assert spelled(pieces, pieces.encode("the mill.")) == ["the", "mi", "ll", "."]
    assert spelled(pieces, [5, 4]) == ["", "[MASK]"]
    bytes_ = byte_level()
    assert spelled(bytes_, bytes_.encode("a the é")) == ["a", "the", "", "�", "�"]
    assert spelled(bytes_, [2]) == ["[CLS]"]


@pytest.mark.parametrize("made", [unigram(), byte_level()], ids=["unigram", "bytes"])
def test_spaces_stand_where_the_tokenizer_saw_them(made: Tokenizer) -> None:
    ids = made.encode("the the")
    space = spaced(made, [2, *ids, 3])
    assert space[0] == space[-1] is True
    assert space[2:-1].count(True) >= 1
    assert "".join((" " if gap else "") + text for gap, text in zip(spaced(made, ids), spelled(made, ids), strict=True)
                   ).strip() == "the the"  # fmt: skip


def test_wordpieces_of_chinese_stand_side_by_side_and_others_apart() -> None:
    words = corpora.tokenizer("水", "山", "##水")
    ids = words.encode("the 水山 mill")
    texts = spelled(words, ids)
    assert "".join(" " * gap + text for gap, text in zip(spaced(words, ids), texts, strict=True)) == " the 水山 mill"
