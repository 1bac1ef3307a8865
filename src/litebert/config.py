"""What a model is: one frozen, strict value with a field for every choice, and no more.

Three axes: which weights run at a depth (`sharing`, `groups`, `inner`), who sees whom (`visibility`), what is
predicted (`objectives`). Beside them the embedding width and the position scheme, then the small print in which the
papers, the original code and the ports differ.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from litebert.errors import UserError

Activation = Literal["gelu_erf", "gelu_tanh", "relu"]
Sharing = Literal["all", "attention", "ffn", "none"]
Positions = Literal["absolute", "relative", "rotary"]
Visibility = Literal["bidirectional", "left-to-right", "permutation", "mixture"]
Objective = Literal["mlm", "sop", "nsp", "plm", "rtd"]
Pooler = Literal["cls", "mean", "max", "first-last", "none"]
HeadKind = Literal["mlm", "order", "plm", "rtd", "classify", "tag", "span", "span-answerable", "choice"]

_MOST_ROWS, _MOST_BLOCKS = 2**24, 10_000  # what is beyond could be neither a tensor nor a loop
_SIZES = ("vocab", "embedding", "hidden", "layers", "heads", "ffn", "groups", "inner")
_COUNTS = ("max_positions", "position_offset", "segments", "clamp", "memory", "reuse")


class ConfigError(UserError):
    """A value that breaks a rule; the message is one line: value, rule, fix."""


class Head(BaseModel):
    """What sits on the encoder: its kind, its outputs, and where it reads.

    `source` and `dense` exist because the families disagree: BERT classifies the pooled vector, RoBERTa and ELECTRA
    put a dense layer on the first token, XLNet on the last.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: HeadKind
    labels: int = 2
    names: tuple[str, ...] = ()
    source: Literal["pooled", "first", "last"] = "pooled"
    dense: Literal["none", "tanh", "gelu_erf", "gelu_tanh", "relu"] = "none"
    first_dropout: bool = True  # drop the vector before the dense layer too (RoBERTa yes, XLNet no)
    dropout: float | None = None  # before the last layer, where it is not the config's classifier_dropout

    if not TYPE_CHECKING:  # the static signature stays the fields; only the error is ours

        def __init__(self, **values: Any) -> None:
            _refuse_unknown(type(self), values)
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise ConfigError(first_line(error)) from None

    @model_validator(mode="after")
    def _labels_and_names_agree(self) -> Self:
        if self.labels < 1:
            raise ConfigError(f"labels {self.labels} is not a number of outputs: choose 1 or more")
        if self.dropout is not None and not 0.0 <= self.dropout < 1.0:
            raise ConfigError(f"dropout {self.dropout} is not a probability below 1: choose 0.0 to 0.99")
        if self.names and len(self.names) != self.labels:
            raise ConfigError(f"{len(self.names)} label names for {self.labels} labels: give one name for each")
        return self


