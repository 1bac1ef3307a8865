"""Which words of a text name something, and of what kind? A tag for each word, read off its first piece.

Tags are O, or B, I, E, S and a type (`entities`), BIO as well as BIOES. Every word is asked about once, in the window
that sees most around it (`words`). Shapes: I windows, T tokens, w words that are asked about, C tags.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from litebert import family
from litebert.config import Config, Head
from litebert.errors import UserError
from litebert.model.model import Model
from litebert.tasks import entities, metrics, whole, words
from litebert.tasks.examples import Words, refuse
from litebert.tasks.settings import Tuning
from litebert.tasks.task import Fed, Item
from litebert.tasks.words import Back, Ints
from litebert.text.tokenizer import Tokenizer
from litebert.train.cross_entropy import Sums

OUTSIDE = "O"
_UNKNOWN = -100


class Named(NamedTuple):
    """An entity: words `start` to `end`, the last one excluded, and how likely all of its tags are."""

    type: str
    text: str
    start: int
    end: int
    probability: float


class Tagged(NamedTuple):
    """The tags of a text's words."""

    prediction: list[str]
    probability: float  # of all of them together
    entities: list[dict[str, Any]]  # what they name, each as `Named`


class Tag:
    """Words, each with one tag."""

    kind = "tag"
    measures = ("f1", "precision", "recall", "accuracy")

    def __init__(
        self, names: Sequence[str], length: int = 128, stride: int = 128, weights: Sequence[float] = (),
        smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        """weights: what a word of each tag counts in the loss; () = 1."""
        self.names, self.length, self.stride = tuple(names), length, stride
        self.weights, self.smoothing = tuple(weights), smoothing
        self._places = {name: place for place, name in enumerate(self.names)}

    @classmethod
    def settled(cls, examples: Sequence[Words], tuning: Tuning, labels: Sequence[str] | None = None) -> Self:
        """The task for such training examples. labels: all tags, or all types; without them those that occur.

        A type is given every letter that another type has: what begins in one text may go on in the next.
        """
        if tuning.long != "head":
            raise UserError(
                f"long {tuning.long!r} has no meaning for tag, which answers for every word: leave it 'head'"
            )
        found = Counter(tag for example in examples for tag in _checked(example))
        names = list(labels) if labels and OUTSIDE in labels else _scheme(found, labels or ())
        if len(names) < 2:
            raise UserError(f"all words of {len(examples)} training examples are tagged {OUTSIDE}: "
                            "a tagger needs entities, check the column of tags")  # fmt: skip
        task = cls(names, tuning.length, tuning.stride, smoothing=tuning.smoothing)
        for example in examples:
            task._numbers(example)
        if tuning.weights == "balanced":  # as scikit-learn's class_weight="balanced"
            total = found.total()
            task.weights = tuple(total / (len(names) * found[name]) if found[name] else 1.0 for name in names)
        return task

    @classmethod
    def restored(cls, saved: Mapping[str, Any]) -> Self:
        """The task that was saved."""
        return cls(**{name: value for name, value in saved.items() if name != "kind"})

    def saved(self) -> dict[str, Any]:
        """The values that make it again."""
        return {"kind": self.kind, "names": list(self.names), "length": self.length, "stride": self.stride,
                "weights": list(self.weights), "smoothing": self.smoothing}  # fmt: skip

    def spec(self, config: Config) -> tuple[str, Head]:
        """A score a tag for every token."""
        return self.kind, family.head(config, self.kind, labels=len(self.names), names=self.names)

    def items(self, examples: Sequence[Words], tokenizer: Tokenizer) -> list[Item]:
        """The windows of every text, their targets the numbers of the tags they are asked for."""
        return words.items(examples, tokenizer, self.length, self.stride, self._numbers)

    def targets(self, items: Sequence[Item], width: int) -> dict[str, Tensor]:
        """asked [I, T], the first pieces of the words that are asked about, and where known their tags [w]."""
        backs: list[Back] = [item.back for item in items]
        counts = [len(back.places) for back in backs]
        columns = [back.places + (width - item.width if back.left else 0)
                   for item, back in zip(items, backs, strict=True)]  # fmt: skip
        asked = np.zeros((len(items), width), bool)
        asked[np.repeat(np.arange(len(items)), counts), np.concatenate(columns)] = True
        known = {"asked": torch.from_numpy(asked)}
        if any(item.target is not None for item in items):
            tags = [np.full(count, _UNKNOWN) if item.target is None else item.target
                    for item, count in zip(items, counts, strict=True)]  # fmt: skip
            known["tags"] = torch.from_numpy(np.concatenate(tags))
        return known

    def counts(self, micro: Fed) -> dict[str, float]:
        """Words whose tag is known, each by its weight."""
        return {self.kind: float(self._counted(micro).sum())} if "tags" in micro.targets else {}

    def sums(self, model: Model, micro: Fed) -> dict[str, Sums]:
        """Cross entropy over the words."""
        if "tags" not in micro.targets:
            return {}
        logits, tags, counted = self._logits(model, micro), micro.targets["tags"], self._counted(micro)
        weights = logits.new_tensor(self.weights) if self.weights else None
        loss = F.cross_entropy(
            logits, tags, weights, ignore_index=_UNKNOWN, reduction="sum", label_smoothing=self.smoothing
        )
        right = counted * (logits.argmax(dim=-1) == tags)
        return {self.kind: Sums(loss, right.sum(), counted.sum())}

    def outputs(self, model: Model, micro: Fed) -> list[Any]:
        """[w, C] scores of the words that each window answers for."""
        scores = self._logits(model, micro).cpu().numpy()
        ends = micro.targets["asked"].sum(dim=1).cumsum(0).tolist()
        return np.split(scores, ends[:-1])

    def predictions(
        self, examples: Sequence[Words], items: Sequence[Item], outputs: Sequence[Any]
    ) -> list[Tagged]:  # fmt: skip
        """The likeliest tag of every word."""
        best = [np.full(len(example.words), -1, np.int64) for example in examples]
        sure = [np.zeros(len(example.words)) for example in examples]
        for item, output in zip(items, outputs, strict=True):
            back: Back = item.back
            best[item.example][back.words] = output.argmax(axis=1)
            sure[item.example][back.words] = _likeliest(output.astype(np.float64))
        return [self._tagged(*one) for one in zip(examples, best, sure, strict=True)]

    def score(self, examples: Sequence[Words], predictions: Sequence[Tagged]) -> dict[str, float]:
        """F1, precision and recall of exact entities, and the share of words with the right tag."""
        known = [(example.tags, one.prediction)
                 for example, one in zip(examples, predictions, strict=True) if example.tags is not None]  # fmt: skip
        gold, said = [tags for tags, _ in known], [tags for _, tags in known]
        found = entities.measured(gold, said).all
        accuracy = metrics.accuracy([tag for tags in gold for tag in tags], [tag for tags in said for tag in tags])
        return {"f1": found.f1, "precision": found.precision, "recall": found.recall, "accuracy": accuracy}

    def collapsed(self, predictions: Sequence[Tagged]) -> str:
        """Whether all words are given one tag."""
        said = Counter(tag for one in predictions for tag in one.prediction)
        if said.total() < whole.MANY or len(said) > 1:
            return ""
        return f"tags all {said.total():,} words {next(iter(said))}"

    def _logits(self, model: Model, micro: Fed) -> Tensor:
        """[w, C] in float32."""
        out = model(micro.ids, micro.mask, micro.segments, all_hidden=False)
        scores: Tensor = model.logits(self.kind, out, asked=micro.targets["asked"])
        return scores.float()

    def _counted(self, micro: Fed) -> Tensor:
        """[w] what each word counts."""
        tags = micro.targets["tags"]
        if not self.weights:
            return (tags >= 0).float()
        return torch.tensor([*self.weights, 0.0], device=tags.device)[tags.clamp(min=-1)]

    def _numbers(self, example: Words) -> Ints | None:
        """[W] the numbers of an example's tags, None where they are not known."""
        if example.tags is None:
            return None
        for tag in _checked(example):
            if tag not in self._places:
                raise refuse(example.place, f"tag {tag!r} is none of {whole.shown(self.names)}",
                             "correct it, or leave the row out")  # fmt: skip
        return np.fromiter(map(self._places.__getitem__, example.tags), np.int64, len(example.tags))

    def _tagged(self, example: Words, best: Ints, sure: NDArray[np.float64]) -> Tagged:
        """sure: the logarithms of the tags' probabilities."""
        tags = [self.names[number] for number in best.tolist()]
        between = " " if example.spaced else ""
        named = [
            Named(type_, between.join(example.words[start:end]), start, end, math.exp(sure[start:end].sum()))
            for type_, start, end in entities.entities(tags)
        ]
        return Tagged(tags, math.exp(sure.sum()), [one._asdict() for one in named])


def _checked(example: Words) -> tuple[str, ...]:
    """An example's tags, one a word, each of them in form."""
    if example.tags is None:
        raise refuse(example.place, "no tags", "give every training example a tag a word")
    if len(example.tags) != len(example.words):
        raise refuse(example.place, f"{len(example.tags)} tags for {len(example.words)} words", "tag each word")
    for tag in example.tags:
        try:
            entities.parsed(tag)
        except UserError as error:
            raise UserError(f"{example.place}: {error}") from None
    return example.tags


def _scheme(found: Iterable[str], types: Sequence[str]) -> list[str]:
    """Every tag that the types and letters which occur can make, O before all others."""
    parts = {entities.parsed(tag) for tag in found if tag != OUTSIDE}
    letters = {letter for letter, _ in parts}
    if "B" in letters:
        letters.add("I")
    pairs = [(letter, name) for name in types or sorted({name for _, name in parts}) for letter in "BIES"]
    return [OUTSIDE, *(f"{letter}-{name}" if name else letter for letter, name in pairs if letter in letters)]


def _likeliest(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """[w] the logarithm of the likeliest tag's probability."""
    top = scores.max(axis=1, keepdims=True)
    shares: NDArray[np.float64] = -np.log(np.exp(scores - top).sum(axis=1))
    return shares
