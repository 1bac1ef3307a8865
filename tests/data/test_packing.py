"""Does every example begin and end where the published rules say, whoever asks and however often?"""

import dataclasses

import numpy as np
import pytest

from data import originals
from litebert.data.draft import Draws as Asked
from litebert.data.layout import FRAMES
from litebert.data.packing import Plan, lengths, plan
from litebert.data.pairs import SWAPPED
from litebert.data.recipe import Recipe, recipe
from litebert.data.rows import NO_ORDER
from litebert.data.shards import Arrays, Counts, Shard, Shards
from litebert.errors import UserError

PAIRS = ["sop", "sop-google", "sop-drop", "nsp", "segment-pair", "sentence-pair"]
EVERY = [*PAIRS, "full-sentences", "doc-sentences", "single"]


def shards_of(documents: list[originals.Document], per_shard: int = 0, starts: object = None) -> Shards:
    return Shards.from_documents(documents, starts, per_shard=per_shard)  # type: ignore[arg-type]


def tokens_of(documents: list[originals.Document]) -> list[int]:
    return [token for document in documents for sentence in document for token in sentence]


def parts(made: Plan, text: list[int]) -> list[originals.Pair]:
    """A plan's examples as their text, turned as rows will have them."""
    found = []
    for begin, first, second, other, label in zip(
        made.begins, made.firsts, made.seconds, made.others, made.order, strict=True
    ):
        behind = begin + first if other < 0 else other
        a, b = text[begin : begin + first], text[behind : behind + second]
        turned = made.recipe.packing in SWAPPED and label == 1 and other < 0
        found.append(originals.Pair(b, a, int(label)) if turned else originals.Pair(a, b, int(label)))
    return found


@pytest.mark.parametrize("packing", PAIRS)
@pytest.mark.parametrize("layout", ["bert", "roberta", "xlnet"])
def test_pairs_are_those_of_the_published_rule_taken_one_at_a_time(packing: str, layout: str) -> None:
    for seed in range(12):
        documents = originals.corpus(seed, documents=3 + 4 * seed, sentences=2 + seed)
        starts = originals.word_starts(seed, documents, share=0.3)
        chosen = Recipe(packing=packing, layout=layout, length=12 + 7 * (seed % 5), short=0.3)
        made = plan(shards_of(documents, 1 + seed % 7, starts), chosen, seed, epoch=seed % 3)
        expected = originals.pairs(documents, chosen, made.room, originals.Draws(seed, seed % 3), starts)
        assert made.room == chosen.length - chosen.specials
        assert parts(made, tokens_of(documents)) == expected


@pytest.mark.parametrize(("packing", "across"), [("full-sentences", True), ("doc-sentences", False)])
def test_whole_sentences_fill_rows_and_only_full_sentences_cross_documents(packing: str, across: bool) -> None:
    for seed in range(20):
        documents = originals.corpus(seed, documents=1 + 3 * seed, tokens=3 + 4 * (seed % 6))
        text, per_shard = tokens_of(documents), 1 + seed % 9
        made = plan(shards_of(documents, per_shard), Recipe(packing=packing, length=14, short=0.0), seed, 0)
        rows = [
            row
            for first in range(0, len(documents), per_shard)
            for row in originals.whole_sentences(documents[first : first + per_shard], made.room, across)
        ]
        assert [text[b : b + n] for b, n in zip(made.begins, made.firsts, strict=True)] == [
            [token for token in row if token != originals.SEP] for row in rows
        ]
        assert lengths(made).tolist() == [len(row) + 2 for row in rows]
        assert max(lengths(made)) <= 14


def test_single_cuts_each_document_at_every_full_row() -> None:
    documents = originals.corpus(3, documents=40)
    made = plan(shards_of(documents, 7), Recipe(packing="single", length=10, short=0.0), 1, 0)
    text = tokens_of(documents)
    rows = [
        whole[at : at + 8] for whole in ([t for s in d for t in s] for d in documents) for at in range(0, len(whole), 8)
    ]
    assert [text[b : b + n] for b, n in zip(made.begins, made.firsts, strict=True)] == rows
    assert set(made.order) == {NO_ORDER}


@pytest.mark.parametrize("packing", ["full-sentences", "doc-sentences", "single"])
def test_short_rows_lose_no_text_and_split_no_sentence_that_fits(packing: str) -> None:
    documents = originals.corpus(5, documents=300, tokens=12)
    made = plan(shards_of(documents, 50), Recipe(packing=packing, length=32, short=0.5), 1, 0)
    assert np.array_equal(made.begins[1:], (made.begins + made.firsts)[:-1]), "row after row, nothing between"
    assert made.begins[-1] + made.firsts[-1] == made.shards.tokens
    begins = {sentence[0] - originals.FIRST for document in documents for sentence in document}
    assert packing == "single" or set(made.begins.tolist()) <= begins
    plain = plan(made.shards, made.recipe.but(short=0.0), 1, 0)
    assert made.count > 1.2 * plain.count


