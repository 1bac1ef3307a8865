"""Does a tokenizer learn a domain's words without forgetting what its ids mean?"""

from __future__ import annotations

import functools
import json
import math
import random
from collections import Counter
from pathlib import Path

import pytest
import tokenizers
from tokenizers import AddedToken

from litebert.errors import UserError
from litebert.text import sample, wordpiece
from litebert.text.encode import Encoder
from litebert.text.extend import Extended, _scores, extend
from litebert.text.fit import fit
from litebert.text.sample import Sample
from litebert.text.tokenizer import Kind, Tokenizer
from text.test_encode import same
from text.test_wordpiece import SPECIALS
from text.tiny import KINDS, odd, sentences, trained

_DOMAIN = ("zephyrus", "zephyric", "quaxolite", "quaxal", "wexophage", "ηλιος", "bado", "Юla")


@functools.cache
def domain() -> Sample:
    """Text of another field: some of its words are new, and so are some of their letters."""
    draw = random.Random(5)
    texts = [" ".join([*draw.choices(_DOMAIN, k=6), sentence]) for sentence in sentences(300, seed=20)]
    return sample.of_texts(["\n".join(texts)])


@functools.cache
def extended(kind: Kind, add: int = 50) -> Extended:
    return extend(trained(kind), domain(), add)


def pieces_of(made: Extended) -> dict[str, int]:
    """How often each new piece stands in the domain's text."""
    counts = dict.fromkeys(made.pieces, 0)
    for sentence in domain().sentences():
        for piece in made.tokenizer.pieces(made.tokenizer.encode(sentence)):
            if piece in counts:
                counts[piece] += 1
    return counts


@pytest.mark.parametrize("kind", KINDS)
def test_old_ids_keep_their_pieces_and_new_ones_follow(kind: Kind) -> None:
    old, made = trained(kind), extended(kind)
    assert made.tokenizer.size == old.size + 50
    assert made.first == old.size
    assert made.tokenizer.pieces(range(old.size)) == old.pieces(range(old.size))
    assert made.tokenizer.pieces(range(old.size, old.size + 50)) == made.pieces
    assert made.tokenizer.specials == old.specials
    assert made.tokenizer.starts[: old.size].tolist() == old.starts.tolist()
    assert made.tokenizer.special.sum() == old.special.sum()


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_piece_is_spelled_by_the_old_ones_in_its_place(kind: Kind) -> None:
    old, made = trained(kind), extended(kind)
    pairs = list(zip(made.pieces, made.made_of, strict=True))
    unknown = {piece[-1] for piece, parts in pairs if not parts}
    spelled = {
        piece: "".join(name.removeprefix("##" * (place > 0)) for place, name in enumerate(old.pieces(parts)))
        for piece, parts in pairs if not unknown.intersection(piece)
    }  # fmt: skip
    assert len(spelled) > 8
    assert list(spelled) == list(spelled.values())
    assert not [piece for piece, parts in pairs if old.specials.unk in parts]


@pytest.mark.parametrize("kind", ["unigram", "wordpiece"])
def test_letters_that_were_unknown_are_known_and_made_of_nothing(kind: Kind) -> None:
    old, made = trained(kind), extended(kind)
    assert old.specials.unk in old.encode("ηλιος")
    assert made.tokenizer.specials.unk not in made.tokenizer.encode("ηλιος zephyrus")
    letters = {piece.removeprefix("##"): parts for piece, parts in zip(made.pieces, made.made_of, strict=True)}
    assert letters["η"] == []


@pytest.mark.parametrize("kind", KINDS)
def test_words_of_the_domain_become_pieces(kind: Kind) -> None:
    old, made = trained(kind), extended(kind)
    for word in ("zephyrus", "wexophage"):
        found = made.tokenizer.encode(word)
        assert len(found) == 1
        assert found != old.encode(word)
    before, after = fit(old, domain()), fit(made.tokenizer, domain())
    assert after.unknown < max(1, before.unknown / 20)
    assert kind == "wordpiece" or after.tokens < 0.75 * before.tokens  # to it, an unknown word is one token


@pytest.mark.parametrize("kind", ["unigram", "wordpiece"])
def test_every_joined_piece_is_met_as_often_as_was_asked(kind: Kind) -> None:
    """A piece on the way to a longer one, zephyr to zephyrus, would stand in the table and never be read."""
    made = extended(kind)
    counts = pieces_of(made)
    assert [piece for piece, parts in zip(made.pieces, made.made_of, strict=True) if parts and counts[piece] < 5] == []


def test_a_piece_that_the_engine_passes_over_is_left_out(tmp_path: Path) -> None:
    """##qz is joined first, in bqz and aqz, then aq in aq: from then on aqz is cut aq, ##z, and ##qz is never met."""
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join([*SPECIALS, "a", "b", "##q", "##z"]) + "\n")
    words = ["bqz"] * 200 + ["aqz"] * 100 + ["aq"] * 150
    made = extend(wordpiece.read(path), sample.of_texts([" ".join(words)]), 3)
    assert made.pieces == ["bqz", "aq", "aqz"]
    assert made.made_of == [[6, 7, 8], [5, 7], [5, 7, 8]]


