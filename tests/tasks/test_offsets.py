"""Is what a piece was made of known to the character, through every normaliser?"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

from litebert.errors import UserError
from litebert.tasks import offsets
from litebert.tasks.examples import Place, Question, collect
from litebert.tasks.offsets import Located, Stretch
from litebert.tasks.readers import squad
from litebert.text import spiece
from litebert.text.tokenizer import Tokenizer
from text.tiny import trained
from vectors.tiny import unigram_of, wordpiece_of, xlnet_of


def placed(text: str, tokenizer: Tokenizer) -> Located:
    """A text's pieces."""
    (found,) = offsets.located([text], [Place()], tokenizer)
    return found


def words(text: str, tokenizer: Tokenizer) -> list[str]:
    """What each piece was made of, the ones made of nothing left out."""
    where = placed(text, tokenizer)
    spans = [where.characters(Stretch(at, at)) for at in range(len(where.ids))]
    return [text[begin:end] for begin, end in spans if begin < end]


TEXTS = [
    "the sea (cold) is calm.", " the  sea\n", "The SEAS sailed", "x", "", "  ", "the ``boat'' is old",
    "''sea'' ``", "se\u0301a is cold\u0301 .", "\u0301\u0301 sea", "the\u200bsea\ufeff", "sea\xa0boat", "ﬁnal ½ sea",
    "山河 sea河",
    "\x00sea\x07", "İs ß Ǆ", "🚣🏽 sea", "sea" * 40,
]  # fmt: skip


@pytest.mark.parametrize("layout", [wordpiece_of, unigram_of, xlnet_of, lambda: trained("bpe")],
                         ids=["wordpiece", "unigram", "xlnet", "bpe"])  # fmt: skip
@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_places_only_grow_and_ids_are_the_tokenizers(text: str, layout: object) -> None:
    tokenizer = layout()  # type: ignore[operator]
    where = placed(text, tokenizer)
    assert where.ids.tolist() == tokenizer.encode(text)
    assert (np.diff(where.begins) >= 0).all()
    assert (np.diff(where.ends) >= 0).all()
    assert (where.begins <= where.ends).all()
    assert not len(where.ids) or (where.begins[0] >= 0 and where.ends[-1] <= len(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the ``boat'' sea", "the | `` | boat | '' | sea"),
        ("'' sea", "'' | sea"),
        ("cold\u0301 sea", "cold\u0301 | sea"),  # a mark that is dropped goes with its letter
        ("the sea", "the | sea"),
        (" the\tsea ", "the | sea"),
    ],
)
def test_what_the_normaliser_merges_or_drops_is_not_lost(text: str, found: str) -> None:
    state = json.loads(unigram_of().text)
    state["model"]["vocab"] += [['"', -3.0], ["boat", -3.0]]
    assert words(text, Tokenizer(json.dumps(state))) == found.split(" | ")


def test_a_space_before_the_text_takes_no_character() -> None:
    where = placed("河", unigram_of())  # ▁ and an unknown piece
    assert where.exactly(0, 1) is not None
    assert where.begins[0] == where.ends[0] == 0


def test_every_word_is_covered_by_its_own_pieces() -> None:
    text = "the boats sailed, (cold) seas"
    where = placed(text, wordpiece_of())
    for word in ("the", "boats", "boat", "sailed", ",", "(cold)", "cold", "seas", text):
        begin = text.index(word)
        pieces = where.exactly(begin, begin + len(word))
        if word == "sailed":
            assert text[slice(*where.characters(where.covering(begin, begin + 6) or Stretch(0, 0)))] == word
        else:
            assert pieces is not None
            assert text[slice(*where.characters(pieces))] == word


def test_characters_that_made_no_piece_have_none() -> None:
    where = placed("the \u200b sea", wordpiece_of())
    assert where.covering(4, 5) is None
    assert where.exactly(4, 5) is None


def test_a_text_is_cut_once_however_often_it_comes() -> None:
    found = offsets.located(["the sea", "x", "the sea"], [Place()] * 3, wordpiece_of())
    assert found[0] is found[2]


def test_half_a_character_is_named_with_its_place() -> None:
    with pytest.raises(UserError, match=r"^a.json:4: '\\udfff' at character 3 is half a character"):
        offsets.located(["ab\udfff"], [Place("a.json", 4)], wordpiece_of())


@pytest.mark.parametrize(
    "text",
    ["``" * 500_000, "a\u0301" * 500_000, " " * 1_000_000, "sea " * 250_000],
    ids=["quotes", "marks", "blanks", "words"],
)
def test_a_text_of_a_million_characters_takes_seconds(text: str) -> None:
    began = time.process_time()
    placed(text, unigram_of())
    assert time.process_time() - began < 12


def test_every_word_of_squads_contexts_comes_back(shared_data: Path) -> None:
    tokenizer = spiece.read(shared_data / "tokenizers" / "albert-en-spiece.model")
    read = collect(squad.read(shared_data / "squad" / "dev-v1.1.json")).examples
    contexts = list(dict.fromkeys(one.context for one in read if isinstance(one, Question)))[::8]
    count = lost = 0
    for where in offsets.located(contexts, [Place()] * len(contexts), tokenizer):
        at = 0
        for word in where.text.split():
            at = where.text.index(word, at)
            count, lost = count + 1, lost + (where.exactly(at, at + len(word)) is None)
            at += len(word)
    assert count > 30_000
    assert lost == 0
