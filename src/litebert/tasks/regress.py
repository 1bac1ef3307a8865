"""What score has a text or a pair? One number, learnt by squared error in units of the training scores' spread.

The model says how many spreads above the mean a score is, so that scores from 0 to 5 and from 0 to 1000 want the same
rate; what is told is the score itself. Shapes: I items.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from litebert import family
from litebert.config import Config, Head
from litebert.errors import UserError
from litebert.model.model import Model
from litebert.tasks import metrics, whole
from litebert.tasks.cutting import Cut, cut_of
from litebert.tasks.examples import Text, refuse
from litebert.tasks.settings import Tuning
from litebert.tasks.task import Fed, Item
from litebert.text.tokenizer import Tokenizer
from litebert.train.cross_entropy import Sums

_HAIR = 0.01  # of the spread: scores that are no further apart are as good as alike


class Scored(NamedTuple):
    """The score of a text."""

    prediction: float


class Regress:
    """Texts with a score each."""

    kind = "regress"
    measures: tuple[str, ...] = ("pearson", "spearman")

    def __init__(self, mean: float = 0.0, spread: float = 1.0, cut: Cut = Cut()) -> None:
        """A score is mean + spread · what the model says."""
        self.mean, self.spread, self.cut = mean, spread, cut

    @classmethod
    def settled(cls, examples: Sequence[Text], tuning: Tuning) -> Self:
        """The task for such training examples."""
        for name, usual in (("weights", "none"), ("smoothing", 0.0)):
            if getattr(tuning, name) != usual:
                raise UserError(f"{name} {getattr(tuning, name)!r} has no meaning for regress, which has no classes: "
                                f"leave it {usual!r}")  # fmt: skip
        scores = np.array([_score(example) for example in examples])
        if not len(scores) or (scores == scores[0]).all():
            same = f" are {scores[0]:g}" if len(scores) else ""
            raise UserError(f"all {len(scores)} training scores{same}: there is no difference to learn, check the "
                            "column of scores")  # fmt: skip
        return cls(float(scores.mean()), float(scores.std()), cut_of(tuning))

    @classmethod
    def restored(cls, saved: Mapping[str, Any]) -> Self:
        """The task that was saved."""
        return cls(saved["mean"], saved["spread"], Cut(**saved["cut"]))

    def saved(self) -> dict[str, Any]:
        """The values that make it again."""
        return {"kind": self.kind, "mean": self.mean, "spread": self.spread, "cut": self.cut._asdict()}

    def spec(self, config: Config) -> tuple[str, Head]:
        """A classifier of one output, as the family wears it."""
        return "classify", family.head(config, "classify", labels=1)

    def items(self, examples: Sequence[Text], tokenizer: Tokenizer) -> list[Item]:
        """One item a text, its target the score in spreads from the mean."""
        return whole.items(examples, tokenizer, self.cut, lambda one: (_score(one) - self.mean) / self.spread)

    def targets(self, items: Sequence[Item], width: int) -> dict[str, Tensor]:
        """scores [I], and what each counts [I]: nothing where it is not known."""
        if all(item.target is None for item in items):
            return {}
        return {"scores": torch.tensor([0.0 if item.target is None else item.target for item in items]),
                "counted": torch.tensor([float(item.target is not None) for item in items])}  # fmt: skip

    def counts(self, micro: Fed) -> dict[str, float]:
        """Texts whose score is known."""
        return {self.kind: float(micro.targets["counted"].sum())} if micro.targets else {}

    def sums(self, model: Model, micro: Fed) -> dict[str, Sums]:
        """Squared error; right is who is less than half a spread off."""
        if not micro.targets:
            return {}
        off = whole.logits(model, micro).squeeze(-1) - micro.targets["scores"]
        counted = micro.targets["counted"]
        return {self.kind: Sums((counted * off**2).sum(), (counted * (off.abs() < 0.5)).sum(), counted.sum())}

    def outputs(self, model: Model, micro: Fed) -> list[Any]:
        """[1] of every text, in spreads from the mean."""
        return whole.outputs(model, micro)

    def predictions(
        self, examples: Sequence[Text], items: Sequence[Item], outputs: Sequence[Any]
    ) -> list[Scored]:  # fmt: skip
        """The score of every text."""
        return [Scored(self.mean + self.spread * float(output[0])) for output in outputs]

    def score(self, examples: Sequence[Text], predictions: Sequence[Scored]) -> dict[str, float]:
        """The correlations of Pearson and of Spearman."""
        known = [pair for pair in zip(examples, predictions, strict=True) if pair[0].label is not None]
        gold, said = [_score(example) for example, _ in known], [one.prediction for _, one in known]
        return {"pearson": metrics.pearson(gold, said), "spearman": metrics.spearman(gold, said)}

    def collapsed(self, predictions: Sequence[Scored]) -> str:
        """Whether all texts are given one score, but for a hair."""
        said = [one.prediction for one in predictions]
        if len(said) < whole.MANY or max(said) - min(said) > _HAIR * self.spread:
            return ""
        return f"gives all {len(said)} texts the same score ({math.fsum(said) / len(said):.4g})"


def _score(example: Text) -> float:
    """An example's score."""
    label = example.label
    if isinstance(label, bool) or not isinstance(label, int | float) or not math.isfinite(label):
        what = "no score" if label is None else f"score {label!r}, which is not a number"
        raise refuse(example.place, what, "give every training example a number")
    return float(label)
