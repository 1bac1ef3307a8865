"""What was trained, and how, in words? One or two sentences from a recipe and a log; times and sizes for people."""

from __future__ import annotations

from litebert import family
from litebert.config import Config
from litebert.data.recipe import Recipe
from litebert.lab.history import History
from litebert.model import cost
from litebert.model.sharing import distinct, sharing_map
from litebert.optim.rule import Rule
from litebert.train.recipe import Run

NAMES = {"mlm": "masked words", "sop": "sentence order", "nsp": "next sentence", "plm": "permuted words",
         "rtd": "replaced tokens"}  # fmt: skip
_LEARNT = {"mlm": "to guess masked words", "sop": "to tell the order of two segments",
           "nsp": "to tell whether a segment follows another", "plm": "to guess words in any order",
           "rtd": "to tell which tokens were replaced"}  # fmt: skip
_FEW_MINUTES = 10  # with fewer, seconds count
_POSITIONS = {"absolute": "learnt positions", "relative": "relative positions", "rotary": "rotary positions"}


def model(config: Config) -> str:
    """What the model is: its shape, what is shared, its parameters."""
    heads = family.pretraining_heads(config)
    parameters = sum(cost.parameters(config, heads).values())
    narrow = f" of width {config.embedding}" if config.embedding != config.hidden else ""
    return (
        f"{config.layers} layers of width {config.hidden} with {config.heads} heads, {_shared(config)}, "
        f"{_POSITIONS[config.positions]}; {config.vocab:,} pieces{narrow}; {parameters:,} parameters."
    )


def training(run: Run, history: History) -> str:
    """What it learnt, from what, and how long."""
    details = {"mlm": _masked(run.data), "rtd": _masked(run.data)}
    learnt = " and ".join(_LEARNT.get(name, name) + details.get(name, "") for name in run.model.objectives)
    start = f"from the weights of {run.start}" if run.start else f"from random weights (seed {run.training.seed})"
    rows = f"{run.training.tokens:,} tokens a step" if run.training.tokens else f"{run.training.batch} rows a step"
    lengths = " then ".join(str(phase.length) for phase in run.stretches())
    said = next((event["precision"] for event in history.events if event.get("precision")), "")
    machine = f" Precision: {said}." if said else ""
    return (
        f"It learnt {learnt}, {start}, on rows of {lengths} tokens, {rows}, with "
        f"{_rule(run.optimizer)} at a peak rate of {run.schedule.peak:g} ({run.schedule.kind}), "
        f"{_budget(run)}.{machine}"
    )


def duration(seconds: float) -> str:
    """A time for people: 48 s, 2 min 30 s, 55 min, 3 h 20 min."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < _FEW_MINUTES and rest:
        return f"{minutes} min {rest} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def percent(share: float) -> str:
    """A share for people: 4.6 %, and never 0 for what is more."""
    value = 100 * share
    if 0 < value < 0.05:
        return "< 0.1 %"
    return f"{value:.0f} %" if value >= 99.95 or value == 0 else f"{value:.1f} %"


def size(value: float) -> str:
    """A count for people: 20.4 M."""
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= scale:
            return f"{value / scale:.3g} {letter}"
    return f"{value:.3g}"


def _shared(config: Config) -> str:
    stored = sharing_map(config)
    attention, ffn = distinct(stored.attention), distinct(stored.ffn)
    if attention == ffn == config.depth:
        return "each with its own weights"
    if attention == ffn:
        return "all of them one block" if ffn == 1 else f"made of {ffn} blocks"
    one, many = ("attention", "ffn") if attention < ffn else ("ffn", "attention")
    return f"with shared {one} and each its own {many}"


def _masked(data: Recipe) -> str:
    spans = "" if data.spans == "one" else f", in spans of up to {data.longest} {data.unit}s"
    return f" ({100 * data.rate:.3g} % of the tokens{spans})"


def _rule(rule: Rule) -> str:
    if rule.adapt == "none":
        return "AdamW" if rule.corrected else "Adam as BERT's"
    return "bias-corrected LAMB" if rule.corrected else "LAMB"


def _budget(run: Run) -> str:
    total, unit = run.schedule.total, run.schedule.unit
    if not total:
        return "without a set end"
    return f"for {duration(total)}" if unit == "seconds" else f"for {total:,.0f} {unit}"
