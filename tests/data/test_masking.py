"""What stands in the place of what is asked? The published shares, and each row by its own address alone."""

import random

import numpy as np
import pytest

from data.laid_out import padded, picked, rows
from litebert.data.masking import corrupt
from litebert.data.recipe import names, recipe
from litebert.data.rows import NO_ORDER, Batch
from litebert.data.units import most_predictions
from litebert.data.vocabulary import plain
from litebert.errors import UserError

VOCABULARY = plain(30_000)
MASK = VOCABULARY.mask
GIVEN = {layout: rows(40, 64, full=False, layout=layout, seed=4) for layout in ("bert", "xlnet")}


def given_for(chosen):
    return GIVEN["xlnet" if chosen.layout == "xlnet" else "bert"]


def fields(batch):
    """The arrays of a batch by name."""
    return {name: value for name, value in batch._asdict().items() if isinstance(value, np.ndarray)}


def same(one, other):
    """Whether two batches are byte for byte the same."""
    one, other = fields(one), fields(other)
    return one.keys() == other.keys() and all(
        (one[name].dtype, one[name].shape, one[name].tobytes())
        == (other[name].dtype, other[name].shape, other[name].tobytes())
        for name in one
    )


def what_happened(batch, given):
    """Shares of the predicted places with a mask, another token, and their own token."""
    rows_of, slots = np.nonzero(batch.weights)
    places = batch.asked[rows_of, slots]
    now, then = batch.ids[rows_of, places], given.ids[rows_of, places]
    return np.array([(now == MASK).mean(), ((now != MASK) & (now != then)).mean(), (now == then).mean()]), now, then


@pytest.mark.parametrize("name", names())
def test_what_is_asked_is_what_stood_there_and_nothing_else_has_changed(name):
    chosen = recipe(name, length=64)
    given = given_for(chosen)
    batch = corrupt(given, chosen, VOCABULARY, 1, 0)
    restored = batch.ids.copy()
    for row in range(40):
        real = batch.weights[row] > 0
        asked = batch.asked[row, real]
        assert (np.diff(asked) > 0).all(), "no place twice, in ascending order"
        assert (given.words[row, asked] >= 0).all(), "no special token, no padding"
        restored[row, asked] = batch.targets[row, real]
    assert np.array_equal(restored, given.ids)
    assert batch.weights.any(axis=1).all()


@pytest.mark.parametrize("name", names())
def test_slots_that_ask_nothing_say_so_in_every_field(name):
    chosen = recipe(name, length=64)
    batch = corrupt(given_for(chosen), chosen, VOCABULARY, 1, 0)
    empty = batch.weights == 0
    assert empty.any(), "shorter rows ask less"
    assert not batch.asked[empty].any()
    assert not batch.targets[empty].any()
    assert (batch.spans[empty] == -1).all()
    assert (batch.weights[~empty] == 1).all()
    assert (batch.spans[~empty] >= 0).all()
    assert (np.diff(empty.astype(int), axis=1) >= 0).all(), "they come last"


@pytest.mark.parametrize("name", names())
def test_a_batch_has_the_shapes_and_types_that_it_declares(name):
    chosen = recipe(name, length=64)
    given = given_for(chosen)
    batch = corrupt(given, chosen, VOCABULARY, 1, 0)
    shapes = dict.fromkeys(("ids", "mask", "segments", "ranks"), (40, 64)) | {"order": (40,), "examples": (40,)}
    for field, value in fields(batch).items():
        assert value.shape == shapes.get(field, (40, most_predictions(chosen))), field
        assert f".{value.dtype}]" in str(Batch.__annotations__[field]), field
    assert batch.mask.sum(axis=1).tolist() == given.lengths.tolist()
    assert np.array_equal(batch.order, given.order)
    assert np.array_equal(batch.examples, given.examples)


@pytest.mark.parametrize("name", names())
def test_the_same_seed_gives_the_same_bytes_and_no_global_generator_is_used(name):
    chosen = recipe(name, length=64)
    given = given_for(chosen)
    before = np.random.get_state()[1].tobytes(), random.getstate()  # noqa: NPY002 - the one that must stay as it is
    first = corrupt(given, chosen, VOCABULARY, 7, 3)
    assert (np.random.get_state()[1].tobytes(), random.getstate()) == before  # noqa: NPY002
    np.random.random(), random.random()  # noqa: NPY002
    assert same(first, corrupt(given, chosen, VOCABULARY, 7, 3))
    assert not same(first, corrupt(given, chosen, VOCABULARY, 8, 3))