@pytest.mark.parametrize("packing", ["sop", "sop-drop"])
def test_half_of_the_pairs_are_swapped_and_none_is_of_two_documents(packing: str) -> None:
    documents = originals.corpus(1, documents=4000, sentences=30)
    made = plan(shards_of(documents, 600), Recipe(packing=packing, length=40), 3, 0)
    asked = made.order != NO_ORDER
    assert asked.sum() > 10_000
    assert abs(made.order[asked].mean() - 0.5) < 0.02
    assert (made.others == -1).all()
    bounds = np.array([document[0][0] - originals.FIRST for document in documents])
    last = made.begins + made.firsts + made.seconds - 1
    holder = np.searchsorted(bounds, made.begins, side="right")
    assert np.array_equal(holder, np.searchsorted(bounds, last, side="right"))
    assert made.firsts.min() > 0
    assert made.seconds.min() > 0


def test_google_calls_a_chunk_of_one_sentence_swapped_which_moves_the_balance() -> None:
    documents = originals.corpus(2, documents=4000, sentences=12, tokens=30)
    made = plan(shards_of(documents, 500), recipe("albert-google", length=40), 3, 0)
    lonely = made.others >= 0
    share = lonely.mean()
    assert made.count > 10_000
    assert 0.1 < share < 0.9
    assert (made.order[lonely] == 1).all()
    assert abs(made.order.mean() - (share + (1 - share) / 2)) < 0.02


def test_every_sentence_of_an_epoch_stands_in_some_pair() -> None:
    documents = originals.corpus(4, documents=600, sentences=7)
    starts = originals.word_starts(4, documents, share=0.2)
    for epoch in range(3):
        made = plan(shards_of(documents, 90, starts), Recipe(length=24), 9, epoch)
        seen = np.zeros(made.shards.tokens, dtype=bool)
        for begin, size in zip(made.begins, made.firsts + made.seconds, strict=True):
            seen[begin : begin + size] = True
        alone = [(d[0], sum(s[0])) for d, s in zip(documents, starts, strict=True) if len(d) == 1]
        missing = {token for sentence, words in alone if words == 1 for token in sentence}
        assert {int(at) + originals.FIRST for at in np.flatnonzero(~seen)} == missing
        assert made.left_out == sum(words == 1 for _, words in alone) > 0
        assert (made.order == NO_ORDER).sum() == len(alone) - made.left_out > 0


def test_dropped_chunks_are_counted() -> None:
    documents = originals.corpus(6, documents=300, sentences=4)
    chosen = Recipe(packing="sop-drop", length=20, short=0.0)
    made = plan(shards_of(documents), chosen, 1, 0)
    released = plan(made.shards, chosen.but(packing="sop-google"), 1, 0)
    assert made.left_out == (released.others >= 0).sum() > 0
    assert made.count == released.count - made.left_out


@pytest.mark.parametrize("packing", EVERY)
def test_the_same_epoch_twice_is_the_same_and_another_is_another(packing: str) -> None:
    shards, chosen = shards_of(originals.corpus(7, documents=200), 30), Recipe(packing=packing, length=24, short=0.2)
    one, again, other, reseeded = (plan(shards, chosen, *at) for at in ((1, 4), (1, 4), (1, 5), (2, 4)))
    for field in dataclasses.fields(Plan):
        if isinstance(value := getattr(one, field.name), np.ndarray):
            assert value.tobytes() == getattr(again, field.name).tobytes()
    for another in (other, reseeded):
        assert (one.begins.tobytes(), one.order.tobytes()) != (another.begins.tobytes(), another.order.tobytes())


def test_copies_come_back() -> None:
    shards, chosen = shards_of(originals.corpus(7, documents=200), 30), recipe("bert", length=24)
    first, third, tenth = (plan(shards, chosen, 1, epoch) for epoch in (0, 3, 10))
    assert first.others.tobytes() == tenth.others.tobytes()
    assert first.others.tobytes() != third.others.tobytes()


@pytest.mark.parametrize("packing", EVERY)
def test_examples_have_numbers_of_their_own_in_the_order_of_the_text(packing: str) -> None:
    documents = originals.corpus(8, documents=300)
    made = plan(shards_of(documents, 40), Recipe(packing=packing, length=20, short=0.2), 1, 0)
    assert (np.diff(made.begins) > 0).all()
    assert made.firsts.min() > 0
    assert made.pair == (made.seconds > 0).all() == (made.seconds > 0).any()
    assert lengths(made).max() <= 20
    assert np.array_equal(lengths(made)[5:9], lengths(made, np.arange(5, 9)))


