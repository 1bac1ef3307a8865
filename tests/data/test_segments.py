"""Is every row the text of its example in its layout, and the same whatever rows stand beside it?"""

import random
from itertools import pairwise

import numpy as np
import pytest

from data import originals
from litebert.data import permutation
from litebert.data.packing import Plan, lengths, plan
from litebert.data.recipe import Recipe
from litebert.data.rows import NO_ORDER, Rows
from litebert.data.segments import rows
from litebert.data.shards import Shards
from litebert.data.vocabulary import Vocabulary, plain

PAIRS = ["sop", "sop-google", "sop-drop", "nsp", "segment-pair", "sentence-pair"]
EVERY = [*PAIRS, "full-sentences", "doc-sentences", "single"]
LAYOUTS = ["bert", "roberta", "xlnet"]
PAD, CLS, SEP = 0, 2, 3


class Made:
    """A corpus, its plan, and all rows of it."""

    def __init__(self, packing: str, layout: str = "bert", length: int = 24, seed: int = 1) -> None:
        self.documents = originals.corpus(seed, documents=150)
        self.starts = originals.word_starts(seed, self.documents, share=0.5)
        self.text = [token for document in self.documents for sentence in document for token in sentence]
        self.fresh = dict(zip(self.text, (f for d in self.starts for s in d for f in s), strict=True))
        shards = Shards.from_documents(self.documents, self.starts, per_shard=40)
        self.vocabulary: Vocabulary = plain(shards.vocabulary)
        self.plan: Plan = plan(shards, Recipe(packing=packing, layout=layout, length=length, short=0.2), seed, epoch=3)
        self.rows: Rows = rows(self.plan, np.arange(self.plan.count), self.vocabulary)

    def pairs(self) -> list[originals.Pair]:
        """The examples as the published rule makes them, before truncation."""
        draws = originals.Draws(self.plan.seed, self.plan.epoch)
        return originals.pairs(self.documents, self.plan.recipe, self.plan.room, draws, self.starts)

    def split(self) -> list[tuple[list[int], ...]]:
        """Each row's text between its special tokens; nothing but padding stands behind its length."""
        found = []
        for ids, size in zip(self.rows.ids.tolist(), self.rows.lengths.tolist(), strict=True):
            assert set(ids[size:]) <= {PAD}
            texts: list[list[int]] = [[]]
            for token in ids[:size]:
                if token in (CLS, SEP):
                    texts.append([])
                else:
                    texts[-1].append(token)
            found.append(tuple(text for text in texts if text))
        return found


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("packing", PAIRS)
def test_a_row_is_its_two_segments_cut_to_the_length(packing: str, layout: str) -> None:
    made = Made(packing, layout)
    for (a, b), pair in zip(made.split(), made.pairs(), strict=True):
        lost = originals.dropped(len(pair.a), len(pair.b), made.plan.room, random.Random(1))
        assert (len(a), len(b)) == (len(pair.a) - sum(lost[:2]), len(pair.b) - sum(lost[2:]))
        for kept, whole in ((a, pair.a), (b, pair.b)):
            at = whole.index(kept[0])
            assert kept == whole[at : at + len(kept)]
    assert made.rows.order.tolist() == [pair.label for pair in made.pairs()]


@pytest.mark.parametrize("packing", PAIRS)
def test_the_three_layouts_of_two_segments(packing: str) -> None:
    for layout in LAYOUTS:
        made = Made(packing, layout)
        for number, (a, b) in enumerate(made.split()):
            size = int(made.rows.lengths[number])
            ids, segments = (values[number, :size].tolist() for values in (made.rows.ids, made.rows.segments))
            if layout == "bert":
                expected = [CLS, *a, SEP, *b, SEP]
                types, source = [0] * (len(a) + 2) + [1] * (len(b) + 1), len(a) + 2
            elif layout == "roberta":
                expected = [CLS, *a, SEP, SEP, *b, SEP]
                types, source = [0] * len(expected), len(a) + 2
            else:
                oracle = permutation.pair(a, b, SEP, CLS)
                expected, types, source = oracle.ids.tolist(), oracle.segments.tolist(), len(a) + 1
            assert (ids, segments, made.rows.source[number]) == (expected, types, source)
            assert size <= 24
            assert not made.rows.segments[number, size:].any()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("packing", ["full-sentences", "doc-sentences", "single"])
def test_rows_of_one_segment_and_the_separator_where_documents_meet(packing: str, layout: str) -> None:
    made = Made(packing, layout)
    holder = {token: number for number, d in enumerate(made.documents) for sentence in d for token in sentence}
    text: list[int] = []
    crossed = 0
    for number, parts in enumerate(made.split()):
        joined = [t for one, two in pairwise([*parts, []]) for t in [*one, *([SEP] if two else [])]]
        expected = [*joined, SEP, CLS] if layout == "xlnet" else [CLS, *joined, SEP]
        size = len(expected)
        assert made.rows.ids[number, :size].tolist() == expected
        assert made.rows.lengths[number] == made.rows.source[number] == size <= 24
        assert made.rows.segments[number].tolist() == [0] * (size - 1) + [2 * (layout == "xlnet")] + [0] * (24 - size)
        assert made.rows.order[number] == NO_ORDER
        held = [{holder[token] for token in part} for part in parts]
        assert all(len(one) == 1 for one in held), "a separator wherever the document changes"
        assert all(one != two for one, two in pairwise(held)), "and nowhere else"
        crossed += len(parts) - 1
        text += [token for part in parts for token in part]
    assert text == made.text
    assert (crossed > 0) == (packing == "full-sentences")


