"""Which of several labels hold for a text? Each is judged on its own, by a sigmoid.

Shapes: I items, C labels.
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

_SAID = 0.5  # from so much of a probability on a label is said to hold


class Labelled(NamedTuple):
    """The labels of a text, in the task's order."""

    prediction: list[str]
    probabilities: dict[str, float]


class Multilabel:
    """Texts of any number of labels each, none among them."""

    kind = "classify"
    measures: tuple[str, ...] = ("f1_micro", "f1_macro", "exact")

    def __init__(
        self, names: Sequence[str], cut: Cut = Cut(), weights: Sequence[Sequence[float]] = (),
        smoothing: float = 0.0, threshold: float = _SAID,
    ) -> None:  # fmt: skip
        """weights: what a text without and with each label counts in the loss, [C] pairs; () = 1."""
        self.names, self.cut = tuple(names), cut
        self.weights = tuple((without, having) for without, having in weights)
        self.smoothing, self.threshold = smoothing, threshold
        self._places = {name: place for place, name in enumerate(self.names)}

    @classmethod
    def settled(cls, examples: Sequence[Text], tuning: Tuning, labels: Sequence[str] | None = None) -> Self:
        """The task for such training examples; without `labels` their own, in an order that is not the file's."""
        found = Counter(name for example in examples for name in _labels(example))
        names = list(labels) if labels else whole.in_order(set(found))
        if not names:
            raise UserError(f"none of the {len(examples)} training examples has a label: check the column of labels")
        task = cls(names, cut_of(tuning), smoothing=tuning.smoothing)
        for example in examples:
            task._held(example)
        if tuning.weights == "balanced":  # as scikit-learn's class_weight="balanced" for each label on its own
            task.weights = tuple(_balanced(len(examples), found[name]) for name in names)
        return task

    @classmethod
    def restored(cls, saved: Mapping[str, Any]) -> Self:
        """The task that was saved."""
        return cls(saved["names"], Cut(**saved["cut"]), saved["weights"], saved["smoothing"], saved["threshold"])

    def saved(self) -> dict[str, Any]:
        """The values that make it again."""
        return {"kind": self.kind, "problem": "multiple", "names": list(self.names), "cut": self.cut._asdict(),
                "weights": [list(pair) for pair in self.weights], "smoothing": self.smoothing,
                "threshold": self.threshold}  # fmt: skip

    def spec(self, config: Config) -> tuple[str, Head]:
        """A classifier as the family wears it."""
        return self.kind, family.head(config, "classify", labels=len(self.names), names=self.names)

    def items(self, examples: Sequence[Text], tokenizer: Tokenizer) -> list[Item]:
        """One item a text, its target the numbers of its labels."""
        return whole.items(examples, tokenizer, self.cut, self._held)

    def targets(self, items: Sequence[Item], width: int) -> dict[str, Tensor]:
        """holds [I, C] of 0 and 1, and what each counts [I, C]: nothing where a text's labels are not known."""
        if all(item.target is None for item in items):
            return {}
        holds = np.zeros((len(items), len(self.names)), np.float32)
        for row, item in enumerate(items):
            holds[row, list(item.target or ())] = 1.0
        counted = np.ones_like(holds)
        if self.weights:
            without, having = np.array(self.weights, np.float32).T
            counted = np.where(holds > 0, having, without)
        counted[[item.target is None for item in items]] = 0.0
        return {"holds": torch.from_numpy(holds), "counted": torch.from_numpy(counted)}

    def counts(self, micro: Fed) -> dict[str, float]:
        """Labels that are judged, of all texts, each by its weight."""
        return {self.kind: float(micro.targets["counted"].sum())} if micro.targets else {}

    def sums(self, model: Model, micro: Fed) -> dict[str, Sums]:
        """Binary cross entropy of every label."""
        if not micro.targets:
            return {}
        logits, holds, counted = whole.logits(model, micro), micro.targets["holds"], micro.targets["counted"]
        aim = holds * (1.0 - self.smoothing) + 0.5 * self.smoothing
        loss = F.binary_cross_entropy_with_logits(logits, aim, counted, reduction="sum")
        right = counted * ((logits > 0) == (holds > 0))
        return {self.kind: Sums(loss, right.sum(), counted.sum())}

    def outputs(self, model: Model, micro: Fed) -> list[Any]:
        """[C] scores of every text."""
        return whole.outputs(model, micro)

    def predictions(
        self, examples: Sequence[Text], items: Sequence[Item], outputs: Sequence[Any]
    ) -> list[Labelled]:  # fmt: skip
        """The labels of every text that reach the threshold."""
        if not outputs:
            return []
        scores = np.stack(outputs).astype(np.float64)  # [I, C]
        shares = 0.5 * (1.0 + np.tanh(0.5 * scores))  # the sigmoid, without overflow
        return [
            Labelled([name for name, share in zip(self.names, given, strict=True) if share >= self.threshold],
                     dict(zip(self.names, given, strict=True)))
            for given in shares.tolist()
        ]  # fmt: skip

    def score(self, examples: Sequence[Text], predictions: Sequence[Labelled]) -> dict[str, float]:
        """F1 of all labels counted together, its mean over the labels, and how often all of a text's are right."""
        known = [pair for pair in zip(examples, predictions, strict=True) if pair[0].label is not None]
        gold, said = [_labels(example) for example, _ in known], [frozenset(one.prediction) for _, one in known]
        return {"f1_micro": metrics.sets_f1_micro(gold, said), "f1_macro": metrics.sets_f1_macro(gold, said),
                "exact": metrics.accuracy(gold, said)}  # fmt: skip

    def collapsed(self, predictions: Sequence[Labelled]) -> str:
        """Whether all texts are given the same labels, or the same probabilities."""
        count, said = len(predictions), {tuple(one.prediction) for one in predictions}
        if count < whole.MANY:
            return ""
        if whole.alike(np.array([list(one.probabilities.values()) for one in predictions])):
            shares = ", ".join(f"{name} {share:.3f}" for name, share in list(predictions[0].probabilities.items())[:4])
            return f"gives all {count} texts the same probabilities ({shares})"
        if len(said) > 1:
            return ""
        (names,) = said
        return f"says {', '.join(map(repr, names)) or 'no label'} of all {count} texts"

    def _held(self, example: Text) -> tuple[int, ...]:
        """The numbers of an example's labels."""
        for name in sorted(_labels(example) - self._places.keys()):
            raise refuse(example.place, f"label {name!r} is none of {whole.shown(self.names)}",
                         "correct it, or leave the row out")  # fmt: skip
        return tuple(sorted(self._places[name] for name in _labels(example)))


def _labels(example: Text) -> frozenset[str]:
    """An example's labels; one name alone is a list of one."""
    if isinstance(example.label, str) and example.label:
        return frozenset([example.label])
    if not isinstance(example.label, frozenset):
        what = "no labels" if not example.label else f"label {example.label!r}, which is no list of names"
        raise refuse(example.place, what, "give every training example the list of its labels, [] for none")
    return example.label


def _balanced(count: int, held: int) -> tuple[float, float]:
    """What a text without and with a label counts, so that both sides weigh alike; 1 where a side is empty."""
    return (count / (2 * (count - held)), count / (2 * held)) if 0 < held < count else (1.0, 1.0)
