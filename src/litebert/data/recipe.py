"""How is text laid out, and what of it is hidden? One frozen value; every published way is a short diff of another.

The packing says where an example begins and ends and what its two segments are; the layout says where the special
tokens stand; the rest says which tokens are asked for and what stands in their place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from litebert.config import ConfigError, first_line, unknown_name

Packing = Literal[
    "sop",  # two consecutive segments of one document, half of them swapped; nothing faked, nothing dropped
    "sop-google",  # as google-research/albert released it: a chunk of one sentence gets a random second segment
    "sop-drop",  # as brightmart/albert_zh: a chunk of one sentence is left out
    "nsp",  # BERT: the second segment is the next one, or begins somewhere in another document
    "segment-pair",  # RoBERTa's name for the same with its own layout and no short sequences
    "sentence-pair",  # two single sentences, next or from elsewhere
    "full-sentences",  # whole sentences up to the length, across documents with one more separator between
    "doc-sentences",  # the same, never across documents
    "single",  # up to the length within a document, cut anywhere: no sentence is respected
]
Layout = Literal["bert", "roberta", "xlnet"]  # [CLS] A [SEP] B [SEP]; <s> A </s></s> B </s>; A <sep> B <sep> <cls>
Spans = Literal["one", "harmonic", "geometric", "unilm", "context"]
Task = Literal["mlm", "mixture", "plm", "rtd"]


class Recipe(BaseModel):
    """What the stream feeds: `Recipe()` is ALBERT as the paper describes it, at length 128."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    # layout
    length: int = 128  # tokens a row, special ones included
    packing: Packing = "sop"
    layout: Layout = "bert"
    short: float = 0.1  # share of documents whose examples aim at a random shorter length

    # what is asked for
    task: Task = "mlm"  # mixture = UniLM's four ways to see; plm = XLNet's order; rtd = ELECTRA's generator
    rate: float = 0.15  # share of a row's tokens, special ones counted, that is predicted
    most: int = 0  # no more predictions than this in a row; 0 = no such cap
    rounding: Literal["nearest", "up"] = "nearest"  # of rate times length
    unit: Literal["token", "word"] = "word"  # what a span is counted in
    spans: Spans = "harmonic"  # lengths: one; p ∝ 1/n; geometric(0.2); 80 % one, 20 % two or three; XLNet's in context
    longest: int = 3  # units in the longest span
    across: bool = False  # a span may run from one segment into the next (google's does)
    exact: bool = False  # the last span is cut so that the budget is met to the token (SpanBERT)
    repeats: bool = False  # positions are drawn with replacement (ELECTRA)
    share: int = 6  # plm: one token in so many is predicted
    context: int = 6  # plm: a span of n stands in a context of n times this

    # what stands in its place
    masked: float = 0.8
    random: float = 0.1  # the remainder keeps its token
    decide: Literal["token", "span"] = "token"  # one draw for every token, or one for the whole span
    replacements: Literal["pieces", "vocabulary", "text"] = "pieces"  # any piece; special ones too; tokens of the text
    copies: int = 0  # masks repeat after so many epochs (BERT's 10 stored copies); 0 = new masks every epoch

    if not TYPE_CHECKING:  # the static signature stays the fields; only the error is ours

        def __init__(self, **values: Any) -> None:
            for name in values:
                if name not in type(self).model_fields:
                    raise ConfigError(unknown_name("data field", name, type(self).model_fields))
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise ConfigError(first_line(error)) from None

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        for problem in _problems(self):
            raise ConfigError(problem)
        return self

    def but(self, **changes: Any) -> Recipe:
        """This recipe with some fields changed, checked again."""
        return Recipe(**{**self.model_dump(), **changes})

    @property
    def specials(self) -> int:
        """Special tokens in a row of two segments."""
        return 4 if self.layout == "roberta" else 3