def test_a_new_piece_scores_better_than_what_it_stands_for() -> None:
    """Two frequent pieces that are rarely neighbours: the share alone would leave the new one unused."""
    state = {"model": {"vocab": [["a", -1.0], ["b", -2.0]]}}
    used = Counter({"ab": 5, "cd": 5, "x": 10**6})
    rare, unknown = _scores(state, used, ["ab", "cd"], [[0, 1], []])
    assert -3 < rare < -2.9
    assert unknown == pytest.approx(math.log(5 / used.total()))


def test_bytes_are_cut_as_before_and_then_joined() -> None:
    """What the new pieces stand for, put in their places, is what the old tokenizer gives."""
    old, made = trained("bpe"), extended("bpe")
    for text in [*domain().sentences(), *odd(500, seed=21), *sentences(200, seed=21)]:
        found = [part for id_ in made.tokenizer.encode(text)
                 for part in (made.made_of[id_ - made.first] if id_ >= made.first else [id_])]  # fmt: skip
        assert found == old.encode(text), repr(text)


@pytest.mark.parametrize("kind", KINDS)
def test_only_letters_are_joined(kind: Kind) -> None:
    """Numbers and punctuation are cut as before: ALBERT's comma after a digit stays alone."""
    for piece, parts in zip(extended(kind).pieces, extended(kind).made_of, strict=True):
        bare = piece.removeprefix("##").replace("▁", "").replace("Ġ", "")
        assert not (len(parts) > 1 and any(each in bare for each in "0123456789.,-?!")), piece


@pytest.mark.parametrize("kind", KINDS)
def test_text_that_names_a_special_piece_is_still_text(kind: Kind) -> None:
    made = extended(kind).tokenizer
    for name in ("[MASK]", "<mask>", "[SEP]", "<pad>", "[PAD]"):
        assert not {made.specials.mask, made.specials.pad, made.specials.sep}.intersection(made.encode(name))


@pytest.mark.parametrize("kind", KINDS)
def test_the_fast_way_holds_for_it(kind: Kind) -> None:
    encoder = Encoder(extended(kind).tokenizer)
    assert encoder.rules is not None
    same(encoder, [*list(domain().sentences())[:200], *odd(500, seed=22), *sentences(200, seed=22)])


@pytest.mark.parametrize("kind", KINDS)
def test_transformers_reads_it(kind: Kind, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    made = extended(kind).tokenizer
    made.save(tmp_path)
    peer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert len(peer) == made.size
    for text in domain().sentences():
        assert peer(text, add_special_tokens=False)["input_ids"] == made.encode(text)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_same_every_time(kind: Kind) -> None:
    assert extend(trained(kind), domain(), 50).tokenizer.text == extended(kind).tokenizer.text


def test_merges_of_an_older_engine_are_written_as_it_wrote_them() -> None:
    state = json.loads(trained("bpe").text)
    state["model"]["merges"] = [" ".join(pair) for pair in state["model"]["merges"]]
    made = extend(Tokenizer(json.dumps(state)), domain(), 50)
    assert all(isinstance(merge, str) for merge in json.loads(made.tokenizer.text)["model"]["merges"])
    assert made.pieces == extended("bpe").pieces
    assert made.tokenizer.encode("zephyrus") == extended("bpe").tokenizer.encode("zephyrus")


@pytest.mark.parametrize("kind", KINDS)
def test_more_pieces_than_the_text_gives_are_refused(kind: Kind) -> None:
    with pytest.raises(UserError, match=r"add 9000 is more than the sample gives: (\d+) new pieces are met 5 times"):
        extend(trained(kind), domain(), 9000)


def test_fewer_pieces_than_new_letters_are_the_most_frequent_letters() -> None:
    made = extend(trained("unigram"), domain(), 3)
    assert all(len(piece) == 1 for piece in made.pieces)
    assert made.made_of == [[], [], []]


def test_how_often_a_piece_must_be_met_can_be_said() -> None:
    made = extend(trained("wordpiece"), domain(), 20, least=200)
    counts = pieces_of(made)
    assert all(counts[piece] >= 200 for piece, parts in zip(made.pieces, made.made_of, strict=True) if parts)
    with pytest.raises(UserError, match="add 0 pieces that are met 5 times: choose 1 or more of each"):
        extend(trained("wordpiece"), domain(), 0)


def test_pieces_beside_the_vocabulary_are_refused() -> None:
    """Their ids follow the vocabulary's end, where the new ones would stand."""
    engine = tokenizers.Tokenizer.from_str(trained("wordpiece").text)
    engine.add_tokens([AddedToken("zephyrus", special=False)])
    with pytest.raises(UserError, match=r"1 pieces were added beside the vocabulary \(zephyrus\)"):
        extend(Tokenizer(engine.to_str()), domain(), 5)
