"""Which of several classes does a text or a pair belong to? Cross entropy over one score a class.

Shapes: I items, C classes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import torch
import torch.nn.functional as F
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

_UNKNOWN = -100


class Classified(NamedTuple):
    """The class of a text."""

    prediction: str
    probability: float
    probabilities: dict[str, float]


class Classify:
    """Texts of one class each."""

    kind = "classify"

    def __init__(
        self, names: Sequence[str], cut: Cut = Cut(), weights: Sequence[float] = (), smoothing: float = 0.0
    ) -> None:  # fmt: skip
        """weights: what an example of each class counts in the loss; () = 1."""
        self.names, self.cut = tuple(names), cut
        self.weights, self.smoothing = tuple(weights), smoothing
        two = len(self.names) == 2
        self.measures: tuple[str, ...] = ("accuracy", "f1" if two else "f1_macro", "matthews")
        self._places = {name: place for place, name in enumerate(self.names)}

    @classmethod
    def settled(cls, examples: Sequence[Text], tuning: Tuning, labels: Sequence[str] | None = None) -> Self:
        """The task for such training examples; without `labels` their own, in an order that is not the file's."""
        found = Counter(_label(example) for example in examples)
        names = list(labels) if labels else whole.in_order(set(found))
        if len(names) < 2:
            raise UserError(f"all {len(examples)} training examples are labelled {whole.shown(names)}: a classifier "
                            "needs two labels, check the column of labels")  # fmt: skip
        task = cls(names, cut_of(tuning), smoothing=tuning.smoothing)
        for example in examples:
            task._place(example)
        if tuning.weights == "balanced":  # as scikit-learn's class_weight="balanced"
            task.weights = tuple(len(examples) / (len(names) * found[n]) if found[n] else 1.0 for n in names)
        return task

    @classmethod
    def restored(cls, saved: Mapping[str, Any]) -> Self:
        """The task that was saved."""
        return cls(saved["names"], Cut(**saved["cut"]), saved["weights"], saved["smoothing"])

    def saved(self) -> dict[str, Any]:
        """The values that make it again."""
        return {"kind": self.kind, "problem": "single", "names": list(self.names), "cut": self.cut._asdict(),
                "weights": list(self.weights), "smoothing": self.smoothing}  # fmt: skip

    def spec(self, config: Config) -> tuple[str, Head]:
        """A classifier as the family wears it."""
        return self.kind, family.head(config, "classify", labels=len(self.names), names=self.names)

    def items(self, examples: Sequence[Text], tokenizer: Tokenizer) -> list[Item]:
        """One item a text, its target the number of its class."""
        return whole.items(examples, tokenizer, self.cut, self._place)

    def targets(self, items: Sequence[Item], width: int) -> dict[str, Tensor]:
        """classes [I], and with weights what each counts [I]."""
        places = [_UNKNOWN if item.target is None else item.target for item in items]
        if all(place == _UNKNOWN for place in places):
            return {}
        counted = [0.0 if place == _UNKNOWN else self.weights[place] if self.weights else 1.0 for place in places]
        return {"classes": torch.tensor(places), "counted": torch.tensor(counted)}

    def counts(self, micro: Fed) -> dict[str, float]:
        """Texts whose class is known, each by its weight."""
        return {self.kind: float(micro.targets["counted"].sum())} if micro.targets else {}

    def sums(self, model: Model, micro: Fed) -> dict[str, Sums]:
        """Cross entropy."""
        if not micro.targets:
            return {}
        logits, classes, counted = whole.logits(model, micro), micro.targets["classes"], micro.targets["counted"]
        weights = logits.new_tensor(self.weights) if self.weights else None
        loss = F.cross_entropy(
            logits, classes, weights, ignore_index=_UNKNOWN, reduction="sum", label_smoothing=self.smoothing
        )
        right = counted * (logits.argmax(dim=-1) == classes)
        return {self.kind: Sums(loss, right.sum(), counted.sum())}

    def outputs(self, model: Model, micro: Fed) -> list[Any]:
        """[C] scores of every text."""
        return whole.outputs(model, micro)

    def predictions(
        self, examples: Sequence[Text], items: Sequence[Item], outputs: Sequence[Any]
    ) -> list[Classified]:  # fmt: skip
        """The likeliest class of every text."""
        if not outputs:
            return []
        scores = np.stack(outputs).astype(np.float64)  # [I, C]
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        best = scores.argmax(axis=1).tolist()
        return [
            Classified(self.names[place], given[place], dict(zip(self.names, given, strict=True)))
            for place, given in zip(best, shares.tolist(), strict=True)
        ]

    def score(self, examples: Sequence[Text], predictions: Sequence[Classified]) -> dict[str, float]:
        """Accuracy, F1 (of two classes that of the second, of more the mean) and Matthews' correlation."""
        known = [pair for pair in zip(examples, predictions, strict=True) if pair[0].label is not None]
        gold, said = [str(example.label) for example, _ in known], [one.prediction for _, one in known]
        two = len(self.names) == 2
        f1 = {"f1": metrics.f1(gold, said, self.names[1])} if two else {"f1_macro": metrics.f1_macro(gold, said)}
        return {"accuracy": metrics.accuracy(gold, said), **f1, "matthews": metrics.matthews(gold, said)}

    def collapsed(self, predictions: Sequence[Classified]) -> str:
        """Whether all texts are said to be of one class, or are given one distribution."""
        count, said = len(predictions), {one.prediction for one in predictions}
        if count < whole.MANY:
            return ""
        if whole.alike(np.array([list(one.probabilities.values()) for one in predictions])):
            shares = ", ".join(f"{name} {share:.3f}" for name, share in list(predictions[0].probabilities.items())[:4])
            return f"gives all {count} texts the same probabilities ({shares})"
        return f"says {said.pop()!r} of all {count} texts" if len(said) == 1 else ""

    def _place(self, example: Text) -> int:
        """The number of an example's class."""
        label = _label(example)
        if label not in self._places:
            raise refuse(example.place, f"label {label!r} is none of {whole.shown(self.names)}",
                         "correct it, or leave the row out")  # fmt: skip
        return self._places[label]


def _label(example: Text) -> str:
    """An example's one class."""
    if isinstance(example.label, str) and example.label:
        return example.label
    what = "no label" if not example.label else f"label {example.label!r}, which is not one name"
    raise refuse(example.place, what, "give every training example the name of its class")