# name -> (parent, what differs from it); "albert" is the root, with the length of the release.
_DIFFS: dict[str, tuple[str, dict[str, Any]]] = {
    "albert": ("", {"length": 512}),
    "albert-google": ("albert", {
        "packing": "sop-google", "most": 20, "across": True, "replacements": "vocabulary", "copies": 40,
    }),
    "albert-zh": ("albert", {"packing": "sop-drop", "most": 51, "across": True, "replacements": "vocabulary",
                             "spans": "one", "copies": 10}),
    "bert": ("albert", {
        "length": 128, "packing": "nsp", "unit": "token", "spans": "one", "most": 20, "replacements": "vocabulary",
        "copies": 10,
    }),
    "bert-whole-word": ("bert", {"unit": "word"}),
    "roberta": ("albert", {
        "packing": "full-sentences", "layout": "roberta", "short": 0.0, "unit": "token", "spans": "one",
    }),
    "roberta-doc": ("roberta", {"packing": "doc-sentences"}),
    "roberta-segment-pair": ("roberta", {"packing": "segment-pair"}),
    "roberta-sentence-pair": ("roberta", {"packing": "sentence-pair"}),
    "spanbert": ("albert", {
        "packing": "single", "short": 0.0, "spans": "geometric", "longest": 10, "rounding": "up", "exact": True,
        "decide": "span", "replacements": "text",
    }),
    "xlnet": ("albert", {
        "packing": "nsp", "layout": "xlnet", "short": 0.0, "task": "plm", "unit": "token", "spans": "context",
        "longest": 5, "masked": 0.0, "random": 0.0,
    }),
    "unilm": ("bert", {"length": 512, "short": 0.0, "task": "mixture", "spans": "unilm", "most": 0, "copies": 0}),
    "electra": ("albert", {
        "length": 128, "packing": "single", "task": "rtd", "unit": "token", "spans": "one",
        "repeats": True, "masked": 0.85, "random": 0.0,
    }),
}  # fmt: skip


def names() -> list[str]:
    """Every named recipe."""
    return list(_DIFFS)


def diff(name: str) -> tuple[str, dict[str, Any]]:
    """A recipe's parent ('' for the root) and the values in which it differs from it."""
    if name not in _DIFFS:
        raise ConfigError(unknown_name("recipe", name, _DIFFS))
    return _DIFFS[name]


def recipe(name: str, **changes: Any) -> Recipe:
    """A named recipe, with changes: `recipe("albert", length=128)`."""
    return build({**_values(name), **changes})


def override(made: Recipe, assignments: Iterable[str]) -> Recipe:
    """A recipe with command-line changes such as `rate=0.3`, checked together."""
    changes: dict[str, Any] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ConfigError(f"--set {text!r} is not of the form field=value: write for example --set rate=0.3")
        try:
            changes[name] = json.loads(value)
        except ValueError:
            changes[name] = value
    return made.but(**changes)


def build(values: Mapping[str, Any]) -> Recipe:
    """A Recipe from plain values (JSON, TOML)."""
    return Recipe(**values)


def _values(name: str) -> dict[str, Any]:
    parent, changes = diff(name)
    return {**(_values(parent) if parent else {}), **changes}


def _problems(r: Recipe) -> Iterable[str]:
    if r.length < r.specials + 2:
        yield f"length {r.length} leaves no room for two segments: choose {r.specials + 2} or more"
    for name in ("short", "masked", "random"):
        if not 0.0 <= getattr(r, name) <= 1.0:
            yield f"{name} {getattr(r, name)} is not a share: choose 0.0 to 1.0"
    if not 0.0 < r.rate < 1.0:
        yield f"rate {r.rate} is not between 0 and 1: choose for example 0.15"
    if r.masked + r.random > 1.0 + 1e-12:
        yield f"masked {r.masked} and random {r.random} are together more than 1: choose for example 0.8 and 0.1"
    for name in ("most", "copies"):
        if getattr(r, name) < 0:
            yield f"{name} {getattr(r, name)} is negative: choose 0 or more"
    for name in ("longest", "share", "context"):
        if getattr(r, name) < 1:
            yield f"{name} {getattr(r, name)} is too small: choose 1 or more"
    yield from _contradictions(r)


def _contradictions(r: Recipe) -> Iterable[str]:
    if r.spans == "context" and r.task != "plm":
        yield "spans 'context' are XLNet's: set task=plm or spans=harmonic"
    if r.task == "plm" and r.masked + r.random > 0.0:
        yield f"masked {r.masked} and random {r.random} replace tokens that task 'plm' leaves in place: set both to 0.0"
    if r.repeats and (r.unit, r.spans) != ("token", "one"):
        yield f"repeats draws single tokens, not unit '{r.unit}' and spans '{r.spans}': set unit=token and spans=one"
