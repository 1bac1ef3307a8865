"""Is every named way to feed text a short diff of another, with the published values, and every mistake named?"""

from __future__ import annotations

import json

import pytest

from litebert.config import ConfigError
from litebert.data.recipe import Recipe, build, diff, names, override, recipe

# What the papers and the released code say of each: packing, length, rate, cap, unit, spans, longest, 80/10/10, copies.
PUBLISHED = {
    "albert": ("sop", 512, 0.15, 0, "word", "harmonic", 3, (0.8, 0.1), 0),
    "albert-google": ("sop-google", 512, 0.15, 20, "word", "harmonic", 3, (0.8, 0.1), 40),
    "albert-zh": ("sop-drop", 512, 0.15, 51, "word", "one", 3, (0.8, 0.1), 10),
    "bert": ("nsp", 128, 0.15, 20, "token", "one", 3, (0.8, 0.1), 10),
    "roberta": ("full-sentences", 512, 0.15, 0, "token", "one", 3, (0.8, 0.1), 0),
    "roberta-doc": ("doc-sentences", 512, 0.15, 0, "token", "one", 3, (0.8, 0.1), 0),
    "spanbert": ("single", 512, 0.15, 0, "word", "geometric", 10, (0.8, 0.1), 0),
    "xlnet": ("nsp", 512, 0.15, 0, "token", "context", 5, (0.0, 0.0), 0),
    "unilm": ("nsp", 512, 0.15, 0, "token", "unilm", 3, (0.8, 0.1), 0),
    "electra": ("single", 128, 0.15, 0, "token", "one", 3, (0.85, 0.0), 0),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_name_stands_for_the_published_values(name: str) -> None:
    made = recipe(name)
    assert PUBLISHED[name] == (
        made.packing, made.length, made.rate, made.most, made.unit, made.spans, made.longest,
        (made.masked, made.random), made.copies,
    )  # fmt: skip


@pytest.mark.parametrize("name", names())
def test_a_name_is_a_short_diff_of_another_and_every_value_in_it_makes_a_difference(name: str) -> None:
    parent, changes = diff(name)
    before = recipe(parent).model_dump() if parent else Recipe().model_dump()
    assert recipe(name) == build({**before, **changes})
    assert [field for field, value in changes.items() if before[field] == value] == []
    assert len(changes) <= 9


def test_a_recipe_goes_through_json_unchanged() -> None:
    for name in names():
        assert build(json.loads(json.dumps(recipe(name).model_dump()))) == recipe(name)


def test_assignments_are_read_as_json_or_as_words_and_checked_together() -> None:
    made = override(recipe("albert"), ["length=128", "rate=0.3", "across=true", "spans=geometric", 'unit="token"'])
    assert (made.length, made.rate, made.across, made.spans, made.unit) == (128, 0.3, True, "geometric", "token")
    both = override(recipe("albert"), ["masked=0.0", "random=0.0", "task=plm"])  # none of them alone would do
    assert both.task == "plm"
    assert override(recipe("albert"), []) == recipe("albert")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lenght": 9}, "unknown data field 'lenght': did you mean 'length'?"),
        ({"packing": "nps"}, "packing 'nps': input should be "),
        ({"length": "128"}, "length '128': input should be a valid integer"),
        ({"length": 4}, "length 4 leaves no room for two segments: choose 5 or more"),
        ({"length": 5, "layout": "roberta"}, "length 5 leaves no room for two segments: choose 6 or more"),
        ({"short": 1.5}, "short 1.5 is not a share: choose 0.0 to 1.0"),
        ({"rate": 0.0}, "rate 0.0 is not between 0 and 1: choose for example 0.15"),
        ({"masked": 0.95}, "masked 0.95 and random 0.1 are together more than 1: choose for example 0.8 and 0.1"),
        ({"most": -1}, "most -1 is negative: choose 0 or more"),
        ({"copies": -1}, "copies -1 is negative: choose 0 or more"),
        ({"longest": 0}, "longest 0 is too small: choose 1 or more"),
        ({"spans": "context"}, "spans 'context' are XLNet's: set task=plm or spans=harmonic"),
        ({"task": "plm"}, "masked 0.8 and random 0.1 replace tokens that task 'plm' leaves in place: set both to 0.0"),
        ({"repeats": True}, "repeats draws single tokens, not unit 'word' and spans 'harmonic': set unit=token and"),
    ],
)
def test_what_cannot_be_is_refused_with_the_value_the_rule_and_the_cure(
    changes: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError) as refusal:
        Recipe(**changes)
    assert str(refusal.value).startswith(message)


@pytest.mark.parametrize("text", ["length", "=3", ""])
def test_what_is_no_assignment_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"is not of the form field=value: write for example --set rate=0\.3"):
        override(recipe("albert"), [text])


def test_a_name_that_is_not_known_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="unknown recipe 'roberto': did you mean 'roberta'"):
        recipe("roberto")


def test_a_recipe_cannot_be_changed_by_accident() -> None:
    with pytest.raises(ValueError, match="frozen"):
        recipe("albert").length = 3  # type: ignore[misc]
    assert recipe("albert").but(length=3 * 128).length == 384