class Config(BaseModel):
    """A model's shape and behaviour. `Config()` is ALBERT-base v2; `Config(hidden=10, heads=3)` explains itself."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    # shape
    vocab: int = 30000
    embedding: int = 128  # width E of the word table; a mapping to `hidden` exists iff they differ
    hidden: int = 768
    layers: int = 12
    heads: int = 12
    ffn: int = 3072
    activation: Activation = "gelu_tanh"

    # which weights run at a depth
    sharing: Sharing = "all"
    groups: int = 1  # depths are cut into this many groups; sharing is within a group
    inner: int = 1  # distinct blocks run one after another at every depth

    # where a token is
    positions: Positions = "absolute"
    max_positions: int = 512  # 0 = no limit (relative and rotary only)
    position_offset: int = 0  # k > 0: real tokens count from k and pads sit at k - 1 (RoBERTa: 2)
    segments: int = 2  # 0 = no segments
    clamp: int = 0  # relative: distances beyond this count as this; 0 = off
    untied: bool = True  # relative: a set of score biases for every block, not one for all

    # who sees whom, what is predicted
    visibility: Visibility = "bidirectional"
    objectives: tuple[Objective, ...] = ("mlm", "sop")
    pooler: Pooler = "cls"  # cls = dense and tanh on position 0, as BERT; mean, max, first-last have no weights
    memory: int = 0  # Transformer-XL: rows of earlier text that every depth keeps; 0 = all of them
    reuse: int = 0  # of a segment only the first `reuse` rows enter the memory; 0 = all

    # norm, dropout, initial values
    norm: Literal["post", "pre"] = "post"
    final_norm: bool = True  # pre-norm only: one more norm at the end of the stack
    embedding_norm: bool = True
    layer_norm_eps: float = 1e-12
    dropout: float = 0.0
    attention_dropout: float = 0.0
    classifier_dropout: float = 0.1
    order_dropout: float = 0.0  # before the SOP/NSP head: original 0, transformers' ALBERT 0.1
    activation_dropout: float = 0.0  # after the FFN's activation (XLNet)
    output_dropout: float = 0.0  # on the last hidden state (XLNet)
    ffn_output_dropout: bool = True  # transformers' ALBERT builds this dropout and never applies it
    init: Literal["truncated", "normal"] = "truncated"
    init_std: float = 0.02

    # the small print
    attention_bias: bool = True  # on the query, key, value and output projections (XLNet: no)
    # auto = a mapping iff embedding != hidden; always = there too (transformers' ALBERT); early = words are mapped,
    # without a bias, before segments and positions are added at width `hidden` (brightmart's first Chinese ALBERTs)
    mapping: Literal["auto", "always", "early"] = "auto"
    head_activation: Activation | None = None  # of the MLM head, where it differs from `activation`
    pad: int = 0  # id of the padding token
    pad_frozen: bool = False  # the padding row is zero and never learns (transformers); original: trained

    if not TYPE_CHECKING:  # the static signature stays the fields; only the error is ours

        def __init__(self, **values: Any) -> None:
            _refuse_unknown(type(self), values)
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise ConfigError(first_line(error)) from None

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        for problem in _problems(self):
            raise ConfigError(problem)
        return self

    @property
    def head_width(self) -> int:
        """Width D of one attention head."""
        return self.hidden // self.heads

    @property
    def mapped(self) -> bool:
        """Whether a mapping from the embedding width to the hidden width exists."""
        return self.embedding != self.hidden or self.mapping != "auto"

    @property
    def depth(self) -> int:
        """Blocks executed: `layers` times `inner`."""
        return self.layers * self.inner

    def but(self, **changes: Any) -> Config:
        """This config with some fields changed, checked again: `config.but(layers=6)`."""
        return build({**self.model_dump(), **changes})

    def diff(self, other: Config) -> dict[str, tuple[Any, Any]]:
        """The fields in which two configs differ, as (mine, other's)."""
        mine, theirs = self.model_dump(), other.model_dump()
        return {k: (mine[k], theirs[k]) for k in mine if mine[k] != theirs[k]}


def build(values: Mapping[str, Any]) -> Config:
    """A Config from plain values (JSON, TOML), where a list stands for a tuple."""
    clean: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    return Config(**clean)


def override(config: Config, assignments: Iterable[str]) -> Config:
    """`config` with command-line changes such as `layers=6`, checked together."""
    changes: dict[str, Any] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ConfigError(f"--set {text!r} is not of the form field=value: write for example --set layers=6")
        _refuse_unknown(Config, [name])
        changes[name] = _parse(name, value)
    return config.but(**changes)


def unknown_name(what: str, name: str, known: Iterable[str], instead: str = "") -> str:
    """The one line for a name nobody knows, with the nearest one that exists, or `instead` of a list of them all."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    fix = f"did you mean {near[0]!r}?" if near else instead or f"choose one of {', '.join(names)}"
    return f"unknown {what} {name!r}: {fix}"


def _refuse_unknown(model: type[BaseModel], names: Iterable[str]) -> None:
    for name in names:
        if name not in model.model_fields:
            raise ConfigError(unknown_name("field", name, model.model_fields))


def first_line(error: ValidationError) -> str:
    """Pydantic's first complaint as one line of ours."""
    problem = error.errors()[0]
    if problem["type"] == "value_error":
        return str(problem["ctx"]["error"])
    field = ".".join(str(part) for part in problem["loc"]) or "value"
    return f"{field} {problem['input']!r}: {problem['msg'][0].lower()}{problem['msg'][1:]}"


def _parse(name: str, text: str) -> Any:
    """A command-line word as the type its field wants; pydantic then judges the value."""
    kind = str(Config.model_fields[name].annotation)
    lowered = text.strip().lower()
    if "bool" in kind:
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(lowered, text)
    if "tuple" in kind:
        return tuple(part for part in text.split(",") if part)
    if NoneType in get_args(Config.model_fields[name].annotation) and lowered in ("none", "null", ""):
        return None
    number = float if "float" in kind else int if "int" in kind and "Literal" not in kind else None
    if number is None:
        return text
    try:
        return number(text.replace("_", ""))
    except ValueError:
        return text


def _problems(c: Config) -> Iterable[str]:
    """Every rule that the fields must keep together, as sentences; the first one is shown."""
    yield from _size_problems(c)
    if c.hidden % c.heads:
        good = [d for d in range(1, min(c.hidden, 256) + 1) if c.hidden % d == 0]
        near = sorted(sorted(good, key=lambda d: abs(d - c.heads))[:4])
        yield f"hidden {c.hidden} is not divisible by heads {c.heads}: choose {_either(near)}"
    if c.groups > c.layers:
        yield f"groups {c.groups} exceeds layers {c.layers}: a group needs a layer, choose at most {c.layers}"
    if c.sharing == "none" and c.groups != 1:
        yield f"groups {c.groups} with sharing 'none': nothing is shared, so leave groups at 1 or share something"
    if not 0 <= c.pad < c.vocab:
        yield f"pad {c.pad} is not an id of a vocabulary of {c.vocab}: choose 0 to {c.vocab - 1}"
    yield from _position_problems(c)
    yield from _objective_problems(c)


def _position_problems(c: Config) -> Iterable[str]:
    if c.positions == "rotary" and c.head_width % 2:
        yield f"rotary positions need an even head width, hidden {c.hidden} / heads {c.heads} is {c.head_width}"
    if c.positions == "relative" and c.hidden % 2:
        yield f"relative positions need an even hidden width, not {c.hidden}: sine and cosine share it in halves"
    if c.positions == "absolute" and c.max_positions < 1:
        yield "max_positions 0 with absolute positions: a table needs rows, choose 512 or use relative or rotary"
    if c.positions != "relative" and c.clamp:
        yield f"clamp {c.clamp} has no effect with positions '{c.positions}': set positions=relative or clamp=0"
    if c.positions == "absolute" and (c.memory or c.reuse):
        name = "memory" if c.memory else "reuse"
        yield f"{name} {getattr(c, name)} has no effect with positions 'absolute': set positions=relative or {name}=0"
    if c.positions != "absolute" and c.position_offset:
        yield f"position_offset {c.position_offset} has no effect with positions '{c.positions}': set it to 0"


def _objective_problems(c: Config) -> Iterable[str]:
    if "plm" in c.objectives and c.positions == "absolute":
        yield "objective 'plm' needs places that a query stream without content can use: set positions=relative"
    if "sop" in c.objectives and "nsp" in c.objectives:
        yield "objectives 'sop' and 'nsp' are two answers of one head: choose one of them"
    if c.visibility == "permutation" and "plm" not in c.objectives:
        yield "visibility 'permutation' is only for objective 'plm': set objectives=plm or visibility=bidirectional"
    if any(o in c.objectives for o in ("sop", "nsp")) and c.pooler == "none":
        yield "objectives 'sop' and 'nsp' read the pooled vector, but pooler is 'none': set pooler=cls"


def _size_problems(c: Config) -> Iterable[str]:
    for name in _SIZES:
        if getattr(c, name) < 1:
            yield f"{name} {getattr(c, name)} is too small: choose 1 or more"
    for name in _COUNTS:
        if getattr(c, name) < 0:
            yield f"{name} {getattr(c, name)} is negative: choose 0 or more"
    for name in (*_SIZES, *_COUNTS):
        if getattr(c, name) > _MOST_ROWS:
            yield f"{name} {getattr(c, name)} is more than a table could hold: choose at most {_MOST_ROWS}"
    if c.depth > _MOST_BLOCKS:
        yield f"layers {c.layers} × inner {c.inner} are {c.depth} blocks: choose at most {_MOST_BLOCKS}"
    for name in ("dropout", "attention_dropout", "classifier_dropout", "order_dropout", "activation_dropout",
                 "output_dropout"):  # fmt: skip
        if not 0.0 <= getattr(c, name) < 1.0:
            yield f"{name} {getattr(c, name)} is not a probability below 1: choose 0.0 to 0.99"
    for name in ("layer_norm_eps", "init_std"):
        if not 0.0 < getattr(c, name) < math.inf:
            wrong = "finite" if getattr(c, name) == math.inf else "positive"
            yield f"{name} {getattr(c, name)} is not {wrong}: choose for example {Config.model_fields[name].default}"


def _either(choices: list[int]) -> str:
    return " or ".join([", ".join(map(str, choices[:-1])), str(choices[-1])]) if len(choices) > 1 else str(choices[0])