@pytest.mark.parametrize("name", names())
def test_a_row_does_not_depend_on_the_rows_beside_it(name):
    chosen = recipe(name, length=64)
    given = given_for(chosen)
    whole = corrupt(given, chosen, VOCABULARY, 7, 3)
    for which in (np.arange(40)[::-1], np.array([5]), np.array([30, 2, 2, 17]), np.arange(0, 40, 3)):
        part = fields(corrupt(picked(given, which), chosen, VOCABULARY, 7, 3))
        for field, value in fields(whole).items():
            assert np.array_equal(part[field], value[which]), field


@pytest.mark.parametrize("name", names())
def test_a_row_does_not_depend_on_how_far_it_is_padded(name):
    chosen = recipe(name, length=64)
    given = given_for(chosen)
    narrow, wide = (fields(corrupt(some, chosen, VOCABULARY, 7, 3)) for some in (given, padded(given, 80)))
    for field, value in narrow.items():
        columns = value.shape[1:] and slice(value.shape[1])
        assert np.array_equal(wide[field][:, columns] if columns else wide[field], value), field
    assert not wide["mask"][:, 64:].any()
    assert not wide["weights"][:, narrow["weights"].shape[1] :].any()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("albert", (0.8, 0.1, 0.1), id="ALBERT"),
        pytest.param("albert-google", (0.8, 0.1, 0.1), id="google's"),
        pytest.param("spanbert", (0.8, 0.1, 0.1), id="SpanBERT"),
        pytest.param("electra", (0.85, 0.0, 0.15), id="ELECTRA"),
        pytest.param("xlnet", (0.0, 0.0, 1.0), id="XLNet"),
    ],
)
def test_replacements_have_the_published_shares(name, expected):
    chosen = recipe(name, length=128, most=0)
    given = rows(6000, 128, pieces=1.0)
    found, now, _ = what_happened(corrupt(given, chosen, VOCABULARY, 0, 0), given)
    assert len(now) > 100_000
    # a random token is the one that stood there, or the mask, once in 30 000 (in a row's own text once in 125)
    assert found == pytest.approx(expected, abs=0.01)


def test_every_token_of_a_span_is_decided_for_itself_or_with_the_span():
    given = rows(2000, 128, pieces=1.0)
    for decide in ("token", "span"):
        chosen = recipe("spanbert", length=128, decide=decide, replacements="pieces")
        batch = corrupt(given, chosen, VOCABULARY, 0, 0)
        now = np.take_along_axis(batch.ids, batch.asked.astype(np.intp), axis=1)
        pair = (batch.spans[:, 1:] == batch.spans[:, :-1]) & (batch.weights[:, 1:] > 0)
        masked = now == MASK
        mixed = (masked[:, 1:] != masked[:, :-1])[pair].mean()
        # pieces never are the mask, so that a span of one kind is masked wholly or not at all
        assert mixed == (0 if decide == "span" else pytest.approx(2 * 0.8 * 0.2, abs=0.02))


def test_random_tokens_of_one_span_are_not_all_the_same():
    given = rows(500, 128, pieces=1.0)
    batch = corrupt(given, recipe("spanbert", length=128, masked=0.0, random=1.0), VOCABULARY, 0, 0)
    now = np.take_along_axis(batch.ids, batch.asked.astype(np.intp), axis=1)
    pair = (batch.spans[:, 1:] == batch.spans[:, :-1]) & (batch.weights[:, 1:] > 0)
    assert (now[:, 1:] == now[:, :-1])[pair].mean() < 0.05


# 99.9 % points of the chi-square distribution at 49 and 54 degrees of freedom
@pytest.mark.parametrize(("replacements", "lowest", "critical"), [("pieces", 5, 85.35), ("vocabulary", 0, 91.87)])
def test_random_ids_are_uniform_and_cover_the_special_ones_only_in_google_s_way(replacements, lowest, critical):
    small = plain(55)
    given = rows(4000, 64, size=55)
    chosen = recipe("albert", length=64, replacements=replacements, masked=0.0, random=1.0)
    _, now, _ = what_happened(corrupt(given, chosen, small, 0, 0), given)
    counts = np.bincount(now, minlength=55)
    assert counts[:lowest].sum() == 0
    drawn = counts[lowest:]
    assert ((drawn - drawn.mean()) ** 2 / drawn.mean()).sum() < critical


