"""Is a tokenizer trained to the same pieces every time, with everything that stands in its text?"""

from __future__ import annotations

import _thread
import subprocess
import sys
import threading
import time
import unicodedata
from collections import Counter
from typing import Any

import pytest

from litebert.errors import UserError
from litebert.text import sample, spiece, train
from litebert.text.tokenizer import Kind
from text.test_normalise import prepared
from text.tiny import KINDS, odd, sentences, text, trained

sentencepiece = pytest.importorskip("sentencepiece")


def small(kind: Kind, texts: list[str], vocab: int, **options: Any) -> list[str]:
    """The pieces that some texts give."""
    made = train.train(sample.of_texts(texts), kind, vocab, **options)
    return made.pieces(range(made.size))


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_same_every_time(kind: Kind) -> None:
    """The engine's WordPiece trainer alone gives another vocabulary on nearly every call."""
    size = trained(kind).size
    assert [train.train(text(), kind, size).text == trained(kind).text for _ in range(3)] == [True] * 3


AGAIN = """
from text import tiny
import hashlib
print(*(hashlib.sha256(tiny.trained(kind).text.encode()).hexdigest() for kind in tiny.KINDS))
"""


def test_it_is_the_same_in_another_process() -> None:
    told = [
        subprocess.run(
            [sys.executable, "-c", AGAIN], capture_output=True, text=True, check=True, timeout=120,
            env={"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": seed, "RAYON_NUM_THREADS": threads},
        ).stdout
        for seed, threads in (("1", "1"), ("2", "4"))
    ]  # fmt: skip
    assert told[0] == told[1]


@pytest.mark.parametrize("keep", [False, True])
def test_unigram_ids_are_those_of_sentencepiece(keep: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    parse = spiece.parse
    monkeypatch.setattr(spiece, "parse", lambda data, where: written.append(data) or parse(data, where))
    made = train.train(text(), "unigram", 260, lowercase=not keep)
    processor = sentencepiece.SentencePieceProcessor(model_proto=written[0])
    assert made.pieces(range(260)) == [processor.id_to_piece(i) for i in range(260)]
    whole = spiece.converted(parse(written[0], "x"), not keep, not keep, split_commas=False)
    for each in [*odd(1500, seed=14), *sentences(500, seed=14)]:
        if keep and any(map(unicodedata.combining, each)):
            continue  # normalise.py says why
        assert whole.encode(each) == processor.encode(prepared(each, not keep, not keep)), repr(each)


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        ("unigram", ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]", "(", ")", '"', "-", ".", "–", "£", "€"]),
        ("wordpiece", ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]),
        ("bpe", ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "!", '"']),
    ],
)
def test_special_pieces_come_first_and_are_five(kind: Kind, first: list[str]) -> None:
    made = trained(kind)
    assert made.pieces(range(len(first))) == first
    assert sorted(made.specials) == [0, 1, 2, 3, 4]
    assert int(made.special.sum()) == 5


@pytest.mark.parametrize("kind", KINDS)
def test_case_and_accents_go_or_stay(kind: Kind) -> None:
    texts = ["Été BA. " * 400, *sentences(300)]
    dropped, kept = (
        "".join(small(kind, texts, 320, lowercase=lower, strip_accents=lower)[5:]) for lower in (True, False)
    )
    if kind == "bpe":
        assert "BA" in kept.replace("Ġ", "")
        assert "BA" not in dropped
    else:
        assert dropped == dropped.lower()
        assert "é" not in dropped
        assert "B" in kept
        assert "é" in kept
    made = train.train(sample.of_texts(texts), kind, 320, lowercase=True, strip_accents=False)
    assert made.encode("É") == made.encode("é") != made.encode("e")


@pytest.mark.parametrize("kind", KINDS)
def test_what_bytes_cannot_say_in_one_piece_they_still_say(kind: Kind) -> None:
    made = trained(kind)
    assert (made.specials.unk in made.encode("ba ☃")) is (kind != "bpe")