@pytest.mark.parametrize("packing", EVERY)
def test_words_are_counted_from_the_marks_and_begin_anew_with_each_segment(packing: str) -> None:
    made = Made(packing)
    glued = 0
    for number, parts in enumerate(made.split()):
        word, expected = -1, []
        for nth, part in enumerate(parts):
            anew = packing != "sop-google" or nth == 0
            glued += not anew and not made.fresh[part[0]]
            for at, token in enumerate(part):
                word += made.fresh[token] or (at == 0 and anew)
                expected.append(word)
        size = int(made.rows.lengths[number])
        text = made.rows.ids[number, :size] > SEP
        assert made.rows.words[number, :size][text].tolist() == expected
        assert (made.rows.words[number, :size][~text] == -1).all()
        assert (made.rows.words[number, size:] == -1).all()
    assert (glued > 0) == (packing == "sop-google")


@pytest.mark.parametrize("packing", EVERY)
def test_a_row_is_the_same_alone_and_in_any_company(packing: str) -> None:
    made = Made(packing)
    which = np.random.default_rng(1).permutation(made.plan.count)[: made.plan.count // 2]
    some = rows(made.plan, which, made.vocabulary)
    again = plan(made.plan.shards, made.plan.recipe, 1, 3)
    for one, two, three in zip(made.rows, some, rows(again, which, made.vocabulary), strict=True):
        assert one.dtype == two.dtype
        assert one[which].tobytes() == two.tobytes() == three.tobytes()
    for number in which[:5]:
        alone = rows(made.plan, np.array([number]), made.vocabulary)
        assert all(one[number].tobytes() == two[0].tobytes() for one, two in zip(made.rows, alone, strict=True))


@pytest.mark.parametrize("packing", EVERY)
def test_lengths_are_known_without_the_rows(packing: str) -> None:
    made = Made(packing)
    assert lengths(made.plan).tolist() == (made.rows.ids != PAD).sum(axis=1).tolist() == made.rows.lengths.tolist()
    assert np.array_equal(made.rows.examples, made.plan.begins)


def test_another_epoch_cuts_and_swaps_otherwise() -> None:
    made = Made("sop")
    chosen = made.plan.recipe.but(short=0.0)
    plans = [plan(made.plan.shards, chosen, 1, epoch) for epoch in (0, 1)]
    assert np.array_equal(plans[0].begins, plans[1].begins)
    one, two = (rows(each, np.arange(each.count), made.vocabulary) for each in plans)
    assert 0.3 < (one.order != two.order).mean() < 0.7
    same = (one.order == two.order) & (one.source == two.source) & (plans[0].firsts + plans[0].seconds > 21 + 4)
    assert (one.ids[same] != two.ids[same]).any(axis=1).mean() > 0.5, "truncation draws anew as well"


def test_narrow_rows_are_the_wide_ones_without_their_padding() -> None:
    made = Made("sentence-pair", length=64)
    which = np.flatnonzero(made.rows.lengths <= 16)
    narrow = rows(made.plan, which, made.vocabulary, width=16)
    for one, two in zip(made.rows, narrow, strict=True):
        assert np.array_equal(one[which][:, :16] if one.ndim == 2 else one[which], two)
    with pytest.raises(ValueError, match="does not fit into width 9"):
        rows(made.plan, np.arange(made.plan.count), made.vocabulary, width=9)


def test_none_may_be_asked_for_but_none_that_is_not_there() -> None:
    made = Made("sop")
    assert rows(made.plan, np.empty(0, dtype=np.int64), made.vocabulary).ids.shape == (0, 24)
    for wrong in (-1, made.plan.count):
        with pytest.raises(IndexError, match=f"there are 0 to {made.plan.count - 1}"):
            rows(made.plan, np.array([0, wrong]), made.vocabulary)


@pytest.mark.parametrize("packing", ["nsp", "full-sentences"])
def test_ids_of_four_bytes_are_read_as_they_are(packing: str) -> None:
    far = 70_000
    documents = [[[token + far for token in sentence] for sentence in d] for d in originals.corpus(1, 30)]
    shards = Shards.from_documents(documents, per_shard=9)
    made = plan(shards, Recipe(packing=packing, length=24), 1, 0)
    laid = rows(made, np.arange(made.count), plain(shards.vocabulary))
    assert laid.ids.dtype == np.int32
    assert laid.ids[laid.words >= 0].min() >= far


def test_the_words_of_the_longest_row_are_numbered_to_its_end() -> None:
    shards = Shards.from_documents([[list(range(5, 40_005))]])
    made = plan(shards, Recipe(packing="single", length=32_767, short=0.0), 1, 0)
    longest = rows(made, np.array([0]), plain(shards.vocabulary))
    assert longest.words[0].tolist() == [-1, *range(32_765), -1]