def test_text_is_drawn_from_the_row_itself_or_from_what_is_given():
    given = rows(300, 64)
    chosen = recipe("spanbert", length=64, masked=0.0, random=1.0)
    batch = corrupt(given, chosen, VOCABULARY, 0, 0)
    for row in range(300):
        assert set(batch.ids[row]) <= set(given.ids[row])
        inner = batch.ids[row, batch.asked[row, batch.weights[row] > 0]]
        assert inner.min() >= 5, "no special token of the row"
    text = np.array([7, 7, 7, 9], dtype=np.uint16)
    _, now, _ = what_happened(corrupt(given, chosen, VOCABULARY, 0, 0, text=text), given)
    assert set(now) == {7, 9}
    assert (now == 7).mean() == pytest.approx(0.75, abs=4 * (0.75 * 0.25 / len(now)) ** 0.5)


@pytest.mark.parametrize("name", ["bert", "albert-google", "albert-zh"])
def test_static_masks_come_again_after_as_many_epochs_as_there_are_copies(name):
    chosen = recipe(name, length=64)
    given = given_for(chosen)
    epochs = [corrupt(given, chosen, VOCABULARY, 0, epoch) for epoch in range(4 * chosen.copies)]
    seen = {}
    for batch in epochs:
        key = batch.ids.tobytes() + batch.asked.tobytes()
        seen[key] = seen.get(key, 0) + 1
    assert list(seen.values()) == [4] * chosen.copies
    assert same(epochs[3], epochs[3 + chosen.copies])


@pytest.mark.parametrize("name", ["roberta", "albert", "spanbert", "xlnet", "electra"])
def test_dynamic_masks_of_a_row_differ_between_epochs(name):
    chosen = recipe(name, length=64)
    given = given_for(chosen)
    epochs = [corrupt(given, chosen, VOCABULARY, 0, epoch) for epoch in range(12)]
    for row in range(40):
        if given.lengths[row] > 40:
            patterns = {(tuple(batch.asked[row]), tuple(batch.ids[row])) for batch in epochs}
            assert len(patterns) >= 10, "by chance a short row has the same spans twice"


def test_what_stands_in_a_token_s_place_is_drawn_anew_every_epoch():
    """A slot that is masked in one epoch is no likelier than others to be masked in the next one."""
    given = rows(1000, 64, pieces=1.0)
    chosen = recipe("roberta", length=64, masked=0.5, random=0.5)
    masked = []
    for epoch in (0, 1):
        batch = corrupt(given, chosen, VOCABULARY, 0, epoch)
        masked.append(np.take_along_axis(batch.ids, batch.asked.astype(np.intp), axis=1) == MASK)
    assert (masked[0] == masked[1]).mean() == pytest.approx(0.5, abs=4 * 0.5 / masked[0].size ** 0.5)


def test_only_uni_lm_s_batches_tell_another_mode():
    given = GIVEN["bert"]
    chosen = recipe("unilm", length=64)
    for mode, told in {"left-to-right": {2}, "right-to-left": {3}, "seq2seq": {4, 5}, "bidirectional": {0, 1}}.items():
        batch = corrupt(given, chosen, VOCABULARY, 0, 0, mode=mode)
        assert set(batch.segments[batch.mask > 0]) == told
        assert batch.mode == mode
        assert (batch.source is not None) == (mode == "seq2seq")
        assert (batch.order == NO_ORDER).all() == (mode != "bidirectional"), "the pair is asked for in one mode"
    with pytest.raises(UserError, match="choose one of bidirectional"):
        corrupt(given, chosen, VOCABULARY, 0, 0, mode="sideways")


def test_fine_tuning_for_generation_hides_the_target_alone_and_its_end():
    given = rows(3000, 64, full=False)
    chosen = recipe("unilm", length=64, rate=0.7, spans="one")
    batch = corrupt(given, chosen, VOCABULARY, 0, 0, mode="seq2seq", target=True)
    real = batch.weights > 0
    assert (batch.asked >= given.source[:, None])[real].all()
    target = given.lengths - given.source - 1
    counts = real.sum(axis=1)
    assert counts.tolist() == np.maximum(1, np.rint(0.7 * target)).tolist()
    ends = ((batch.asked == given.lengths[:, None] - 1) & real).any(axis=1)
    # the closing separator is one of target + 1 tokens of which so many are asked
    expected = (counts / (target + 1)).mean()
    assert ends.mean() == pytest.approx(expected, abs=4 * 0.5 / 3000**0.5)
    last = batch.targets[np.arange(3000), counts - 1][ends]
    assert (last == VOCABULARY.sep).all(), "the end is a target like any other"


def test_the_given_rows_are_left_as_they_are():
    given = rows(20, 64)
    before = [field.copy() for field in given]
    for name in names():
        corrupt(given, recipe(name, length=64), VOCABULARY, 0, 0)
    corrupt(given, recipe("unilm", length=64), VOCABULARY, 0, 0, mode="seq2seq", target=True)
    assert all(np.array_equal(one, other) for one, other in zip(before, given, strict=True))
