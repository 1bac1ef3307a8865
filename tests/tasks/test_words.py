"""Is every word answered for once, by its own first piece, in the window that sees most around it?"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litebert.errors import UserError
from litebert.tasks import words
from litebert.tasks.examples import Place, Words, collect
from litebert.tasks.readers import clue
from litebert.tasks.task import Item
from litebert.text import spiece, wordpiece
from litebert.text.tokenizer import Tokenizer
from text.tiny import trained
from vectors.tiny import WORDS, unigram_of, wordpiece_of, xlnet_of


def bare() -> Tokenizer:
    """Whose first word differs from the same word behind a space, as RoBERTa's."""
    state = json.loads(trained("bpe").text)
    state["pre_tokenizer"]["add_prefix_space"] = False
    return Tokenizer(json.dumps(state))


LAYOUTS = {"wordpiece": wordpiece_of, "unigram": unigram_of, "xlnet": xlnet_of, "bpe": lambda: trained("bpe"),
           "roberta": bare}  # fmt: skip
ENDINGS = ("", "s", "ed", "ing", "sing", "inged", "singed")


def items(
    texts: Sequence[Words], tokenizer: Tokenizer, length: int = 64, stride: int = 32, known: bool = True
) -> list[Item]:  # fmt: skip
    """Each word's number in its text is its target."""
    return words.items(texts, tokenizer, length, stride, lambda one: np.arange(len(one.words)) if known else None)


def made_up(count: int, seed: int = 0) -> tuple[str, ...]:
    """Words of one to many pieces."""
    draw = np.random.default_rng(seed)
    return tuple(str(draw.choice(WORDS)) + str(draw.choice(ENDINGS)) for _ in range(count))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_place_of_a_word_holds_its_own_first_piece(layout: Callable[[], Tokenizer]) -> None:
    tokenizer, text = layout(), made_up(40)
    for item in items([Words(text)], tokenizer, 24, 8):
        ids = np.asarray(item.rows[0].ids)
        for word, place in zip(item.back.words.tolist(), item.back.places.tolist(), strict=True):
            before = "" if word == 0 else "a "
            own = tokenizer.encode(before + text[word])[len(tokenizer.encode(before.strip())) :]
            assert ids[place] == own[0]


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_row_is_what_the_whole_text_would_be(layout: Callable[[], Tokenizer]) -> None:
    tokenizer, text = layout(), made_up(12)
    (item,) = items([Words(text)], tokenizer, 256)
    whole, row = tokenizer.encode(" ".join(text)), list(item.rows[0].ids)
    first = int(tokenizer.name("cls") != "<cls>")
    assert [int(one) for one in row[first : first + len(whole)]] == whole
    assert len(row) == len(whole) + 2


