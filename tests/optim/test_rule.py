"""Which optimizers have a name, does every field of a rule do something, and what is refused?"""

from __future__ import annotations

import math

import pytest

from litebert.config import ConfigError
from litebert.optim.rule import Rule, names, rule
from optim.toys import trace

CHANGES = {
    "adapt": "none", "corrected": True, "ratio_limit": 0.5, "beta1": 0.8, "beta2": 0.9, "eps": 0.1, "decay": 0.5,
    "clip": 0.1,
}  # fmt: skip


def test_lamb_as_google_released_it_is_the_plain_name() -> None:
    assert (
        rule("lamb") == Rule() == Rule(adapt="weights", corrected=False, beta1=0.9, beta2=0.999, eps=1e-6, decay=0.01)
    )
    assert Rule().clip == 1.0


def test_names_are_the_variants_that_were_published() -> None:
    found = {name: {k: v for k, v in rule(name).model_dump().items() if v != getattr(Rule(), k)} for name in names()}
    assert found == {
        "lamb": {},
        "lamb-paper": {"corrected": True},
        "lambc": {"corrected": True, "ratio_limit": 1.0},
        "lamb-brightmart": {"adapt": "all"},
        "adamw": {"adapt": "none", "corrected": True},
        "adam-google": {"adapt": "none"},
    }


def test_no_two_names_do_the_same() -> None:
    ends = {name: (trace(rule(name)), trace(rule(name), excluded=True)) for name in names()}
    assert all(ends[a] != ends[b] for a in ends for b in ends if a < b)


@pytest.mark.parametrize(("field", "value"), CHANGES.items())
def test_every_field_changes_the_step(field: str, value: object) -> None:
    assert set(CHANGES) == set(Rule.model_fields)
    assert trace(Rule().but(**{field: value})) != trace(Rule())


@pytest.mark.parametrize(("values", "message"), [
    ({"beta1": 1.0}, "beta1 1.0 is not a share below 1"),
    ({"beta2": -0.1}, "beta2 -0.1 is not a share below 1"),
    ({"eps": 0.0}, "eps 0.0 is not a positive number"),
    ({"decay": -0.01}, "decay -0.01 is not a number from 0 on"),
    ({"clip": math.inf}, "clip inf is not a number from 0 on"),
    ({"clip": math.nan}, "clip nan is not a number from 0 on"),
    ({"adapt": "none", "ratio_limit": 1.0}, "ratio_limit 1.0 has no effect with adapt 'none'"),
    ({"adapt": "some"}, "adapt 'some': input should be 'weights', 'all' or 'none'"),
    ({"betta1": 0.9}, "unknown rule field 'betta1': did you mean 'beta1'?"),
])  # fmt: skip
def test_a_rule_that_makes_no_sense_says_why(values: dict, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Rule(**values)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_nobody_knows_is_met_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="unknown optimizer 'adam': did you mean 'adamw'"):
        rule("adam")
