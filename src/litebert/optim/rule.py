"""Which optimizer? One frozen value: LAMB as google released it, and every other one as a short diff of it.

u = m / (√v + eps) + decay·w, trust = ‖w‖ / ‖u‖, w ← w - rate·trust·u, with m and v the running means of the gradient
and of its square. AdamW is trust 1. `corrected` divides m and v by what their start at zero took from them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from litebert.config import ConfigError, first_line, unknown_name


class Value(BaseModel):
    """A frozen, strict value whose complaints are one line."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    if not TYPE_CHECKING:  # the static signature stays the fields; only the error is ours

        def __init__(self, **values: Any) -> None:
            known = type(self).model_fields
            for name in values:
                if name not in known:
                    raise ConfigError(unknown_name(f"{type(self).__name__.lower()} field", name, known))
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise ConfigError(first_line(error)) from None

    def but(self, **changes: Any) -> Self:
        """This value with some fields changed, checked again."""
        return type(self)(**{**self.model_dump(), **changes})


class Rule(Value):
    """What one step does. `Rule()` is ALBERT's LAMB."""

    # whose step is scaled by a trust ratio; biases and norms are not weights (groups.py)
    adapt: Literal["weights", "all", "none"] = "weights"
    corrected: bool = (
        False  # the paper corrects the bias of both means (arXiv 1904.00962, algorithm 2); google does not
    )
    ratio_limit: float = 0.0  # a trust ratio is at most this; 0 = no limit
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-6
    decay: float = 0.01  # of weights, never of biases and norms
    clip: float = 1.0  # longest gradient of the whole model; 0 = off

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        for problem in _problems(self):
            raise ConfigError(problem)
        return self


# name -> what differs from google's LAMB (google-research/albert lamb_optimizer.py)
_DIFFS: dict[str, dict[str, Any]] = {
    "lamb": {},
    "lamb-paper": {"corrected": True},
    "lambc": {"corrected": True, "ratio_limit": 1.0},
    "lamb-brightmart": {"adapt": "all"},  # brightmart/albert_zh scales biases and norms too
    "adamw": {"adapt": "none", "corrected": True},  # torch.optim.AdamW
    "adam-google": {"adapt": "none"},  # AdamWeightDecayOptimizer of google-research/bert
}


def names() -> list[str]:
    """Every named rule."""
    return list(_DIFFS)


def rule(name: str, **changes: Any) -> Rule:
    """A named rule, with changes: `rule("adamw", beta2=0.98)`."""
    if name not in _DIFFS:
        raise ConfigError(unknown_name("optimizer", name, _DIFFS))
    return Rule(**{**_DIFFS[name], **changes})


def _problems(r: Rule) -> Iterable[str]:
    for name in ("beta1", "beta2"):
        if not 0.0 <= getattr(r, name) < 1.0:
            yield f"{name} {getattr(r, name)} is not a share below 1: choose for example 0.9 and 0.999"
    if not 0.0 < r.eps < float("inf"):
        yield f"eps {r.eps} is not a positive number: choose for example 1e-6"
    for name in ("decay", "clip", "ratio_limit"):
        if not 0.0 <= getattr(r, name) < float("inf"):
            yield f"{name} {getattr(r, name)} is not a number from 0 on: choose 0 to turn it off"
    if r.adapt == "none" and r.ratio_limit:
        yield f"ratio_limit {r.ratio_limit} has no effect with adapt 'none': set it to 0, or adapt=weights"
