"""Do jieba's words hold, whatever the pieces are, and does nothing of it come from a folder that others can write?"""

from __future__ import annotations

import sys
import tempfile

import pytest

from litebert.errors import UserError
from litebert.text import chinese
from litebert.text.encode import Encoder
from litebert.text.tokenizer import Kind
from text.tiny import KINDS, odd, sentences, trained

TEXT = "山川日月, 火山口 ba 人口"


@pytest.fixture(scope="module")
def cutter() -> chinese.Cutter:
    pytest.importorskip("jieba")
    return chinese.Cutter()


def words(kind: Kind, text: str, how: str) -> list[str]:
    """The text in words, as an encoder tells them: every piece's own text, joined where it goes on."""
    tokenizer = trained(kind)
    found = Encoder(tokenizer, how).encode([text])  # type: ignore[arg-type]
    made: list[str] = []
    for piece, begins in zip(tokenizer.pieces(found.ids), found.starts, strict=True):
        made += [""] if begins else []
        made[-1] += piece.removeprefix("##").replace("▁", "")
    return [word for word in made if word]


@pytest.mark.parametrize("kind", ["unigram", "wordpiece"])
def test_characters_are_words_or_jieba_joins_them(kind: Kind, cutter: chinese.Cutter) -> None:
    assert words(kind, TEXT, "pieces") == [*"山川日月,火山口", "ba", *"人口"]
    assert words(kind, TEXT, "jieba") == ["山川", "日月", ",", "火山口", "ba", "人口"]


def test_bytes_of_a_word_go_on_with_it(cutter: chinese.Cutter) -> None:
    """Each character has up to three pieces, of which only the word's first one begins."""
    tokenizer = trained("bpe")
    found = Encoder(tokenizer, "jieba").encode(["火山口"])
    space = tokenizer.pieces(found.ids)[0] == "Ġ"  # which is a word, as far as pieces know
    assert found.starts[int(space) :].tolist() == [True] + [False] * (len(found.ids) - 1 - space)


def test_only_chinese_characters_are_inside(cutter: chinese.Cutter) -> None:
    assert cutter.words("plain words") == ["plain", " ", "words"]
    assert not cutter.inside("plain words, C++ 3.5").any()
    assert cutter.inside("ba 人口").tolist() == [False, False, False, False, True]
    assert cutter.inside("火山口 T恤").tolist() == [False, True, True, False, False, True]


@pytest.mark.parametrize("kind", KINDS)
def test_ids_and_lengths_are_those_without_it(kind: Kind, cutter: chinese.Cutter) -> None:
    texts = [*odd(400, seed=12), *sentences(200, seed=12)]
    plain, cut = Encoder(trained(kind)).encode(texts), Encoder(trained(kind), "jieba").encode(texts)
    assert plain.ids.tolist() == cut.ids.tolist()
    assert plain.lengths.tolist() == cut.lengths.tolist()
    assert not (cut.starts & ~plain.starts).any()  # words only grow


def test_the_words_are_the_text(cutter: chinese.Cutter) -> None:
    for text in [*odd(300, seed=13), TEXT]:
        assert "".join(cutter.words(text)) == text
        assert len(cutter.inside(text)) == len(text)


def test_no_dictionary_is_taken_from_the_common_folder(
    cutter: chinese.Cutter, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """jieba's own way reads, by marshal, whatever anybody has put into /tmp/jieba.cache."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "jieba.cache").write_bytes(b"anything")  # type: ignore[operator]
    assert chinese.Cutter().words("火山口") == ["火山口"]
    assert (tmp_path / "jieba.cache").read_bytes() == b"anything"  # type: ignore[operator]


def test_without_jieba_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jieba", None)
    with pytest.raises(UserError, match=r"pip install 'litebert\[zh\]'"):
        Encoder(trained("wordpiece"), "jieba")
