"""Which task do these tests train? A made-up one with answers that can be reckoned: is there a boat in the sentence?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from litebert import family, rng
from litebert.config import Config, Head
from litebert.interop import folder as folders
from litebert.model.model import Model
from litebert.tasks.batches import Table
from litebert.tasks.evaluation import Asked
from litebert.tasks.examples import Example, Place, Text
from litebert.tasks.fit import Ready
from litebert.tasks.learner import Start
from litebert.tasks.settings import Tuning
from litebert.tasks.task import Fed, Item, Row
from litebert.text.tokenizer import Tokenizer
from litebert.train.cross_entropy import Sums
from vectors.tiny import WORDS, model_of, wordpiece_of

NAMES = ("none", "boat")


class Said(NamedTuple):
    """An answer."""

    prediction: str
    probability: float


class Boats:
    """One row a text, and whether it holds a boat. spoilt: from this step on the loss is no number."""

    kind, measures = "classify", ("accuracy", "boats")

    def __init__(self, spoilt: int = 0) -> None:
        self._left = spoilt or 1 << 60
        self.forward_passes = 0

    def spec(self, config: Config) -> tuple[str, Head]:
        """A head of two labels."""
        return "classify", family.head(config, "classify", labels=2, names=NAMES)

    def items(self, examples: Sequence[Example], tokenizer: Tokenizer) -> list[Item]:
        """[CLS] words [SEP]."""
        found = []
        for number, example in enumerate(examples):
            assert isinstance(example, Text)
            ids = [tokenizer.specials.cls, *tokenizer.encode(example.text), tokenizer.specials.sep]
            target = None if example.label is None else NAMES.index(str(example.label))
            found.append(Item(number, (Row(ids, [0] * len(ids)),), target))
        return found

    def targets(self, items: Sequence[Item], width: int) -> Mapping[str, Tensor]:
        """Classes."""
        return {} if items[0].target is None else {"classes": torch.tensor([item.target for item in items])}

    def counts(self, micro: Fed) -> Mapping[str, float]:
        """One a text."""
        return {"classify": float(len(micro.items))}

    def sums(self, model: Model, micro: Fed) -> Mapping[str, Sums]:
        """Cross entropy."""
        self._left -= model.training
        logits, classes = self._logits(model, micro), micro.targets["classes"]
        loss = F.cross_entropy(logits, classes, reduction="sum") * (torch.nan if self._left < 0 else 1.0)
        return {"classify": Sums(loss, (logits.argmax(-1) == classes).sum().float(), torch.tensor(float(len(classes))))}

    def outputs(self, model: Model, micro: Fed) -> list[Any]:
        """Logits."""
        return list(self._logits(model, micro).numpy())

    def predictions(self, examples: Sequence[Example], items: Sequence[Item], outputs: Sequence[Any]) -> list[Any]:
        """The likelier one."""
        return [Said(NAMES[int(np.argmax(one))], float(np.max(one))) for one in outputs]

    def score(self, examples: Sequence[Example], predictions: Sequence[Any]) -> dict[str, float]:
        """Accuracy, and how many boats are said to be there."""
        right = [one.prediction == example.label for one, example in zip(predictions, examples, strict=True)]  # type: ignore[union-attr]
        return {
            "accuracy": sum(right) / len(right),
            "boats": float(sum(one.prediction == "boat" for one in predictions)),
        }

    def collapsed(self, predictions: Sequence[Any]) -> str:
        """One answer for all."""
        said = {one.prediction for one in predictions}
        return f"all {len(predictions)} answers are {said.pop()}" if len(said) == 1 else ""

    def saved(self) -> dict[str, Any]:
        """It is always the same."""
        return {"names": list(NAMES)}

    def _logits(self, model: Model, micro: Fed) -> Tensor:
        found: Tensor = model.logits("classify", model(micro.ids, micro.mask, micro.segments, all_hidden=False))
        return found.float()


def texts(count: int, seed: int = 0, known: bool = True) -> list[Text]:
    """Sentences of two to fourteen words, half of them with a boat."""
    draw, found = rng.generator(seed, "boats"), []
    others = [word for word in WORDS if word != "boat"]
    for number in range(count):
        words = [others[i] for i in draw.integers(len(others), size=int(draw.integers(2, 14)))]
        if number % 2:
            words[int(draw.integers(len(words)))] = "boat"
        found.append(
            Text(" ".join(words), None, NAMES[number % 2] if known else None, f"b{number}", Place("made", number + 1))
        )
    return found


def saved_model(folder: Path, **more: Any) -> Path:
    """A folder with the small model and its tokenizer."""
    tokenizer = wordpiece_of()
    folders.save(model_of(tokenizer, **{"dropout": 0.1, "layers": 2, **more}), folder)
    tokenizer.save(folder)
    return folder


def ready(model: Path, task: Boats | None = None, *, train: int = 45, dev: int = 20, **tuning: Any) -> Ready:
    """All that a seed needs."""
    settled = Tuning(**{"batch": 8, "length": 32, "rate": 5e-3, "epochs": 2.0, "precision": "float32", **tuning})
    task, tokenizer = task or Boats(), wordpiece_of()
    parts = [texts(train), texts(dev, seed=1)]
    tables = [Table(task.items(part, tokenizer), tokenizer.specials.pad) for part in parts]
    return Ready(Start(str(model)), task, settled, tokenizer, parts[0], tables[0], Asked(task, parts[1], tables[1]))