@given(sizes=st.lists(st.integers(0, 6), max_size=60), length=st.integers(6, 20), stride=st.integers(1, 20))
def test_every_word_is_answered_once_where_it_has_most_context(sizes: list[int], length: int, stride: int) -> None:
    text = Words(tuple("sea" + "s" * (size % 2) + "ing" * (size // 2) for size in sizes))
    found = items([text], wordpiece_of(), length, stride)
    assert sorted(word for item in found for word in item.back.words.tolist()) == list(range(len(sizes)))
    assert all(len(item.rows[0].ids) <= length for item in found)
    assert all((item.target == item.back.words).all() for item in found)
    pool = wordpiece_of()
    pieces = [pool.encode(word)[: max(1, (length - 2) // 4)] for word in text.words]
    firsts = np.cumsum([0, *map(len, pieces)])
    room, count = length - 2, int(firsts[-1])
    step = stride if stride < room else max(1, room // 2)
    cut = [(at, min(at + room, count)) for at in range(0, max(1, count - room + step), step)]
    for item in found:  # no other window has more on its poorer side
        for word, place in zip(item.back.words.tolist(), item.back.places.tolist(), strict=True):
            here = min(place - 1, len(item.rows[0].ids) - 3 - (place - 1))
            at = int(firsts[word])
            assert here == max(min(at - begin, end - 1 - at) for begin, end in cut if begin <= at < end)


def test_a_word_that_makes_no_piece_is_asked_about_as_an_unknown_one() -> None:
    tokenizer = wordpiece_of()
    (item,) = items([Words(("the", "\u200b", "sea", "", "\u0301"))], tokenizer)
    assert tokenizer.pieces(item.rows[0].ids) == ["[CLS]", "the", "[UNK]", "sea", "[UNK]", "[UNK]", "[SEP]"]
    assert item.back.words.tolist() == [0, 1, 2, 3, 4]


def test_no_word_pushes_its_neighbours_out_of_sight() -> None:
    tokenizer = wordpiece_of()
    (item,) = items([Words(("the", "sea" + "ing" * 30, "boat"))], tokenizer, 18)
    assert tokenizer.pieces(item.rows[0].ids)[1:-1] == ["the", "sea", "##ing", "##ing", "##ing", "boat"]


def test_characters_stand_as_within_a_text_and_not_each_as_a_word() -> None:
    state = json.loads(unigram_of().text)
    state["model"]["vocab"] += [["。", -3.0], ["河", -3.0], ["山", -3.0]]
    tokenizer = Tokenizer(json.dumps(state))
    (item,) = items([Words(("河", "山", "x"), spaced=False)], tokenizer)
    assert tokenizer.pieces(item.rows[0].ids)[1:-1] == ["河", "山", "<unk>"]  # no ▁ before each; x begins words only
    (item,) = items([Words(("x", "x"), spaced=False)], wordpiece_of())
    assert wordpiece_of().pieces(item.rows[0].ids)[1:-1] == ["x", "x"]  # no ##x, though no space stands between


def test_of_a_text_without_words_there_is_a_row_and_no_answer() -> None:
    (item,) = items([Words(())], wordpiece_of())
    assert len(item.back.words) == 0
    assert len(item.rows[0].ids) == 2


def test_padding_in_front_is_told() -> None:
    assert items([Words(("sea",))], xlnet_of())[0].back.left
    assert not items([Words(("sea",))], unigram_of())[0].back.left


def test_what_is_not_known_has_no_target() -> None:
    assert items([Words(("sea",))], wordpiece_of(), known=False)[0].target is None


def test_half_a_character_is_named_with_its_place() -> None:
    with pytest.raises(UserError, match=r"^a.txt:7: '\\ud800' at character 6 is half a character"):
        items([Words(("the", "a\ud800"), None, "", Place("a.txt", 7))], wordpiece_of())


def test_a_row_without_room_is_refused() -> None:
    with pytest.raises(UserError, match=r"length 3 leaves 1 tokens between 2 special pieces"):
        items([Words(("the",))], wordpiece_of(), 3)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(Words(("sea",) * 250_000), id="a million characters in words"),
        pytest.param(Words(("河",) * 250_000, spaced=False), id="characters"),
        pytest.param(Words(("x" * 1_000_000, "sea")), id="one word of a million"),
        pytest.param(Words(tuple(map(str, range(100_000)))), id="words that never come again"),
    ],
)
def test_a_text_of_a_million_characters_is_laid_out_in_seconds(text: Words) -> None:
    began = time.process_time()
    found = items([text], wordpiece_of(), 128, 64)
    assert time.process_time() - began < 8
    assert sum(len(item.back.words) for item in found) == len(text.words)


def test_the_characters_of_cluener_come_back_one_by_one(shared_data: Path) -> None:
    tokenizer = wordpiece.read(shared_data / "tokenizers" / "bert-base-chinese-vocab.txt")
    texts = [one for one in collect(clue.entities(shared_data / "zh" / "cluener" / "dev.json")).examples
             if isinstance(one, Words)]  # fmt: skip
    answered = [np.zeros(len(one.words), np.int64) for one in texts]
    strange = 0
    for item in items(texts, tokenizer, 24, 8):
        answered[item.example][item.back.words] += 1
        said = tokenizer.pieces(np.asarray(item.rows[0].ids)[item.back.places])
        spoken = [texts[item.example].words[word].lower() for word in item.back.words.tolist()]
        strange += sum(one not in (other, "[UNK]") for one, other in zip(said, spoken, strict=True))
    assert all((one == 1).all() for one in answered)
    assert strange < 100  # full-width forms and ligatures, which the normaliser writes otherwise


def test_english_words_are_cut_as_in_their_sentence(shared_data: Path) -> None:
    tokenizer = spiece.read(shared_data / "tokenizers" / "albert-en-spiece.model")
    lines = (shared_data / "glue" / "SST-2" / "dev.tsv").read_text().splitlines()[1:]
    texts = [Words(tuple(line.split("\t")[0].split())) for line in lines]
    same = [
        [int(one) for one in item.rows[0].ids][1:-1] == tokenizer.encode(" ".join(texts[item.example].words))
        for item in items(texts, tokenizer, 128)
    ]
    assert len(same) == len(texts)
    assert sum(same) >= len(same) - 2