def test_chunks_are_cut_at_any_of_their_sentences_alike() -> None:
    documents = [[[originals.FIRST] * 4] * 6] * 20_000
    made = plan(shards_of(documents, 3000), Recipe(length=27, short=0.0), 1, 0)
    assert set((made.firsts + made.seconds).tolist()) == {24}
    shares = np.bincount(made.firsts // 4, minlength=6)[1:] / made.count
    assert np.abs(shares - 1 / 5).max() < 0.01
    assert abs(np.corrcoef(made.firsts, made.order)[0, 1]) < 0.03, "where it is cut says nothing about its order"


def test_one_document_in_ten_aims_at_any_shorter_length() -> None:
    asked = Asked(Recipe(short=0.1), 125, 1, 0, token=0, document=17)
    targets = asked.targets(200_000)
    short = targets[targets < 125]
    assert abs(len(short) / len(targets) - 0.1 * 123 / 124) < 0.003  # one of 124 lengths is the whole
    counts = np.bincount(targets[targets < 125], minlength=125)[2:125]
    assert counts.min() > 0.5 * counts.mean()
    assert short.min() == 2
    assert (asked._replace(recipe=Recipe(short=0.0)).targets(9) == 125).all()
    assert np.array_equal(asked._replace(document=18).targets(9), targets[1:10]), "a document's own draw"


def test_any_other_document_and_any_of_its_sentences_may_stand_second() -> None:
    documents = [[[originals.FIRST + d] * 30 for _ in range(5)] for d in range(10)] * 300
    shards = shards_of(documents, 700)
    made = plan(shards, Recipe(packing="nsp", length=43, short=0.0), 1, 0)
    lonely = made.others >= 0
    other = made.others[lonely] // 150
    assert (other != made.begins[lonely] // 150).all()
    quarters = np.bincount(other * 4 // len(documents)) / lonely.sum()
    assert np.abs(quarters - 0.25).max() < 0.02
    sentences = np.bincount(made.others[lonely] % 150 // 30) / lonely.sum()
    assert np.abs(sentences - 0.2).max() < 0.02


def test_a_corpus_of_one_document_takes_from_itself_rather_than_fail() -> None:
    made = plan(shards_of([[[5, 6, 7], [8, 9]]]), Recipe(packing="nsp", length=16), 1, 0)
    assert made.seconds.min() > 0


def test_truncated_tokens_are_counted() -> None:
    documents = originals.corpus(9, documents=100)
    made = plan(shards_of(documents), Recipe(length=20), 1, 0)
    text = sum(len(pair.a) + len(pair.b) for pair in parts(made, tokens_of(documents)))
    assert made.truncated == text - (lengths(made) - 3).sum() > 0
    assert plan(made.shards, Recipe(packing="full-sentences", length=20), 1, 0).truncated == 0


@pytest.mark.parametrize("packing", EVERY)
def test_shards_without_text_change_nothing(packing: str) -> None:
    whole = shards_of(originals.corpus(10, documents=60), 20)
    zero = np.zeros(1, dtype=np.int64)
    empty = Shard(Counts(0, 0, 0), lambda: Arrays(np.empty(0, np.uint16), zero, zero, np.empty(0, np.uint8)))
    holding = [shard for full in whole.shards for shard in (empty, full, empty)]
    padded = Shards(holding, whole.folder, "train", whole.vocabulary, "", {})
    one, two = (plan(shards, Recipe(packing=packing, length=20), 1, 0) for shards in (whole, padded))
    assert (one.begins.tobytes(), one.others.tobytes()) == (two.begins.tobytes(), two.others.tobytes())
    assert np.array_equal(lengths(one), lengths(two))


@pytest.mark.parametrize(
    ("documents", "packing", "said"),
    [
        ([], "sop", "split train has 0 sentences in 0 documents, sop needs at least one sentence: build with more"),
        ([[[5]]] * 3, "sop", "3 sentences in 3 documents, sop needs two words in a document: add text or choose pac"),
        ([[[5, 6]]], "sop-drop", "1 sentences in 1 documents, sop-drop needs two sentences in a document: add text"),
    ],
)
def test_too_little_text_is_said_with_the_cure(documents: list[originals.Document], packing: str, said: str) -> None:
    with pytest.raises(UserError, match="too little text") as caught:
        plan(shards_of(documents), Recipe(packing=packing), 1, 0)
    assert said in str(caught.value)


def test_a_row_is_not_longer_than_its_words_can_be_numbered() -> None:
    with pytest.raises(UserError, match="length 40000 is more than a row can have: choose 32767 or less"):
        plan(shards_of([[[5], [6]]]), Recipe(length=40_000), 1, 0)


def test_layouts_frame_rows_as_recipes_count() -> None:
    for layout, frame in FRAMES.items():
        assert frame.specials(pair=True) == Recipe(layout=layout).specials
        assert frame.specials(pair=False) == 2