@pytest.mark.parametrize("kind", KINDS)
def test_more_pieces_than_the_text_gives_are_refused_with_their_number(kind: Kind) -> None:
    few = sample.of_texts(sentences(40))
    with pytest.raises(UserError, match=r"vocab 5000 is more than this text gives: choose (\d+) or less") as refusal:
        train.train(few, kind, 5000)
    most = int(str(refusal.value).split("choose ")[1].split()[0])
    assert train.train(few, kind, most).size == most


@pytest.mark.parametrize("kind", KINDS)
def test_fewer_pieces_than_characters_are_refused_with_their_number(kind: Kind) -> None:
    with pytest.raises(UserError, match=r"vocab 20 has no room .* choose more than (\d+), or a lower coverage"):
        train.train(text(), kind, 20)


def test_rare_characters_are_unknown_unless_asked_for() -> None:
    texts = [*sentences(300), "ba ☃"]
    for kind in ("unigram", "wordpiece"):
        pieces = {share: "".join(small(kind, texts, 230, coverage=share)) for share in (0.999, 1.0)}  # type: ignore[arg-type]
        assert "☃" not in pieces[0.999], kind
        assert "☃" in pieces[1.0], kind


def test_the_coverage_counts_characters_by_their_share() -> None:
    counts = Counter({"a": 90, "b": 9, "c": 1})
    assert train._covered(counts, 0.9) == ["a"]
    assert train._covered(counts, 0.99) == ["a", "b"]
    assert train._covered(counts, 1.0) == ["a", "b", "c"]
    assert train._coverage(counts) == train.COVERAGE
    assert train._coverage(Counter({"a": 40, "山": 60})) == train.COVERAGE_OF_MANY


def test_chinese_characters_go_on_with_no_word() -> None:
    """Half of such a vocabulary would be pieces that no text can give."""
    pieces = small("wordpiece", ["山川日月火水木金土人口手 abab baba. " * 40], 26, coverage=1.0)
    assert {"山", "##a"} <= set(pieces)
    assert not {"##山", "##."}.intersection(pieces)


def test_no_sentence_is_left_out() -> None:
    """SentencePiece leaves out what holds its own sign for unknown, and lines beyond 4192 bytes, without a word."""
    texts = [*sentences(200), *["wuwuwu \u2585"] * 30, *["㎉" * 1360 + "qaqaqa"] * 30]  # kcal: longer when spelled out
    pieces = "".join(small("unigram", texts, 200, coverage=1.0))
    assert "w" in pieces
    assert "q" in pieces


@pytest.mark.parametrize("kind", ["unigram", "wordpiece"])
def test_a_text_of_nothing_printed_is_refused(kind: Kind) -> None:
    with pytest.raises(UserError, match="the sample holds no character that can be printed"):
        train.train(sample.of_texts(["\u200b\u200b"]), kind, 100)


def test_wrong_choices_are_refused() -> None:
    with pytest.raises(UserError, match="unknown kind 'unigran': did you mean 'unigram'"):
        train.train(text(), "unigran")  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"coverage 0.5 is not a share near 1: choose 0.9 to 1"):
        train.train(text(), coverage=0.5)


def test_without_sentencepiece_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(UserError, match=r"pip install 'litebert\[train\]'"):
        train.train(text(), "unigram")
    assert train.train(text(), "wordpiece", 260).size == 260


def test_what_sentencepiece_says_otherwise_is_told_in_a_line() -> None:
    said = str(train._explained("INTERNAL: src/x.cc(1) [a]\nsomething", 100))
    assert (
        said == "sentencepiece could not train on this sample (INTERNAL: src/x.cc(1) [a] something): look at the corpus"
    )


def test_training_hears_ctrl_c() -> None:
    """The trainers themselves run for minutes without a look at signals."""
    over = threading.Event()

    def work() -> None:
        _thread.interrupt_main()
        over.wait(60)

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        train._stoppable(work)
    over.set()
    assert time.monotonic() - began < 30


def test_an_error_of_a_trainer_comes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        train._stoppable(lambda: 1 // 0)
