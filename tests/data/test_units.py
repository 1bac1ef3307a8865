"""What may be hidden, where a span has to end, and how much a row may spend."""

import numpy as np
import pytest

from data.laid_out import padded, rows
from litebert.data.recipe import ConfigError, Recipe, recipe
from litebert.data.units import budgets, most_predictions, units

WORDS = np.array([[-1, 0, 0, 1, -1, 2, 2, 3, -1, -1]], dtype=np.int16)  # CLS aa b SEP cc d SEP pad


def spent(chosen, *lengths):
    return budgets(chosen, np.array(lengths)).tolist()


@pytest.mark.parametrize(("whole", "sizes"), [(True, [2, 1, 2, 1]), (False, [1] * 6)])
def test_units_are_words_or_tokens_without_the_special_ones(whole, sizes):
    found = units(WORDS, whole, across=False)
    assert found.tokens.tolist() == [1, 2, 3, 5, 6, 7]
    assert np.diff(found.first).tolist() == sizes
    assert found.counts.tolist() == [len(sizes)]


def test_a_span_may_run_to_the_end_of_its_segment_or_across():
    assert units(WORDS, True, across=False).ends.tolist() == [2, 2, 4, 4]
    assert units(WORDS, True, across=True).ends.tolist() == [4, 4, 4, 4]
    assert units(WORDS, False, across=False).ends.tolist() == [3, 3, 3, 6, 6, 6]


def test_a_word_that_google_glues_across_the_separator_is_one_unit_only_across():
    glued = np.array([[-1, 0, 1, -1, 1, 2, -1]], dtype=np.int16)
    assert np.diff(units(glued, True, across=True).first).tolist() == [1, 2, 1]
    assert np.diff(units(glued, True, across=False).first).tolist() == [1, 1, 1, 1]


def test_rows_do_not_run_into_one_another_even_without_special_tokens():
    bare = np.array([[0, 0, 1], [1, 1, 2], [0, 0, 0]], dtype=np.int16)
    found = units(bare, True, across=True)
    assert np.diff(found.first).tolist() == [2, 1, 2, 1, 3]
    assert found.ends.tolist() == [2, 2, 4, 4, 5]
    assert found.offsets.tolist() == [0, 2, 4, 5]


def test_rows_of_which_nothing_may_be_hidden_have_no_units():
    found = units(np.full((3, 4), -1, dtype=np.int16), True, across=False)
    assert (len(found.tokens), found.first.tolist(), found.counts.tolist()) == (0, [0], [0, 0, 0])


def test_the_budget_is_a_share_of_all_tokens_special_ones_counted():
    assert spent(Recipe(), 512, 128, 3) == [77, 19, 1]
    assert spent(recipe("albert-google"), 512, 128, 3) == [20, 19, 1]
    assert spent(recipe("albert-zh"), 512) == [51]


def test_halves_are_rounded_as_the_original_s_python_rounds_them():
    lengths = np.arange(1, 600)
    assert spent(Recipe(), *lengths) == [max(1, round(0.15 * n)) for n in lengths.tolist()]
    assert spent(Recipe(), 10, 30, 50, 70, 90) == [2, 4, 8, 10, 14]


@pytest.mark.parametrize("percent", [15, 7, 28, 55])
def test_spanbert_rounds_up_but_not_because_of_a_float(percent):
    lengths = range(1, 600)
    assert spent(recipe("spanbert", rate=percent / 100), *lengths) == [-(-percent * n // 100) for n in lengths]
    assert 0.07 * 100 > 7, "what would round up to 8"


def test_xlnet_predicts_one_token_in_six():
    assert spent(recipe("xlnet"), 512, 128, 5) == [85, 21, 1]
    assert most_predictions(recipe("xlnet")) == 85


@pytest.mark.parametrize(
    ("name", "length", "most"),
    [
        pytest.param("albert", 128, 19, id="ALBERT at 128"),
        pytest.param("albert", 512, 77, id="ALBERT at 512"),
        pytest.param("albert-google", 512, 20, id="google's cap"),
        pytest.param("bert", 128, 19, id="BERT"),
        pytest.param("electra", 128, 19, id="ELECTRA at 128"),
        pytest.param("electra", 512, 79, id="ELECTRA at 512 has a margin"),
        pytest.param("spanbert", 128, 20, id="SpanBERT"),
    ],
)
def test_the_width_of_a_batch_is_the_published_one(name, length, most):
    assert most_predictions(recipe(name, length=length)) == most


@pytest.mark.parametrize("name", ["albert", "electra", "spanbert", "xlnet", "albert-google"])
def test_no_row_of_a_shorter_batch_asks_for_more_than_its_width(name):
    chosen = recipe(name)
    for length in range(3, 513):
        assert spent(chosen, *range(3, length + 1))[-1] <= most_predictions(chosen, length) <= length


def test_padding_is_no_unit():
    narrow = rows(5, 30, full=False)
    one, other = (units(some.words, True, across=False) for some in (narrow, padded(narrow, 41)))
    assert one.first.tolist() == other.first.tolist()
    assert one.ends.tolist() == other.ends.tolist()


@pytest.mark.parametrize(
    "changes",
    [{"task": "plm"}, {"task": "plm", "masked": 0.0}, {"repeats": True}, {"repeats": True, "unit": "token"}],
)
def test_choices_that_contradict_one_another_are_refused(changes):
    with pytest.raises(ConfigError, match=r"set .*=|set both"):
        Recipe(**changes)
